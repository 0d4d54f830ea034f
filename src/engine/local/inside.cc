#include "engine/local/inside.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "engine/local/buckets.h"
#include "engine/local/join.h"
#include "engine/local/judge.h"
#include "engine/local/membership.h"
#include "engine/local/snapshot.h"

namespace tenure {
namespace local {
namespace {

constexpr std::size_t kNamed = 5;

using Number = std::uint32_t;

struct Counts {
  std::size_t keys = 0, waits = 0;
};

// By member number; what a former generation left does not count.
std::map<Number, Counts> count(const Table& table) {
  std::map<Number, Counts> counts;
  for (CellIndex index = 1; index <= table.last_cell(); ++index) {
    const auto word = CommitWord::unpacked(table.cell(index).word.load(std::memory_order_acquire));
    if (word.kind != Kind::slot && word.kind != Kind::node && word.kind != Kind::holding) continue;
    if (word.member.none() || word.member.number >= table.limits().members) continue;
    const std::uint64_t state = table.state(word.member.number).load(std::memory_order_acquire);
    if (generation_of(state) != word.member.generation) continue;
    Counts& of = counts[word.member.number];
    if (word.kind == Kind::node) ++of.waits;
    const bool alone = word.kind == Kind::slot && word.state == static_cast<std::uint8_t>(SlotState::held);
    if (alone || word.kind == Kind::holding) ++of.keys;
  }
  return counts;
}

bool holds_a_bucket(const Table& table, MemberId member) {
  for (std::uint32_t index = 0; index < table.limits().buckets; ++index) {
    const std::uint32_t word = table.bucket(index).lock.load(std::memory_order_acquire) & ~kSleepers;
    if (word == lock_word(member)) return true;
  }
  return false;
}

std::size_t cells_taken(const Table& table) {
  std::size_t taken = 0;
  for (CellIndex index = 1; index <= table.last_cell(); ++index) {
    const auto word = CommitWord::unpacked(table.cell(index).word.load(std::memory_order_relaxed));
    if (word.kind != Kind::free) ++taken;
  }
  return taken;
}

}  // namespace

std::vector<LocalMember> living_members(Core& core) {
  const Table& table = core.table;
  std::map<Number, Counts> counts = count(table);
  std::vector<LocalMember> living;
  for (Number number = 0; number < table.limits().members; ++number) {
    const std::uint64_t state = table.state(static_cast<std::uint16_t>(number)).load(std::memory_order_acquire);
    if (phase_of(state) == Phase::free) continue;
    const MemberId id{static_cast<std::uint16_t>(number), generation_of(state)};
    const Verdict verdict = prove(core, id, Care::usual);
    if (verdict.liveness == Liveness::dead) continue;
    MemberSeen seen = see_member(core, id);
    if (!seen.current) continue;
    LocalMember member{.process = seen.identity,
                       .owner = std::move(seen.owner),
                       .host = std::move(seen.host),
                       .user_name = std::move(seen.user_name),
                       .command = std::move(seen.command),
                       .directory = std::move(seen.directory),
                       .since = seen.joined,
                       .verdict = verdict,
                       .stopped = is_stopped(core, seen)};
    member.in_section = holds_a_bucket(table, id);
    member.keys = counts[number].keys;
    member.waits = counts[number].waits;
    living.push_back(std::move(member));
  }
  std::sort(living.begin(), living.end(),
            [](const LocalMember& a, const LocalMember& b) { return a.process.pid < b.process.pid; });
  return living;
}

std::string words_of(const std::vector<LocalMember>& members) {
  if (members.empty()) return "another process has it open";
  std::string text =
      members.size() == 1 ? "a process has it open: " : std::to_string(members.size()) + " processes have it open: ";
  for (std::size_t i = 0; i < std::min(members.size(), kNamed); ++i) {
    const LocalMember& member = members[i];
    text += (i == 0 ? "pid " : ", pid ") + std::to_string(member.process.pid);
    if (!member.command.empty()) text += " (" + escape_controls(cut_text(member.command, 60)) + ")";
    if (member.keys != 0) text += " holding " + std::to_string(member.keys) + (member.keys == 1 ? " key" : " keys");
  }
  if (members.size() > kNamed) text += ", and " + std::to_string(members.size() - kNamed) + " more";
  return text;
}

Result<void> refuse_held_keys(Core& core, bool force) {
  for (CellIndex index = 1; index <= core.table.last_cell(); ++index) {
    const auto word = CommitWord::unpacked(core.table.cell(index).word.load(std::memory_order_acquire));
    if (word.kind != Kind::slot) continue;
    auto slot = read_slot(core, index);
    if (!slot) return fail(slot.error());
    auto key = *slot ? Key::parse((*slot)->key) : Result<Key>{fail(Code::bad_key, "no slot")};
    if (!key) continue;
    const Observation seen = observe(core, *key, *slot, Care::usual);
    if (seen.state == State::free) continue;
    std::vector<Verdict> verdicts{seen.verdict};
    for (const Companion& one : seen.together) verdicts.push_back(one.verdict);
    const auto keeps = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return verdict.liveness == Liveness::live || (verdict.liveness == Liveness::unknown && !force);
    });
    if (keeps == verdicts.end()) continue;
    return fail(Error{Code::holder_live, escape_controls(key->text()) + " is held or may be held: " + keeps->evidence,
                      "look at it with tenure who, and end what keeps it", std::make_shared<const Observation>(seen)});
  }
  return {};
}

}  // namespace local

Result<std::optional<LocalSight>> look_into_local(std::unique_ptr<env::LocalFolder> folder,
                                                  std::shared_ptr<env::Words> words, env::Environment environment) {
  auto core = local::open_observer(std::move(folder), std::move(words), std::move(environment));
  if (!core && core.error().code == Code::unreachable) return std::nullopt;
  if (!core) return fail(core.error());
  const local::Table& table = (*core)->table;
  LocalSight sight;
  sight.limits = table.limits();
  sight.cells = local::cells_taken(table);
  sight.epoch = Epoch{table.header().epoch.load(std::memory_order_relaxed)};
  sight.ceiling = Epoch{table.header().ceiling.load(std::memory_order_relaxed)};
  sight.members = local::living_members(**core);
  return sight;
}

}  // namespace tenure
