// The port to a folder of small files: everything an on-disk engine does to the disk goes through here.
//
// Names are single path components. Every file is opened relative to the folder's descriptor, never through a link,
// never blocking on a FIFO, and is checked on the open descriptor: a regular file, with one name (or as many as the
// folder was opened to allow), owned as the folder demands, within the size cap. EINTR is retried inside. All calls are
// thread-safe.
//
// Errors: no_space (ENOSPC, EDQUOT), read_only (EROFS), no_descriptors (EMFILE, ENFILE), not_permitted (EACCES, EPERM),
// damaged (the thing under the name is not a file that we may read: a FIFO, a link, a directory, oversized, another
// user's), input_output (the rest). The message names folder/name and the system's word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/evidence.h"
#include "tenure/error.h"
#include "tenure/stop.h"
#include "tenure/time.h"

namespace tenure::env {

struct FileContent {
  std::string bytes;
  FileIdentity identity;
  WallTime modified;
};

// The short mutual exclusion of a key: flock(LOCK_EX) on a file that is never deleted by us. Dropped by destruction.
class SectionLock {
 public:
  virtual ~SectionLock() = default;
  // True when this call brought the file into being (it was made already locked, so nobody was in before).
  virtual bool created() const = 0;
  // The content of the lock file itself, at most 4 KiB, and its rewriting in place (one write, padded with blanks to
  // the former length; `durable` syncs the data before it returns).
  virtual Result<std::string> read() = 0;
  virtual Result<void> write(std::string_view bytes, bool durable) = 0;
};

// The proof of life: an open-file-description write lock on byte 0 of a file, held by a mapping of a page of it
// (MADV_DONTFORK), so that it lives exactly as long as this address space: not inherited by fork, not lost to
// closefrom(3), gone at exec and death. Dropped by destruction.
class LifeLock {
 public:
  virtual ~LifeLock() = default;
  virtual FileIdentity identity() const = 0;
  // The open descriptor of the same description (close-on-exec), or -1. Only where it was asked to be kept, to be
  // passed to a child: then the lock lasts until both are gone.
  virtual int descriptor() const = 0;
};

struct LifeProbe {
  LifeSight sight = LifeSight::unreadable;
  FileIdentity identity;  // of the file under the name, where there is one
};

// Tells that something in the folder changed. A hint: it may come late, twice, or for nothing.
class Watch {
 public:
  virtual ~Watch() = default;
  // Names that were created, replaced, written, removed, or closed by the last process that had them open for writing
  // (so: the death of a life lock's holder), since the last call. Waits for the first one at most `at_most`; an empty
  // list is a timeout, a stop, or an `other` descriptor that became readable (it is not read). `everything` is set when
  // events were dropped, or where the system has no watches to give and the wait was cut short (a poll): then look at
  // all.
  struct Changes {
    std::vector<std::string> names;
    bool everything = false;
  };
  virtual Result<Changes> wait(Duration at_most, const Stop* stop, int other_descriptor) = 0;
};

enum class EntryKind : std::uint8_t { absent, file, folder, other };

// What lies under a name: the thing itself, not what a link leads to.
struct Entry {
  EntryKind kind = EntryKind::absent;
  FileIdentity identity;  // of whatever is there
  WallTime modified;
};

// What became of a move: `taken`, there is something under the new name; `missing`, nothing under the former one.
enum class Moved : std::uint8_t { moved, taken, missing };

class Directory {
 public:
  virtual ~Directory() = default;

  virtual const std::string& path() const = 0;

  // nullopt: no such name. Needs only read permission.
  virtual Result<std::optional<FileContent>> read(const std::string& name, std::size_t max_bytes) = 0;

  // All or nothing: writes `temporary` (any former one is removed first: the caller holds the section that owns that
  // name), optionally syncs it, renames it over `name`. On an error `name` is as it was and `temporary` is gone, or on
  // its way out at the next call. The name is durable after sync().
  virtual Result<void> replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                               bool durable) = 0;

  // Rewrites a file where it lies with one write of max(length, former length) bytes, padded with blanks before the
  // final newline: takes no new space on file systems that write in place. Code::damaged when `expected` is no longer
  // the file under the name.
  virtual Result<void> overwrite(const std::string& name, FileIdentity expected, std::string_view bytes,
                                 bool durable) = 0;

  // True if there was such a name. Directories are not removed.
  virtual Result<bool> remove(const std::string& name) = 0;

  // Moves whatever lies under `from` (even a directory or a link) to `to`, only if `to` is free (Code::damaged if not).
  virtual Result<void> move_aside(const std::string& from, const std::string& to) = 0;

  // fsync of the folder: names are durable on return.
  virtual Result<void> sync() = 0;

  // Names in the folder, unsorted, without "." and "..". Code::limit_reached beyond `max_names`.
  virtual Result<std::vector<std::string>> list(std::size_t max_names) = 0;

  // flock(LOCK_EX) with a bound, then a check that the name still leads to the locked file, else once more. A missing
  // file is made already locked. Code::section_busy after `at_most` or on stop: the message names the process inside,
  // and whether it is stopped, where /proc tells.
  virtual Result<std::unique_ptr<SectionLock>> lock(const std::string& name, Duration at_most, const Stop* stop) = 0;

  // Takes the life lock on the file under `name`. `fresh`: a new file is put under the name (by rename from
  // `temporary`), whoever may hold the old one; otherwise a present file is used if it is free. Code::held when it is
  // locked by somebody.
  virtual Result<std::unique_ptr<LifeLock>> take_life(const std::string& name, const std::string& temporary, bool fresh,
                                                      bool keep_descriptor) = 0;
  // Never tests by locking; needs only read permission.
  virtual LifeProbe probe_life(const std::string& name, std::optional<FileIdentity> expected) = 0;

  virtual Result<std::unique_ptr<Watch>> watch() = 0;

  // Whether the path by which the folder was opened still leads to it (it may have been moved or purged since).
  virtual Result<bool> in_place() = 0;

  // ---- Folders in this one. Whatever is made, linked or moved here is durable after sync() of each folder whose names
  // it changed; a file that `create` made, with its content only if it was asked to be `durable` besides.

  // What lies under the name now. Needs no permission on the thing itself.
  virtual Result<Entry> look(const std::string& name) = 0;

  // The folder under the name, by a descriptor of its own: it stays that folder whatever becomes of the name, and lives
  // on its own, without this object. nullptr: no such name. Code::damaged: it is no folder, or a link to one.
  // Code::unsafe_folder: the rules by which this folder was opened (who may own it, who may write in it) do not let it
  // pass. It is held to the same rules as this one, and so are the files in it. Its path() is "<our path>/<name>" as of
  // now.
  virtual Result<std::unique_ptr<Directory>> open_folder(const std::string& name) = 0;

  // Which folder this is.
  virtual Result<FileIdentity> identity() = 0;

  // An empty folder for us alone (0700), or for the group where new files are the group's. False: the name is taken.
  virtual Result<bool> make_folder(const std::string& name) = 0;

  // Removes an empty one. False: there is none. Code::damaged when it is not empty or no folder.
  virtual Result<bool> remove_folder(const std::string& name) = 0;

  // A new file with that content. Not atomic: another process may see it empty or half written, so it is for names that
  // nobody reads yet. False: the name is taken. On an error nothing is left under it; a death in between may leave
  // a part.
  virtual Result<bool> create(const std::string& name, std::string_view bytes, bool durable) = 0;

  // A further name of a file, in this folder or in another: it appears only if it was free, and with all that is in the
  // file. False: `to` is taken. Code::damaged: `from` is gone or is no file. Takes no room but that of a name.
  virtual Result<bool> link(const std::string& from, Directory& into, const std::string& to) = 0;

  // Renames a file, a folder with all that is in it, or whatever else lies there, replacing nothing: of several that
  // move onto one name, one has moved and the others hear `taken`. Where a file system cannot promise that by itself,
  // it holds for files and for folders that are not empty; an empty folder under the new name may be replaced.
  virtual Result<Moved> move(const std::string& from, Directory& into, const std::string& to) = 0;

  // `into` of these two is this object, one that open_folder() gave, or the one that gave this. Code::internal: it is
  // of another implementation.
};

}  // namespace tenure::env
