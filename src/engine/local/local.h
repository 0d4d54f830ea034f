// The `local:` engine: sole ownership among all processes of one machine that open the same folder, at the price of a
// mutex. See README.md.
#pragma once

#include <memory>
#include <optional>

#include "engine/engine.h"
#include "engine/local/layout.h"
#include "engine/local/wanted_limits.h"
#include "env/environment.h"
#include "env/local_folder.h"
#include "env/words.h"

namespace tenure {

struct LocalOptions {
  // Of a table that is made, where the folder keeps no wish (wanted_limits.h); a table that is there keeps its own.
  local::Limits limits;
  bool observe_only = false;  // joins nothing and writes nothing: for looking
  // Keeps this wish in the folder, and makes a table that is there with other limits anew. Code::holder_live, and
  // nothing is changed, while anybody is in or a key is held.
  std::optional<local::WantedLimits> remake;
};

// Joins the space in `folder`. Code::section_busy while another makes its table for too long, Code::unsuitable_folder
// for a table of another format with living members, Code::damaged for noise in its place with living members,
// Code::limit_reached when all member numbers are taken, Code::unreachable for an observer of a space without a table,
// and what the ports may say.
Result<std::shared_ptr<Engine>> open_local(std::unique_ptr<env::LocalFolder> folder, std::shared_ptr<env::Words> words,
                                           env::Environment environment, const LocalOptions& options);

}  // namespace tenure
