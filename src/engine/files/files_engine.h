// The `files:` engine: leases as files in one folder, in AgentMux's format, honoured both ways. See README.md.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "env/directory.h"
#include "env/environment.h"
#include "rules/ownership.h"

namespace tenure {

struct FilesOptions {
  rules::Expiry expiry = rules::Expiry::proof;
  // The folder lies on a file system that other machines may share. Then an equal machine id does not make another boot
  // "the same machine, rebooted": images of virtual machines are copied with their id.
  bool shared_folder = false;
};

// `directory` is the folder `leases/` itself, open. Code::no_randomness is reported by claims, not here.
std::shared_ptr<Engine> open_files(std::shared_ptr<env::Directory> directory, env::Environment environment,
                                   FilesOptions options);

}  // namespace tenure
