// --status-file: one line of JSON that tells whose the exit code was.
//
//   {"by":"command","exit_code":3}                            the command's own
//   {"by":"command","exit_code":143,"signal":15}              it died of a signal
//   {"by":"tenure","exit_code":75,"code":"timed_out"}         ours; "code" as in errors.def
//   {"by":"tenure","exit_code":127,"code":"not_started"}      the command could not be started
//   {"by":"tenure","exit_code":130,"code":"interrupted"}      a signal ended the wait
//   {"by":"tenure","exit_code":76,"code":"lost","command_exit_code":143}
//   {"by":"tenure","exit_code":76,"code":"yielded","command_exit_code":143}      as was promised to who asked
// Empty: we were killed before the end. One that cannot be written is told on standard error.
#pragma once

#include <optional>
#include <string>

#include "cli/child.h"
#include "cli/files.h"

namespace tenure::cli {

class StatusFile {
 public:
  // Opened at once, so that a wrong name is told before anything is claimed. Without a name it does nothing.
  // `json`: how faults are told.
  static Result<StatusFile> open(const std::optional<std::string>& path, bool json);
  // Returns the exit code to end with: that of the command, or ours where it was 0 and the file could not be written.
  int by_command(const ChildEnd& end);
  void by_tenure(int exit_code, std::string_view code, const std::optional<ChildEnd>& command = std::nullopt);

 private:
  // 0, or the exit code of the fault, which has been told.
  int write(const std::string& line);
  Descriptor file_;
  std::string path_;
  bool json_ = false;
};

}  // namespace tenure::cli
