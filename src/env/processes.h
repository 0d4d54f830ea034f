// The port to processes: who we are, and what can be seen of others. It gathers; rules/liveness judges.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/evidence.h"
#include "tenure/error.h"
#include "tenure/holder.h"

namespace tenure::env {

class Processes {
 public:
  virtual ~Processes() = default;

  // Read at construction. Cheap, no system call.
  virtual const Standpoint& self() const = 0;
  // The file of our program as /proc shows it now: absolute, and with " (deleted)" behind it where it was replaced.
  // Empty where it cannot be read.
  virtual std::string executable() const = 0;
  // True in a child that was forked after construction: such a process must not act for its parent. One getpid().
  virtual bool forked() const = 0;

  virtual ProcessSight look(std::int32_t pid) const = 0;
  // Whether every thread of the process with that pid and start, its leader included, was seen to be past the point of
  // no return of its exit (PF_EXITING), twice, in listings that were complete by the process's own count. The kernel
  // frees a large process's memory only after that. It proves death only of a process some thread of which is known to
  // have begun to exit with the whole group: see rules/membership.h. False when anything cannot be read.
  virtual bool ending(std::int32_t pid, std::uint64_t start_ticks) const = 0;
  // Whether a process with that start and, in whatever pid namespace it lives, that number for itself (the last of
  // NSpid in /proc/PID/status) runs under this kernel. For records of this boot that name no namespace: look() answers
  // only for our own. It reads a file of every process, and takes some 20 ms for a thousand of them.
  virtual Anywhere find(std::int32_t pid, std::uint64_t start_ticks) const = 0;
  // The identity of another process, as complete as can be seen. Code::not_held when there is no such process,
  // Code::not_permitted when it cannot be seen.
  virtual Result<ProcessIdentity> identify(std::int32_t pid) const = 0;
  // Command line and working directory of another process, empty where they cannot be read.
  virtual std::string command_of(std::int32_t pid) const = 0;
  virtual std::string directory_of(std::int32_t pid) const = 0;
  // A descriptor that becomes readable when the process ends (pidfd), close-on-exec, owned by the caller; -1 where none
  // can be had (gone, another namespace, an old kernel, no descriptors left).
  virtual int death_descriptor(std::int32_t pid) const = 0;
};

}  // namespace tenure::env
