#include "cli/help.h"

#include "cli/layout.h"

namespace tenure::cli {

std::string program_help() {
  std::string out = "tenure: sole, fenced ownership of a named thing, for one process at a time\n\n";
  for (const Command& each : commands()) out += hanging("  " + cell(each.name, 12), each.summary);
  out += "\n";
  out += hanging("", "For example: tenure run deploy -- make deploy");
  out += hanging("", "More: tenure COMMAND --help, tenure --version. Every command takes --json.");
  return out;
}

std::string command_help(const Command& command) {
  std::string out = hanging("usage: ", "tenure " + std::string(command.name) + " " + std::string(command.usage));
  out += "\n" + hanging("", std::string(command.summary) + ".");
  if (!command.details.empty()) out += "\n" + hanging("", command.details);
  out += "\n";
  for (const std::string_view name : command.options) {
    const Option& each = option(name);
    std::string label = "  " + std::string(each.name);
    if (!each.value.empty()) label += " " + std::string(each.value);
    out += hanging(cell(label, 24), each.help);
  }
  return out;
}

}  // namespace tenure::cli
