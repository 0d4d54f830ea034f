#include "os/linux/life_lock.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/process_mark.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

struct flock first_byte(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = 0;
  lock.l_len = 1;
  return lock;
}

std::size_t page_size() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// A page of the locked file, mapped so that children do not get it.
class Page {
 public:
  static Result<Page> map(const OpenFile& file, const std::string& path) {
    void* address = mmap(nullptr, page_size(), PROT_READ, MAP_SHARED, file.descriptor.get(), 0);
    if (address == MAP_FAILED) return system_failure(errno, "map", path);
    Page page(address);
    if (madvise(address, page_size(), MADV_DONTFORK) != 0) return system_failure(errno, "keep to ourselves", path);
    return page;
  }
  Page(Page&& other) noexcept : address_(std::exchange(other.address_, nullptr)) {}
  Page& operator=(Page&&) = delete;
  ~Page() {
    if (address_ != nullptr) munmap(address_, page_size());
  }
  // In a forked child: there is no such mapping here, and something else may lie at its address.
  void forget() noexcept { address_ = nullptr; }

 private:
  explicit Page(void* address) : address_(address) {}
  void* address_;
};

class RealLifeLock final : public env::LifeLock {
 public:
  RealLifeLock(FileIdentity identity, Page page, Fd descriptor)
      : identity_(identity), page_(std::move(page)), descriptor_(std::move(descriptor)) {}

  ~RealLifeLock() override {
    if (!still_our_descriptor()) descriptor_.release();
    if (!process_.same()) {
      page_.forget();
      return;  // the copy of the descriptor is closed; the parent's lock stays
    }
    // A child may have a copy of the descriptor: letting go must free the lock all the same.
    struct flock lock = first_byte(F_UNLCK);
    if (descriptor_) fcntl(descriptor_.get(), F_OFD_SETLK, &lock);
  }

  FileIdentity identity() const override { return identity_; }
  int descriptor() const override { return descriptor_.get(); }

 private:
  // closefrom(3) in the host may have closed it, and the number may name another file by now.
  bool still_our_descriptor() const {
    struct stat status{};
    return descriptor_ && fstat(descriptor_.get(), &status) == 0 && identity_of(status) == identity_;
  }

  FileIdentity identity_;
  Page page_;
  Fd descriptor_;
  base::ProcessMark process_;
};

// True: taken. False: somebody has it.
Result<bool> try_lock(const OpenFile& file, const std::string& path) {
  struct flock lock = first_byte(F_WRLCK);
  if (retry_interrupted([&] { return fcntl(file.descriptor.get(), F_OFD_SETLK, &lock); }) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return system_failure(errno, "lock", path);
}

std::unexpected<Error> locked_by_another(const Folder& folder, const std::string& name) {
  return fail(Code::held, "the life lock " + shown(folder, name) + " is held by a living process");
}

// Maps the locked file and lets go of what is not needed.
Result<std::unique_ptr<env::LifeLock>> settle(const Folder& folder, const std::string& name, OpenFile file,
                                              bool keep_descriptor) {
  const std::string path = folder.path + "/" + name;
  const int descriptor = file.descriptor.get();
  // A mapping of an empty file would have no page behind it.
  if (file.status.st_size == 0 && retry_interrupted([&] { return ftruncate(descriptor, 1); }) != 0) {
    return system_failure(errno, "lengthen", path);
  }
  auto page = Page::map(file, path);
  if (!page) return fail(page.error());
  if (!keep_descriptor) file.descriptor.reset();
  return std::make_unique<RealLifeLock>(identity_of(file.status), std::move(*page), std::move(file.descriptor));
}

Result<std::unique_ptr<env::LifeLock>> put_fresh(const Folder& folder, const std::string& name,
                                                 const std::string& temporary, bool keep_descriptor) {
  auto made = make_file(folder, temporary);
  if (!made) return fail(made.error());
  if (!*made) return fail(Code::input_output, shown(folder, temporary) + " appeared while it was made");
  const auto taken = try_lock(**made, folder.path + "/" + temporary);
  if (!taken) return fail(taken.error());
  if (!*taken) return locked_by_another(folder, temporary);
  auto life = settle(folder, temporary, std::move(**made), keep_descriptor);
  if (!life) return life;
  if (auto renamed = rename_over(folder, temporary, name); !renamed) return fail(renamed.error());
  return life;
}

Result<std::unique_ptr<env::LifeLock>> take_fresh(const Folder& folder, const std::string& name,
                                                  const std::string& temporary, bool keep_descriptor) {
  if (auto fit = refuse_odd(folder, name); !fit) return fail(fit.error());
  if (auto removed = remove_name(folder, temporary); !removed) return fail(removed.error());
  auto life = put_fresh(folder, name, temporary, keep_descriptor);
  if (!life) unlinkat(folder.descriptor.get(), temporary.c_str(), 0);
  return life;
}

Result<std::unique_ptr<env::LifeLock>> take_present(const Folder& folder, const std::string& name,
                                                    bool keep_descriptor) {
  for (int race = 0; race < limits::kRenameRaces; ++race) {
    auto file = open_present(folder, name, O_RDWR);
    if (file && !*file) file = make_file(folder, name);
    if (!file) return fail(file.error());
    if (!*file) continue;  // made by somebody between the two
    const auto taken = try_lock(**file, folder.path + "/" + name);
    if (!taken) return fail(taken.error());
    const auto ours = leads_to(folder, name, (*file)->status);
    if (!ours) return fail(ours.error());
    if (!*ours) continue;
    if (!*taken) return locked_by_another(folder, name);
    return settle(folder, name, std::move(**file), keep_descriptor);
  }
  return fail(Code::input_output, shown(folder, name) + " is removed or replaced again and again");
}

// Asks on the open file; nullopt: cannot be asked.
std::optional<bool> is_locked(const OpenFile& file) {
  struct flock lock = first_byte(F_WRLCK);
  if (retry_interrupted([&] { return fcntl(file.descriptor.get(), F_OFD_GETLK, &lock); }) != 0) return std::nullopt;
  return lock.l_type != F_UNLCK;
}

}  // namespace

Result<std::unique_ptr<env::LifeLock>> take_life_lock(const Folder& folder, const std::string& name,
                                                      const std::string& temporary, bool fresh, bool keep_descriptor) {
  return fresh ? take_fresh(folder, name, temporary, keep_descriptor) : take_present(folder, name, keep_descriptor);
}

env::LifeProbe probe_life_lock(const Folder& folder, const std::string& name, std::optional<FileIdentity> expected) {
  for (int race = 0; race < limits::kReadAttempts; ++race) {
    const auto file = open_present(folder, name, O_RDONLY);
    if (!file) return {LifeSight::unreadable, {}};
    if (!*file) return {LifeSight::absent, {}};
    const FileIdentity identity = identity_of((*file)->status);
    if (expected && identity != *expected) return {LifeSight::other_file, identity};
    const auto locked = is_locked(**file);
    if (!locked) return {LifeSight::unreadable, identity};
    if (*locked) return {LifeSight::held, identity};
    // "Free" is a proof of death: it must be said of the file that lies there now.
    const auto ours = leads_to(folder, name, (*file)->status);
    if (!ours) return {LifeSight::unreadable, identity};
    if (*ours) return {LifeSight::free, identity};
  }
  return {LifeSight::unreadable, {}};
}

}  // namespace tenure::os
