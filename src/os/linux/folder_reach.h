// The open folder behind a directory of ours, which a move or a link of another one leads into.
#pragma once

#include <memory>

#include "os/linux/real_directory.h"

namespace tenure::os {

class ReachedFolder {
 public:
  explicit ReachedFolder(const RealDirectory& directory) : directory_(&directory) {}
  explicit ReachedFolder(std::unique_ptr<RealDirectory> own) : own_(std::move(own)), directory_(own_.get()) {}

  const Folder& folder() const { return directory_->folder(); }

 private:
  std::unique_ptr<RealDirectory> own_;  // where the directory keeps none open
  const RealDirectory* directory_;
};

// Code::internal: it is no directory of this implementation. Must not outlive `directory`.
Result<ReachedFolder> reach(env::Directory& directory);

}  // namespace tenure::os
