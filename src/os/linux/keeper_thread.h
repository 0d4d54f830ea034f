// The thread that stands for a member of a local space: see env::KeeperJob.
#pragma once

#include <memory>
#include <thread>

#include "os/linux/death_flag.h"
#include "os/linux/local_place.h"
#include "os/linux/own_process.h"
#include "os/linux/real_words.h"

namespace tenure::os {

class KeeperThread {
 public:
  // The word holds the thread's id when it returns. Code::unsupported: the kernel does not take its robust list.
  // Code::limit_reached: no further thread.
  static Result<std::unique_ptr<KeeperThread>> start(std::shared_ptr<const LocalPlace> place, env::KeeperJob job);
  // As stop_keeper of env::LocalFolder. In a forked child, where there is no such thread, it does nothing.
  ~KeeperThread();
  KeeperThread(const KeeperThread&) = delete;
  KeeperThread& operator=(const KeeperThread&) = delete;

 private:
  enum State : std::uint32_t { starting, at_work, refused };

  KeeperThread(std::shared_ptr<const LocalPlace> place, env::KeeperJob job);
  Result<void> launch();
  void run();
  void serve();

  std::shared_ptr<const LocalPlace> place_;
  env::KeeperJob job_;
  std::uint32_t inbox_seen_;
  RealWords words_;
  env::Word state_{starting};
  env::Word stopping_{0};
  DeathFlag flag_;
  std::unique_ptr<std::thread> thread_;
  OwnProcess process_;
};

}  // namespace tenure::os
