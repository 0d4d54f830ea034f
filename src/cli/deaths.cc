#include "cli/deaths.h"

#include "cli/owner_process.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

// Not open: its end cannot be seen from here, or it has come already.
Descriptor death_of(const ProcessIdentity& process, const env::Processes& processes) {
  const ProcessIdentity self = processes.self().identity;
  if (process.pid <= 0 || process.boot_id != self.boot_id || process.pid_namespace != self.pid_namespace) return {};
  // The descriptor first, then the look: what is found is then what the descriptor stands for.
  Descriptor death(processes.death_descriptor(process.pid));
  return still_there(process) ? std::move(death) : Descriptor();
}

}  // namespace

Result<std::unique_ptr<Deaths>> Deaths::watch(const Holder& holder) {
  const auto processes = compose::real_environment().processes;
  std::vector<Descriptor> watched;
  for (const ProcessIdentity& each : {holder.process, holder.owner_process.value_or(ProcessIdentity{})}) {
    if (Descriptor death = death_of(each, *processes); death.open()) watched.push_back(std::move(death));
  }
  if (watched.empty()) return nullptr;
  auto stop = Stop::create();
  if (!stop) return fail(stop.error());
  std::unique_ptr<Deaths> deaths(new Deaths(std::move(*stop)));
  deaths->processes_ = std::move(watched);
  std::vector<int> descriptors;
  for (const Descriptor& each : deaths->processes_) descriptors.push_back(each.get());
  auto sentinel = Sentinel::post(deaths->stop_, std::move(descriptors), [](std::size_t) { return true; });
  if (!sentinel) return fail(sentinel.error());
  deaths->sentinel_.emplace(std::move(*sentinel));
  return deaths;
}

}  // namespace tenure::cli
