// A command of the program: its line in the table, and how it is run.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "tenure/error.h"

namespace tenure::cli {

struct Command {
  std::string_view name;
  std::string_view usage;    // after "tenure NAME "
  std::string_view summary;  // one line
  std::string_view details;  // a few lines for its own help
  std::span<const std::string_view> options;
  bool takes_command;  // words after "--" are a command line
  // The exit code, or an error that the caller shows.
  Result<int> (*run)(const Arguments& arguments);
};

// All commands, in the order in which the help shows them.
std::span<const Command> commands();
const Command* find_command(std::string_view name);

// One function a command, each in its own file.
Result<int> run_command(const Arguments& arguments);
Result<int> claim_command(const Arguments& arguments);
Result<int> adopt_command(const Arguments& arguments);
Result<int> renew_command(const Arguments& arguments);
Result<int> verify_command(const Arguments& arguments);
Result<int> guard_command(const Arguments& arguments);
Result<int> write_command(const Arguments& arguments);
Result<int> release_command(const Arguments& arguments);
Result<int> handoff_command(const Arguments& arguments);
Result<int> ask_command(const Arguments& arguments);
Result<int> who_command(const Arguments& arguments);
Result<int> ls_command(const Arguments& arguments);
Result<int> top_command(const Arguments& arguments);
Result<int> watch_command(const Arguments& arguments);
Result<int> wait_command(const Arguments& arguments);
Result<int> log_command(const Arguments& arguments);
Result<int> revoke_command(const Arguments& arguments);
Result<int> space_command(const Arguments& arguments);
Result<int> repair_command(const Arguments& arguments);
Result<int> doctor_command(const Arguments& arguments);
Result<int> completion_command(const Arguments& arguments);
Result<int> manual_command(const Arguments& arguments);

}  // namespace tenure::cli
