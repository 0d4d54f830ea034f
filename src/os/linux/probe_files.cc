#include "os/linux/probe_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "os/linux/fd.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

constexpr char kOtherDisk[] = "use a folder on a local disk";

// False: errno says why.
bool put(const std::string& path, std::string_view bytes) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return false;
  return write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
}

std::string get(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::string bytes(64, '\0');
  const ssize_t got = file ? read(file.get(), bytes.data(), bytes.size()) : -1;
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

std::string failed(const std::string& doing) {
  return doing + " failed: " + system_words(errno);
}

ino_t inode_of(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

bool exists(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0;
}

}  // namespace

Probe probe_overwrite(const ProbeFolder& folder) {
  const ProbeOf probe("overwrite", "a record can be rewritten where it lies, so a release needs no new space");
  const std::string path = folder.file("overwrite.tmp");
  if (!put(path, "before")) return probe.bad(failed("writing a file"), kOtherDisk);
  const ino_t inode = inode_of(path);
  const Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file || pwrite(file.get(), "after!", 6, 0) != 6) return probe.bad(failed("writing over a file"), kOtherDisk);
  if (get(path) != "after!" || inode_of(path) != inode) {
    return probe.bad("what was written over a file was not read back", kOtherDisk);
  }
  return probe.good("six bytes written over six others in one call were read back from the same inode");
}

Probe probe_replace(const ProbeFolder& folder) {
  const ProbeOf probe("replace", "a file takes another one's name in one step, and readers see the old or the new one");
  const std::string old_path = folder.file("replace.lease.json");
  const std::string new_path = folder.file("replace.tmp");
  if (!put(old_path, "old") || !put(new_path, "new")) return probe.bad(failed("writing files"), kOtherDisk);
  const Fd reader(open(old_path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (rename(new_path.c_str(), old_path.c_str()) != 0) return probe.bad(failed("rename"), kOtherDisk);
  std::string seen(8, '\0');
  const ssize_t got = reader ? read(reader.get(), seen.data(), seen.size()) : -1;
  if (get(old_path) != "new" || exists(new_path)) return probe.bad("rename did not move the name", kOtherDisk);
  if (got != 3 || !seen.starts_with("old")) {
    return probe.limited("a reader that had the old file open lost it", kOtherDisk);
  }
  return probe.good("rename replaced a file; a reader of the old one kept it");
}

Probe probe_second_name(const ProbeFolder& folder) {
  const ProbeOf probe("second name", "a guard appears whole and only once, as a further name of a file");
  const std::string first = folder.file("name.tmp");
  const std::string second = folder.file("name.2.tmp");
  if (!put(first, "guard")) return probe.bad(failed("writing a file"), kOtherDisk);
  if (link(first.c_str(), second.c_str()) != 0) return probe.bad(failed("giving a file a second name"), kOtherDisk);
  if (inode_of(first) != inode_of(second)) return probe.bad("the second name leads to another file", kOtherDisk);
  if (link(first.c_str(), second.c_str()) == 0 || errno != EEXIST) {
    return probe.bad("a name that is taken was given once more", kOtherDisk);
  }
  return probe.good("one was given, and refused (EEXIST) while it was taken");
}

Probe probe_rename_flags(const ProbeFolder& folder) {
  const ProbeOf probe("rename flags", "damaged files can be moved aside and spaces moved without replacing anything");
  const std::string first = folder.file("first.tmp");
  const std::string second = folder.file("second.tmp");
  if (!put(first, "first") || !put(second, "second")) return probe.bad(failed("writing files"), kOtherDisk);
  if (renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_NOREPLACE) == 0) {
    return probe.bad("RENAME_NOREPLACE replaced a file", kOtherDisk);
  }
  if (errno != EEXIST) {
    return probe.limited(failed("RENAME_NOREPLACE") + "; tenure then looks first and renames afterwards", kOtherDisk);
  }
  if (renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE) != 0 || get(first) != "second") {
    return probe.limited(failed("RENAME_EXCHANGE") + ": this space can be neither moved nor purged while it is in use",
                         "end everybody who uses it before you move or purge it with mv or rm");
  }
  return probe.good("RENAME_NOREPLACE and RENAME_EXCHANGE work");
}

Probe probe_unnamed_file(const ProbeFolder& folder) {
  const ProbeOf probe("unnamed files", "a file can be written whole before it gets a name");
  const std::string named = folder.file("unnamed.tmp");
  const Fd file(open(folder.path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  constexpr char kInstead[] = "none is needed: a temporary name does the same, and is swept after a crash";
  if (!file) return probe.limited(failed("O_TMPFILE"), kInstead);
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  if (linkat(AT_FDCWD, path.c_str(), AT_FDCWD, named.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return probe.limited(failed("giving an unnamed file a name"), kInstead);
  }
  return probe.good("O_TMPFILE and linkat work");
}

Probe probe_sync(const ProbeFolder& folder) {
  const ProbeOf probe("durability", "an epoch that was handed out is on the disk, name and content");
  const std::string path = folder.file("sync.epoch");
  if (!put(path, "1\n")) return probe.bad(failed("writing a file"), kOtherDisk);
  const Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file || fdatasync(file.get()) != 0) return probe.bad(failed("fdatasync of a file"), kOtherDisk);
  const Fd self(open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!self || fsync(self.get()) != 0) {
    return probe.bad(failed("fsync of a folder") + ": epochs may go back after a loss of power", kOtherDisk);
  }
  return probe.good(
      "fdatasync of a file and fsync of its folder succeed; whether the disk keeps its word was not tried");
}

}  // namespace tenure::os
