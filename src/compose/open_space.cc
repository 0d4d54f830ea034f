// Space::open: the one place where a URL becomes an engine over the real world.
#include "compose/default_space.h"
#include "compose/open_local_space.h"
#include "compose/open_receiver_space.h"
#include "compose/real_environment.h"
#include "compose/space_url.h"
#include "engine/files/files_engine.h"
#include "engine/memory/memory_engine.h"
#include "lease/over.h"
#include "os/linux/open_folder.h"
#include "os/linux/real_directory.h"
#include "os/linux/user_home.h"
#include "tenure/space.h"

namespace tenure {
namespace {

using compose::SpaceUrl;

Space open_memory_space(const SpaceUrl& url) {
  env::Environment environment = compose::real_environment();
  auto engine = open_memory(std::make_shared<MemoryStore>(), environment);
  return lease::over(std::move(engine), std::move(environment), compose::text_of(url));
}

// The fall-back for users without a home is chosen once and recorded before the first space is made in it.
Result<void> settle_default(const SpaceUrl& url) {
  const compose::StateFolder folder = compose::state_folder();
  if (!folder.fallback || !url.folder.starts_with(folder.path + "/")) return {};
  if (compose::settle(folder)) return {};
  return fail(Code::unsafe_folder, folder.path + " belongs to somebody else or is open to others, and " + folder.origin,
              "set TENURE_HOME to a folder of your own");
}

// Who may write to the folder above can put another `leases` in its place: it is held to the same rules, and so is the
// state folder above the spaces in it.
Result<void> check_above(const SpaceUrl& url, bool create, const os::FolderChecks& checks) {
  const std::string state = compose::state_folder().path;
  if (url.folder.starts_with(state + "/")) {
    if (auto opened = os::open_folder(state, create, checks); !opened) return fail(opened.error());
  }
  auto opened = os::open_folder(url.folder, create, checks);
  if (!opened) return fail(opened.error());
  return {};
}

Result<Space> open_files_space(SpaceUrl url, Space::OpenOptions options) {
  // Handles carry the URL, and another process need not share our working directory.
  if (url.folder.front() != '/') url.folder = os::working_directory() + "/" + url.folder;
  if (options.create && !options.observe_only) {
    if (auto settled = settle_default(url); !settled) return fail(settled.error());
  }
  const os::FolderChecks checks{url.group_ok, url.any_owner, options.observe_only};
  if (!options.observe_only) {
    if (auto checked = check_above(url, options.create, checks); !checked) return fail(checked.error());
  }
  auto directory = os::RealDirectory::open(url.folder + "/leases", options.create, checks);
  if (!directory) return fail(directory.error());
  const FilesOptions files{url.expiry, (*directory)->file_system().is_remote};
  env::Environment environment = compose::real_environment();
  auto engine = open_files(std::shared_ptr<env::Directory>(std::move(*directory)), environment, files);
  return lease::over(std::move(engine), std::move(environment), compose::text_of(url));
}

}  // namespace

Result<Space> Space::open(std::string_view url, OpenOptions options) {
  auto parsed = compose::parse_space_url(url);
  if (!parsed) return fail(parsed.error());
  if (parsed->kind == SpaceUrl::Kind::memory) return open_memory_space(*parsed);
  if (parsed->kind == SpaceUrl::Kind::local) return compose::open_local_space(*parsed, options);
  if (parsed->kind == SpaceUrl::Kind::receiver) return compose::open_receiver_space(std::move(*parsed), options);
  return open_files_space(std::move(*parsed), options);
}

Result<Space> Space::open(std::string_view url) {
  return open(url, OpenOptions{});
}

}  // namespace tenure
