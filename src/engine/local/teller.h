// Teller: a thread that tells of losses. The keeper thread cannot: it has a descriptor table of its own, in which the
// descriptors that a loss makes readable, and those of the host's callbacks, are not.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/process_mark.h"
#include "base/quiet_thread.h"

namespace tenure::local {

class Teller {
 public:
  explicit Teller(std::function<void()> tell) : tell_(std::move(tell)) {
    auto thread = base::quiet_thread([this] { run(); });
    if (thread) thread_ = std::move(*thread);
  }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;
  ~Teller() { stop(); }

  // Any thread. Where the system gave no thread, it is told at once and here.
  void ring() {
    if (!thread_.joinable()) return tell_();
    const std::lock_guard lock(mutex_);
    rung_ = true;
    bell_.notify_one();
  }

  // On return nothing is told any more. In a forked child, where there is no such thread, it is left alone.
  void stop() {
    if (!thread_.joinable()) return;
    if (!mark_.same()) {
      new std::thread(std::move(thread_));
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      bell_.notify_one();
    }
    thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      bell_.wait(lock, [this] { return rung_ || stopping_; });
      if (stopping_) return;
      rung_ = false;
      lock.unlock();
      tell_();
      lock.lock();
    }
  }

  const base::ProcessMark mark_;
  const std::function<void()> tell_;
  std::mutex mutex_;  // of what follows
  std::condition_variable bell_;
  bool rung_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tenure::local
