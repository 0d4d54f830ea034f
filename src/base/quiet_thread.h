// Threads of the library receive no signals: those belong to the program that links it.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace tenure::base {

template <class Function>
std::thread quiet_thread(Function&& function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::forward<Function>(function));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace tenure::base
