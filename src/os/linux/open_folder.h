// Opening a folder: made where asked, and checked on the open descriptor before anything in it is believed.
#pragma once

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
};

struct OpenedFolder {
  Folder folder;
  FileSystem file_system;
};

// unreachable: no such folder, or not a folder. unsafe_folder: another owner, writable by others (or by the group,
// unless group_ok), reached through another user's link. unsuitable_folder: the file system cannot carry files.
// `create`: it and its parents are made with mode 0700, durably, where they are missing.
Result<OpenedFolder> open_folder(const std::string& path, bool create, FolderChecks checks);

}  // namespace tenure::os
