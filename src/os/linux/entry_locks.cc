#include "os/linux/entry_locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/section_wait.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

// For the way back from a try to be alone: somebody else may be just trying the same.
constexpr Duration kWayBack = limits::kSectionWait;

// A byte is enough: a mapping needs something behind it.
Result<void> give_it_a_page(const LocalPlace& place, const OpenFile& file) {
  if (file.status.st_size > 0) return {};
  if (retry_interrupted([&] { return ftruncate(file.descriptor.get(), 1); }) == 0) return {};
  return system_failure(errno, "lengthen", place.at(kLockName));
}

Result<void> lock_shared(SectionWait& wait, int descriptor, const struct stat& status, const std::string& path) {
  const auto end = wait.take(descriptor, path, LOCK_SH);
  if (!end) return fail(end.error());
  if (*end != SectionWait::End::taken) return wait.refuse(*end, status, escape_controls(path));
  return {};
}

// True: it is ours alone. False: it is not, and the shared lock on it may be gone.
Result<bool> lock_alone(int descriptor, const std::string& path) {
  if (retry_interrupted([&] { return flock(descriptor, LOCK_EX | LOCK_NB); }) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return system_failure(errno, "lock", path);
}

// nullopt: another process made or removed it between two steps of ours; try again.
Result<std::optional<OpenFile>> open_lock(const Folder& folder) {
  auto file = open_present(folder, kLockName, O_RDWR);
  if (!file || *file) return file;
  return make_file(folder, kLockName);
}

}  // namespace

EntryFile& EntryFile::operator=(EntryFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::move(other.descriptor_);
  status_ = other.status_;
  return *this;
}

bool EntryFile::ours() const noexcept {
  struct stat now{};
  return descriptor_ && fstat(descriptor_.get(), &now) == 0 && identity_of(now) == identity_of(status_);
}

void EntryFile::close() noexcept {
  if (!ours()) descriptor_.release();
  descriptor_.reset();
}

Result<EntryLocks::Held> EntryLocks::lock_both(Duration at_most) const {
  SectionWait wait(at_most, nullptr);
  auto folder = place_->open();
  if (!folder) return fail(folder.error());
  struct stat status{};
  if (fstat(folder->descriptor.get(), &status) != 0) return system_failure(errno, "look at", place_->path());
  if (auto locked = lock_shared(wait, folder->descriptor.get(), status, place_->path()); !locked) {
    return fail(locked.error());
  }
  for (int race = 0; race < limits::kRenameRaces; ++race) {
    auto lock = open_lock(*folder);
    if (!lock) return fail(lock.error());
    if (!*lock) continue;
    const OpenFile& file = **lock;
    const auto locked = lock_shared(wait, file.descriptor.get(), file.status, place_->at(kLockName));
    if (!locked) return fail(locked.error());
    // Somebody may have removed or replaced the file meanwhile: then this lock tells nobody that we are in.
    const auto in_place = leads_to(*folder, kLockName, file.status);
    if (!in_place) return fail(in_place.error());
    if (!*in_place) continue;
    if (auto fit = give_it_a_page(*place_, file); !fit) return fail(fit.error());
    auto page = OwnMapping::map(file.descriptor.get(), 1, PROT_NONE, place_->at(kLockName));
    if (!page) return fail(page.error());
    return Held{
        {std::move(folder->descriptor), status}, {std::move((*lock)->descriptor), file.status}, std::move(*page)};
  }
  return fail(Code::section_busy, place_->at(kLockName) + " is removed or replaced again and again");
}

Result<void> EntryLocks::enter(Duration at_most) {
  if (alone_) return let_others_in();
  auto held = lock_both(at_most);
  if (!held) return fail(held.error());
  // The former ones, if any, are let go of only now.
  leave();
  held_ = std::move(*held);
  lock_file_ = identity_of(held_.lock.status());
  return {};
}

Result<bool> EntryLocks::enter_alone() {
  if (alone_) return true;
  if (!convertible()) {
    if (auto entered = enter(kWayBack); !entered) return fail(entered.error());
  }
  // The folder first: of several who try at once only its owner goes on to the other.
  auto alone = lock_alone(held_.folder.descriptor(), place_->path());
  if (alone && *alone) alone = lock_alone(held_.lock.descriptor(), place_->at(kLockName));
  alone_ = alone.value_or(false);
  if (alone_) return true;
  if (auto back = back_to_shared(kWayBack); !back) return fail(back.error());
  return alone;
}

Result<void> EntryLocks::let_others_in() {
  if (convertible()) return back_to_shared(kWayBack);
  // The descriptors are closed; the exclusive lock that the mapping holds would keep ourselves out.
  leave();
  return enter(kWayBack);
}

Result<void> EntryLocks::back_to_shared(Duration at_most) {
  alone_ = false;
  SectionWait wait(at_most, nullptr);
  auto back = lock_shared(wait, held_.folder.descriptor(), held_.folder.status(), place_->path());
  if (back) back = lock_shared(wait, held_.lock.descriptor(), held_.lock.status(), place_->at(kLockName));
  if (!back) leave();
  return back;
}

void EntryLocks::leave() noexcept {
  if (process_.same()) {
    // A forked child may still have the descriptors: closing ours alone would leave the locks with it.
    if (held_.folder.ours()) flock(held_.folder.descriptor(), LOCK_UN);
    if (held_.lock.ours()) flock(held_.lock.descriptor(), LOCK_UN);
  }
  held_ = {};
  alone_ = false;
}

void EntryLocks::hand_over() noexcept {
  held_.folder.close();
  held_.lock.close();
}

}  // namespace tenure::os
