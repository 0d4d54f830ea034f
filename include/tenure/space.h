// Space: a named set of keys with one engine behind it; and Lease: one holder's ownership of one key.
//
//   auto space = tenure::Space::open("local:");
//   auto lease = space->claim(*tenure::Key::parse("deploy"), {.wait = std::chrono::minutes(5)});
//   if (!lease) { … lease.error().message … }
//   use(lease->epoch());          // the fencing token
//   lease->release();             // or let it go out of scope
//
// Thread rule: all methods of both may be called from any thread. A Lease is move-only;
// it keeps its space alive by itself.
//
// fork: a child has no part in the leases of its parent. Every call on an inherited handle fails with
// Code::wrong_process, and its destructor does nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tenure/error.h"
#include "tenure/event.h"
#include "tenure/handle.h"
#include "tenure/holder.h"
#include "tenure/key.h"
#include "tenure/pending_claim.h"
#include "tenure/stop.h"
#include "tenure/terms.h"
#include "tenure/time.h"
#include "tenure/traits.h"
#include "tenure/yield.h"

namespace tenure {

class Engine;
struct Grant;
class Lease;
class Space;

namespace detail {
class SpaceState;
class LeaseState;
Space make_space(std::shared_ptr<SpaceState> state);
}  // namespace detail

struct ClaimOptions {
  Terms terms;
  // Labels, at most 256 bytes each. Empty: a fresh random id of this process, and an id of the handle.
  std::string owner;
  std::string part;
  std::string channel;
  std::string version;
  std::string session;
  // How long to wait in line. nullopt: until granted or stopped. Zero (the default): one try.
  std::optional<Duration> wait = Duration{0};
  const Stop* stop = nullptr;
  // A place in line that outlives this call: a wait that ends without a grant stays in line for `grace`, and the next
  // claim of the key with the same ticket goes on in that place. 1 to 64 bytes; only where traits().tickets.
  std::string ticket;
  Duration grace = std::chrono::seconds(10);
  // Told when the wait begins and whenever the holder changes, on the calling thread.
  std::function<void(const Observation&)> on_wait;
  // Keep the lease while this process lives too, besides our own (a keeper for another process).
  std::optional<ProcessIdentity> owner_process;
  std::string command;  // shown as the holder's; empty: our own
  std::string directory;
  // Keep a descriptor that, passed to a child, makes the lease last until both are gone. See Lease::life_descriptor.
  bool keep_life_descriptor = false;
  // The folder of a control group of version 2, at most 512 bytes: the lease lasts while a process lives in it too,
  // besides our own. It must be there already, and be seen by those who are to judge the lease: elsewhere it counts as
  // live. Only where traits().control_groups.
  std::string control_group;
  // The file in which the holder keeps its session, for the record that others read: an absolute path of at most 4096
  // bytes (Code::bad_label). Nothing is done to it. Only where traits().session_files.
  std::string session_file;
};

// Why and to whom a lease was lost. Sticky: the first reason stays.
struct Loss {
  std::string why;
  std::shared_ptr<const Observation> successor;  // how the key stands now, where that is known
};

class Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  // Releases, if that was not done yet and the lease is not lost. Where that is refused, because an operation of
  // another process runs under its guard for long, the key stays this process's until it ends.
  ~Lease();

  const Key& key() const noexcept;
  Epoch epoch() const noexcept;
  // Of a lease in one of several slots: which, 0 to slots - 1. No two hold the same one at a time.
  std::optional<std::uint32_t> slot() const noexcept;
  // Is it still ours, as the store sees it now? Writes nothing. Code::lost or Code::expired when not; any other error
  // means "unknown: do not act".
  Result<void> verify();
  // Extends the TTL; returns by how much it was late, if it was. A lease without a TTL needs no renewal: its keeper
  // gives the signs of life.
  Result<std::optional<Duration>> renew();
  // Gives back. True: released now. False: there was nothing to release any more. Code::lost when it is somebody
  // else's. An operation under its guard is waited for, at most 10 s: then Code::section_busy, or Code::would_deadlock
  // within the operation, and the lease stays ours.
  Result<bool> release();

  // Set once the loss is known: pushed by the store, not polled. No system call.
  bool lost() const noexcept;
  std::optional<Loss> loss() const;
  // Readable from the moment the loss is known: for poll and epoll. Not to be read from. Valid while the Lease lives.
  // -1: it was asked for first now, and no descriptor, or no thread, is left.
  int lost_fd() const noexcept;
  // Called once, on the keeper's thread, as soon as the loss is known (at once if it is known already). Must not block.
  void on_lost(std::function<void(const Loss&)> callback);

  // Called once for each request to yield, on a thread of the library: pushed, not polled. (For those that are pending
  // already, at once.) Must not block; it may answer. It takes the place of a former one; a call that is under way may
  // outlast the Lease. Code::unsupported where not traits().asks; Code::limit_reached when no thread can be had.
  Result<void> on_ask(std::function<void(const Ask&)> callback);
  // Those that wait for an answer now, in the order of their asking.
  Result<std::vector<Ask>> asks();
  // Answers one of them, with at most 256 bytes of words, or none. False: it waits for no answer any more. Accepting is
  // a promise and gives nothing back: release() does, or hand_off().
  Result<bool> answer(std::uint64_t id, Answer answer, const std::string& words = {});

  // Offers it to a successor; takes the place of a former offer. On return the offer stands. See yield.h.
  // Code::unsupported where not traits().handoff.
  Result<void> hand_off(const HandOff& offer);
  // Takes the offer back. False: there was none any more. Code::lost: it was adopted.
  Result<bool> withdraw_hand_off();

  // With a TTL: what is left of it on our own clock (sleep counts), never negative.
  std::optional<Duration> remaining() const;
  Handle handle() const;
  // Who was displaced by the claim, if somebody was, and other remarks for people.
  const std::optional<Observation>& displaced() const noexcept;
  const std::vector<std::string>& notes() const noexcept;
  bool reclaimed() const noexcept;
  // Passed to a child (dup it without close-on-exec there), it makes the lease last until both are gone. -1 unless
  // ClaimOptions asked for it and the engine offers it. Belongs to the lease.
  int life_descriptor() const noexcept;
  // Runs `operation` on this thread, at most once, while the key cannot be taken over, revoked, released, handed off or
  // claimed again, by anybody who honours the space. It begins only while the lease is ours; traits().guard_for is a
  // good bound, and traits().guard_courtesy says when neighbours begin to be refused.
  //   Value                 it returned one, within its bound
  //   its own error         unchanged; its exception likewise, after the guard was dropped
  //   Code::lost, expired   the lease is not ours: it was not run
  //   Code::section_busy    another operation runs under the guard of the key, and did not end within 10 s: not run
  //   Code::would_deadlock  this thread runs one under the guard of this very key: not run
  //   Code::bad_duration    the bound is not above 0, or above ten years: not run
  //   Code::unknown_outcome it ran past its bound, and the lease was given up meanwhile, so that others may have acted
  //                         beside it; or the lease was lost by another way, or the guard could not be dropped. The
  //                         message tells what the operation itself came to
  // At the bound nothing stops it: it should look at lost(), or keep a bound of its own. What it does to the same key
  // on its own thread (guard, claim, adopt, renew, release, revoke) is Code::would_deadlock at once; verifying and
  // looking is free. The Lease must outlive it. The guard ends with this process.
  Result<void> guard(Duration at_most, const std::function<Result<void>()>& operation);
  // The same of what cannot fail.
  template <class Operation>
    requires std::is_void_v<std::invoke_result_t<Operation&>>
  Result<void> guard(Duration at_most, Operation&& operation) {
    return guard(at_most, std::function<Result<void>()>([&operation]() -> Result<void> {
                   operation();
                   return {};
                 }));
  }

 private:
  friend class Space;
  explicit Lease(std::shared_ptr<detail::LeaseState> state);
  std::shared_ptr<detail::LeaseState> state_;
};

struct RevokeOptions {
  std::string reason;
  bool force = false;
  std::optional<Epoch> only_epoch;
};

class Space {
 public:
  // "local:", "local:NAME", "local:/DIR", "system:NAME", "files:DIR", "memory:" (this process alone, a new one each
  // time); docs/reference/spaces.md has them all with their options. A relative DIR of files: is taken from the working
  // directory. Code::bad_url, Code::unreachable, Code::unsafe_folder,
  // Code::unsuitable_folder. `create`: make a missing folder (0700). Without it a missing one is Code::unreachable.
  struct OpenOptions {
    bool create = true;
    bool observe_only = false;  // for looking, watching and listing: read permission is enough
  };
  static Result<Space> open(std::string_view url, OpenOptions options);
  static Result<Space> open(std::string_view url);

  // By default: exclusive, no TTL, one try.
  Result<Lease> claim(const Key& key) const;
  Result<Lease> claim(const Key& key, const ClaimOptions& options) const;

  // All of them, or none. They are claimed one after the other in the order of their bytes, so that nobody who wants
  // some of them in another order waits in a circle with us; meanwhile those that were granted are held. When one is
  // refused the others are given back. options.wait bounds the whole. The leases come in the order of `keys`.
  // Code::usage: no key, more than 64, or one of them twice; Code::lost: one was lost while another was waited for;
  // else as of claim().
  Result<std::vector<Lease>> claim_all(std::span<const Key> keys, const ClaimOptions& options) const;

  // The same as claim(), while the caller does something else: its end makes a descriptor readable (pending_claim.h).
  // on_wait is called on a thread of the claim. Code::usage with ClaimOptions::stop; Code::no_descriptors;
  // Code::limit_reached when no further thread can be had. All else is the outcome of the claim.
  Result<PendingClaim> begin_claim(const Key& key, const ClaimOptions& options) const;

  // Takes up the lease of `key` that its holder offers to options.owner, which must be named: one try, so that the
  // wait, the ticket and on_wait of the options do not count. The epoch is a new one. Code::not_offered, with whom it
  // is offered to, if to anybody; Code::not_held when nobody holds it; Code::section_busy while an operation runs under
  // its guard.
  Result<Lease> adopt(const Key& key, const ClaimOptions& options) const;

  // Asks whoever holds `key` now to yield it, and waits for what becomes of it. Pinned to that lease: what a later
  // holder does is no answer. Of several holders the one is asked who is shown. At most 8 ask for one lease at a time
  // (Code::limit_reached). Leaves nothing behind, also when this process dies. Code::not_held when nobody holds it, or
  // only one whom a claim would displace at once; Code::cancelled by the Stop; Code::unsupported where not
  // traits().asks.
  Result<Asked> ask(const Key& key, const AskOptions& options) const;

  // By handle, for another process of the same user.
  Result<std::optional<Duration>> renew(const Handle& handle) const;
  Result<std::optional<Duration>> verify(const Handle& handle) const;  // what is left of its TTL
  Result<bool> release(const Handle& handle) const;
  Result<void> hand_off(const Handle& handle, const HandOff& offer) const;
  Result<bool> withdraw_hand_off(const Handle& handle) const;

  // As Lease::guard(), for whoever knows the epoch of the lease alone: a command under `tenure run`, say, which finds
  // key, epoch and space in TENURE_KEY, TENURE_EPOCH and TENURE_SPACE. Whosever the lease is, the guard ends with this
  // process, and outlasts the holder's. Code::lost when the epoch is not current; Code::unsupported for a lease of a
  // program that knows no guard.
  Result<void> guard(const Key& key, Epoch epoch, Duration at_most,
                     const std::function<Result<void>()>& operation) const;

  Result<Observation> revoke(const Key& key, const RevokeOptions& options) const;
  Result<Observation> holder(const Key& key) const;
  Result<std::vector<Observation>> list(const std::string& prefix = {}) const;
  // Calls `on_change` with the new standing of each key that begins with `prefix` and changed, until `stop` or until it
  // returns false. The first calls tell what is held at the start.
  Result<void> watch(const std::string& prefix, const Stop& stop,
                     const std::function<bool(const Observation&)>& on_change) const;

  // What happened to `key` (empty: to all keys and to the space), oldest first, as far back as the space remembers.
  // Code::unsupported where traits().log is not set.
  Result<std::vector<Event>> log(const std::string& key = {}) const;

  const Traits& traits() const;
  const std::string& url() const;
  std::string location() const;
  Engine& engine() const;

 private:
  Result<Lease> lease_of(const std::function<Result<Grant>()>& claim) const;

  friend Space detail::make_space(std::shared_ptr<detail::SpaceState> state);
  explicit Space(std::shared_ptr<detail::SpaceState> state);
  std::shared_ptr<detail::SpaceState> state_;
};

}  // namespace tenure
