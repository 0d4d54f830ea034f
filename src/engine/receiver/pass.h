// Pass: a record of this process, ready to stand as the guard or as an intent by a further name of its file.
//
// Its first byte is locked as long as the pass and the process live, so that whoever honours locks need not guess by
// the pid. Its bytes are durable before it stands anywhere: a loss of power must not leave half a guard, which pi-amq
// would respect for ever. Linked, not written: a release needs no room on the disk.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/receiver/core.h"
#include "model/receiver_record.h"

namespace tenure::receiver {

// One thread of this process at a time has the pass in use.
class Turn {
 public:
  bool take() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(taken_, true);
  }
  void give_back() {
    {
      const std::lock_guard lock(mutex_);
      taken_ = false;
    }
    free_.notify_all();
  }
  // For a moment at most: whoever waits has a bound of its own to look at.
  void wait() {
    std::unique_lock lock(mutex_);
    free_.wait_for(lock, std::chrono::milliseconds(1), [this] { return !taken_; });
  }

  bool taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
};

struct Pass {
  std::shared_ptr<env::Directory> folder;  // where its file lies, by whatever name the folder is known
  std::string name;
  std::string generation;
  std::shared_ptr<env::LifeLock> life;
  std::shared_ptr<Turn> turn = std::make_shared<Turn>();  // while it stands as the guard

  FileIdentity identity() const { return life->identity(); }
};

// What this process writes into its records. Code::unreachable where it does not know itself well enough.
Result<ReceiverProcess> own_process(const Core& core, const std::string& generation);

Result<Pass> make_pass(const Core& core, std::shared_ptr<env::Directory> folder, const std::string& name,
                       const std::string& generation, bool keep_descriptor);

// A pass of its own for one call, of a process that does not hold the lease. Its file goes with it.
class Draft {
 public:
  static Result<Draft> make(const Core& core);
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&&) = delete;
  ~Draft();
  const Pass& pass() const { return pass_; }

 private:
  Draft(const Core& core, Pass pass) : core_(&core), pass_(std::move(pass)) {}
  const Core* core_;
  Pass pass_;
};

}  // namespace tenure::receiver
