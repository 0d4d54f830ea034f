// What the command line of `run` asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/ask_desk.h"
#include "cli/run_group.h"
#include "tenure/space.h"

namespace tenure::cli {

struct RunPlan {
  std::vector<Key> keys;           // as they were named
  std::vector<std::size_t> order;  // their numbers, as they are claimed
  ClaimOptions options;
  Duration grace;
  std::string hook;  // what --on-lost says, where it is a command
  AskPolicy on_ask;
  bool adopt = false;  // in place of a claim
  bool whole_tree = false;
  std::optional<int> busy_exit;
  GroupWish group = GroupWish::automatic;
};

Result<RunPlan> run_plan_of(const Arguments& arguments);

}  // namespace tenure::cli
