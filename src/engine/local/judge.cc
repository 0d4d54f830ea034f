#include "engine/local/judge.h"

#include <algorithm>

#include "base/text.h"
#include "engine/local/guards.h"
#include "engine/local/texts.h"
#include "engine/local/yielding.h"
#include "rules/liveness.h"
#include "rules/offer.h"
#include "rules/sharing.h"

namespace tenure::local {
namespace {

constexpr const char* kUnderGuard = "an operation runs under its guard";
constexpr std::size_t kJudgedNodes = 16;  // from the head of a line; the others look after themselves

std::optional<ProcessIdentity> owner_process_in(const Core& core, std::string_view text) {
  const auto bytes = field(text, Tag::owner_process);
  if (!bytes || bytes->size() != 20) return std::nullopt;
  ProcessIdentity identity = core.self();
  identity.pid = static_cast<std::int32_t>(number_in(*bytes, 0, 4));
  identity.start_ticks = number_in(*bytes, 4, 8);
  identity.pid_namespace = number_in(*bytes, 12, 8);
  const auto times = field(text, Tag::owner_times).value_or(std::string_view{});
  identity.time_namespace = number_in(times, 0, 8);
  identity.user = static_cast<std::uint32_t>(number_in(times, 8, 4));
  return identity;
}

// The default part of a claim is the number of its handle.
std::string part_of(const ClaimId& claim, std::string_view text) {
  if (const auto part = field(text, Tag::part)) return std::string(*part);
  return claim.text().substr(16);
}

Holder holder_from(const Core& core, MemberId member, const ClaimId& claim, const Terms& terms, std::int64_t since,
                   const std::string& text) {
  const MemberSeen seen = see_member(core, member);
  Holder holder;
  holder.owner = field_or(text, Tag::owner, seen.owner);
  holder.part = part_of(claim, text);
  holder.process = seen.identity;
  holder.owner_process = owner_process_in(core, text);
  holder.host = seen.host;
  holder.user_name = seen.user_name;
  holder.command = field_or(text, Tag::command, seen.command);
  holder.directory = field_or(text, Tag::directory, seen.directory);
  holder.reason = field_or(text, Tag::reason);
  holder.channel = field_or(text, Tag::channel);
  holder.version = field_or(text, Tag::version);
  holder.session = field_or(text, Tag::session);
  holder.since = WallTime{Duration{since}};
  holder.ttl = terms.ttl;
  holder.mode = terms.mode;
  holder.slots = terms.slots;
  return holder;
}

const NodeView* grantee_in(const SlotView& slot) {
  const auto found = std::find_if(slot.line.begin(), slot.line.end(),
                                  [&](const NodeView& node) { return node.index == slot.grantee; });
  return slot.grantee != 0 && found != slot.line.end() ? &*found : nullptr;
}

bool same_clock(const Core& core, MemberId member) {
  const MemberSeen seen = see_member(core, member);
  return seen.current && seen.identity.time_namespace == core.self().time_namespace;
}

std::vector<Waiter> waiters_of(const Core& core, const SlotView& slot) {
  std::vector<Waiter> out;
  for (const NodeView& node : slot.line) {
    if (node.index == slot.grantee && !slot.held()) continue;  // it is shown as the holder
    Holder waiting = holder_of(core, node);
    out.push_back({std::move(waiting.owner), std::move(waiting.reason), std::move(waiting.user_name),
                   std::move(waiting.command), std::move(waiting.process), waiting.since});
  }
  return out;
}

// Of a key that several hold: shown is who holds it longest, and the others beside.
Observation observe_together(Core& core, const Key& key, const SlotView& slot, Care care) {
  Observation seen{.key = key};
  seen.state = State::held;
  seen.holders = static_cast<std::uint32_t>(slot.together.size());
  seen.why = rules::words_of_holders(slot.together.front().terms, slot.together.size());
  seen.waiting = slot.waiting;
  seen.line = waiters_of(core, slot);
  if (slot.waiting != 0) seen.note = std::to_string(slot.waiting) + " in line";
  seen.claimable = true;
  for (const HoldingView& one : slot.together) {
    const rules::Occupant occupant = occupant_of(core, one, care);
    const rules::ClaimVerdict stranger = rules::decide_for_stranger(rules::Expiry::proof, occupant);
    const bool held_up = stranger.granted() && guarded(core, one);
    Observation yielding{
        .key = key, .claimable = stranger.granted() && !held_up, .why = held_up ? kUnderGuard : stranger.why};
    show_yielding(core, one, occupant, stranger, yielding);
    // Shown is the first that is not over, if there is one.
    if (!seen.holder || (seen.claimable && !yielding.claimable)) {
      seen.asks = std::move(yielding.asks);
      seen.offer = std::move(yielding.offer);
      seen.epoch = one.epoch;
      seen.holder = holder_of(core, one);
      seen.verdict = occupant.verdict;
      seen.frees_in = seen.holders == 1 ? stranger.frees_in : std::nullopt;
    }
    seen.claimable = seen.claimable && yielding.claimable;
    seen.together.push_back({holder_of(core, one), one.epoch, occupant.verdict, yielding.claimable, yielding.why});
  }
  if (seen.claimable) seen.why = "of those who have it, all are gone or past their TTL";
  return seen;
}

// An offer that its grantee does not take up.
bool does_not_stir(Core& core, const NodeView& node, Duration patience) {
  if ((node.flags & kAbsent) != 0) return false;  // has its grace
  const Duration waited{core.monotonic_ns() - static_cast<std::int64_t>(node.offered_at)};
  return is_stopped(core, see_member(core, node.word.member)) || (patience > Duration{0} && waited > patience);
}

Verdict judge_group(const Core& core, std::string_view bytes) {
  if (bytes.size() <= 16 || core.environment.groups == nullptr) {
    return {Liveness::unknown, "whether a process lives in its control group cannot be asked"};
  }
  const env::GroupIdentity group{number_in(bytes, 0, 8), number_in(bytes, 8, 8), std::string(bytes.substr(16))};
  const std::string name = "its control group " + escape_controls(group.path);
  switch (core.environment.groups->look(group)) {
    case env::GroupSight::populated:
      return {Liveness::live, "a process lives in " + name};
    case env::GroupSight::unseen:
      return {Liveness::unknown, name + " cannot be seen from here"};
    case env::GroupSight::empty:
    case env::GroupSight::gone:
      break;
  }
  return {Liveness::dead, "nobody lives in " + name};
}

}  // namespace

Holder holder_of(const Core& core, const HoldingView& lease) {
  Holder holder = holder_from(core, lease.word.member, lease.claim, lease.terms, lease.since, lease.text);
  if (lease.terms.slots > 1) holder.slot = lease.number;
  return holder;
}

Holder holder_of(const Core& core, const NodeView& node) {
  Holder holder = holder_from(core, node.word.member, node.claim, node.terms, node.since, node.text);
  if (holder.owner.empty()) holder.owner = "ticket " + field_or(node.text, Tag::ticket);  // its poller has left
  return holder;
}

Verdict further_proofs(Core& core, const std::string& text) {
  if (const auto byte = field(text, Tag::passed_byte)) {
    switch (core.folder->probe_byte(number_in(*byte, 0, 8))) {
      case env::LocalFolder::ByteSight::held:
        return {Liveness::live, "a process that was given its descriptor lives"};
      case env::LocalFolder::ByteSight::unreadable:
        return {Liveness::unknown, "whether a child was given its descriptor cannot be asked"};
      case env::LocalFolder::ByteSight::free:
        break;
    }
  }
  if (const auto owner = owner_process_in(core, text)) {
    const env::Processes& processes = *core.environment.processes;
    const Verdict verdict = rules::judge_process(*owner, processes.look(owner->pid), processes.self());
    if (verdict.liveness != Liveness::dead) return {verdict.liveness, "whom it is kept for: " + verdict.evidence};
  }
  if (const auto group = field(text, Tag::control_group)) return judge_group(core, *group);
  return {Liveness::dead, "nothing else keeps it"};
}

Verdict judge_holding(Core& core, const HoldingView& slot, Care care) {
  const Verdict member = prove(core, slot.word.member, care);
  if (member.liveness != Liveness::dead || (slot.flags & kHasProofs) == 0) return member;
  const Verdict further = further_proofs(core, slot.text);
  return further.liveness == Liveness::dead ? member : further;
}

rules::Occupant occupant_of(Core& core, const HoldingView& lease, Care care) {
  rules::Occupant occupant;
  occupant.kind = rules::Occupant::Kind::holder;
  const Holder holder = holder_of(core, lease);
  occupant.owner = holder.owner;
  occupant.part = holder.part;
  occupant.process = holder.process;
  occupant.verdict = judge_holding(core, lease, care);
  occupant.hard_ttl = lease.terms.ttl;
  if (lease.terms.ttl && same_clock(core, lease.word.member)) {
    occupant.since_extension = {rules::Age::Basis::monotonic,
                                std::max(Duration{core.monotonic_ns() - lease.monotonic}, Duration{0})};
  }
  return occupant;
}

rules::Occupant occupant_of(Core& core, const SlotView& slot, Care care) {
  const NodeView* grantee = slot.held() ? nullptr : grantee_in(slot);
  if (grantee == nullptr) return occupant_of(core, static_cast<const HoldingView&>(slot), care);
  rules::Occupant occupant;
  occupant.kind = rules::Occupant::Kind::holder;
  const Holder holder = holder_of(core, *grantee);
  occupant.owner = holder.owner;
  occupant.part = holder.part;
  occupant.process = holder.process;
  occupant.verdict = prove(core, grantee->word.member, care);
  return occupant;
}

Observation observe(Core& core, const Key& key, const std::optional<SlotView>& slot, Care care) {
  if (!slot) return observe(core, key, slot, rules::Occupant{});
  if (!slot->together.empty()) return observe_together(core, key, *slot, care);
  const bool taken = slot->held() || grantee_in(*slot) != nullptr;
  return observe(core, key, slot, taken ? occupant_of(core, *slot, care) : rules::Occupant{});
}

Observation observe(Core& core, const Key& key, const std::optional<SlotView>& slot, const rules::Occupant& occupant) {
  Observation seen{.key = key};
  seen.claimable = true;
  seen.why = "nobody holds it";
  if (!slot) return seen;
  const std::string waiting = slot->waiting == 0 ? "" : std::to_string(slot->waiting) + " in line";
  const NodeView* grantee = slot->held() ? nullptr : grantee_in(*slot);
  if (!slot->held() && grantee == nullptr) {
    seen.why = slot->waiting == 0 ? seen.why : "nobody holds it; " + waiting + " do not stir";
    return seen;
  }
  const rules::ClaimVerdict stranger = rules::decide_for_stranger(rules::Expiry::proof, occupant);
  seen.state = State::held;
  seen.holders = 1;
  seen.epoch = slot->epoch;
  seen.holder = grantee != nullptr ? holder_of(core, *grantee) : holder_of(core, *slot);
  seen.verdict = occupant.verdict;
  seen.claimable = stranger.granted();
  seen.why = stranger.why;
  seen.frees_in = stranger.frees_in;
  seen.note = waiting;
  seen.line = waiters_of(core, *slot);
  seen.waiting = slot->waiting;
  if (grantee != nullptr) {
    const bool absent = (grantee->flags & kAbsent) != 0;
    seen.note = (absent ? "kept for a ticket that nobody polls just now"
                        : "offered to the first in line, which has not taken it up yet") +
                (waiting.empty() ? "" : "; " + waiting);
  }
  if (seen.claimable && guarded(core, *slot)) {
    seen.claimable = false;
    seen.why = kUnderGuard;
  }
  if (slot->held()) show_yielding(core, *slot, occupant, stranger, seen);
  return seen;
}

namespace {

// Whether that lease is over, or may be taken.
std::optional<Facts::Over> over_in(Core& core, const HoldingView& lease, const rules::Occupant& occupant) {
  const auto verdict = rules::decide_for_stranger(rules::Expiry::proof, occupant);
  const auto over = [&](EventKind kind, std::string why) {
    return Facts::Over{lease.index, lease.word.packed(), lease.epoch.value(), lease.guard, kind, std::move(why)};
  };
  if (past_guard(core, lease)) return over(EventKind::lost, kPastGuard);
  if (back_to_line(core, lease)) return over(EventKind::released, not_adopted(lease));
  if (rules::offer_keeps_off(verdict, occupant) && open_offer(core, lease)) return std::nullopt;
  if (verdict.granted() && !guarded(core, lease)) return over(EventKind::taken_over, verdict.why);
  return std::nullopt;
}

}  // namespace

Facts judge(Core& core, const SlotView& slot, Care care, Duration patience) {
  Facts facts;
  if (slot.held()) {
    facts.occupant = occupant_of(core, slot, care);
    facts.over = over_in(core, slot, facts.occupant);
  }
  for (const HoldingView& one : slot.together) {
    const rules::Occupant occupant = occupant_of(core, one, care);
    auto over = over_in(core, one, occupant);
    // One more in the slots needs one place: who lives past its TTL keeps its own while there is another.
    const bool spared =
        over && one.terms.slots > 1 && occupant.verdict.liveness != Liveness::dead && !facts.together.empty();
    if (over && !spared) facts.together.push_back(std::move(*over));
  }
  for (std::size_t i = 0; i < slot.line.size(); ++i) {
    const NodeView& node = slot.line[i];
    if (i >= kJudgedNodes && node.index != slot.grantee) continue;
    Facts::Node fact{node.index, node.word.packed(), node.arrival, false};
    if ((node.flags & (kAbsent | kAbandoned)) != 0) {
      fact.dead = true;  // whether a ticket still has its grace is looked at in the section
    } else if (suspicious(core, node.word.member)) {
      fact.dead = prove(core, node.word.member, Care::usual).liveness == Liveness::dead;
    }
    const bool idle_grantee = node.index == slot.grantee && does_not_stir(core, node, patience);
    if (fact.dead || idle_grantee) facts.nodes.push_back(fact);
  }
  return facts;
}

}  // namespace tenure::local
