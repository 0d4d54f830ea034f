#include "cli/completion.h"

#include <array>

namespace tenure::cli {
namespace {

struct Row {
  std::string_view name;   // of the option
  std::string_view value;  // what stands for its value; empty: any
  Offer offer;
};

using Kind = Offer::Kind;

constexpr std::array kRows = {
    Row{"KEY", "", {Kind::keys, ""}},
    Row{"KEY…", "", {Kind::keys, ""}},
    Row{"PREFIX", "", {Kind::keys, ""}},
    Row{"--prefix", "", {Kind::keys, ""}},
    Row{"ACTION", "", {Kind::words, "ls init move purge repair"}},
    Row{"TARGET", "", {Kind::folders, ""}},
    Row{"PATH", "", {Kind::files, ""}},
    Row{"SHELL", "", {Kind::words, "bash zsh fish"}},
    Row{"COMMAND", "", {Kind::commands, ""}},
    Row{"-", "", {Kind::words, "-"}},
    Row{"--space", "", {Kind::words, "local: system: files: receiver:"}},
    Row{"--wait", "", {Kind::words, "0 forever"}},
    Row{"--until", "", {Kind::words, "main tree"}},
    Row{"--cgroup", "", {Kind::words, "auto never require"}},
    Row{"--on-lost", "", {Kind::words, "term kill warn"}},
    Row{"--on-ask", "", {Kind::words, "accept decline"}},
    Row{"--back", "", {Kind::words, "holder line"}},
    Row{"--for", "session", {Kind::words, "session"}},
    Row{"--status-file", "", {Kind::files, ""}},
    Row{"--handle-file", "", {Kind::files, ""}},
};

}  // namespace

Offer offer_for(const Option& each) {
  for (const Row& row : kRows) {
    if (row.name == each.name && (row.value.empty() || row.value == each.value)) return row.offer;
  }
  return {};
}

std::string command_names() {
  std::string out;
  for (const Command& each : commands()) out += (out.empty() ? "" : " ") + std::string(each.name);
  return out;
}

std::vector<const Option*> words_of(const Command& command) {
  std::vector<const Option*> out;
  for (const std::string_view name : command.options) {
    if (option(name).positional()) out.push_back(&option(name));
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '\'') {
      out += "'\\''";
    } else {
      out += byte;
    }
  }
  return out;
}

}  // namespace tenure::cli
