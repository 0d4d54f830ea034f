// Files of one open folder: how each of them is opened, checked, made and rewritten. The parts of the directory port
// (content, section lock, life lock) are built of these.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/evidence.h"
#include "os/linux/fd.h"
#include "tenure/error.h"
#include "tenure/time.h"

namespace tenure::os {

struct Folder {
  Fd descriptor;
  std::string path;  // absolute; for messages and for in_place()
  uid_t owner = 0;
  gid_t group = 0;
  bool any_owner = false;   // files may belong to anybody
  mode_t file_mode = 0600;  // of new files
  nlink_t most_links = 1;   // names that a file may have
};

struct OpenFile {
  Fd descriptor;
  struct stat status{};
};

// Whether something of this owner may be used: the folder's owner, we ourselves, or anybody where that is allowed.
bool owner_fits(const Folder& folder, uid_t owner);

// Code::internal for anything that is not a single path component of a length that a file system takes.
Result<void> check_name(const std::string& name);

// The refusal of a thing that is not a file that we may use; `what` goes on after its path.
std::unexpected<Error> odd(const Folder& folder, const std::string& name, const std::string& what);

FileIdentity identity_of(const struct stat& status);
WallTime modified_of(const struct stat& status);
// "/folder/name", safe to print.
std::string shown(const Folder& folder, std::string_view name);
// "a link", "a directory", "a FIFO", …
std::string_view kind_of(mode_t mode);

// Opens a present file with `access` (O_RDONLY or O_RDWR), never through a link and never blocking, and checks what was
// opened: regular, with no more names than the folder allows, owned by the folder's owner or by us. nullopt: no such
// name.
Result<std::optional<OpenFile>> open_present(const Folder& folder, const std::string& name, int access);

// Makes a file that was not there. nullopt: there is one. On an error nothing is left.
Result<std::optional<OpenFile>> make_file(const Folder& folder, const std::string& name);

// The mode and owner that a file of this folder has, whatever the umask, and whoever we are.
Result<void> dress_file(const Folder& folder, int descriptor, const std::string& name);

// Code::damaged where something that is not a regular file lies under the name: it is not to be replaced unseen.
Result<void> refuse_odd(const Folder& folder, const std::string& name);

// Whether the name leads to this very file now.
Result<bool> leads_to(const Folder& folder, const std::string& name, const struct stat& status);

// Removes the name. False: there was none. Code::damaged for a directory.
Result<bool> remove_name(const Folder& folder, const std::string& name);

Result<void> rename_over(const Folder& folder, const std::string& from, const std::string& to);

// All of it, from the start of the file.
Result<void> write_whole(const Folder& folder, const std::string& name, int descriptor, std::string_view bytes);

// A new file with that content. False: there is one under the name. On an error nothing is left.
Result<bool> write_new(const Folder& folder, const std::string& name, std::string_view bytes, bool durable);

Result<void> sync_data(const Folder& folder, const std::string& name, int descriptor);

}  // namespace tenure::os
