#include "compose/open_local_space.h"

#include "compose/default_space.h"
#include "compose/real_environment.h"
#include "engine/local/local.h"
#include "engine/local/looking.h"
#include "lease/over.h"
#include "os/linux/real_words.h"

namespace tenure::compose {
namespace {

os::FolderChecks checks_of(const SpaceUrl& url, bool observe_only) {
  // Whoever may write to the folder of a system: space may have made its files; the folder itself is made by root.
  return {url.group_ok, url.any_owner || url.system, observe_only, false};
}

// Who may write to a folder above can put another one in its place.
Result<void> check_above(const SpaceUrl& url, const std::string& folder, bool create) {
  if (url.system) {
    const auto machine = os::open_folder(kSystemFolder, false, {.root_ok = true});
    if (machine) return {};
    if (machine.error().code != Code::unreachable) return fail(machine.error());
    return fail(Code::unreachable, "there are no spaces of several users on this machine: " + machine.error().message,
                "have root make one: tenure space init --space " + text_of(url));
  }
  const StateFolder state = state_folder();
  if (!folder.starts_with(state.path + "/")) return {};
  if (create && !settle(state)) {
    return fail(Code::unsafe_folder, state.path + " belongs to somebody else or is open to others, and " + state.origin,
                "set TENURE_HOME to a folder of your own");
  }
  const os::FolderChecks checks{.any_owner = url.any_owner};
  const std::string spaces = state.path + "/local";
  for (const std::string& above : {state.path, spaces}) {
    if (above == spaces && !folder.starts_with(spaces + "/")) break;
    if (auto opened = os::open_folder(above, create, checks); !opened) return fail(opened.error());
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<os::RealLocalFolder>> open_local_folder(const SpaceUrl& url, bool create, bool observe_only) {
  const std::string folder = folder_of(url);
  if (!observe_only) {
    if (auto checked = check_above(url, folder, create); !checked) return fail(checked.error());
  }
  auto opened = os::RealLocalFolder::open(folder, create && !url.system, checks_of(url, observe_only), url.volatile_ok);
  if (!opened && url.system && opened.error().code == Code::unreachable) {
    opened.error().remedy = "have root make it: tenure space init --space " + text_of(url);
  }
  return opened;
}

Result<Space> open_local_space(const SpaceUrl& named, const Space::OpenOptions& options) {
  // Handles carry the URL, and another process need not share our environment.
  const SpaceUrl url = settled(named);
  auto words = std::make_shared<os::RealWords>();
  env::Environment environment = real_environment();
  auto folder = open_local_folder(url, options.create, options.observe_only);
  if (!folder) return fail(folder.error());
  Result<std::shared_ptr<Engine>> engine;
  if (options.observe_only) {
    const auto again = [url]() -> Result<std::unique_ptr<env::LocalFolder>> {
      return open_local_folder(url, false, true);
    };
    engine = look_at_local(again, std::move(words), environment);
  } else {
    engine = open_local(std::move(*folder), std::move(words), environment, {});
  }
  if (!engine) return fail(with_url(engine.error(), url));
  return lease::over(std::move(*engine), std::move(environment), text_of(url));
}

}  // namespace tenure::compose
