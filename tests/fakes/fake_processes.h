// FakeWorld: machines and processes that only the test brings to life, stops, hides and kills.
//
// Each fake process looks at the world through its own env::Processes (`view`), as a real one looks through /proc and
// pidfd from its own namespace.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "env/processes.h"

namespace tenure::fakes {

// Names one process of a world for ever, whatever becomes of its pid.
enum class ProcessNumber : int {};

// How a process is born. Everything has a default: two defaults are two processes of one user on one machine.
struct Birth {
  std::string machine = "machine-a";
  std::string host = "host-a";
  std::int32_t pid = 0;  // 0: the next free one
  std::uint64_t pid_namespace = 4'026'531'836;
  std::uint64_t time_namespace = 4'026'531'834;
  std::uint32_t user = 1'000;
  std::string user_name = "fake-user";
  std::string command = "fake-command --flag";
  std::string directory = "/fake/directory";
  bool proc_usable = true;  // it has a /proc of its own pid namespace
  bool sees_pids = true;    // pidfd_open and kill(pid, 0) are allowed to it
};

// Thread-safe. Must outlive nothing: views keep it alive.
class FakeWorld : public std::enable_shared_from_this<FakeWorld> {
 public:
  static std::shared_ptr<FakeWorld> create() { return std::shared_ptr<FakeWorld>(new FakeWorld); }
  ~FakeWorld();
  FakeWorld(const FakeWorld&) = delete;
  FakeWorld& operator=(const FakeWorld&) = delete;

  ProcessNumber spawn(const Birth& birth = {});
  std::shared_ptr<const env::Processes> view(ProcessNumber viewer);
  ProcessIdentity identity_of(ProcessNumber number) const;

  // SIGKILL, and its parent has reaped it: nothing is left.
  void kill(ProcessNumber number);
  // The leader has ended and nobody has reaped it. With `other_threads` the process still runs.
  void make_zombie(ProcessNumber number, std::uint32_t other_threads = 0);
  // SIGSTOP and SIGCONT.
  void stop(ProcessNumber number);
  void resume(ProcessNumber number);
  // Kills it, if that was not done yet, and gives its pid to a new process.
  ProcessNumber reuse_pid(ProcessNumber number);
  // hidepid: `viewer` no longer finds `whom` in /proc.
  void hide(ProcessNumber whom, ProcessNumber viewer);
  // All processes of the machine end; those born from now on have a new boot id.
  void reboot(const std::string& machine);

  // False once its address space is gone.
  bool running(ProcessNumber number) const;
  bool stopped(ProcessNumber number) const;
  std::int32_t pid_of(ProcessNumber number) const { return identity_of(number).pid; }

  // Called, without any lock of the world, after a process ended: whoever keeps something for it lets go.
  void on_death(std::function<void(ProcessNumber)> callback);

 private:
  friend class FakeProcesses;
  enum class Life : std::uint8_t { running, stopped, zombie, gone };
  struct Process {
    Birth birth;
    ProcessIdentity identity;
    Life life = Life::running;
    std::uint32_t other_threads = 0;
    std::vector<int> death_descriptors;  // our ends
  };

  FakeWorld() = default;
  static std::string boot_id(const std::string& machine, int boot);
  static bool over(const Process& process);
  Process& at(ProcessNumber number);
  const Process& at(ProcessNumber number) const;
  // The process that `viewer` reaches by that pid, zombies included.
  const Process* reach(const Process& viewer, std::int32_t pid) const;
  void end(ProcessNumber number, Life how, std::uint32_t other_threads);

  ProcessSight look(ProcessNumber viewer, std::int32_t pid) const;
  // Who is in the initial pid namespace (that of a default birth), sees pids, and has nobody hidden from it sees all.
  Anywhere find(ProcessNumber viewer, std::int32_t pid, std::uint64_t start_ticks) const;
  Result<ProcessIdentity> identify(ProcessNumber viewer, std::int32_t pid) const;
  std::string command_of(ProcessNumber viewer, std::int32_t pid) const;
  std::string directory_of(ProcessNumber viewer, std::int32_t pid) const;
  int death_descriptor(ProcessNumber viewer, std::int32_t pid);

  mutable std::mutex mutex_;
  std::vector<Process> processes_;
  std::map<std::string, int> boots_;
  std::set<std::pair<std::int32_t, ProcessNumber>> hidden_;  // pid, viewer
  std::vector<std::function<void(ProcessNumber)>> death_callbacks_;
  std::int32_t next_pid_ = 1'000;
  std::uint64_t next_ticks_ = 50'000;
};

}  // namespace tenure::fakes
