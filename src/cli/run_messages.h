// What `run` says on standard error, as text for 80 columns or as one line of JSON.
#pragma once

#include <string>
#include <string_view>

#include "tenure/space.h"

namespace tenure::cli {

std::string loss_message(const Lease& lease, const Loss& loss, const Space& space, bool json);
std::string overrun_message(Duration by, bool json);
// Something happened to the run itself: "runner_killed", "guardian_killed", "ran_out".
std::string notice(std::string_view event, const std::string& message, bool json);
// Why there was no command: "interrupted", "not_started".
std::string no_command_message(std::string_view code, const std::string& message, int exit_code, bool json);

}  // namespace tenure::cli
