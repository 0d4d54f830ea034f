#include "os/linux/folder_reach.h"

#include "os/linux/local_directory.h"

namespace tenure::os {

Result<ReachedFolder> reach(env::Directory& directory) {
  if (const auto* real = dynamic_cast<const RealDirectory*>(&directory)) return ReachedFolder(*real);
  const auto* local = dynamic_cast<const LocalDirectory*>(&directory);
  if (local == nullptr) return fail(Code::internal, "a folder of another kind: " + directory.path());
  auto opened = local->now();
  if (!opened) return fail(opened.error());
  return ReachedFolder(std::move(*opened));
}

}  // namespace tenure::os
