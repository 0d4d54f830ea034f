// Waiting for a key: standing in its line, sleeping there, and leaving it. What a claim does with what it finds when it
// wakes: claim.cc.
#include <algorithm>
#include <array>
#include <limits>
#include <thread>

#include "engine/local/cells.h"
#include "engine/local/claiming.h"
#include "engine/local/events.h"
#include "engine/local/texts.h"
#include "engine/local/together.h"
#include "engine/local/yielding.h"

namespace tenure::local {
namespace {

constexpr std::uint32_t kQuietDoublings = 3;  // of the bound while nothing changes: 2 s for the first, 32 s at most
constexpr int kDeathYields = 20;              // a death takes as long as its threads take to run once more
constexpr Duration kFirstDeathPoll = std::chrono::microseconds(100);
constexpr Duration kLastDeathPoll = std::chrono::milliseconds(10);

}  // namespace

// ---- inside the section ---------------------------------------------------------------------------------------------

bool Claiming::is_our_node(CellIndex slot) const {
  const Cell& node = core_.table.cell(node_);
  const CommitWord word = CommitWord::unpacked(node.word.load(std::memory_order_relaxed));
  return word.kind == Kind::node && word.member == core_.me && node.owner.load(std::memory_order_relaxed) == slot &&
         node.body[node_field::kCounter].load(std::memory_order_relaxed) == claim_.counter;
}

// Another claim with our ticket took our place up, and the text that lay there with it.
void Claiming::forget_place() {
  node_ = 0;
  claim_.text = 0;
}

bool Claiming::find_ticket(Cell& slot, Wakes& wakes) {
  if (wait_ == nullptr || wait_->ticket.empty()) return false;
  const std::uint64_t hash = hash_of(wait_->ticket);
  for (CellIndex index = first_in_line(slot); index != 0; index = next_in_line(core_.table.cell(index))) {
    Cell& node = core_.table.cell(index);
    if ((flags_of(node) & kTicket) == 0) continue;
    if (node.body[node_field::kTicketLow].load(std::memory_order_relaxed) != hash) continue;
    const CellIndex text = low(node.body[node_field::kText].load(std::memory_order_relaxed));
    if (field(load_text(core_.table, text), Tag::ticket) != std::string_view(wait_->ticket)) continue;
    // The place first, then what lies in it: at a death between two of these it is a ticket that nobody polls.
    CommitWord word = CommitWord::unpacked(node.word.load(std::memory_order_relaxed));
    word.member = core_.me;
    node.word.store(word.packed(), std::memory_order_release);
    TENURE_POINT("ticket half taken over");
    const auto put = [&](std::size_t at, std::uint64_t value) {
      node.body[at].store(value, std::memory_order_relaxed);
    };
    put(node_field::kNonce, core_.nonce);
    put(node_field::kCounter, claim_.counter);
    put(node_field::kTerms, claim_.terms);
    put(node_field::kTtl, claim_.ttl);
    put(node_field::kGrace, static_cast<std::uint64_t>(wait_->grace.count()));
    put(node_field::kOfferedAt, static_cast<std::uint64_t>(now_.monotonic));
    put(node_field::kAsleepUntil, 0);
    put(node_field::kGivesUp, 0);  // of who polled before, perhaps another process
    put(node_field::kText, two(claim_.text, claim_.flags | kTicket));
    TENURE_POINT("ticket taken over");
    spent_.text(adopt_text(core_, text));
    wakes.raise(node);  // who had it until now ends
    if (const CellIndex next = next_in_line(node); next != 0) wakes.raise(core_.table.cell(next));
    node_ = index;
    return true;
  }
  return false;
}

// The first time that somebody here waits, what a hand-off and a death will need is brought in: pages that are touched
// for the first time cost more than all else, and then the key would wait for them.
void Claiming::get_ready_to_wait() const {
  if (core_.waited.load(std::memory_order_relaxed) || core_.waited.exchange(true)) return;
  bring_in_events(core_);
  if (!core_.granted.load(std::memory_order_relaxed)) {
    TENURE_POINT("nothing to lose yet");
    // Waiting is no work for the keeper: asleep already, it would only wake for the sake of leases.
    core_.pause.store(kIdleRound.count(), std::memory_order_seq_cst);
    core_.words->wake(core_.table.row(core_.me.number).inbox, 1);
    if (core_.granted.load(std::memory_order_seq_cst)) keep_watch(core_);  // another thread was granted something
  }
  const ProcessIdentity& self = core_.self();
  (void)core_.environment.processes->ending(self.pid, self.start_ticks);
  (void)core_.folder->probe_byte(core_.me.number);
}

Result<void> Claiming::take_spare() {
  if (spare_node_ != 0) return {};
  auto cell = take_cell(core_);
  if (!cell) return fail(cell.error());
  spare_node_ = *cell;
  get_ready_to_wait();
  return {};
}

Result<void> Claiming::enter() {
  if (auto spare = take_spare(); !spare) return spare;
  auto section = Section::enter(core_, bucket_, bound());
  if (!section) return fail(section.error());
  const CellIndex index = find_slot(core_, section->bucket(), wanted_);
  if (index == 0) return {};  // it came free: the next look takes it
  return stand(index);
}

Result<void> Claiming::stand(CellIndex index) {
  Cell& slot = core_.table.cell(index);
  if (length_of_line(slot) >= kMaxLine) {
    return fail(Code::limit_reached,
                "the line of " + request_.key.text() + " is full: " + std::to_string(kMaxLine) + " wait",
                "come again later, or with --wait 0");
  }
  if (gives_up_.holding != 0 && another_gives_up(slot)) {
    return fail(Code::would_deadlock,
                "another holder of " + request_.key.text() + " waits for the others to go, as this claim would",
                "release what this process holds of it, then claim it");
  }
  Cell& node = core_.table.cell(spare_node_);
  const auto put = [&](std::size_t field, std::uint64_t value) {
    node.body[field].store(value, std::memory_order_relaxed);
  };
  const bool first = gives_up_.holding != 0;
  put(node_field::kArrival, first ? 0 : core_.table.header().arrivals.fetch_add(1, std::memory_order_relaxed));
  put(node_field::kNonce, core_.nonce);
  put(node_field::kCounter, claim_.counter);
  put(node_field::kTtl, claim_.ttl);
  put(node_field::kTicketLow, wait_->ticket.empty() ? 0 : hash_of(wait_->ticket));
  put(node_field::kGrace, static_cast<std::uint64_t>(wait_->grace.count()));
  put(node_field::kAbsentSince, 0);
  put(node_field::kAsleepUntil, 0);
  put(node_field::kOfferedAt, 0);
  put(node_field::kText, two(claim_.text, wait_->ticket.empty() ? claim_.flags : claim_.flags | kTicket));
  put(node_field::kTerms, claim_.terms);
  put(node_field::kDisplacedEpoch, 0);
  put(node_field::kSince, static_cast<std::uint64_t>(now_.wall));
  put(node_field::kGivesUp, gives_up_.holding);
  put(node_field::kGivesUpEpoch, gives_up_.epoch.value());
  node.owner.store(index, std::memory_order_relaxed);
  TENURE_POINT("node filled");
  node.word.store(CommitWord{Kind::node, static_cast<std::uint8_t>(NodeState::waiting), core_.me}.packed(),
                  std::memory_order_release);
  TENURE_POINT("node in being");
  node_ = std::exchange(spare_node_, 0);
  first ? enter_line_first(core_, slot, node_) : enter_line(core_, slot, node_);
  return {};
}

bool Claiming::another_gives_up(const Cell& slot) const {
  for (CellIndex index = first_in_line(slot); index != 0; index = next_in_line(core_.table.cell(index))) {
    const Cell& node = core_.table.cell(index);
    if (node.body[node_field::kArrival].load(std::memory_order_relaxed) != 0) return false;  // they stand in front
    if (given_up_by(core_, node) != 0) return true;
  }
  return false;
}

bool Claiming::leave(bool held_up) {
  if (node_ == 0) return false;
  Bound bound = section_bound(core_);
  if (held_up) bound.looks = 1;
  now_ = read_clocks();
  Wakes wakes(core_);
  bool granted = false;
  {
    auto section = Section::enter(core_, bucket_, bound);
    Cell& node = core_.table.cell(node_);
    if (!section) {
      // Somebody is stopped inside: whoever comes by later takes it out of the line. Its text goes with it. A place
      // with a ticket may be another's by now: it stays, and is passed over until it is polled again.
      if (wait_->ticket.empty()) {
        node.body[node_field::kText].fetch_or(std::uint64_t{kAbandoned} << 32, std::memory_order_relaxed);
      }
      forget_place();
      return false;
    }
    const CellIndex index = find_slot(core_, section->bucket(), wanted_);
    if (index == 0 || !is_our_node(index)) {
      forget_place();
      return false;
    }
    Cell& slot = core_.table.cell(index);
    if (grantee_of(slot) == node_ && may_accept(slot)) {
      accept(index, wakes);
      record_grant();
      granted = true;
    } else if ((flags_of(node) & kTicket) != 0) {
      node.body[node_field::kAbsentSince].store(static_cast<std::uint64_t>(now_.monotonic), std::memory_order_relaxed);
      node.body[node_field::kText].fetch_or(std::uint64_t{kAbsent} << 32, std::memory_order_relaxed);
      if (const CellIndex next = next_in_line(node); next != 0) wakes.raise(core_.table.cell(next));
      claim_.text = 0;  // the ticket keeps it
      node_ = 0;
    } else {
      leave_line(core_, slot, node_, &wakes);
      spent_.node(std::exchange(node_, 0));
      if (is_offered(slot) && grantee_of(slot) == 0) (void)grant_next(core_, slot, wakes, now_.monotonic);
      if (end_if_idle(core_, section->bucket(), index)) spent_.slot = index;
    }
  }
  settle(core_, wakes, spent_);
  return granted;
}

// For sleeping: who is to be watched, and until when.
void Claiming::see_holder(const Cell& slot) {
  const CommitWord word = CommitWord::unpacked(slot.word.load(std::memory_order_relaxed));
  due_.reset();
  see_due(slot);
  holder_is_ours_ = !is_offered(slot) && word.member == core_.me;
  further_proofs_ = (flags_of(slot) & kHasProofs) != 0;
  // Whoever has it, or is offered it: also one behind us, after we were passed over.
  predecessor_ = word.member;
  if (is_offered(slot)) {
    const CellIndex grantee = grantee_of(slot);
    const auto granted = grantee == 0 ? 0 : core_.table.cell(grantee).word.load(std::memory_order_relaxed);
    predecessor_ = CommitWord::unpacked(granted).member;
  }
  see_those_together(slot);
}

void Claiming::see_due(const Cell& lease) {
  const std::uint64_t ttl = at(lease, slot_field::kTtl);
  const std::uint64_t guard = at(lease, slot_field::kGuard);
  const auto note = [this](std::int64_t due) { due_ = std::min(due_.value_or(due), due); };
  if (ttl != 0 || guard != 0) {
    // An operation under its guard keeps it past its TTL, and ends it at the bound.
    const auto end = ttl == 0 ? 0 : static_cast<std::int64_t>(at(lease, slot_field::kMonotonic) + ttl);
    note(std::max(end, guard == 0 ? 0 : guard_until(guard)));
  }
  // Of one who has it: an offered slot has no text.
  if (const auto end = offer_end(core_, lease)) note(*end);
}

// The first in line waits for any of them.
void Claiming::see_those_together(const Cell& slot) {
  beside_.clear();
  for (CellIndex index = first_together(slot); index != 0; index = next_together(core_.table.cell(index))) {
    const Cell& holding = core_.table.cell(index);
    see_due(holding);
    further_proofs_ = further_proofs_ || (flags_of(holding) & kHasProofs) != 0;
    const MemberId member = CommitWord::unpacked(holding.word.load(std::memory_order_relaxed)).member;
    const bool known = std::find(beside_.begin(), beside_.end(), member) != beside_.end();
    if (!known && member != core_.me && beside_.size() < kWatchedTogether) beside_.push_back(member);
  }
}

void Claiming::see_line() {
  Cell& node = core_.table.cell(node_);
  node_value_ = node.futex.load(std::memory_order_relaxed);
  const CellIndex before = before_in_line(node);
  if (before != 0) {
    beside_.clear();
    const Cell& ahead = core_.table.cell(before);
    predecessor_ = CommitWord::unpacked(ahead.word.load(std::memory_order_relaxed)).member;
    if ((flags_of(ahead) & kAbsent) != 0) {
      due_ = static_cast<std::int64_t>(ahead.body[node_field::kAbsentSince].load(std::memory_order_relaxed) +
                                       ahead.body[node_field::kGrace].load(std::memory_order_relaxed));
      predecessor_ = {};
    }
  }
  for (CellIndex at = before; at != 0 && place_ < kDoublings; at = before_in_line(core_.table.cell(at))) ++place_;
  say_until_when(node);
}

// ---- outside --------------------------------------------------------------------------------------------------------

bool Claiming::needs_judging() const {
  if (wait_ == nullptr || wait_->on_wait || slept_to_the_bound_ || holder_is_ours_) return true;
  if (due_ && core_.monotonic_ns() >= *due_) return true;
  return predecessor_.none() || suspicious(core_, predecessor_);
}

Duration Claiming::bound_of_place() const {
  return kFirstBound * (1 << std::min(place_ + quiet_, kDoublings));
}

void Claiming::tell(const SlotView& seen) {
  if (!wait_->on_wait || seen.epoch == told_) return;
  told_ = seen.epoch;
  wait_->on_wait(observe(core_, request_.key, seen, Care::quick));
}

// Who waits for the key waits for a member that is stopped inside its section as well, and says so once.
bool Claiming::outlasts(const Error& error) {
  if (error.code != Code::section_busy || wait_ == nullptr || inside_section) return false;
  if (over(core_.environment.clock->monotonic())) return false;
  if (wait_->on_wait && !std::exchange(told_of_hold_up_, true)) {
    Observation seen{.key = request_.key, .state = State::held};
    seen.verdict.evidence = seen.why = error.message;
    seen.note = error.remedy;
    wait_->on_wait(seen);
  }
  return true;
}

std::optional<Error> Claiming::over(MonotonicTime now) const {
  if (wait_->stop != nullptr && wait_->stop->requested()) {
    return Error{Code::cancelled, "the wait for " + request_.key.text() + " was given up", "", nullptr};
  }
  if (wait_->at_most && now - begun_ >= *wait_->at_most) {
    return Error{Code::timed_out, request_.key.text() + " is still held after " + words(*wait_->at_most),
                 "tenure who " + request_.key.text(), nullptr};
  }
  return std::nullopt;
}

Duration Claiming::longest_sleep(MonotonicTime now) const {
  Duration most = bound_of_place();
  if (wait_->at_most) most = std::min(most, *wait_->at_most - (now - begun_));
  if (due_) most = std::min(most, std::max(Duration{*due_} - now.since_origin, Duration{0}) + Duration{50'000});
  return most;
}

// Here, and not where it falls asleep: outside of the section a place with a ticket may be another claim's at any time.
void Claiming::say_until_when(Cell& node) const {
  const MonotonicTime now{Duration{now_.monotonic}};
  const MonotonicTime until = now + longest_sleep(now);
  node.body[node_field::kAsleepUntil].store(static_cast<std::uint64_t>(until.since_origin.count()),
                                            std::memory_order_relaxed);
}

// Marks the word of a member, so that its death wakes us, and returns what to sleep on. nullopt: there is reason to
// look at it at once.
std::optional<env::Watched> Claiming::watch(MemberId member) const {
  Word32& life = core_.table.row(member.number).life;
  // It stays marked until its thread ends: the line of memory is written to once, and read after.
  std::uint32_t value = life.load(std::memory_order_acquire);
  if ((value & env::kSleepersBit) == 0) {
    value = life.fetch_or(env::kSleepersBit, std::memory_order_acq_rel) | env::kSleepersBit;
  }
  if ((value & env::kFlaggedBit) != 0 || suspicious(core_, member)) return std::nullopt;
  return env::Watched{&life, value};
}

// The kernel wakes one sleeper at a death, who may be one that has what it waited for by now: the others are told here.
void Claiming::relay_death(MemberId member) const {
  Word32& life = core_.table.row(member.number).life;
  if ((life.load(std::memory_order_acquire) & env::kFlaggedBit) == 0) return;
  core_.words->wake(life, std::numeric_limits<int>::max());
}

bool Claiming::one_is_dying() const {
  if (!predecessor_.none() && suspicious(core_, predecessor_)) return true;
  return std::any_of(beside_.begin(), beside_.end(), [&](MemberId member) { return suspicious(core_, member); });
}

// At most `Others` words beside our own and that of the Stop. False: there is reason to look at one of them at once.
template <std::size_t Others>
bool Claiming::sleep_watching(Duration at_most) const {
  std::array<env::Watched, 2 + Others> watched{env::Watched{&core_.table.cell(node_).futex, node_value_}};
  std::size_t count = 1;
  const auto add = [&](MemberId member) {
    const auto one = watch(member);
    if (one) watched[count++] = *one;
    return one.has_value();
  };
  if (!predecessor_.none() && predecessor_ != core_.me && !add(predecessor_)) return false;
  if constexpr (Others > 1) {
    if (!std::all_of(beside_.begin(), beside_.end(), add)) return false;
  }
  if (wait_->stop != nullptr) watched[count++] = {wait_->stop->word(), 0};
  core_.words->wait(std::span(watched).first(count), at_most);
  return true;
}

// False: look at once.
bool Claiming::sleep_for_death(Duration at_most) {
  // It is not proven dead yet: no futex tells when its memory is freed.
  if (++death_looks_ <= kDeathYields) {
    std::this_thread::yield();
    return false;
  }
  death_poll_ = death_poll_ == Duration{0} ? kFirstDeathPoll : std::min(death_poll_ * 2, kLastDeathPoll);
  std::array<env::Watched, 2> watched{env::Watched{&core_.table.cell(node_).futex, node_value_}};
  if (wait_->stop != nullptr) watched[1] = {wait_->stop->word(), 0};
  core_.words->wait(std::span(watched).first(wait_->stop != nullptr ? 2 : 1), std::min(at_most, death_poll_));
  return true;
}

Result<void> Claiming::sleep() {
  const MonotonicTime now = core_.environment.clock->monotonic();
  if (auto error = over(now)) return fail(std::move(*error));
  const Duration most = longest_sleep(now);
  bool slept = false;
  if (one_is_dying()) {
    slept = sleep_for_death(most);
  } else {
    death_poll_ = Duration{0};
    death_looks_ = 0;
    slept = beside_.empty() ? sleep_watching<1>(most) : sleep_watching<1 + kWatchedTogether>(most);
  }
  if (!slept) return {};
  if (!predecessor_.none() && predecessor_ != core_.me) relay_death(predecessor_);
  for (const MemberId member : beside_) relay_death(member);
  slept_to_the_bound_ = core_.environment.clock->monotonic() - now >= bound_of_place();
  // Where a proof beyond the member's own is asked for, nothing wakes us when it falls.
  const bool quiet = slept_to_the_bound_ && !(place_ == 0 && further_proofs_);
  quiet_ = quiet ? std::min(quiet_ + 1, kQuietDoublings) : 0;
  return {};
}

}  // namespace tenure::local
