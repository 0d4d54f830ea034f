#include "engine/receiver/look.h"

#include "base/limits.h"
#include "engine/receiver/judge.h"
#include "model/lease_record.h"

namespace tenure::receiver {
namespace {

using Occupied = rules::Occupant::Kind;

// Damage is no error here; that it could not be seen is.
bool means_damage(Code code) {
  return code == Code::damaged;
}

// Reads the two records. False: the folder is not the lease any more, look anew.
Result<bool> read_lease(const Core& core, Look& look) {
  auto owner = look.folder->read(kOwner, limits::kRecordBytes);
  if (!owner && !means_damage(owner.error().code)) return fail(owner.error());
  auto entry = core.root->look(kLease);
  if (!entry) return fail(entry.error());
  if (entry->identity != look.identity) return false;
  if (!owner) {
    look.damage = owner.error().message;
  } else if (!*owner) {
    look.damage = core.path_of(kLease) + " has no " + kOwner;
  } else {
    auto decoded = decode_receiver_owner((*owner)->bytes);
    if (decoded) {
      look.owner = std::move(*decoded);
    } else {
      look.damage = decoded.error().message;
      look.remains = remains_of_receiver((*owner)->bytes);
    }
  }
  auto extra = look.folder->read(kSidecar, limits::kRecordBytes);
  if (!extra && !means_damage(extra.error().code)) return fail(extra.error());
  if (extra && !*extra) return true;
  auto sidecar = extra ? decode_receiver_sidecar((*extra)->bytes) : Result<ReceiverSidecar>(fail(extra.error()));
  if (!sidecar) {
    look.note = "its " + std::string(kSidecar) + " cannot be read: " + sidecar.error().message;
  } else if (look.owner && sidecar->generation != look.owner->process.generation) {
    look.note = "its " + std::string(kSidecar) + " is of another generation";
  } else {
    look.sidecar = std::move(*sidecar);
  }
  return true;
}

void name_holder(Look& look) {
  rules::Occupant& occupant = look.occupant;
  occupant.kind = Occupied::holder;
  if (look.sidecar) {
    occupant.owner = look.sidecar->owner;
    occupant.part = look.sidecar->part;
    occupant.process = look.sidecar->process;
  } else {
    occupant.owner = look.owner->session_id;
  }
}

void judge_holder(const Core& core, Look& look) {
  const rules::ReceiverVerdict judged = judge_lease(core, *look.folder, look.owner->process, look.sidecar);
  look.occupant.verdict = judged.verdict;
  look.elsewhere = judged.elsewhere;
  name_holder(look);
}

// Its lock, our sidecar, or what can still be read of its process may speak for the holder.
void judge_damage(const Core& core, Look& look) {
  look.occupant.kind = Occupied::damaged;
  if (look.folder && look.sidecar) {
    // Ours says all that is needed, though pi-amq calls it corrupt.
    name_holder(look);
    look.occupant.verdict = judge_lease(core, *look.folder, {}, look.sidecar).verdict;
    return;
  }
  if (look.remains) {
    const auto judged = judge_record(core, *look.remains);
    if (judged.verdict.liveness == Liveness::live) {
      look.occupant.verdict = judged.verdict;
      return;
    }
  }
  const bool lives = look.folder && look.folder->probe_life(kLife, std::nullopt).sight == LifeSight::held;
  look.occupant.verdict =
      lives ? Verdict{Liveness::live, "the record is damaged, but the life lock beside it is held"}
            : Verdict{Liveness::unknown, "the record is damaged and nothing else speaks for its holder"};
}

// Where the very process is to be seen under its number here, more is known of it than the record says.
void add_what_is_seen(const Core& core, const ReceiverProcess& recorded, Holder& holder) {
  const env::Processes& processes = *core.environment.processes;
  const ProcessSight sight = processes.look(holder.process.pid);
  if (sight.stat != ProcessSight::Stat::read || std::to_string(sight.start_ticks) != recorded.start_identity) return;
  holder.process.start_ticks = sight.start_ticks;
  holder.process.pid_namespace = core.self.identity.pid_namespace;
  holder.process.time_namespace = core.self.identity.time_namespace;
  const std::string command = processes.command_of(holder.process.pid);
  if (!command.empty()) holder.command = command;
  holder.directory = processes.directory_of(holder.process.pid);
}

Holder holder_of(const Core& core, const Look& look) {
  Holder holder;
  if (look.owner) {
    holder.session = look.owner->session_id;
    holder.host = look.owner->process.hostname;
  }
  if (look.sidecar) {
    if (!look.owner) holder.host = look.sidecar->host;
    const ReceiverSidecar& extra = *look.sidecar;
    holder.owner = extra.owner;
    holder.part = extra.part;
    holder.process = extra.process;
    holder.owner_process = extra.owner_process;
    holder.user_name = extra.user_name;
    holder.command = extra.command;
    holder.directory = extra.directory;
    holder.reason = extra.reason;
    holder.channel = extra.channel;
    holder.version = extra.version;
    holder.since = wall_time_of(extra.since_ms);
    return holder;
  }
  const ReceiverOwner& owner = *look.owner;
  holder.owner = owner.session_id;
  if (rules::comparable(owner.process)) holder.process.pid = static_cast<std::int32_t>(owner.process.pid);
  holder.process.boot_id = owner.process.boot_identity.value_or("");
  holder.command = owner.process.executable;
  if (const auto since = parse_receiver_date(owner.process.created_at)) holder.since = *since;
  if (look.occupant.verdict.liveness == Liveness::live) add_what_is_seen(core, owner.process, holder);
  return holder;
}

// One glance; nullopt: it changed meanwhile.
Result<std::optional<Look>> glance(const Core& core) {
  Look look;
  auto entry = core.root->look(kLease);
  if (!entry) return fail(entry.error());
  look.identity = entry->identity;
  if (entry->kind == env::EntryKind::absent) return look;
  if (entry->kind != env::EntryKind::folder) {
    look.damage = core.path_of(kLease) + " is no folder";
    judge_damage(core, look);
    return look;
  }
  auto folder = core.root->open_folder(kLease);
  if (!folder && !means_damage(folder.error().code)) return fail(folder.error());
  if (!folder) {
    look.damage = folder.error().message;
    judge_damage(core, look);
    return look;
  }
  if (*folder == nullptr) return std::nullopt;
  look.folder = std::move(*folder);
  auto identity = look.folder->identity();
  if (!identity) return fail(identity.error());
  look.identity = *identity;
  auto read = read_lease(core, look);
  if (!read) return fail(read.error());
  if (!*read) return std::nullopt;
  if (look.owner) {
    judge_holder(core, look);
  } else {
    judge_damage(core, look);
  }
  return look;
}

}  // namespace

Result<Look> look(const Core& core) {
  for (int attempt = 1; attempt <= limits::kReadAttempts; ++attempt) {
    auto seen = glance(core);
    if (!seen) return fail(seen.error());
    if (!*seen) continue;
    // Between the record and what speaks for its holder, the holder may have given back: then it was no death.
    if ((*seen)->occupant.verdict.liveness == Liveness::dead) {
      auto entry = core.root->look(kLease);
      if (!entry) return fail(entry.error());
      if (entry->identity != (*seen)->identity) continue;
    }
    return std::move(**seen);
  }
  return fail(Code::section_busy, core.path_of(kLease) + " keeps changing hands while it is looked at", "try again");
}

std::string pi_word(const Look& look) {
  if (!look.damage.empty()) return "corrupt-owner";
  switch (look.occupant.verdict.liveness) {
    case Liveness::live:
      return "held";
    case Liveness::dead:
      return "stale";
    case Liveness::unknown:
      break;
  }
  return look.elsewhere ? "remote-owner" : "unverifiable-owner";
}

Observation observe(const Core& core, const Look& look) {
  Observation seen(*Key::parse(kReceiverKey));
  seen.verdict = look.occupant.verdict;
  const rules::ClaimVerdict stranger = rules::decide_for_stranger(rules::Expiry::proof, look.occupant);
  seen.claimable = stranger.granted();
  seen.why = stranger.why;
  if (look.nobody()) return seen;
  seen.state = look.owner ? State::held : State::damaged;
  seen.note = look.owner ? look.note : look.damage + "; to mend it: " + core.repair_command();
  if (!look.owner && !look.sidecar) return seen;
  seen.holders = 1;
  seen.epoch = look.epoch();
  seen.holder = holder_of(core, look);
  if (!look.sidecar && seen.note.empty()) seen.note = "written by pi-amq, or by another program of its format";
  return seen;
}

}  // namespace tenure::receiver
