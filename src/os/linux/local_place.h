// The folder of a local space as a place to come back to: its path, and what it was when it was opened.
//
// No descriptor of it is kept. The host may close any number behind our back (closefrom(3), daemon(3)) and open other
// files under it, a forked child would carry it on, and the keeper thread has a descriptor table of its own. So whoever
// needs the folder opens it for that moment, and makes sure that it is still the same one.
#pragma once

#include <memory>

#include "env/local_folder.h"
#include "os/linux/open_folder.h"

namespace tenure::os {

class LocalPlace {
 public:
  // Errors as of open_folder(); Code::unsuitable_folder too for a file system on which memory shared through a file,
  // its locks, or its room on the disk cannot be relied on. `volatile_ok`: tmpfs will do.
  static Result<std::shared_ptr<const LocalPlace>> find(const std::string& path, bool create, FolderChecks checks,
                                                        bool volatile_ok);

  const std::string& path() const { return path_; }
  const FileSystem& file_system() const { return file_system_; }
  env::LocalFolder::Birth birth() const { return birth_; }
  bool observe_only() const { return checks_.observe_only; }
  const FolderChecks& checks() const { return checks_; }
  // "/folder/name", for messages.
  std::string at(const std::string& name) const { return path_ + "/" + name; }

  // The folder, open for the calling thread. Code::unreachable when the path leads elsewhere by now, or nowhere.
  Result<Folder> open() const;
  // Whether the path still leads to the folder.
  Result<bool> in_place() const;
  // Whether the name in it leads to this file. By path alone.
  Result<bool> leads_to(const std::string& name, FileIdentity file) const;

 private:
  LocalPlace(const OpenedFolder& opened, FolderChecks checks, env::LocalFolder::Birth birth);

  std::string path_;
  FileSystem file_system_;
  env::LocalFolder::Birth birth_;
  uid_t owner_;
  gid_t group_;
  bool any_owner_;
  mode_t file_mode_;
  FolderChecks checks_;
};

}  // namespace tenure::os
