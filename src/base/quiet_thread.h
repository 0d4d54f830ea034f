// Threads of the library receive no signals: those belong to the program that links it.
#pragma once

#include <signal.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tenure/error.h"

namespace tenure::base {

// Code::limit_reached when the system allows no further thread.
template <class Function>
Result<std::thread> quiet_thread(Function&& function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread> thread;
  try {
    thread = std::thread(std::forward<Function>(function));
  } catch (const std::system_error& error) {
    thread = fail(Code::limit_reached, std::string("no further thread can be started: ") + error.code().message(),
                  "end other processes, or raise the limit of processes and threads (ulimit -u)");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace tenure::base
