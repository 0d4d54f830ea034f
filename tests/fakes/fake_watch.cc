#include "fakes/fake_watch.h"

#include <poll.h>

#include "fakes/fault_call.h"
#include "fakes/patience.h"

namespace tenure::fakes {

namespace {

bool readable(int descriptor) {
  if (descriptor < 0) return false;
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) > 0;
}

}  // namespace

FakeWatch::~FakeWatch() {
  if (!id_) return;
  std::lock_guard lock(disk_->mutex_);
  disk_->watches_.erase(*id_);
}

Result<env::Watch::Changes> FakeWatch::wait(Duration at_most, const Stop* stop, int other_descriptor) {
  std::unique_lock lock(disk_->mutex_);
  Changes changes;
  int slices = 0;
  const auto ready = [&] {
    if (readable(other_descriptor) || !disk_->world_->running(process_)) return true;
    if (!id_) {  // a poll looks again every few slices, whatever the fake clock says
      changes.everything = ++slices > 3;
      return changes.everything;
    }
    auto pending = disk_->watches_.find(*id_);
    if (pending == disk_->watches_.end()) return false;  // the power went: nobody tells us anything any more
    if (pending->second.names.empty() && !pending->second.everything) return false;
    changes.names.assign(pending->second.names.begin(), pending->second.names.end());
    changes.everything = pending->second.everything;
    pending->second.names.clear();
    pending->second.everything = false;
    return true;
  };
  wait_on(lock, disk_->changed_, *disk_->clock_, at_most, stop, ready);
  if (!disk_->world_->running(process_)) return fail(dead_process());
  return changes;
}

}  // namespace tenure::fakes
