#include "engine/local/membership.h"

#include <limits>
#include <vector>

#include "engine/local/advance.h"
#include "engine/local/buckets.h"
#include "engine/local/cells.h"
#include "engine/local/guards.h"
#include "engine/local/judge.h"
#include "engine/local/line.h"
#include "engine/local/texts.h"
#include "engine/local/together.h"
#include "engine/local/words_of.h"
#include "engine/local/yielding.h"
#include "rules/membership.h"

namespace tenure::local {
namespace {

rules::ByteSight sight_of(env::LocalFolder::ByteSight seen) {
  switch (seen) {
    case env::LocalFolder::ByteSight::held:
      return rules::ByteSight::held;
    case env::LocalFolder::ByteSight::free:
      return rules::ByteSight::free;
    case env::LocalFolder::ByteSight::unreadable:
      break;
  }
  return rules::ByteSight::unreadable;
}

// Its row may still be that of the member whose number it takes over: only its byte speaks for it.
Verdict prove_joining(const Core& core, std::uint16_t number, std::uint64_t state) {
  const bool free = core.folder->probe_byte(number) == env::LocalFolder::ByteSight::free;
  if (core.table.state(number).load(std::memory_order_acquire) != state) {
    return {Liveness::unknown, "it has just joined, or just left"};
  }
  if (free) return {Liveness::dead, "it ended while it joined the space"};
  return {Liveness::live, "it is joining the space"};
}

std::string boot_id_of(const Header& header) {
  const auto* text = reinterpret_cast<const char*>(header.boot_id.data());
  return {text, strnlen(text, header.boot_id.size())};
}

// True: nothing of it is left under this slot, or as this holding.
Result<bool> clear_lease(Core& core, MemberId member, CellIndex index) {
  Cell& cell = core.table.cell(index);
  const std::uint64_t word = cell.word.load(std::memory_order_acquire);
  const std::string text = load_text(core.table, low(at(cell, slot_field::kText)));
  // Another member works under it: what it was refused by as long.
  const std::uint64_t guard = at(cell, slot_field::kGuard);
  if (see_guard(core, guard) == GuardSight::runs && !is_guard_by(guard, member)) return false;
  const bool proofs = (flags_of(cell) & kHasProofs) != 0;
  if (proofs && further_proofs(core, text).liveness != Liveness::dead) return false;
  Wakes wakes(core);
  CellIndex former = 0;
  CellIndex ended = 0;
  const bool alone = CommitWord::unpacked(word).kind == Kind::slot;
  {
    auto section = Section::enter(core, cell.home.load(std::memory_order_relaxed), section_bound(core));
    if (!section) return fail(section.error());
    if (cell.word.load(std::memory_order_relaxed) != word || CommitWord::unpacked(word).member != member) return true;
    if (!is_same_guard(cell, guard)) return false;
    // What it had offered waits for the successor.
    if (const auto end = offer_end(core, cell); end && core.monotonic_ns() < *end) return false;
    const CellIndex slot_index = alone ? index : cell.owner.load(std::memory_order_relaxed);
    Cell& slot = core.table.cell(slot_index);
    former = alone ? end_holding(core, slot) : end_together(core, slot, index);
    keep_place_instead(core, slot);
    if (grantee_of(slot) == 0) (void)grant_next(core, slot, wakes, core.monotonic_ns());
    if (end_if_idle(core, section->bucket(), slot_index)) ended = slot_index;
  }
  wakes.send();
  give_text(core, former);
  if (!alone) give_cell(core, index);
  if (ended != 0) give_slot(core, ended);
  return true;
}

Result<void> clear_node(Core& core, MemberId member, CellIndex index) {
  Cell& node = core.table.cell(index);
  const std::uint64_t word = node.word.load(std::memory_order_acquire);
  const CellIndex slot_index = node.owner.load(std::memory_order_relaxed);
  if (slot_index == 0 || slot_index > core.table.last_cell()) return {};
  Cell& slot = core.table.cell(slot_index);
  Wakes wakes(core);
  CellIndex text = 0;
  bool ended = false;
  {
    auto section = Section::enter(core, slot.home.load(std::memory_order_relaxed), section_bound(core));
    if (!section) return fail(section.error());
    if (node.word.load(std::memory_order_relaxed) != word || CommitWord::unpacked(word).member != member) return {};
    text = low(node.body[node_field::kText].load(std::memory_order_relaxed));
    if (keep_ticket(core, node)) {
      // It stays, and with it what it refers to.
      disown_text(core, text);
      return {};
    }
    leave_line(core, slot, index, &wakes);
    text = adopt_text(core, text);  // only what no node refers to any more
    if (is_offered(slot) && grantee_of(slot) == 0) (void)grant_next(core, slot, wakes, core.monotonic_ns());
    ended = end_if_idle(core, section->bucket(), slot_index);
  }
  wakes.send();
  give_text(core, text);
  give_cell(core, index);
  if (ended) give_slot(core, slot_index);
  return {};
}

// What it took and had not put to use; last, because slots and nodes refer to texts.
void free_cells(Core& core, MemberId member) {
  for (CellIndex index = 1; index <= core.table.last_cell(); ++index) {
    Cell& cell = core.table.cell(index);
    std::uint64_t word = cell.word.load(std::memory_order_acquire);
    const CommitWord seen = CommitWord::unpacked(word);
    if (seen.member != member || (seen.kind != Kind::cached && seen.kind != Kind::text)) continue;
    const std::uint64_t ours = CommitWord{Kind::cached, 0, core.me}.packed();
    if (cell.word.compare_exchange_strong(word, ours, std::memory_order_acq_rel)) give_cell(core, index);
  }
}

}  // namespace

MemberSeen see_member(const Core& core, MemberId member) {
  MemberSeen seen;
  if (member.none() || member.number >= core.table.limits().members) return seen;
  const Word64& state = core.table.state(member.number);
  if (generation_of(state.load(std::memory_order_acquire)) != member.generation) return seen;
  const MemberRow& row = core.table.row(member.number);
  ProcessIdentity& identity = seen.identity;
  identity.pid = static_cast<std::int32_t>(row.pid.load(std::memory_order_relaxed));
  identity.start_ticks = row.start_ticks.load(std::memory_order_relaxed);
  identity.pid_namespace = row.pid_namespace.load(std::memory_order_relaxed);
  identity.time_namespace = row.time_namespace.load(std::memory_order_relaxed);
  identity.user = static_cast<std::uint32_t>(row.user.load(std::memory_order_relaxed));
  identity.boot_id = boot_id_of(core.table.header());
  identity.machine_id = core.self().machine_id;
  const std::size_t length = std::min<std::size_t>(row.text_bytes.load(std::memory_order_relaxed), kRowText);
  const std::string text = read_bytes(row.text.data(), length);
  seen.joined = WallTime{Duration{static_cast<std::int64_t>(row.joined_wall.load(std::memory_order_relaxed))}};
  std::atomic_thread_fence(std::memory_order_acquire);
  if (generation_of(state.load(std::memory_order_relaxed)) != member.generation) return MemberSeen{};
  seen.owner = field_or(text, Tag::owner);
  seen.host = field_or(text, Tag::host);
  seen.user_name = field_or(text, Tag::user_name);
  seen.command = field_or(text, Tag::command);
  seen.directory = field_or(text, Tag::directory);
  seen.current = true;
  return seen;
}

bool is_stopped(const Core& core, const MemberSeen& member) {
  if (!member.current || member.identity.pid_namespace != core.self().pid_namespace) return false;
  const ProcessSight sight = core.environment.processes->look(member.identity.pid);
  return sight.stat == ProcessSight::Stat::read && sight.start_ticks == member.identity.start_ticks &&
         (sight.state == 'T' || sight.state == 't');
}

Verdict prove(Core& core, MemberId member, Care care) {
  if (member == core.me && !member.none()) {
    return core.over.load(std::memory_order_acquire)
               ? Verdict{Liveness::unknown, "it is this process: " + core.over_why}
               : Verdict{Liveness::live, "it is this very process"};
  }
  if (member.none() || member.number >= core.table.limits().members) {
    return {Liveness::unknown, "its member number cannot be"};
  }
  const std::uint64_t state = core.table.state(member.number).load(std::memory_order_acquire);
  // A number is given out again only after its former member was proven dead, or had left.
  if (generation_of(state) != member.generation) return {Liveness::dead, "its member number was given to another"};
  if (phase_of(state) == Phase::free) return {Liveness::dead, "it has left the space"};
  if (phase_of(state) == Phase::joining) return prove_joining(core, member.number, state);
  MemberRow& row = core.table.row(member.number);
  const std::uint32_t life = row.life.load(std::memory_order_acquire);
  rules::MemberEvidence evidence;
  evidence.flagged = (life & env::kFlaggedBit) != 0;
  const bool keeper = (life & env::kThreadMask) != 0;
  if (care == Care::quick && keeper && !evidence.flagged) {
    return {Liveness::live, "its keeper thread runs"};
  }
  if (evidence.flagged && (life & env::kSleepersBit) != 0) {
    core.words->wake(row.life, std::numeric_limits<int>::max());
  }
  const MemberSeen seen = see_member(core, member);
  if (!seen.current) return {Liveness::dead, "its member number was given to another"};
  // In the order of how soon each can tell.
  const env::Processes& processes = *core.environment.processes;
  evidence.ending = evidence.flagged && seen.identity.pid_namespace == core.self().pid_namespace &&
                    processes.ending(seen.identity.pid, seen.identity.start_ticks);
  if (!evidence.ending) evidence.byte = sight_of(core.folder->probe_byte(member.number));
  if (evidence.flagged && !evidence.ending && evidence.byte != rules::ByteSight::free) {
    evidence.sight = processes.look(seen.identity.pid);
  }
  // What was found must have been of this member.
  if (generation_of(core.table.state(member.number).load(std::memory_order_acquire)) != member.generation) {
    return {Liveness::dead, "its member number was given to another"};
  }
  // One without a word that tells of its death.
  if (!keeper && !evidence.flagged && evidence.byte == rules::ByteSight::held) {
    return {Liveness::live, "pid " + std::to_string(seen.identity.pid) + " is alive: its lock is held"};
  }
  return rules::judge_member(seen.identity, evidence, core.environment.processes->self());
}

void keep_watch(Core& core) noexcept {
  // Who lengthens the pause meanwhile looks at `granted` afterwards.
  core.granted.store(true, std::memory_order_seq_cst);
  if (core.pause.exchange(kRound.count(), std::memory_order_seq_cst) == kRound.count()) return;
  Word32& inbox = core.table.row(core.me.number).inbox;
  inbox.fetch_add(1, std::memory_order_release);
  core.words->wake(inbox, 1);
}

void free_sections(Core& core, MemberId member) {
  const std::uint32_t word = lock_word(member);
  for (std::uint32_t index = 0; index < core.table.limits().buckets; ++index) {
    const std::uint32_t seen = core.table.bucket(index).lock.load(std::memory_order_acquire);
    if ((seen & ~kSleepers) == word) (void)Section::take_over(core, index, seen);
  }
}

Result<bool> clear_member(Core& core, MemberId member) {
  core.words->wake(core.table.row(member.number).life, std::numeric_limits<int>::max());
  free_sections(core, member);
  bool all = true;
  for (CellIndex index = 1; index <= core.table.last_cell(); ++index) {
    const CommitWord word = CommitWord::unpacked(core.table.cell(index).word.load(std::memory_order_acquire));
    if (word.kind == Kind::slot || word.kind == Kind::holding) {
      if (auto dropped = drop_guard_of(core, member, index); !dropped) return fail(dropped.error());
    }
    if (word.member != member) continue;
    if (word.kind == Kind::slot || word.kind == Kind::holding) {
      auto cleared = clear_lease(core, member, index);
      if (!cleared) return cleared;
      all = all && *cleared;
    } else if (word.kind == Kind::node) {
      if (auto cleared = clear_node(core, member, index); !cleared) return fail(cleared.error());
    }
  }
  if (all) free_cells(core, member);
  return all;
}

void clear_dead_members(Core& core) {
  const std::unique_lock one(core.clearing, std::try_to_lock);
  if (!one.owns_lock()) return;
  for (std::uint32_t number = 0; number < core.table.limits().members; ++number) {
    Word64& state = core.table.state(static_cast<std::uint16_t>(number));
    std::uint64_t seen = state.load(std::memory_order_acquire);
    const MemberId member{static_cast<std::uint16_t>(number), generation_of(seen)};
    if (phase_of(seen) == Phase::free || member == core.me || !suspicious(core, member)) continue;
    const auto taken = core.folder->take_byte(number);
    if (!taken || !*taken) continue;
    const auto cleared = clear_member(core, member);
    if (cleared && *cleared) {
      state.compare_exchange_strong(seen, state_word(member.generation, Phase::free), std::memory_order_acq_rel);
    }
    core.folder->drop_byte(number);
  }
}

}  // namespace tenure::local
