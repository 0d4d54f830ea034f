// manual: prints a manual page.
#include "base/text.h"
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/output.h"

namespace tenure::cli {

Result<int> manual_command(const Arguments& arguments) {
  const Command* command = arguments.topic ? find_command(*arguments.topic) : nullptr;
  if (arguments.topic && command == nullptr) {
    return fail(Code::usage, "there is no command " + escape_controls(*arguments.topic), "tenure --help");
  }
  if (auto printed = print(command == nullptr ? program_page() : command_page(*command)); !printed) {
    return fail(printed.error());
  }
  return 0;
}

}  // namespace tenure::cli
