#include "fakes/fake_processes.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iomanip>
#include <sstream>

namespace tenure::fakes {

namespace {
constexpr std::uint64_t kTicksPerSecond = 100;
constexpr std::uint64_t kBootWallSeconds = 1'749'000'000;
const std::uint64_t kInitialPidNamespace = Birth{}.pid_namespace;
}  // namespace

// One process's sight of the world.
class FakeProcesses final : public env::Processes {
 public:
  FakeProcesses(std::shared_ptr<FakeWorld> world, ProcessNumber viewer, Standpoint self)
      : world_(std::move(world)), viewer_(viewer), self_(std::move(self)), born_in_(::getpid()) {}

  const Standpoint& self() const override { return self_; }
  std::string executable() const override { return self_.proc_usable ? "/fake/bin/program" : ""; }
  // A fork of the test program is a fork of every fake process in it.
  bool forked() const override { return ::getpid() != born_in_; }
  ProcessSight look(std::int32_t pid) const override { return world_->look(viewer_, pid); }
  bool ending(std::int32_t /*pid*/, std::uint64_t /*start_ticks*/) const override { return false; }
  Anywhere find(std::int32_t pid, std::uint64_t start_ticks) const override {
    return world_->find(viewer_, pid, start_ticks);
  }
  Result<ProcessIdentity> identify(std::int32_t pid) const override { return world_->identify(viewer_, pid); }
  std::string command_of(std::int32_t pid) const override { return world_->command_of(viewer_, pid); }
  std::string directory_of(std::int32_t pid) const override { return world_->directory_of(viewer_, pid); }
  int death_descriptor(std::int32_t pid) const override { return world_->death_descriptor(viewer_, pid); }

 private:
  std::shared_ptr<FakeWorld> world_;
  ProcessNumber viewer_;
  Standpoint self_;
  pid_t born_in_;
};

FakeWorld::~FakeWorld() {
  for (const Process& process : processes_) {
    for (int descriptor : process.death_descriptors) ::close(descriptor);
  }
}

ProcessNumber FakeWorld::spawn(const Birth& birth) {
  std::lock_guard lock(mutex_);
  Process process;
  process.birth = birth;
  ProcessIdentity& identity = process.identity;
  identity.pid = birth.pid != 0 ? birth.pid : next_pid_++;
  identity.start_ticks = next_ticks_;
  next_ticks_ += kTicksPerSecond;
  identity.machine_id = birth.machine;
  identity.boot_id = boot_id(birth.machine, boots_[birth.machine]);
  identity.pid_namespace = birth.pid_namespace;
  identity.time_namespace = birth.time_namespace;
  identity.user = birth.user;
  processes_.push_back(std::move(process));
  return static_cast<ProcessNumber>(processes_.size() - 1);
}

std::shared_ptr<const env::Processes> FakeWorld::view(ProcessNumber viewer) {
  std::lock_guard lock(mutex_);
  const Process& process = at(viewer);
  Standpoint self{.identity = process.identity,
                  .host = process.birth.host,
                  .host_name = process.birth.host,
                  .user_name = process.birth.user_name,
                  .command = process.birth.command,
                  .directory = process.birth.directory,
                  .proc_usable = process.birth.proc_usable};
  return std::make_shared<FakeProcesses>(shared_from_this(), viewer, std::move(self));
}

ProcessIdentity FakeWorld::identity_of(ProcessNumber number) const {
  std::lock_guard lock(mutex_);
  return at(number).identity;
}

void FakeWorld::kill(ProcessNumber number) {
  end(number, Life::gone, 0);
}

void FakeWorld::make_zombie(ProcessNumber number, std::uint32_t other_threads) {
  end(number, Life::zombie, other_threads);
}

void FakeWorld::stop(ProcessNumber number) {
  std::lock_guard lock(mutex_);
  if (at(number).life == Life::running) at(number).life = Life::stopped;
}

void FakeWorld::resume(ProcessNumber number) {
  std::lock_guard lock(mutex_);
  if (at(number).life == Life::stopped) at(number).life = Life::running;
}

ProcessNumber FakeWorld::reuse_pid(ProcessNumber number) {
  kill(number);
  Birth again;
  {
    std::lock_guard lock(mutex_);
    again = at(number).birth;
    again.pid = at(number).identity.pid;
  }
  return spawn(again);
}

void FakeWorld::hide(ProcessNumber whom, ProcessNumber viewer) {
  std::lock_guard lock(mutex_);
  hidden_.emplace(at(whom).identity.pid, viewer);
}

void FakeWorld::reboot(const std::string& machine) {
  std::vector<ProcessNumber> ending;
  {
    std::lock_guard lock(mutex_);
    ++boots_[machine];
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (processes_[i].birth.machine == machine && processes_[i].life != Life::gone) {
        ending.push_back(static_cast<ProcessNumber>(i));
      }
    }
  }
  for (ProcessNumber number : ending) kill(number);
}

bool FakeWorld::running(ProcessNumber number) const {
  std::lock_guard lock(mutex_);
  return !over(at(number));
}

bool FakeWorld::stopped(ProcessNumber number) const {
  std::lock_guard lock(mutex_);
  return at(number).life == Life::stopped;
}

void FakeWorld::on_death(std::function<void(ProcessNumber)> callback) {
  std::lock_guard lock(mutex_);
  death_callbacks_.push_back(std::move(callback));
}

std::string FakeWorld::boot_id(const std::string& machine, int boot) {
  // As a kernel writes it: records of other programs are judged by that form.
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(8) << boot << "-b007-4b00-8000-" << std::setw(12)
       << (std::hash<std::string>{}(machine) & 0xffff'ffff'ffffU);
  return text.str();
}

bool FakeWorld::over(const Process& process) {
  return process.life == Life::gone || (process.life == Life::zombie && process.other_threads == 0);
}

FakeWorld::Process& FakeWorld::at(ProcessNumber number) {
  return processes_.at(static_cast<std::size_t>(number));
}
const FakeWorld::Process& FakeWorld::at(ProcessNumber number) const {
  return processes_.at(static_cast<std::size_t>(number));
}

const FakeWorld::Process* FakeWorld::reach(const Process& viewer, std::int32_t pid) const {
  for (const Process& other : processes_) {
    if (other.life != Life::gone && other.identity.pid == pid && other.identity.boot_id == viewer.identity.boot_id &&
        other.identity.pid_namespace == viewer.identity.pid_namespace) {
      return &other;
    }
  }
  return nullptr;
}

void FakeWorld::end(ProcessNumber number, Life how, std::uint32_t other_threads) {
  std::vector<std::function<void(ProcessNumber)>> callbacks;
  {
    std::lock_guard lock(mutex_);
    Process& process = at(number);
    const bool was_over = over(process);
    if (process.life == Life::gone) return;
    process.life = how;
    process.other_threads = other_threads;
    if (was_over || !over(process)) return;
    for (int descriptor : process.death_descriptors) {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = ::write(descriptor, &one, sizeof one);
      ::close(descriptor);
    }
    process.death_descriptors.clear();
    callbacks = death_callbacks_;
  }
  for (const auto& callback : callbacks) callback(number);
}

ProcessSight FakeWorld::look(ProcessNumber viewer, std::int32_t pid) const {
  std::lock_guard lock(mutex_);
  const Process& from = at(viewer);
  const Process* target = reach(from, pid);
  ProcessSight sight;
  if (from.birth.sees_pids) {
    sight.existence = target != nullptr ? ProcessSight::Existence::exists : ProcessSight::Existence::absent;
  }
  if (!from.birth.proc_usable) return sight;
  if (target == nullptr || hidden_.contains({pid, viewer})) {
    sight.stat = ProcessSight::Stat::absent;
    return sight;
  }
  sight.stat = ProcessSight::Stat::read;
  sight.start_ticks = target->identity.start_ticks;
  sight.state = target->life == Life::zombie ? 'Z' : target->life == Life::stopped ? 'T' : 'S';
  sight.threads_counted = true;
  sight.other_threads = target->other_threads;
  sight.start_wall_seconds = kBootWallSeconds + target->identity.start_ticks / kTicksPerSecond;
  return sight;
}

Anywhere FakeWorld::find(ProcessNumber viewer, std::int32_t pid, std::uint64_t start_ticks) const {
  std::lock_guard lock(mutex_);
  const ProcessIdentity& from = at(viewer).identity;
  const Birth& birth = at(viewer).birth;
  if (!birth.proc_usable) return Anywhere::unseen;
  const bool initial = from.pid_namespace == kInitialPidNamespace;
  bool all_seen = initial && birth.sees_pids;
  for (const Process& other : processes_) {
    if (other.life == Life::gone || other.identity.boot_id != from.boot_id) continue;
    if (hidden_.contains({other.identity.pid, viewer})) {
      all_seen = false;
      continue;
    }
    // An inner namespace shows only its own processes.
    if (!initial && other.identity.pid_namespace != from.pid_namespace) continue;
    if (other.identity.pid != pid || over(other)) continue;
    if (other.identity.start_ticks == start_ticks) return Anywhere::found;
    if (other.identity.time_namespace != from.time_namespace) all_seen = false;
  }
  return all_seen ? Anywhere::nowhere : Anywhere::unseen;
}

Result<ProcessIdentity> FakeWorld::identify(ProcessNumber viewer, std::int32_t pid) const {
  std::lock_guard lock(mutex_);
  const Process* target = reach(at(viewer), pid);
  if (target == nullptr) return fail(Code::not_held, "there is no process " + std::to_string(pid));
  if (!at(viewer).birth.proc_usable || hidden_.contains({pid, viewer})) {
    return fail(Code::not_permitted, "process " + std::to_string(pid) + " cannot be seen from here");
  }
  return target->identity;
}

std::string FakeWorld::command_of(ProcessNumber viewer, std::int32_t pid) const {
  std::lock_guard lock(mutex_);
  const Process* target = reach(at(viewer), pid);
  return target == nullptr || hidden_.contains({pid, viewer}) ? std::string{} : target->birth.command;
}

std::string FakeWorld::directory_of(ProcessNumber viewer, std::int32_t pid) const {
  std::lock_guard lock(mutex_);
  const Process* target = reach(at(viewer), pid);
  return target == nullptr || hidden_.contains({pid, viewer}) ? std::string{} : target->birth.directory;
}

int FakeWorld::death_descriptor(ProcessNumber viewer, std::int32_t pid) {
  std::lock_guard lock(mutex_);
  const Process* target = at(viewer).birth.sees_pids ? reach(at(viewer), pid) : nullptr;
  if (target == nullptr) return -1;
  const int descriptor = ::eventfd(over(*target) ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0 || over(*target)) return descriptor;
  const int ours = ::dup(descriptor);
  if (ours >= 0) const_cast<Process*>(target)->death_descriptors.push_back(ours);
  return descriptor;
}

}  // namespace tenure::fakes
