#include "os/linux/table_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/linux/own_mapping.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

constexpr char kTemporary[] = "table.new";

// Not posix_fallocate(3): where the file system cannot, that writes into every block, over what others write there.
Result<void> allocate_blocks(int descriptor, std::size_t bytes, const std::string& path) {
  const auto length = static_cast<off_t>(bytes);
  if (length == 0 || retry_interrupted([&] { return fallocate(descriptor, 0, 0, length); }) == 0) return {};
  if (errno == EOPNOTSUPP || errno == ENOSYS) {
    return fail(Code::unsuitable_folder, "the file system under " + path + " cannot set room aside for a file",
                "choose a folder on ext4, xfs, btrfs, f2fs or zfs");
  }
  return system_failure(errno, "set room aside for", path);
}

class TableMemory final : public env::SharedMemory {
 public:
  TableMemory(std::shared_ptr<const LocalPlace> place, OwnMapping mapping, const struct stat& status)
      : place_(std::move(place)),
        mapping_(std::move(mapping)),
        identity_(identity_of(status)),
        length_(static_cast<std::size_t>(status.st_size)) {}

  std::byte* data() const noexcept override { return mapping_.data(); }
  std::size_t size() const noexcept override { return mapping_.size(); }
  std::size_t length() const noexcept override { return length_; }
  FileIdentity identity() const noexcept override { return identity_; }

  void bring_in(std::size_t from, std::size_t bytes) const noexcept override {
#ifdef MADV_POPULATE_WRITE
    // Page by page, as they are touched, it takes twenty times as long. Older kernels do not know it.
    madvise(data() + from, bytes, MADV_POPULATE_WRITE);
#endif
  }

  Result<void> allocate(std::size_t bytes) override {
    if (bytes > size()) return fail(Code::internal, "no more can be allocated of a table than was mapped");
    const auto folder = place_->open();
    if (!folder) return fail(folder.error());
    const auto file = open_present(*folder, kTableName, O_RDWR);
    if (!file) return fail(file.error());
    if (!*file || identity_of((*file)->status) != identity_) {
      return fail(Code::damaged, shown(*folder, kTableName) + " was removed or replaced", "open the space anew");
    }
    return allocate_blocks((*file)->descriptor.get(), bytes, place_->at(kTableName));
  }

 private:
  std::shared_ptr<const LocalPlace> place_;
  OwnMapping mapping_;
  FileIdentity identity_;
  std::size_t length_;
};

Result<std::unique_ptr<env::SharedMemory>> map_file(const std::shared_ptr<const LocalPlace>& place,
                                                    const OpenFile& file, std::size_t bytes) {
  const int protection = place->observe_only() ? PROT_READ : PROT_READ | PROT_WRITE;
  auto mapping = OwnMapping::map(file.descriptor.get(), bytes, protection, place->at(kTableName));
  if (!mapping) return fail(mapping.error());
  // Advice, and no more: without it pages are read in that nobody asked for.
  madvise(mapping->data(), bytes, MADV_RANDOM);
  return std::make_unique<TableMemory>(place, std::move(*mapping), file.status);
}

// On btrfs a block that is written anew goes elsewhere, and where there is no room for it, the writer of a mapping gets
// SIGBUS. Files that are marked before they have blocks are written where they lie.
Result<void> write_in_place(const LocalPlace& place, int descriptor) {
  const std::string& system = place.file_system().name;
  if (system != "btrfs" && system != "overlay") return {};
  int flags = 0;
  const bool marked = ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0 &&
                      (flags |= FS_NOCOW_FL, ioctl(descriptor, FS_IOC_SETFLAGS, &flags) == 0);
  // What lies under an overlay is not told, and other file systems know no such mark, nor need it.
  if (marked || system == "overlay") return {};
  return system_failure(errno, "turn off copy-on-write for", place.at(kTemporary));
}

Result<std::unique_ptr<env::SharedMemory>> make_temporary(const std::shared_ptr<const LocalPlace>& place,
                                                          const Folder& folder, std::size_t allocated,
                                                          std::size_t bytes,
                                                          const std::function<void(std::byte*)>& fill) {
  auto made = make_file(folder, kTemporary);
  if (!made) return fail(made.error());
  if (!*made) return fail(Code::input_output, shown(folder, kTemporary) + " appeared while it was made");
  const int descriptor = (*made)->descriptor.get();
  if (auto marked = write_in_place(*place, descriptor); !marked) return fail(marked.error());
  if (auto room = allocate_blocks(descriptor, allocated, place->at(kTemporary)); !room) return fail(room.error());
  auto memory = map_file(place, **made, bytes);
  if (memory) fill((*memory)->data());
  return memory;
}

}  // namespace

Result<std::unique_ptr<env::SharedMemory>> map_table_file(const std::shared_ptr<const LocalPlace>& place,
                                                          std::size_t at_least, std::size_t bytes) {
  const auto folder = place->open();
  if (!folder) return fail(folder.error());
  const auto file = open_present(*folder, kTableName, place->observe_only() ? O_RDONLY : O_RDWR);
  if (!file) return fail(file.error());
  if (!*file) return nullptr;
  if (static_cast<std::size_t>((*file)->status.st_size) < at_least) {
    return odd(*folder, kTableName,
               "is shorter than any table (" + std::to_string((*file)->status.st_size) + " bytes)");
  }
  return map_file(place, **file, bytes);
}

Result<std::unique_ptr<env::SharedMemory>> make_table_file(const std::shared_ptr<const LocalPlace>& place,
                                                           std::size_t allocated, std::size_t bytes,
                                                           const std::function<void(std::byte*)>& fill) {
  const auto folder = place->open();
  if (!folder) return fail(folder.error());
  if (auto fit = refuse_odd(*folder, kTableName); !fit) return fail(fit.error());
  if (auto removed = remove_name(*folder, kTemporary); !removed) return fail(removed.error());
  auto memory = make_temporary(place, *folder, allocated, bytes, fill);
  if (memory) {
    const auto renamed = rename_over(*folder, kTemporary, kTableName);
    if (renamed) return memory;
    memory = fail(renamed.error());
  }
  unlinkat(folder->descriptor.get(), kTemporary, 0);
  return memory;
}

}  // namespace tenure::os
