#include "engine/receiver/core.h"

namespace tenure::receiver {

Result<Random16> fresh_random(const Core& core) {
  Random16 bytes{};
  if (auto filled = core.environment.random->fill(bytes); !filled) return fail(filled.error());
  return bytes;
}

Result<std::unique_ptr<env::Directory>> folder_of(const Core& core, const char* name) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto folder = core.root->open_folder(name);
    if (!folder || *folder != nullptr) return folder;
    if (auto made = core.root->make_folder(name); !made) return fail(made.error());
  }
  return fail(Code::input_output, core.path_of(name) + " vanishes as soon as it is made");
}

}  // namespace tenure::receiver
