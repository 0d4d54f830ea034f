// Where a handle comes from: TENURE_HANDLE, a file or standard input; never an argument.
#pragma once

#include "cli/arguments.h"
#include "tenure/handle.h"
#include "tenure/space.h"

namespace tenure::cli {

// Code::usage where none was given, Code::bad_handle; no message repeats any of its text.
Result<Handle> handle_of(const Arguments& arguments);

// Opens the space of the handle and does `act` there. Errors are shown with that space's commands.
Result<int> with_handle(const Arguments& arguments, Result<int> (*act)(const Space&, const Handle&, const Arguments&));

}  // namespace tenure::cli
