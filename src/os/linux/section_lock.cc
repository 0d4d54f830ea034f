#include "os/linux/section_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/process_mark.h"
#include "os/linux/section_wait.h"
#include "os/linux/stable_content.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using End = SectionWait::End;

class RealSectionLock final : public env::SectionLock {
 public:
  RealSectionLock(const Folder& folder, std::string name, OpenFile file, bool created)
      : folder_(folder), name_(std::move(name)), file_(std::move(file)), created_(created) {}

  ~RealSectionLock() override {
    // A forked child may still have the descriptor: closing ours alone would leave the lock with it. In that child, the
    // other way round, unlocking would open the section under its parent.
    if (process_.same()) flock(file_.descriptor.get(), LOCK_UN);
  }

  bool created() const override { return created_; }

  Result<std::string> read() override {
    if (auto looked = look(); !looked) return fail(looked.error());
    auto content = read_stable(folder_, name_, file_, limits::kSectionFileBytes);
    if (!content) return fail(content.error());
    if (!*content) return fail(Code::input_output, shown(folder_, name_) + " keeps changing while it is read");
    return std::move(**content);
  }

  Result<void> write(std::string_view bytes, bool durable) override {
    if (auto looked = look(); !looked) return looked;
    if (bytes.size() > limits::kSectionFileBytes) return fail(Code::internal, "too long for a section file");
    return rewrite_in_place(folder_, name_, file_, bytes, durable);
  }

 private:
  Result<void> look() {
    if (fstat(file_.descriptor.get(), &file_.status) == 0) return {};
    return system_failure(errno, "look at", folder_.path + "/" + name_);
  }

  const Folder& folder_;
  std::string name_;
  OpenFile file_;
  bool created_;
  base::ProcessMark process_;
};

// Makes the lock file already locked, so that nobody can have been inside before us.
class LockFileMaker {
 public:
  LockFileMaker(const Folder& folder, const std::string& name, SectionWait& wait)
      : folder_(folder), name_(name), in_the_making_(name + ".new"), wait_(wait) {}

  // nullopt: somebody else made one meanwhile.
  Result<std::optional<OpenFile>> make() {
    Fd unnamed(retry_interrupted(
        [&] { return openat(folder_.descriptor.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, folder_.file_mode); }));
    if (unnamed) return finish_unnamed(std::move(unnamed));
    // File systems without unnamed files say so in one of these ways.
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT) return make_named();
    return system_failure(errno, "make", path());
  }

  // A maker that died between its link and its unlink left the lock file a second name; taking that away is all that
  // is left to do of its work. True when there was one.
  bool drop_second_name() {
    struct stat lock{};
    struct stat making{};
    const int at = folder_.descriptor.get();
    if (fstatat(at, name_.c_str(), &lock, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (fstatat(at, in_the_making_.c_str(), &making, AT_SYMLINK_NOFOLLOW) != 0) return false;
    return identity_of(lock) == identity_of(making) && unlinkat(at, in_the_making_.c_str(), 0) == 0;
  }

 private:
  std::string path() const { return folder_.path + "/" + name_; }

  Result<std::optional<OpenFile>> finish_unnamed(Fd descriptor) {
    if (auto dressed = dress_file(folder_, descriptor.get(), name_); !dressed) return fail(dressed.error());
    if (retry_interrupted([&] { return flock(descriptor.get(), LOCK_EX | LOCK_NB); }) != 0) {
      return system_failure(errno, "lock", path());
    }
    const std::string source = "/proc/self/fd/" + std::to_string(descriptor.get());
    const int at = folder_.descriptor.get();
    if (linkat(AT_FDCWD, source.c_str(), at, name_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return opened(std::move(descriptor));
    }
    if (errno == EEXIST) return std::nullopt;
    if (errno == ENOSPC || errno == EDQUOT || errno == EROFS) return system_failure(errno, "make", path());
    return make_named();  // no /proc to name it by
  }

  // With a name of its own first, locked before it gets the real one. The name is fixed: a crash leaves at most one,
  // and the next maker goes on with it.
  Result<std::optional<OpenFile>> make_named() {
    auto made = make_file(folder_, in_the_making_);
    if (made && !*made) made = open_present(folder_, in_the_making_, O_RDWR);
    if (!made || !*made) return made;
    const OpenFile& file = **made;
    const auto end = wait_.take(file.descriptor.get(), path());
    if (!end) return fail(end.error());
    if (*end != End::taken) return wait_.refuse(*end, file.status, shown(folder_, in_the_making_));
    const auto ours = leads_to(folder_, in_the_making_, file.status);
    if (!ours) return fail(ours.error());
    if (!*ours) return std::nullopt;
    const int at = folder_.descriptor.get();
    const int linked = linkat(at, in_the_making_.c_str(), at, name_.c_str(), 0);
    const int error = errno;
    unlinkat(at, in_the_making_.c_str(), 0);
    if (linked == 0) return std::move(*made);
    if (error == EEXIST) return std::nullopt;
    return system_failure(error, "make", path());
  }

  Result<std::optional<OpenFile>> opened(Fd descriptor) {
    OpenFile file{std::move(descriptor), {}};
    if (fstat(file.descriptor.get(), &file.status) != 0) return system_failure(errno, "look at", path());
    return file;
  }

  const Folder& folder_;
  const std::string& name_;
  std::string in_the_making_;
  SectionWait& wait_;
};

}  // namespace

Result<std::unique_ptr<env::SectionLock>> lock_section(const Folder& folder, const std::string& name, Duration at_most,
                                                       const Stop* stop) {
  SectionWait wait(at_most, stop);
  LockFileMaker maker(folder, name, wait);
  for (int race = 0; race < limits::kRenameRaces; ++race) {
    auto present = open_present(folder, name, O_RDWR);
    if (!present) {
      if (present.error().code == Code::damaged && maker.drop_second_name()) continue;
      return fail(present.error());
    }
    if (!*present) {
      auto made = maker.make();
      if (!made) return fail(made.error());
      if (!*made) continue;
      return std::make_unique<RealSectionLock>(folder, name, std::move(**made), true);
    }
    OpenFile& file = **present;
    const auto end = wait.take(file.descriptor.get(), folder.path + "/" + name);
    if (!end) return fail(end.error());
    if (*end != End::taken) return wait.refuse(*end, file.status, shown(folder, name));
    // Somebody may have removed or replaced the file meanwhile: then this lock keeps out nobody.
    const auto ours = leads_to(folder, name, file.status);
    if (!ours) return fail(ours.error());
    if (*ours) return std::make_unique<RealSectionLock>(folder, name, std::move(file), false);
  }
  return fail(Code::section_busy, shown(folder, name) + " is removed or replaced again and again");
}

}  // namespace tenure::os
