// Who may take a key, and whether a claim is still current: pure verdicts over what lies in the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/evidence.h"
#include "tenure/epoch.h"
#include "tenure/error.h"
#include "tenure/handle.h"
#include "tenure/holder.h"
#include "tenure/time.h"

namespace tenure::rules {

// How a silent holder is judged.
enum class Expiry : std::uint8_t {
  proof,  // a holder that is proven alive is never displaced, unless it asked for a TTL itself
  age,    // AgentMux's rule: older than the TTL is free, alive or not
};

// AgentMux's constants, which it does not record.
inline constexpr Duration kAgentmuxTtl = std::chrono::seconds(15);
inline constexpr Duration kAgentmuxHeartbeat = std::chrono::seconds(5);

// How old the last sign of life is, and on whose clock that was found.
struct Age {
  enum class Basis : std::uint8_t {
    unknown,    // nothing to go by: counts as fresh
    monotonic,  // the holder's stamp and our clock: one boot, one time namespace
    observed,   // "unchanged since I first saw it", on our own clock
    wall,       // AgentMux's rule, `?expiry=age` only
  };
  Basis basis = Basis::unknown;
  Duration value{0};  // never negative

  friend bool operator==(const Age&, const Age&) = default;
};

// What lies under a key, as far as it matters to a claim.
struct Occupant {
  enum class Kind : std::uint8_t { nobody, damaged, holder };
  Kind kind = Kind::nobody;
  std::string owner;
  std::string part;
  ProcessIdentity process;
  // Of a damaged thing: live when the life lock beside it is held, else unknown.
  Verdict verdict;
  Age silence;  // since the last sign of life; of a damaged thing, since it was last seen to change
  // What the holder asked for itself: a hard limit, counted from its last extension.
  std::optional<Duration> hard_ttl;
  Age since_extension;
  // The bound on silence where no proof can be had: AgentMux's 15 s.
  Duration silence_bound = kAgentmuxTtl;
};

struct Claimant {
  std::string owner;
  std::string part;
  ProcessIdentity process;
};

struct ClaimVerdict {
  enum class Answer : std::uint8_t {
    free,          // nobody had it
    reclaim,       // the same process and part has it: keeps the epoch, fences the old handle
    over_dead,     // takeover: proven dead
    over_expired,  // takeover: past its hard TTL, or silent past its bound and not proven alive
    over_damaged,  // takeover: a damaged thing that nobody touched for its bound and nobody alive stands behind
    held,          // refused
    held_by_part,  // refused: another part of the same process
  };
  Answer answer = Answer::held;
  std::string why;                   // one clause for people
  std::optional<Duration> frees_in;  // of a refusal: when it will be claimable by itself

  bool granted() const { return answer != Answer::held && answer != Answer::held_by_part; }
};

ClaimVerdict decide_claim(Expiry policy, const Occupant& occupant, const Claimant& claimant);
// The same for a stranger: what `who` and `ls` show.
ClaimVerdict decide_for_stranger(Expiry policy, const Occupant& occupant);

// ---- epochs -------------------------------------------------------------------------------------------------------

// One place where the highest epoch may stand.
struct EpochSource {
  enum class Reading : std::uint8_t { missing, unreadable, value };
  Reading reading = Reading::missing;
  Epoch epoch;
  friend bool operator==(const EpochSource&, const EpochSource&) = default;
};

struct EpochSources {
  EpochSource counter;  // <id>.epoch
  EpochSource note;     // the copy inside <id>.lock
  EpochSource record;   // of the lease record; value 0 is an unfenced holder of an old build and counts as missing
  // The lock file was made by this very call: the key was never used here.
  bool first_use = false;
  WallTime now;
};

struct NextEpoch {
  Epoch epoch;
  std::string note;  // for people, when something was repaired; else empty
};

// How far the epoch jumps when the counter itself is gone or damaged and only our copy stands: more changes of
// ownership than an AgentMux, which counts in the counter alone, can have made behind our back.
inline constexpr std::uint64_t kRepairJump = 1'000'000;

// The epoch for a change of ownership: above every credible source.
//   counter readable                        max(all) + 1
//   counter gone or damaged, a copy stands  max(copies) + kRepairJump, with a note
//   nothing readable, first use             1
//   nothing readable, all missing, used before   microseconds since 1970, with a note (none before 2020: refused)
//   nothing readable, something damaged     Code::epoch_unreadable
//   result at or beyond Epoch::kLimit       Code::epoch_exhausted
// A value at or beyond Epoch::kLimit counts as unreadable; so does a counter of 0, which nobody writes, unless it is
// the first use.
Result<NextEpoch> next_epoch(const EpochSources& sources);
// What an operator's forced repair goes on from: above every credible source (by kRepairJump where the counter is not
// one of them) and above the microseconds since 1970. Code::epoch_unreadable only when nothing is credible and the wall
// clock was never set.
Result<NextEpoch> repaired_epoch(const EpochSources& sources);

// ---- the current claim --------------------------------------------------------------------------------------------

struct CurrentFacts {
  Occupant::Kind kind = Occupant::Kind::nobody;
  std::optional<ClaimId> claim;  // of the record; nullopt where it names none
  Epoch record_epoch;
  // The counter and its copy, to tell "a cleaner deleted my record" from "somebody else was here".
  EpochSource counter;
  EpochSource note;
  bool note_says_held = false;  // the note's state is `held`
  std::optional<Duration> hard_ttl;
  Duration since_extension{0};  // on the holder's own boot clock
};

struct CurrentVerdict {
  enum class Answer : std::uint8_t {
    current,  // mine
    late,     // mine, past my hard TTL, nobody in between
    restore,  // my record is gone or damaged, and the counters prove that nobody was granted the key since: write it
              // again
    lost,     // somebody else's, or given back
    gone,     // nobody has it and it was given back properly (released or revoked)
  };
  Answer answer = Answer::lost;
  std::string why;
  Duration late_by{0};
};

// For renew, beat, verify, release: is the claim `mine`, granted under `epoch`, the current one?
CurrentVerdict decide_current(const CurrentFacts& facts, const ClaimId& mine, Epoch epoch);

// ---- revocation ---------------------------------------------------------------------------------------------------

struct RevokeVerdict {
  bool allowed = false;
  Code code = Code::holder_live;  // when not allowed
  std::string why;
};
// Dead or free-by-itself holders may be cleared without force; live and unknown ones and damaged records only with
// force and a reason; an `only_epoch` that differs is refused with Code::epoch_changed; nobody there is Code::not_held.
RevokeVerdict decide_revoke(const Occupant& occupant, Expiry policy, Epoch epoch, bool force, const std::string& reason,
                            std::optional<Epoch> only_epoch);

}  // namespace tenure::rules
