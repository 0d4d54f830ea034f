// Opening a folder: made where asked, and checked on the open descriptor before anything in it is believed.
#pragma once

#include <optional>
#include <string>

#include "os/linux/file_system.h"
#include "os/linux/folder.h"

namespace tenure::os {

struct FolderChecks {
  bool group_ok = false;      // the group may write: new files get 0660
  bool any_owner = false;     // the folder and the files in it may belong to other users
  bool observe_only = false;  // only to look: any owner and any mode of the folder will do
  bool root_ok = false;       // the folder may be root's, too
  // Where its group may write, it takes part: files may be any member's, and new ones are for the group. Implies
  // group_ok, which makes new files the group's in any folder.
  bool group_if_open = false;
  nlink_t most_links = 1;  // names that a file in it may have
};

struct OpenedFolder {
  Folder folder;
  FileSystem file_system;
  FolderChecks checks{};  // by which it was opened, and by which the folders in it are
};

// unreachable: no such folder, or not a folder. unsafe_folder: another owner, writable by others (or by the group,
// unless group_ok), reached through another user's link. unsuitable_folder: the file system cannot carry files.
// `create`: it and its parents are made with mode 0700, durably, where they are missing.
Result<OpenedFolder> open_folder(const std::string& path, bool create, FolderChecks checks);

// The folder under a name in another, held to the same rules: who owns that one may own this one. nullopt: no such
// name. Code::damaged: it is no folder, or a link to one. Else as above.
Result<std::optional<OpenedFolder>> open_folder_in(const OpenedFolder& parent, const std::string& name);

// An empty folder in another, with the mode and the owner that a folder there has. False: the name is taken.
Result<bool> make_folder_in(const Folder& parent, const std::string& name);

}  // namespace tenure::os
