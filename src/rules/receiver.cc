#include "rules/receiver.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/text.h"

namespace tenure::rules {
namespace {

bool is_digits(const std::string& text) {
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// As /proc/sys/kernel/random/boot_id has it: 8-4-4-4-12 lower-case hex digits.
bool is_boot_id(const std::string& text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (dash ? text[i] != '-' : !hex) return false;
  }
  return true;
}

// Names that many machines bear say nothing about one.
bool names_a_machine(const std::string& host) {
  return !host.empty() && host != "localhost" && !host.starts_with("localhost.");
}

ReceiverVerdict cannot_tell(std::string evidence, bool elsewhere = false) {
  return {{Liveness::unknown, std::move(evidence)}, elsewhere};
}

ReceiverVerdict judge_here(const std::string& pid, Anywhere anywhere) {
  switch (anywhere) {
    case Anywhere::found:
      return {{Liveness::live, pid + " runs since the recorded tick"}};
    case Anywhere::nowhere:
      return {{Liveness::dead, pid + " is gone: no process has that number and start"}};
    case Anywhere::unseen:
      break;
  }
  return cannot_tell(pid + " is not seen from here, and the record names no pid namespace");
}

}  // namespace

bool comparable(const ReceiverProcess& recorded) {
  const bool linux_boot = !recorded.boot_identity || is_boot_id(*recorded.boot_identity);
  return linux_boot && is_digits(recorded.start_identity) && recorded.pid > 0 &&
         recorded.pid <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
}

ReceiverVerdict judge_receiver_process(const ReceiverProcess& recorded, Anywhere anywhere, bool shared_folder,
                                       const Standpoint& self) {
  const std::string host = to_lower_ascii(trim(recorded.hostname));
  const bool same_host = host == self.host;
  const std::string pid = "pid " + std::to_string(recorded.pid);
  if (!comparable(recorded)) {
    return cannot_tell(pid + " was recorded by another system, or by a number that no process of Linux has",
                       !same_host);
  }
  const std::string& boot = self.identity.boot_id;
  const bool known = recorded.boot_identity && !boot.empty();
  if (known && *recorded.boot_identity == boot) return judge_here(pid, anywhere);
  if (!known && anywhere == Anywhere::found && same_host) return judge_here(pid, anywhere);
  if (!same_host) return cannot_tell("it was recorded on host " + escape_controls(recorded.hostname), true);
  if (!known) return cannot_tell("it is not known in which boot " + pid + " was recorded");
  if (shared_folder) return cannot_tell(pid + " was recorded in another boot, perhaps of another machine of this name");
  if (!names_a_machine(host)) return cannot_tell(pid + " was recorded in another boot, on a host named " + host);
  return {{Liveness::dead, "the machine was rebooted since"}};
}

}  // namespace tenure::rules
