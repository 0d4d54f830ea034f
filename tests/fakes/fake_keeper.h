// FakeKeeper: the thread that stands for a member, and what the fake kernel does when it ends.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "env/local_folder.h"
#include "fakes/fake_processes.h"

namespace tenure::fakes {

// Its rounds come by the real clock: after a knock, and every `every`, but every 20 ms at least, because what a round
// looks at moves with a clock that the test moves. They are a background thread's (see fault_plan.h), stand still while
// the process is stopped, and end with it.
class FakeKeeper {
 public:
  // `life` is where the process sees its word, `life_of_all` where everybody does.
  FakeKeeper(std::shared_ptr<FakeWorld> world, ProcessNumber process, env::KeeperJob job, env::Word* life_of_all,
             std::uint32_t thread_id);
  ~FakeKeeper();
  FakeKeeper(const FakeKeeper&) = delete;
  FakeKeeper& operator=(const FakeKeeper&) = delete;

  // Its word holds the thread's id when it returns.
  Result<void> start();
  // The thread is killed: the kernel flags the word if the thread held it, and wakes one sleeper if it says that there
  // are some. Does not wait for a round that is under way.
  void die();
  // In good order; waits for the thread. After die() it only waits.
  void stop();

 private:
  void run();
  void wait_for_knock(std::uint32_t seen) const;

  std::shared_ptr<FakeWorld> world_;
  const ProcessNumber process_;
  const env::KeeperJob job_;
  env::Word* const life_of_all_;
  const std::uint32_t thread_id_;
  std::atomic<bool> over_{false};
  std::atomic<bool> died_{false};
  std::thread thread_;
};

}  // namespace tenure::fakes
