// A file in the making that will take the place of another one of its folder, as a whole or not at all.
//
// While it is made it lies under one of a few fixed names, locked (flock) by its maker. Who dies leaves it there
// unlocked, and the next maker takes it away: whoever holds the lock of the file under a name, and nobody else, may
// remove or rename it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/process_mark.h"
#include "os/linux/folder.h"

namespace tenure::os {

// What may be replaced: a file with one name, or nothing. Code::usage for all else; the message says what it is and
// why.
Result<void> check_replaceable(const Folder& folder, const std::string& name);

class FileDraft {
 public:
  // Removes what dead makers left, then makes a draft for `target` under `names` and a digit below `most`. It can be
  // read by its owner alone where there is a target, and by whom the umask allows where there is none.
  // Code::limit_reached: that many are in the making already. `folder` must outlive it.
  static Result<FileDraft> begin(const Folder& folder, const std::string& target, const std::string& names, int most);

  FileDraft(FileDraft&& other) noexcept;
  FileDraft& operator=(FileDraft&&) = delete;
  // Takes it away again, unless it was put in place, or this is a forked child.
  ~FileDraft();

  Result<void> append(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  // The content is durable on return.
  Result<void> sync();
  // Gives it the owner, group, mode (without set-id bits), access list and user attributes of the target, if there is
  // one, and the attribute `mark`, if the file system takes it; durably. `mark` of the target is not copied.
  // Code::not_permitted: the target is somebody else's.
  Result<void> dress(const std::string& mark, std::string_view value);
  // Renames it over the target. Not durable before the folder is synced.
  Result<void> put_in_place();

 private:
  FileDraft(const Folder& folder, std::string target, std::string name, Fd descriptor)
      : folder_(&folder), target_(std::move(target)), name_(std::move(name)), descriptor_(std::move(descriptor)) {}
  Result<void> copy_owner(const struct stat& target);
  Result<void> copy_attributes(const std::string& but);
  Result<void> copy_attribute(const std::string& from, const char* attribute);

  const Folder* folder_;
  std::string target_;
  std::string name_;
  Fd descriptor_;
  std::uint64_t size_ = 0;
  base::ProcessMark process_;
};

}  // namespace tenure::os
