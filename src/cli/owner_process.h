// The process that a claim is kept for.
#pragma once

#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/files.h"
#include "tenure/holder.h"

namespace tenure::cli {

struct OwnerProcess {
  ProcessIdentity identity;
  std::string command;
  std::string directory;
  // Readable when it ends; not open where the system has none to give: then it must be asked for.
  Descriptor death;
};

// From --pid or --for session; nullopt where neither was given. Code::usage for what is no process that can own: none,
// a zombie, one that cannot be seen, our own.
Result<std::optional<OwnerProcess>> owner_process_of(const Arguments& arguments);

// Whether it is still there, where there is no descriptor to tell.
bool still_there(const ProcessIdentity& process);

}  // namespace tenure::cli
