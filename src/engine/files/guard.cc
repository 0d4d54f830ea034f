// Guarded work: while the operation runs, the section of the key is held, so nobody can take the key over.
#include <condition_variable>
#include <mutex>

#include "base/limits.h"
#include "base/quiet_thread.h"
#include "engine/files/store.h"

namespace tenure::files {
namespace {

// Calls `when_late` once, on a thread of its own, if it is not told in time that the operation is over.
class Watchdog {
 public:
  Watchdog() = default;
  ~Watchdog() { stop(); }

  Result<void> start(Duration at_most, std::function<void()> when_late) {
    auto thread = base::quiet_thread([this, at_most, act = std::move(when_late)] {
      std::unique_lock lock(mutex_);
      const bool in_time = over_.wait_for(lock, at_most, [this] { return done_; });
      if (!in_time) {
        late_ = true;
        act();
      }
    });
    if (!thread) return fail(thread.error());
    thread_ = std::move(*thread);
    return {};
  }

  // True when the bound was passed.
  bool stop() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    over_.notify_one();
    if (thread_.joinable()) thread_.join();
    return late_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  bool late_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace

Result<void> Store::guard(const ClaimRef& claim, Duration at_most, const std::function<void()>& operation) {
  if (auto own = check_process(); !own) return own;
  const FileNames names = file_names(claim.key);
  auto section = enter(names, limits::kSectionWait, nullptr);
  if (!section) return fail(section.error());
  auto now = current(claim, names, &*section);
  if (!now) return fail(now.error());
  using Answer = rules::CurrentVerdict::Answer;
  if (now->verdict.answer == Answer::lost || now->verdict.answer == Answer::gone) return lost(claim, names, *now);
  if (now->verdict.answer == Answer::late) return fail(Code::expired, claim.key.text() + " is past its TTL");
  // At the bound the lease itself is given up, still inside the section: whoever comes next is fenced off from nothing.
  Watchdog watchdog;
  auto watched = watchdog.start(at_most, [&] {
    (void)write_note(*section, {claim.epoch, SectionNote::State::revoked}, false);
    (void)directory_->remove(names.record);
    drop_held(claim);
    section->lock.reset();
  });
  if (!watched) return watched;
  operation();
  if (!watchdog.stop()) return {};
  return fail(Code::unknown_outcome,
              "the guarded operation on " + claim.key.text() + " took longer than " + words(at_most) +
                  ": the guard was dropped and the lease given up while it ran",
              "find out what the operation did before it is tried again");
}

}  // namespace tenure::files
