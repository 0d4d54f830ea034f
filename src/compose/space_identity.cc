#include "compose/space_identity.h"

#include <filesystem>

#include "compose/default_space.h"
#include "compose/space_url.h"
#include "os/linux/user_home.h"

namespace tenure::compose {

Result<SpaceIdentity> space_identity(std::string_view url) {
  auto parsed = parse_space_url(url);
  if (!parsed) return fail(parsed.error());
  if (parsed->kind == SpaceUrl::Kind::memory) {
    return fail(Code::unsupported, "memory: gives epochs that end with the process, and cannot guard a file",
                "use a local: or files: space");
  }
  SpaceUrl whole = settled(*parsed);
  if (!whole.folder.empty()) {
    std::filesystem::path folder = whole.folder;
    if (!folder.is_absolute()) folder = std::filesystem::path(os::working_directory()) / folder;
    whole.folder = folder.lexically_normal().string();
    while (whole.folder.size() > 1 && whole.folder.back() == '/') whole.folder.pop_back();
  }
  const SpaceUrl bare{.kind = whole.kind, .folder = whole.folder, .name = whole.name, .system = whole.system};
  return SpaceIdentity{text_of(bare), text_of(whole)};
}

}  // namespace tenure::compose
