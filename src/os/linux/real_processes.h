// Processes as this kernel shows them to us.
//
// Existence is asked by pidfd_open(2) and kill(pid, 0), which neither depend on /proc nor on its options; everything
// else comes from /proc, and only while /proc/self names our own pid: in a fresh pid namespace with the outer /proc
// still mounted, every number that it shows belongs to somebody else.
//
// The pid, start ticks and namespaces of an identity are numbers as seen from here: `pid_namespace` and
// `time_namespace` name the reader's own namespaces, in which those numbers mean something, also when the process
// itself lives in an inner one.
#pragma once

#include "env/processes.h"

namespace tenure::os {

class RealProcesses final : public env::Processes {
 public:
  RealProcesses();

  const Standpoint& self() const override { return self_; }
  std::string executable() const override;
  bool forked() const override;
  ProcessSight look(std::int32_t pid) const override;
  bool ending(std::int32_t pid, std::uint64_t start_ticks) const override;
  Anywhere find(std::int32_t pid, std::uint64_t start_ticks) const override;
  Result<ProcessIdentity> identify(std::int32_t pid) const override;
  std::string command_of(std::int32_t pid) const override;
  std::string directory_of(std::int32_t pid) const override;
  int death_descriptor(std::int32_t pid) const override;

 private:
  bool sees(std::int32_t pid) const;

  Standpoint self_;
};

}  // namespace tenure::os
