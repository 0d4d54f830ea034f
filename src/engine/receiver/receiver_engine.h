// The engine of pi-amq's receiver lease: one key, `receiver`, in a namespace folder that pi-amq's processes use as
// well. README.md says what lies where and in which order it is written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "env/directory.h"
#include "env/environment.h"

namespace tenure {

struct ReceiverOptions {
  std::string root_id;  // 1 to 256 bytes; stands in the records
  std::string url;      // of the space, for the commands that messages suggest
  // Other machines write to the folder too, so another boot may be another machine's.
  bool shared_folder = false;
  // All who use the folder are in our pid namespace (its user says so): a number that is not there is gone.
  bool one_namespace = false;
};

inline constexpr char kReceiverKey[] = "receiver";

std::shared_ptr<Engine> open_receiver(std::shared_ptr<env::Directory> folder, env::Environment environment,
                                      ReceiverOptions options);

// What is wrong with a namespace, and what repair would do or did about each.
struct ReceiverFault {
  std::string what;     // "receiver.lock/owner.json is damaged: …"
  std::string action;   // "moved to quarantine/…"; empty: nothing can be done here
  std::string why_not;  // why it is left alone: "pid 17 may be its owner and lives"; empty: it is mended
};

// Looks for damage, and with `mend` mends what is provably nobody's: keeps the evidence in `quarantine`, never
// displaces a holder who lives. With `force` also what nobody can be proven to hold, though somebody may. Code::usage:
// force without a reason.
Result<std::vector<ReceiverFault>> repair_receiver(std::shared_ptr<env::Directory> folder, env::Environment environment,
                                                   ReceiverOptions options, bool mend, bool force,
                                                   const std::string& reason);

}  // namespace tenure
