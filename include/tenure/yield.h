// Yielding: to ask a holder for its lease, and to hand a lease to a successor.
//
//   auto asked = space->ask(key, {.reason = "the release waits for it", .deadline = std::chrono::minutes(2)});
//   if (asked && asked->became == tenure::Became::accepted) …
//
// Words of others are data: within their bounds, without control characters, and they prove nothing.
#pragma once

#include <cstdint>
#include <string>

#include "tenure/epoch.h"
#include "tenure/event.h"
#include "tenure/holder.h"
#include "tenure/stop.h"
#include "tenure/time.h"

namespace tenure {

// ---- asking ---------------------------------------------------------------------------------------------------------

struct AskOptions {
  std::string reason;                            // 1 to 512 bytes; shown to the holder and to everybody
  Duration deadline = std::chrono::seconds(30);  // how long to wait for an answer: above 0, at most 24 hours
  std::string owner;                             // label of who asks. Empty: this process's own
  const Stop* stop = nullptr;                    // takes the request back: Code::cancelled
};

enum class Became : std::uint8_t {
  accepted,  // the holder promises to yield; the lease is still its own
  declined,
  ignored,  // the deadline passed without an answer
  ended,    // the lease that was asked for ended meanwhile
};

// What became of a request.
struct Asked {
  Became became = Became::ignored;
  // Of `ended`, how: released, handed_off (its holder passed it on), revoked, taken_over, or lost (its holder has died
  // or was cut off).
  EventKind end = EventKind::released;
  std::string words;  // the holder's; of `ended` more on how. May be empty
  Observation was;    // whom it was that was asked, and under which epoch
};

enum class Answer : std::uint8_t {
  accept,  // a promise to yield soon. It gives nothing back by itself
  decline,
};

// ---- handing over ---------------------------------------------------------------------------------------------------

// The offer of a lease to whoever adopts it under the label `to`. What holds while it is open:
//
// - The holder stays the holder. Its handle is valid until the very moment of the adoption; from then on its epoch is
//   refused everywhere, and it learns at once to whom it went (Lease::loss). It may release, and then the offer is
//   gone.
// - Nobody else is granted the key, whoever waits in line. Exceptions: an operator's revocation; the holder itself
//   claiming it again; and the end of a TTL that the holder asked for, which no offer extends. Each ends the offer.
// - When the holder dies, the offer stands for its time: the successor may still adopt. After it the usual rules hold,
//   and the key is a dead holder's. (Others whose clock cannot be compared with the holder's, in another time
//   namespace, neither adopt nor wait for an offer's end.)
// - The key is not free at any instant between the two: the successor's lease begins, under a new epoch, where the
//   former ends. A successor that dies at the instant of adoption has adopted and died: the usual rules.
// - When its time is over and nobody has adopted: see Back. With Back::line the holder's lease is over then, and it is
//   told.
//
// The new lease has the terms of who adopts it, but is shared or in a slot as the former was.
struct HandOff {
  std::string to;                              // label, 1 to 256 bytes
  Duration within = std::chrono::seconds(30);  // above 0, at most 1 hour
  Back back = Back::holder;
};

}  // namespace tenure
