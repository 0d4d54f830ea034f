// The process that `claim` leaves behind: it claims, holds, watches the owner and ends with it.
//
// It has a session of its own, stands in /, has /dev/null for its standard streams and no other descriptor of whoever
// started it: so $(tenure claim …) ends at once, no terminal and no pipe is held open, no file system is kept busy.
#pragma once

#include "cli/arguments.h"
#include "cli/keeper_line.h"
#include "cli/owner_process.h"
#include "tenure/space.h"

namespace tenure::cli {

struct KeeperPlan {
  const Arguments& arguments;
  Key key;
  ClaimOptions options;
  std::optional<OwnerProcess> owner;
};

// Runs in the forked child, from its first moment to its exit code. Nothing of it reaches the caller's streams but what
// it says on the line.
int keep(KeeperPlan plan, KeeperLine line);

}  // namespace tenure::cli
