#include "engine/receiver/judge.h"

#include <charconv>

#include "rules/liveness.h"

namespace tenure::receiver {
namespace {

ProcessSight sight_of(const Core& core, const ProcessIdentity& process) {
  // Of another boot or namespace nothing that we see under that number means anything.
  const ProcessIdentity& self = core.self.identity;
  if (process.boot_id != self.boot_id || process.pid_namespace != self.pid_namespace) return {};
  return core.environment.processes->look(process.pid);
}

std::uint64_t ticks_of(const std::string& text) {
  std::uint64_t ticks = 0;
  std::from_chars(text.data(), text.data() + text.size(), ticks);
  return ticks;
}

// By the word of whoever opened the space with namespaces=one.
Anywhere in_our_namespace(const Core& core, std::int32_t pid, std::uint64_t start_ticks) {
  const ProcessSight sight = core.environment.processes->look(pid);
  if (!core.self.proc_usable) return Anywhere::unseen;
  if (sight.existence == ProcessSight::Existence::absent) return Anywhere::nowhere;
  if (sight.stat != ProcessSight::Stat::read || sight.start_ticks == 0) return Anywhere::unseen;
  return sight.start_ticks == start_ticks ? Anywhere::found : Anywhere::nowhere;
}

}  // namespace

rules::ReceiverVerdict judge_record(const Core& core, const ReceiverProcess& recorded) {
  Anywhere anywhere = Anywhere::unseen;
  const std::string& boot = core.self.identity.boot_id;
  const bool other_boot = recorded.boot_identity && *recorded.boot_identity != boot;
  if (rules::comparable(recorded) && !other_boot) {
    const auto pid = static_cast<std::int32_t>(recorded.pid);
    const std::uint64_t ticks = ticks_of(recorded.start_identity);
    anywhere = core.environment.processes->find(pid, ticks);
    if (anywhere == Anywhere::unseen && core.options.one_namespace) anywhere = in_our_namespace(core, pid, ticks);
  }
  return rules::judge_receiver_process(recorded, anywhere, core.options.shared_folder, core.self);
}

rules::ReceiverVerdict judge_paper(const Core& core, env::Directory& folder, const std::string& name,
                                   FileIdentity identity, const ReceiverProcess& recorded) {
  if (is_ours(recorded.generation)) {
    const LifeSight life = folder.probe_life(name, identity).sight;
    if (life == LifeSight::held) return {{Liveness::live, "its lock is held"}};
    if (life == LifeSight::free && core.one_kernel(recorded.boot_identity.value_or(""))) {
      return {{Liveness::dead, "its lock is free"}};
    }
  }
  return judge_record(core, recorded);
}

rules::ReceiverVerdict judge_lease(const Core& core, env::Directory& folder, const ReceiverProcess& recorded,
                                   const std::optional<ReceiverSidecar>& sidecar) {
  if (!sidecar) {
    // A damaged sidecar of ours leaves its lock.
    if (folder.probe_life(kLife, std::nullopt).sight == LifeSight::held) {
      return {{Liveness::live, "its life lock is held"}};
    }
    return judge_record(core, recorded);
  }
  rules::Testimony testimony;
  testimony.same_boot = core.one_kernel(sidecar->process.boot_id);
  testimony.keeper = rules::judge_process(sidecar->process, sight_of(core, sidecar->process), core.self);
  if (sidecar->owner_process) {
    testimony.owner = rules::judge_process(*sidecar->owner_process, sight_of(core, *sidecar->owner_process), core.self);
  }
  testimony.life = folder.probe_life(kLife, sidecar->life).sight;
  rules::ReceiverVerdict judged{rules::judge_lease(testimony)};
  judged.elsewhere = judged.verdict.liveness == Liveness::unknown &&
                     sidecar->process.boot_id != core.self.identity.boot_id && sidecar->host != core.self.host;
  return judged;
}

}  // namespace tenure::receiver
