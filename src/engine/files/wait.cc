#include "engine/files/wait.h"

#include <algorithm>

#include "engine/files/store.h"
#include "engine/folder_wait.h"

namespace tenure::files {
namespace {

class KeyChanges final : public Changes {
 public:
  KeyChanges(Store& store, std::unique_ptr<env::Watch> watch) : store_(store), watch_(std::move(watch)) {}

  Result<Seen> wait(Duration at_most, const Stop* stop) override {
    auto changes = watch_->wait(at_most, stop, -1);
    if (!changes) return fail(changes.error());
    Seen seen{{}, changes->everything};
    for (const std::string& name : changes->names) {
      const auto stem = stem_of(name);
      if (!stem) continue;
      // A hashed name whose record is gone names no key: then all is looked at.
      if (auto key = store_.key_of(*stem)) {
        if (std::find(seen.keys.begin(), seen.keys.end(), *key) == seen.keys.end()) seen.keys.push_back(*key);
      } else {
        seen.everything = true;
      }
    }
    return seen;
  }

 private:
  Store& store_;
  std::unique_ptr<env::Watch> watch_;
};

}  // namespace

Result<Grant> await(Store& store, const ClaimRequest& request, const Wait& wait) {
  const FileNames names = file_names(request.key);
  const FolderWait folder{.claim = [&](const ClaimRequest& asked, const Stop* stop,
                                       Duration section_wait) { return store.claim(asked, stop, section_wait); },
                          .holder = [&](const Key& key) { return store.holder(key); },
                          .watch = [&] { return store.directory().watch(); },
                          .sign_of =
                              [&](const std::string& name) {
                                if (name == names.record) return FolderWait::Sign::changed;
                                if (name == names.lock) return FolderWait::Sign::section_free;
                                return name == names.life ? FolderWait::Sign::let_go : FolderWait::Sign::nothing;
                              },
                          .environment = &store.environment()};
  return await_in_folder(folder, request, wait);
}

Result<std::unique_ptr<Changes>> watch_keys(Store& store) {
  auto watch = store.directory().watch();
  if (!watch) return fail(watch.error());
  return std::make_unique<KeyChanges>(store, std::move(*watch));
}

}  // namespace tenure::files
