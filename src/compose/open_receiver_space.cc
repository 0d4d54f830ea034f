#include "compose/open_receiver_space.h"

#include <filesystem>

#include "compose/real_environment.h"
#include "lease/over.h"
#include "model/sha256.h"
#include "os/linux/real_directory.h"
#include "os/linux/user_home.h"

namespace tenure::compose {
namespace {

// A guard has the name of the file it was made as, and its own; in the hand of a reclaimer one or two more.
constexpr nlink_t kNamesOfAGuard = 8;

struct Opened {
  std::shared_ptr<env::Directory> folder;
  ReceiverOptions options;
};

// One root, by whatever path its folder is reached.
std::string root_of(const SpaceUrl& url) {
  if (!url.root.empty()) return url.root;
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(url.folder, error);
  return sha256_hex(error ? url.folder : canonical.string());
}

Result<Opened> open_folder(SpaceUrl& url, bool create, bool observe_only) {
  // Handles carry the URL, and another process need not share our working directory.
  if (url.folder.front() != '/') url.folder = os::working_directory() + "/" + url.folder;
  const os::FolderChecks checks{
      .group_ok = url.group_ok, .any_owner = url.any_owner, .observe_only = observe_only, .most_links = kNamesOfAGuard};
  auto directory = os::RealDirectory::open(url.folder, create, checks);
  if (!directory) return fail(directory.error());
  Opened opened;
  opened.options = {.root_id = root_of(url),
                    .url = text_of(url),
                    .shared_folder = (*directory)->file_system().is_remote,
                    .one_namespace = url.one_namespace};
  opened.folder = std::move(*directory);
  return opened;
}

}  // namespace

Result<Space> open_receiver_space(SpaceUrl url, const Space::OpenOptions& options) {
  auto opened = open_folder(url, options.create && !options.observe_only, options.observe_only);
  if (!opened) return fail(opened.error());
  env::Environment environment = real_environment();
  auto engine = open_receiver(std::move(opened->folder), environment, std::move(opened->options));
  return lease::over(std::move(engine), std::move(environment), text_of(url));
}

Result<std::vector<ReceiverFault>> repair_receiver_space(const std::string& text, bool mend, bool force,
                                                         const std::string& reason) {
  auto url = parse_space_url(text);
  if (!url) return fail(url.error());
  if (url->kind != SpaceUrl::Kind::receiver) {
    return fail(Code::unsupported, "only receiver: spaces are repaired so",
                "of a local: space: tenure space repair; of a key of a files: space: tenure revoke KEY --force");
  }
  auto opened = open_folder(*url, false, !mend);
  if (!opened) return fail(opened.error());
  return repair_receiver(std::move(opened->folder), real_environment(), std::move(opened->options), mend, force,
                         reason);
}

}  // namespace tenure::compose
