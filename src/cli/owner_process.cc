#include "cli/owner_process.h"

#include <unistd.h>

#include "base/text.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/opening.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr std::uint64_t kMostPid = std::uint64_t{1} << 22;  // PID_MAX_LIMIT of Linux

bool is_zombie(const ProcessSight& sight) {
  const bool ended = sight.state == 'Z' || sight.state == 'X';
  return sight.stat == ProcessSight::Stat::read && ended && (!sight.threads_counted || sight.other_threads == 0);
}

std::string example(const Arguments& arguments, const std::string& how_long = "--pid $$") {
  return "handle=$(tenure claim" + space_option(arguments) + " " + how_long + " -- " +
         shell_word(arguments.key.value_or("KEY")) + ")";
}

Error no_owner(const Arguments& arguments, std::int32_t pid, const std::string& why) {
  return {Code::usage, "process " + std::to_string(pid) + " cannot own a lease: " + why, example(arguments), nullptr};
}

Result<std::int32_t> session_leader(const Arguments& arguments) {
  const ::pid_t leader = ::getsid(0);
  if (leader <= 0) {
    return fail(Code::usage, "--for session: the leader of this session is in another pid namespace",
                example(arguments, "--ttl 1h"));
  }
  return leader;
}

Result<std::optional<std::int32_t>> pid_of(const Arguments& arguments) {
  if (arguments.pid && arguments.lasting_for) return fail(Code::usage, "--pid and --for session name two owners");
  if (arguments.pid) {
    auto pid = number_of(*arguments.pid, kMostPid, "--pid");
    if (!pid) return fail(pid.error());
    return static_cast<std::int32_t>(*pid);
  }
  if (!arguments.lasting_for) return std::nullopt;
  if (*arguments.lasting_for != "session") {
    return fail(Code::usage, "--for wants the word session, not " + escape_controls(*arguments.lasting_for));
  }
  auto leader = session_leader(arguments);
  if (!leader) return fail(leader.error());
  return *leader;
}

}  // namespace

Result<std::optional<OwnerProcess>> owner_process_of(const Arguments& arguments) {
  auto pid = pid_of(arguments);
  if (!pid) return fail(pid.error());
  if (!*pid) return std::nullopt;
  const std::int32_t number = **pid;
  if (number == 0) return fail(no_owner(arguments, number, "there is no such process"));
  if (number == ::getpid()) return fail(no_owner(arguments, number, "it is this very command, which ends at once"));
  const auto processes = compose::real_environment().processes;
  // The descriptor first, then the look: what is found is then what the descriptor stands for, or is already gone.
  Descriptor death(processes->death_descriptor(number));
  if (is_zombie(processes->look(number))) return fail(no_owner(arguments, number, "it has ended and is a zombie"));
  auto identity = processes->identify(number);
  if (!identity) {
    Error error = no_owner(arguments, number, identity.error().message);
    // It may be there, but cannot be told from others, and no process can: only a TTL needs none.
    if (processes->look(number).existence != ProcessSight::Existence::absent) {
      error.remedy = example(arguments, "--ttl 1h");
    }
    return fail(std::move(error));
  }
  return OwnerProcess{std::move(*identity), processes->command_of(number), processes->directory_of(number),
                      std::move(death)};
}

bool still_there(const ProcessIdentity& process) {
  const auto processes = compose::real_environment().processes;
  const ProcessSight sight = processes->look(process.pid);
  if (sight.existence == ProcessSight::Existence::absent || is_zombie(sight)) return false;
  return sight.stat != ProcessSight::Stat::read || sight.start_ticks == process.start_ticks;
}

}  // namespace tenure::cli
