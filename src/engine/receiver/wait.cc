#include "engine/receiver/wait.h"

#include <algorithm>

#include "engine/folder_wait.h"
#include "engine/receiver/store.h"

namespace tenure::receiver {
namespace {

// Whatever is done to a lease is done under the guard, in its own folder too, where we do not watch.
FolderWait::Sign sign_of(const std::string& name) {
  return name == kLease || name == kGuard ? FolderWait::Sign::changed : FolderWait::Sign::nothing;
}

class ReceiverChanges final : public Changes {
 public:
  explicit ReceiverChanges(std::unique_ptr<env::Watch> watch) : watch_(std::move(watch)) {}

  Result<Seen> wait(Duration at_most, const Stop* stop) override {
    auto changes = watch_->wait(at_most, stop, -1);
    if (!changes) return fail(changes.error());
    Seen seen{{}, changes->everything};
    const bool touched = std::ranges::any_of(
        changes->names, [](const std::string& name) { return sign_of(name) != FolderWait::Sign::nothing; });
    if (touched) seen.keys.push_back(*Key::parse(kReceiverKey));
    return seen;
  }

 private:
  std::unique_ptr<env::Watch> watch_;
};

}  // namespace

Result<Grant> await(Store& store, const ClaimRequest& request, const Wait& wait) {
  const FolderWait folder{.claim = [&](const ClaimRequest& asked, const Stop* stop,
                                       Duration guard_wait) { return store.claim(asked, stop, guard_wait); },
                          .holder = [&](const Key& key) { return store.holder(key); },
                          .watch = [&] { return store.core().root->watch(); },
                          .sign_of = sign_of,
                          .environment = &store.core().environment,
                          .watches_life = false};
  return await_in_folder(folder, request, wait);
}

Result<std::unique_ptr<Changes>> watch_receiver(Store& store) {
  auto watch = store.core().root->watch();
  if (!watch) return fail(watch.error());
  return std::make_unique<ReceiverChanges>(std::move(*watch));
}

}  // namespace tenure::receiver
