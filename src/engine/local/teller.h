// Teller: a thread that tells of losses. The keeper thread cannot: it has a descriptor table of its own, in which the
// descriptors that a loss makes readable, and those of the host's callbacks, are not.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/process_mark.h"
#include "base/quiet_thread.h"

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
        bell.wait(lock, [this] { return rung || stopping; });
        if (stopping) return;
        rung = false;
        lock.unlock();
        tell();
        lock.lock();
      }
    }
    std::function<void()> tell;
    std::mutex mutex;  // of what follows
    std::condition_variable bell;
    bool rung = false;
    bool stopping = false;
  };

  const base::ProcessMark mark_;
  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace tenure::local
