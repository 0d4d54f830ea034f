// Taking a folder out of use, so that it can be looked at, moved or emptied while nobody can come in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "os/linux/fd.h"
#include "tenure/error.h"

namespace tenure::os {

struct FolderUse {
  std::size_t files = 0;
  std::uint64_t bytes = 0;  // allotted on the disk
};
Result<FolderUse> folder_use(const std::string& path);

// Names in the folder, unsorted. An empty list where there is no such folder.
Result<std::vector<std::string>> names_in(const std::string& path);

// `parent`/`name`, withdrawn. It was exchanged in one step with a small file, the stopper, and lies under a private
// name beside it: whoever opens it by its path is refused, and nobody can make a new one in its place. Who had it open
// finds out by env::Directory::in_place(). The stopper stays locked (flock) for as long as this lives, so that of
// several processes one works and the others are refused; the lock of a crashed one is gone, and the next one goes on
// from there. Unless it was put back, removed or begun to be emptied, destruction puts it back.
class Withdrawn {
 public:
  // Code::unreachable: no such folder. Code::section_busy: another process has withdrawn it. Code::unsupported: the
  // file system cannot exchange names. Code::damaged: something else lies where the folder or the stopper should.
  static Result<Withdrawn> take(const std::string& parent, const std::string& name);
  // Whether one was left withdrawn, or is right now.
  static bool left_behind(const std::string& parent, const std::string& name);
  // The private name of `name`.
  static std::string private_name(const std::string& name);

  Withdrawn(Withdrawn&& other) noexcept;
  Withdrawn& operator=(Withdrawn&&) = delete;
  ~Withdrawn();

  // Where it lies meanwhile. Wrong after the parent was moved.
  std::string path() const { return parent_path_ + "/" + private_name(name_); }
  // Somebody had left it behind.
  bool resumed() const { return resumed_; }
  // The folder itself is gone already; only the stopper is left.
  bool gone() const { return gone_; }

  // Both work also after the parent was given another path.
  Result<void> put_back();
  struct Removal {
    std::size_t removed = 0;
    std::vector<std::string> left;  // names that are not ours, or are no files
  };
  // Removes the files whose names `ours` accepts, then the folder; puts it back when something is left in it.
  Result<Removal> remove(const std::function<bool(std::string_view)>& ours);

 private:
  Withdrawn(std::string parent_path, std::string name, Fd parent)
      : parent_path_(std::move(parent_path)), name_(std::move(name)), parent_(std::move(parent)) {}

  enum class Kind { none, folder, stopper, other };
  Kind kind_of_name(const std::string& name) const;
  Result<bool> try_take();
  Result<bool> lock_stopper(const std::string& name, bool make);
  Result<void> exchange(const std::string& name_of_folder);
  Result<void> lift_stopper(const std::string& name);
  Result<Removal> empty(const std::function<bool(std::string_view)>& ours);

  std::string parent_path_;
  std::string name_;
  Fd parent_;
  Fd stopper_;
  bool resumed_ = false;
  bool gone_ = false;
  bool settled_ = false;  // nothing is left to be put back
};

// Gives a folder another path, if that is free. Durable on return. Code::not_permitted: the new path is taken.
// Code::unsupported: another file system. Code::unreachable: its parent does not exist.
Result<void> move_folder(const std::string& from, const std::string& to);

// Removes an empty folder. False: something lies in it.
Result<bool> remove_empty_folder(const std::string& path);

}  // namespace tenure::os
