// Yielding: what is asked of a holder, and what it offers, as it lies in the text of its lease. A text is never
// changed: an amended one takes its place by one store, so that whoever dies over it leaves the former or the new one.
//
// An amended text begins with a field of 16 bytes at a known place: a number that no other text has, and until when its
// offer stands (monotonic, nanoseconds; 0: there is none), which can so be read inside a section.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/local/advance.h"
#include "engine/local/core.h"
#include "engine/local/snapshot.h"
#include "tenure/yield.h"

namespace tenure::local {

struct AskNote {
  enum class State : std::uint8_t { pending, accepted, declined };
  std::uint64_t id = 0;  // no other in this table has it
  MemberId asker;
  std::uint64_t time_namespace = 0;  // of the deadline's clock
  std::int64_t until = 0;            // monotonic
  std::int64_t since_wall = 0, until_wall = 0;
  State state = State::pending;
  std::string by, reason;
  std::string words;  // of the answer
};

struct OfferNote {
  std::uint64_t time_namespace = 0;
  std::int64_t until = 0;  // monotonic
  std::int64_t since_wall = 0, until_wall = 0;
  Back back = Back::holder;
  std::string to;
};

struct Yield {
  std::vector<AskNote> asks;
  std::optional<OfferNote> offer;
};

Yield yield_in(std::string_view text);

// ---- verdicts on it -------------------------------------------------------------------------------------------------

// It may be adopted.
bool offer_stands(const Core& core, const OfferNote& offer);
std::optional<OfferNote> open_offer(const Core& core, const HoldingView& lease);
// Its time is over, and so is the lease.
bool back_to_line(Core& core, const HoldingView& lease);
std::string not_adopted(const HoldingView& lease);
// Its asker still waits for an answer. Asks the system: not inside a section.
bool is_pending(Core& core, const AskNote& ask);
// Those of a lease, in the order of their asking.
std::vector<Ask> pending_asks(Core& core, const HoldingView& lease);
// Requests and offer, and what they change about who may claim. `occupant` is that of the lease.
void show_yielding(Core& core, const HoldingView& lease, const rules::Occupant& occupant,
                   const rules::ClaimVerdict& stranger, Observation& seen);
// Inside a section too: until when the offer of a lease stands, where it has one.
std::optional<std::int64_t> offer_end(const Core& core, const Cell& lease) noexcept;

// ---- amending -------------------------------------------------------------------------------------------------------

// How often a change is tried: each time before, something else had changed.
inline constexpr int kAmendments = 1'000;

// What is said of it in the ring, and who is told.
struct Amendment {
  std::optional<EventKind> kind;  // nullopt: nothing is said
  std::string owner;              // whom it is about
  std::string why;
  bool knock = false;        // at the holder's member
  bool raise_first = false;  // and the first in line looks again
};
// Puts `yield` in the place of what the lease had. False: the lease, or its text, is no longer as it was seen, and
// nothing was done.
Result<bool> amend(Core& core, const HoldingView& lease, const Yield& yield, const Amendment& amendment);
// The very text that was seen. Inside the section.
bool is_same_text(const Core& core, const Cell& cell, const HoldingView& lease) noexcept;

}  // namespace tenure::local
