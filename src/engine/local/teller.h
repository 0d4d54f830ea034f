// Teller: a thread that tells of losses. The keeper thread cannot: it has a descriptor table of its own, in which the
// descriptors that a loss makes readable, and those of the host's callbacks, are not.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/process_mark.h"
#include "base/quiet_thread.h"
#include "tenure/time.h"

namespace tenure::local {

class Teller {
 public:
  explicit Teller(std::function<void()> tell) : shared_(std::make_shared<Shared>()) {
    shared_->tell = std::move(tell);
    auto thread = base::quiet_thread([shared = shared_] { shared->run(); });
    if (thread) thread_ = std::move(*thread);
  }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;
  ~Teller() { stop(); }

  // False: the system gave no thread, and it tells nothing.
  bool runs() const { return thread_.joinable(); }
  // Any thread.
  void ring() {
    const std::lock_guard lock(shared_->mutex);
    shared_->rung = true;
    shared_->bell.notify_one();
  }

  // The same after that time, or at the next ring before it. Of several the first counts.
  void ring_in(Duration span) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->pause && *shared_->pause <= span) return;
    shared_->pause = span;
    shared_->changed = true;
    shared_->bell.notify_one();
  }

  // On return nothing is told any more, but by the caller itself where it is the teller's own thread: a callback may
  // end the last lease, and with it the space. In a forked child, where there is no such thread, it is left alone.
  void stop() {
    if (!thread_.joinable()) return;
    if (!mark_.same()) {
      new std::thread(std::move(thread_));
      return;
    }
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stopping = true;
      shared_->bell.notify_one();
    }
    if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

 private:
  // Owned by the thread too, so that either may go first.
  struct Shared {
    void run() {
      std::unique_lock lock(mutex);
      for (;;) {
        const auto something = [this] { return rung || stopping || changed; };
        changed = false;
        if (pause) {
          bell.wait_for(lock, *pause, something);
        } else {
          bell.wait(lock, something);
        }
        if (stopping) return;
        if (changed && !rung) continue;
        rung = false;
        pause.reset();
        lock.unlock();
        tell();
        lock.lock();
      }
    }
    std::function<void()> tell;
    std::mutex mutex;  // of what follows
    std::condition_variable bell;
    bool rung = false;
    std::optional<Duration> pause;  // as of when it was said
    bool changed = false;           // that
    bool stopping = false;
  };

  const base::ProcessMark mark_;
  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace tenure::local
