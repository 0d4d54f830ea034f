#include "os/linux/standpoint.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/password_entry.h"
#include "os/linux/proc_files.h"

namespace tenure::os {
namespace {

using Stat = ProcessSight::Stat;

std::string one_line(const std::string& path) {
  const ProcFile file = read_proc_file(path);
  return file.status == Stat::read ? escape_controls(cut_text(trim(file.bytes), 128)) : std::string{};
}

// 32 hex digits, or nothing: "uninitialized" stands there early in a first boot, and in images.
std::string machine_id() {
  for (const char* path : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
    std::string id = one_line(path);
    if (id.size() == 32 && from_hex(id)) return id;
  }
  return {};
}

std::string host_name() {
  std::array<char, limits::kHostBytes + 1> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0) return {};
  return buffer.data();
}

std::string working_directory() {
  std::string buffer(limits::kPathBytes, '\0');
  if (getcwd(buffer.data(), buffer.size()) == nullptr) return {};
  return escape_controls(buffer.c_str());
}

// /proc is procfs, /proc/self is our own pid, and no outer namespace has another number for us: where "NSpid:" lists
// two, this /proc belongs to an outer pid namespace, and an equal number would be chance.
bool proc_shows_us(const std::optional<ProcStat>& own) {
  if (!proc_is_procfs() || !own || own->pid != getpid()) return false;
  const ProcFile status = read_proc_file("/proc/self/status");
  if (status.status != Stat::read) return false;
  const auto outer = status_number(status.bytes, "NSpid:", 0);
  const auto inner = status_number(status.bytes, "NSpid:", 1);
  return !inner && (!outer || *outer == static_cast<std::uint64_t>(getpid()));
}

std::optional<ProcStat> own_stat() {
  const ProcFile file = read_proc_file("/proc/self/stat");
  return file.status == Stat::read ? parse_proc_stat(file.bytes) : std::nullopt;
}

}  // namespace

std::string user_name_of(std::uint32_t user) {
  const auto entry = password_entry(user);
  return entry ? escape_controls(cut_text(entry->name, limits::kUserNameBytes)) : std::to_string(user);
}

Standpoint read_standpoint() {
  Standpoint self;
  const std::optional<ProcStat> own = own_stat();
  self.proc_usable = proc_shows_us(own);
  self.identity.pid = getpid();
  // Ticks that nobody can compare would only mislead: without a /proc of our own they stay unknown.
  if (self.proc_usable) self.identity.start_ticks = own->start_ticks;
  self.identity.boot_id = one_line("/proc/sys/kernel/random/boot_id");
  self.identity.machine_id = machine_id();
  self.identity.pid_namespace = namespace_inode("/proc/self/ns/pid");
  self.identity.time_namespace = namespace_inode("/proc/self/ns/time");
  self.identity.user = geteuid();
  self.host_name = host_name();
  self.host = escape_controls(to_lower_ascii(trim(self.host_name)));
  self.user_name = user_name_of(geteuid());
  const ProcFile cmdline = read_proc_file("/proc/self/cmdline");
  self.command =
      shown_command(cmdline.status == Stat::read && !cmdline.bytes.empty() ? cmdline.bytes : program_invocation_name,
                    limits::kCommandBytes);
  self.directory = working_directory();
  return self;
}

}  // namespace tenure::os
