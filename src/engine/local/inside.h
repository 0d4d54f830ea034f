// Who is in a local space, and how full it is: for doctor, space ls, and refusals.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/local/layout.h"
#include "env/environment.h"
#include "env/local_folder.h"
#include "env/words.h"
#include "tenure/epoch.h"
#include "tenure/error.h"
#include "tenure/holder.h"

namespace tenure {

// A process that has the space open, and is not proven dead.
struct LocalMember {
  ProcessIdentity process;
  std::string owner, host, user_name, command, directory;
  WallTime since;
  Verdict verdict;
  bool stopped = false;     // as far as can be seen
  bool in_section = false;  // holds a bucket right now; stopped there it holds up its keys
  std::size_t keys = 0;     // held by it
  std::size_t waits = 0;    // places in line
};

struct LocalSight {
  local::Limits limits;
  std::size_t cells = 0;  // taken
  Epoch epoch;            // the highest given out
  Epoch ceiling;
  std::vector<LocalMember> members;  // by pid
};

// `folder` was opened for looking. nullopt: nobody has used the space since the machine started.
Result<std::optional<LocalSight>> look_into_local(std::unique_ptr<env::LocalFolder> folder,
                                                  std::shared_ptr<env::Words> words, env::Environment environment);

namespace local {

struct Core;
std::vector<LocalMember> living_members(Core& core);
// "2 processes have it open: pid 17 (sleep 60), holding 1 key; …": for refusals.
std::string words_of(const std::vector<LocalMember>& members);
// Code::holder_live while a key is held by a holder that lives or may live, with `force` only one who is known to live:
// a lease can outlast its member. For who is alone.
Result<void> refuse_held_keys(Core& core, bool force);

}  // namespace local
}  // namespace tenure
