// Engine: one store of leases. The interface is at the level of leases, because a table in memory, a folder of files
// and a cluster are not the same kind of store. tests/conformance runs over every implementation.
//
// Thread rule: every method may be called from any thread, at any time, concurrently.
//
// Ends: every operation ends in done (a value), refused (nothing changed) or unknown (Outcome::unknown: it may have
// happened; holder() or verify() tells). Nothing here waits without a bound or a Stop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenure/error.h"
#include "tenure/event.h"
#include "tenure/handle.h"
#include "tenure/holder.h"
#include "tenure/key.h"
#include "tenure/stop.h"
#include "tenure/terms.h"
#include "tenure/time.h"
#include "tenure/traits.h"
#include "tenure/yield.h"

namespace tenure {

struct ClaimRequest {
  Key key;
  std::string owner;  // label, 1 to 256 bytes; the caller fills in its default
  std::string part;   // label, 1 to 256 bytes
  Terms terms;
  std::string channel;
  std::string version;
  std::string session;
  // Whom the lease is kept for, where that is not the claiming process: the lease lasts while either lives.
  std::optional<ProcessIdentity> owner_process;
  // Shown as the holder's; empty: the claiming process's own.
  std::string command;
  std::string directory;
  bool keep_life_descriptor = false;
  // The folder of a control group whose processes keep it as well.
  std::string control_group;
  // The file in which the holder keeps its session: an absolute path, or empty. Only where traits().session_files.
  std::string session_file;
};

struct Grant {
  Key key;
  ClaimId claim;
  Epoch epoch;
  // The same process and part held it already; the former handle is fenced.
  bool reclaimed = false;
  // Set when the claim displaced somebody: how the key stood before, and the evidence.
  std::optional<Observation> displaced;
  // With a TTL: until when the holder may rely on it, counted from before the grant was written.
  std::optional<BootTime> valid_until;
  // To be passed to a child, so that the lease lasts until both are gone; -1 if not asked for or not offered. Stays the
  // engine's: valid until release or loss.
  int life_descriptor = -1;
  std::optional<std::uint32_t> slot;  // of several: which one, 0 to slots - 1
  std::vector<std::string> notes;     // for people: "the epoch counter was damaged and went on from 17"
  std::uint64_t place = 0;            // for the engine's short way, where it has one
};

// The current claim on a key, as a handle names it.
struct ClaimRef {
  Key key;
  ClaimId claim;
  Epoch epoch;
};

// How a waiting claim ends, and what is told meanwhile.
struct Wait {
  // nullopt: without bound (the Stop ends it). Zero: one try.
  std::optional<Duration> at_most;
  const Stop* stop = nullptr;
  // A place in line that outlives this call: a wait that ends without a grant stays in line for `grace`, and the next
  // wait of the same key with the same ticket goes on in that place. A key offered to a ticket that nobody polls waits
  // for it as long. 1 to 64 bytes; only where traits().tickets.
  std::string ticket;
  Duration grace = std::chrono::seconds(10);
  // Called when the wait begins and whenever the holder changes; on the caller's thread.
  std::function<void(const Observation&)> on_wait;
};

struct Renewal {
  Epoch epoch;
  // Set when the lease was past its TTL already and nobody had come between.
  std::optional<Duration> late_by;
  std::optional<BootTime> valid_until;
};

struct Standing {
  Epoch epoch;
  // With a TTL: what is left of it on the holder's own clock.
  std::optional<Duration> remaining;
  // The store lost its record of the claim, though nobody was granted the key since: a beat writes it again.
  bool needs_beat = false;
};

struct Released {
  // False: there was nothing to release (somebody already had). Not the holder's is an error (Code::lost).
  bool released = false;
};

struct RevokeRequest {
  Key key;
  std::string reason;               // required with force
  bool force = false;               // also take it from a holder who lives or may live
  std::optional<Epoch> only_epoch;  // refuse (Code::epoch_changed) unless the lease has this epoch
};

struct Revoked {
  Observation was;
  std::vector<std::string> notes;
};

// Which lease is to be guarded: by its claim; or, for whoever knows the epoch alone (a command under `tenure run`,
// which sees TENURE_KEY, TENURE_EPOCH and TENURE_SPACE), by that.
struct GuardRequest {
  Key key;
  Epoch epoch;
  std::optional<ClaimId> claim;
  Duration at_most;
};

// What runs under guard. Its error is passed on.
using Guarded = std::function<Result<void>()>;

struct AskRequest {
  Key key;
  std::string by;  // label; where traits().own_labels, empty stands for the engine's default
  std::string reason;
  Duration deadline;
  const Stop* stop = nullptr;
};

// Notices of change. A hint, like env::Watch: look again at the keys that it names.
class Changes {
 public:
  virtual ~Changes() = default;
  struct Seen {
    std::vector<Key> keys;
    bool everything = false;
  };
  // Waits at most `at_most`; empty on timeout and stop.
  virtual Result<Seen> wait(Duration at_most, const Stop* stop) = 0;
};

class ShortWay;

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const Traits& traits() const = 0;
  // Where the space lies, for people: a path.
  virtual std::string location() const = 0;

  // One try. Code::held (with the holder) when somebody else has it. The grant is as durable as traits say on return.
  virtual Result<Grant> try_claim(const ClaimRequest& request) = 0;
  // Claims, waiting as long as `wait` allows: Code::timed_out, Code::cancelled. A wait that ended without a grant
  // leaves nothing behind.
  virtual Result<Grant> await(const ClaimRequest& request, const Wait& wait) = 0;

  // Called by the keeper of this process about once per traits().heartbeat: gives a sign of life. Does not extend a
  // TTL.
  virtual Result<Renewal> beat(const ClaimRef& claim) = 0;
  // Extends the TTL. A late one with nobody in between succeeds and says so. Code::lost after a takeover.
  virtual Result<Renewal> renew(const ClaimRef& claim) = 0;
  // Is it still ours? Writes nothing. Code::lost, Code::expired; any other error means "unknown: do not act".
  virtual Result<Standing> verify(const ClaimRef& claim) = 0;
  virtual Result<Released> release(const ClaimRef& claim) = 0;
  virtual Result<Revoked> revoke(const RevokeRequest& request) = 0;
  // Runs `operation`, at most once, and only if the lease is current: else Code::lost or Code::expired, as of verify().
  // An epoch that is not current is lost too, whichever is. Until it returns the key is not taken over, revoked,
  // released, handed off or re-claimed, by whoever honours the space.
  //
  // Bounded: `at_most` after it began the guard is dropped and the lease is lost, though the operation runs on. What it
  // returned is then told in the message of a Code::unknown_outcome; so it is when the lease was lost by another way
  // meanwhile, or the guard cannot be dropped. Else its own result comes back, an error unchanged. It does not throw.
  // A guard ends with the process that runs the operation, whosever the lease is; the death of the holder does not end
  // it.
  //
  // On the thread of the operation, whatever would change the same key of the same space is Code::would_deadlock at
  // once: a guard, a claim, an adoption, a renewal, a release, a revocation. Looking and verifying is free.
  // From elsewhere a guard and a release wait for the operation, at most limits::kSectionWait, then Code::section_busy;
  // the lease stays. A revocation and an adoption are Code::section_busy, at once or after no longer than that; a
  // renewal works, or ends likewise; a claim finds the key held and waits, or does not, as it was told to.
  virtual Result<void> guard(const GuardRequest& request, const Guarded& operation) = 0;

  // Yielding (yield.h); offered where traits().asks and traits().handoff, else Code::unsupported. Changes of it are
  // told like changes of hands: by changes(), or by on_disturbance to the process of the holder.
  //
  // Asks the holder that holder() shows, and waits. As Space::ask().
  virtual Result<Asked> ask(const AskRequest& request);
  // Those that wait for an answer. Those past their deadline, or of a dead asker, are none.
  virtual Result<std::vector<Ask>> asks(const ClaimRef& claim);
  // False: it waits for no answer any more.
  virtual Result<bool> answer(const ClaimRef& claim, std::uint64_t id, Answer answer, const std::string& words);
  virtual Result<void> hand_off(const ClaimRef& claim, const HandOff& offer);
  // False: there was no offer, or its time is over.
  virtual Result<bool> withdraw_hand_off(const ClaimRef& claim);
  // One try, as Space::adopt(). Mode and slots of the request are those of the lease whatever it says.
  virtual Result<Grant> adopt(const ClaimRequest& request);

  // How the key stands. Needs only read permission and never waits for anybody.
  virtual Result<Observation> holder(const Key& key) = 0;
  // Every key that is held or damaged and begins with `prefix`, sorted by key.
  virtual Result<std::vector<Observation>> list(const std::string& prefix) = 0;

  virtual Result<std::unique_ptr<Changes>> changes() = 0;

  // What happened to `key` (empty: to all keys), oldest first, as far back as the store remembers. Code::unsupported
  // where it remembers nothing (traits().log).
  virtual Result<std::vector<Event>> log(const std::string& key);

  // The short way of a claim: default terms and labels, a key that nobody holds or waits for, no waiting. Engines that
  // have one offer it; what it declines is done by try_claim and the rest, to the same effect.
  virtual ShortWay* short_way() { return nullptr; }
  // Called whenever leases may have been lost, from a thread of the engine: look at all of them. Set before the first
  // claim. Only where traits().pushes_loss.
  virtual void on_disturbance(const std::function<void()>& /*look*/) {}
  // From now on it is called from a thread that has the descriptors of the process; before, perhaps from one that has
  // not, and may do no more than note a loss. To be called from a thread of the process. False: no thread can be had.
  virtual bool call_with_descriptors() { return true; }
};

// A lease as the short way names it.
struct ShortGrant {
  ClaimId claim;
  Epoch epoch;
  // Where it lies in the store. After a release it is kept for the next claim with this object; 0: none yet.
  std::uint64_t place = 0;
};

// No call allocates or, without contention, enters the kernel.
class ShortWay {
 public:
  virtual ~ShortWay() = default;
  // False: nothing was done; try the long way.
  virtual bool claim(const Key& key, ShortGrant& grant) noexcept = 0;
  virtual bool release(ShortGrant& grant) noexcept = 0;
  // True: it is current. False: ask verify().
  virtual bool current(const ShortGrant& grant) const noexcept = 0;
  // The place of a released grant is not needed any more.
  virtual void give_back_place(ShortGrant& grant) noexcept = 0;
};

}  // namespace tenure
