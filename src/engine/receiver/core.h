// Core: what every part of the engine stands on. Bound: how long a call may take, all in all.
#pragma once

#include <memory>
#include <string>

#include "engine/receiver/receiver_engine.h"
#include "env/directory.h"
#include "env/environment.h"
#include "model/receiver_names.h"
#include "tenure/stop.h"

namespace tenure::receiver {

// As pi-amq waits for a guard; our own waits for one in the course of a release or a revocation may be longer.
inline constexpr Duration kGuardWait = std::chrono::seconds(1);

struct Core {
  std::shared_ptr<env::Directory> root;
  env::Environment environment;
  ReceiverOptions options;
  Standpoint self;  // what holders are compared with

  Core(std::shared_ptr<env::Directory> a_root, env::Environment an_environment, ReceiverOptions an_options)
      : root(std::move(a_root)),
        environment(std::move(an_environment)),
        options(std::move(an_options)),
        self(environment.processes->self()) {
    // Where several machines write, an equal machine id proves nothing about another boot.
    if (options.shared_folder) self.identity.machine_id.clear();
  }

  const env::Clock& clock() const { return *environment.clock; }
  std::string path_of(const std::string& name) const { return root->path() + "/" + name; }
  // For people, to be typed next.
  std::string repair_command() const {
    const bool plain = options.url.find_first_of("?&*;()$'") == std::string::npos;
    return "tenure repair " + (plain ? options.url : "'" + options.url + "'");
  }
  // Whether locks of that boot are ours to ask. A folder of this machine alone is used through this kernel or none.
  bool one_kernel(const std::string& boot_id) const {
    const std::string& own = self.identity.boot_id;
    if (boot_id.empty() || own.empty()) return !options.shared_folder;
    return boot_id == own;
  }
};

Result<Random16> fresh_random(const Core& core);
// A folder of the namespace, made where it is missing.
Result<std::unique_ptr<env::Directory>> folder_of(const Core& core, const char* name);

struct Bound {
  MonotonicTime until;
  const Stop* stop = nullptr;

  static Bound of(const Core& core, Duration at_most, const Stop* stop = nullptr) {
    return {core.clock().monotonic() + at_most, stop};
  }
  bool over(const Core& core) const {
    return (stop != nullptr && stop->requested()) || core.clock().monotonic() >= until;
  }
  Duration left(const Core& core) const { return until - core.clock().monotonic(); }
};

}  // namespace tenure::receiver
