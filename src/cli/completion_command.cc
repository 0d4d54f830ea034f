// completion: prints the script for a shell.
#include "base/text.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

Result<std::string> script_for(const std::optional<std::string>& shell) {
  if (shell == "bash") return bash_completion();
  if (shell == "zsh") return zsh_completion();
  if (shell == "fish") return fish_completion();
  return fail(Code::usage,
              shell ? "there is a script for bash, zsh and fish, none for " + escape_controls(*shell)
                    : "SHELL is missing: bash, zsh or fish",
              "tenure completion bash");
}

}  // namespace

Result<int> completion_command(const Arguments& arguments) {
  auto script = script_for(arguments.shell);
  if (!script) return fail(script.error());
  if (auto printed = print(*script); !printed) return fail(printed.error());
  return 0;
}

}  // namespace tenure::cli
