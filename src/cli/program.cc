#include "cli/program.h"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/error_view.h"
#include "cli/help.h"
#include "cli/nearest.h"
#include "cli/opening.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

int said(std::string_view text) {
  if (auto printed = print(text); !printed) return show_error(printed.error(), false);
  return 0;
}

Error unknown_command(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command& each : commands()) names.push_back(each.name);
  const auto near = nearest(word, names);
  std::string message =
      word.starts_with('-') ? "options follow the command; there is no command " : "there is no command ";
  return {Code::usage, message + escape_controls(word),
          near ? "did you mean " + std::string(*near) + "?" : "tenure --help", nullptr};
}

int help_for(const std::vector<std::string>& words) {
  if (words.size() < 2) return said(program_help());
  if (const Command* command = find_command(words[1])) return said(command_help(*command));
  return show_error(unknown_command(words[1]), false);
}

// Wanted before the words could be parsed, so that an error in them is shown in the right form. What follows "--" is
// not ours.
bool wants_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

std::string version(const std::vector<std::string>& words) {
  const std::string number(kVersion);
  return wants_json(words) ? "{\"version\":\"" + number + "\"}\n" : "tenure " + number + "\n";
}

int run_words(const std::vector<std::string>& words) {
  if (words.empty()) {
    complain(program_help());
    return facts(Code::usage).exit_code;
  }
  if (words[0] == "--version") return said(version(words));
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") return help_for(words);
  const bool json = wants_json(words);
  const Command* command = find_command(words[0]);
  if (command == nullptr) return show_error(unknown_command(words[0]), json);
  auto arguments = parse_arguments(command->name, command->options, command->takes_command,
                                   std::vector<std::string>(words.begin() + 1, words.end()));
  if (!arguments) return show_error(arguments.error(), json);
  if (arguments->help) return said(command_help(*command));
  auto exit_code = command->run(*arguments);
  if (!exit_code) {
    const auto key = Key::parse(arguments->key.value_or(""));
    return show_error(exit_code.error(), json, chosen_url(*arguments), key ? &*key : nullptr);
  }
  return *exit_code;
}

}  // namespace

int run_program(int count, char** arguments) {
  try {
    return run_words(std::vector<std::string>(arguments + std::min(count, 1), arguments + count));
  } catch (const std::exception& fault) {
    return show_error({Code::internal, std::string("a fault in tenure itself: ") + fault.what(), {}, nullptr}, false);
  }
}

}  // namespace tenure::cli
