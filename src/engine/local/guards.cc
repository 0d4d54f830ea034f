#include "engine/local/guards.h"

#include "engine/local/membership.h"

namespace tenure::local {
namespace {

// The member that such a word names, if it is one still.
std::optional<MemberId> member_in(const Core& core, std::uint64_t word) {
  const auto number = number_in_lock(static_cast<std::uint32_t>(word));
  if (number >= core.table.limits().members) return std::nullopt;
  const MemberId member{number, generation_of(core.table.state(number).load(std::memory_order_acquire))};
  return is_guard_by(word, member) ? std::optional(member) : std::nullopt;
}

}  // namespace

GuardSight see_guard(Core& core, std::uint64_t word) {
  if (word == 0) return GuardSight::none;
  // A number goes to another only after the guards of the former member were dropped.
  const auto member = member_in(core, word);
  if (!member || prove(core, *member, Care::quick).liveness == Liveness::dead) return GuardSight::orphaned;
  if (core.monotonic_ns() <= guard_until(word)) return GuardSight::runs;
  // Its bound is a time of its own clock.
  const bool same_clock = see_member(core, *member).identity.time_namespace == core.self().time_namespace;
  return same_clock ? GuardSight::past : GuardSight::runs;
}

bool guard_may_run(const Core& core, const Cell& cell) noexcept {
  const std::uint64_t word = cell.body[slot_field::kGuard].load(std::memory_order_relaxed);
  return word != 0 && core.monotonic_ns() <= guard_until(word);
}

Result<void> drop_guard_of(Core& core, MemberId member, CellIndex lease) {
  Cell& cell = core.table.cell(lease);
  Word64& guard = cell.body[slot_field::kGuard];
  if (!is_guard_by(guard.load(std::memory_order_relaxed), member)) return {};
  const std::uint32_t home = cell.home.load(std::memory_order_relaxed);
  if (home >= core.table.limits().buckets) return {};
  auto section = Section::enter(core, home, section_bound(core));
  if (!section) return fail(section.error());
  const Kind kind = CommitWord::unpacked(cell.word.load(std::memory_order_relaxed)).kind;
  const bool is_lease = kind == Kind::slot || kind == Kind::holding;
  if (is_lease && cell.home.load(std::memory_order_relaxed) == home &&
      is_guard_by(guard.load(std::memory_order_relaxed), member)) {
    guard.store(0, std::memory_order_relaxed);
  }
  return {};
}

}  // namespace tenure::local
