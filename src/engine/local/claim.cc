// Claiming. One look inside the section decides what can be decided there; what needs the system (is the holder dead?)
// is asked outside, and looked at again inside before anything is done. Standing in line and sleeping: waiting.cc.
#include <algorithm>

#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/local/cells.h"
#include "engine/local/claiming.h"
#include "engine/local/events.h"
#include "engine/local/guards.h"
#include "engine/local/texts.h"
#include "engine/local/together.h"

namespace tenure::local {
namespace {

constexpr Duration kOfferPatience = std::chrono::seconds(1);  // of a claim that does not wait
constexpr Duration kMaxGrace = std::chrono::minutes(10);
constexpr Duration kLeastPatience =
    std::chrono::milliseconds(50);  // with a member inside that waits for its turn to run
constexpr std::size_t kTicketBytes = 64;
constexpr int kRounds = 1'000;  // of a claim that does not wait: each one found that something had changed
constexpr std::uint64_t kPassedBytes = std::uint64_t{1} << 40;  // where the bytes of children begin in `lock`

std::string text_of(const Core& core, const ClaimRequest& request) {
  std::string text;
  if (request.owner != core.owner_label) add_field(text, Tag::owner, request.owner);
  add_field(text, Tag::part, request.part);
  add_field(text, Tag::reason, request.terms.reason);
  add_field(text, Tag::channel, request.channel);
  add_field(text, Tag::version, request.version);
  add_field(text, Tag::session, request.session);
  add_field(text, Tag::command, std::string_view(request.command).substr(0, limits::kCommandBytes));
  add_field(text, Tag::directory, std::string_view(request.directory).substr(0, limits::kPathBytes));
  if (request.owner_process) {
    const ProcessIdentity& owner = *request.owner_process;
    add_field(text, Tag::owner_process,
              number_bytes(static_cast<std::uint64_t>(owner.pid), 4) + number_bytes(owner.start_ticks, 8) +
                  number_bytes(owner.pid_namespace, 8));
    add_field(text, Tag::owner_times, number_bytes(owner.time_namespace, 8) + number_bytes(owner.user, 4));
  }
  return text;
}

Result<std::string> text_of_group(const Core& core, const std::string& folder) {
  if (core.environment.groups == nullptr) return fail(Code::unsupported, "control groups cannot be seen here");
  auto group = core.environment.groups->identify(folder);
  if (!group) return fail(group.error());
  return number_bytes(group->root, 8) + number_bytes(group->group, 8) + group->path;
}

}  // namespace

Claiming::Claiming(LocalEngine& engine, const ClaimRequest& request, const Wait* wait)
    : core_(*engine.core_),
      engine_(engine),
      request_(request),
      wait_(wait),
      wanted_(request.key.text()),
      bucket_(core_.table.bucket_of(wanted_.hash)),
      begun_(core_.environment.clock->monotonic()) {}

Claiming::~Claiming() {
  Wakes none(core_);
  settle(core_, none, spent_);
  for (const CellIndex cell : {cell_, holding_, spare_node_}) {
    if (cell != 0) give_cell(core_, cell);
  }
  give_text(core_, claim_.text);
  give_text(core_, rest_);
}

Result<void> Claiming::prepare() {
  if (wait_ != nullptr && wait_->ticket.size() > kTicketBytes) {
    return fail(Code::bad_label, "a ticket has at most " + std::to_string(kTicketBytes) + " bytes");
  }
  if (wait_ != nullptr && (wait_->grace <= Duration{0} || wait_->grace > kMaxGrace)) {
    return fail(Code::bad_duration, "the grace of a ticket is above 0 and at most " + words(kMaxGrace));
  }
  claim_.counter = core_.next_claim.fetch_add(1, std::memory_order_relaxed);
  claim_.terms = packed(request_.terms);
  claim_.ttl = request_.terms.ttl ? static_cast<std::uint64_t>(request_.terms.ttl->count()) : 0;
  if (request_.owner_process) claim_.flags |= kHasProofs;
  text_ = text_of(core_, request_);
  if (wait_ != nullptr) add_field(text_, Tag::ticket, wait_->ticket);
  if (request_.keep_life_descriptor) {
    const std::uint64_t byte = kPassedBytes + core_.table.header().arrivals.fetch_add(1, std::memory_order_relaxed);
    auto passed = core_.folder->pass_byte(byte);
    if (!passed) return fail(passed.error());
    passed_ = std::move(*passed);
    claim_.flags |= kHasProofs;
    add_field(text_, Tag::passed_byte, number_bytes(byte, 8));
  }
  if (!request_.control_group.empty()) {
    auto group = text_of_group(core_, request_.control_group);
    if (!group) return fail(group.error());
    claim_.flags |= kHasProofs;
    add_field(text_, Tag::control_group, *group);
  }
  auto text = store_text(core_, text_);
  if (!text) return fail(text.error());
  claim_.text = *text;
  if (wanted_.key.size() > kInlineKey) {
    auto rest = store_text(core_, wanted_.key.substr(kInlineKey));
    if (!rest) return fail(rest.error());
    rest_ = *rest;
  }
  auto cell = take_cell(core_);
  if (!cell) return fail(cell.error());
  cell_ = *cell;
  if (rules::together(request_.terms)) {
    auto holding = take_cell(core_);
    if (!holding) return fail(holding.error());
    holding_ = *holding;
  }
  return {};
}

Now Claiming::read_clocks() const {
  Now now{core_.wall_ns(), core_.monotonic_ns(), 0};
  if (claim_.ttl != 0) now.boot = core_.boot_ns();
  return now;
}

Bound Claiming::bound() const {
  Bound bound = section_bound(core_);
  if (wait_ == nullptr) return bound;
  bound.stop = wait_->stop;
  if (!wait_->at_most) return bound;
  const MonotonicTime least = core_.environment.clock->monotonic() + kLeastPatience;
  bound.until = std::min(*bound.until, std::max(begun_ + *wait_->at_most, least));
  return bound;
}

// ---- inside the section ---------------------------------------------------------------------------------------------

Claiming::Look Claiming::take_free(Section& section) {
  const Epoch epoch = take_epoch(core_);
  if (epoch.none()) return Look::no_epoch;
  // Before there is a slot: who died with it in hand would have the rest of its key taken away from under it.
  disown_text(core_, rest_);
  const CellIndex slot = std::exchange(cell_, 0);
  if (holding_ == 0) {
    make_slot(core_, section, slot, wanted_, std::exchange(rest_, 0), claim_, epoch, now_);
    slot_ = slot;
    claim_.text = 0;
    epoch_ = epoch;
  } else {
    make_offered_slot(core_, section, slot, wanted_, std::exchange(rest_, 0), epoch);
    hold(slot, epoch, kNoNumber);
  }
  return Look::granted;
}

// An offered slot becomes ours, alone or together with others.
void Claiming::hold(CellIndex index, Epoch epoch, std::uint32_t number) {
  if (holding_ == 0) {
    hold_slot(core_, core_.table.cell(index), claim_, now_);
    slot_ = index;
  } else {
    slot_ = std::exchange(holding_, 0);
    add_holding(core_, index, slot_, claim_, epoch, now_, number);
    number_ = slot_number_of(core_.table.cell(slot_));
  }
  claim_.text = 0;
  epoch_ = epoch;
}

// Nobody in line may have it: it is ours before theirs, and they keep their places.
Claiming::Look Claiming::take_offered(CellIndex index) {
  const Epoch epoch = take_epoch(core_);
  if (epoch.none()) return Look::no_epoch;
  core_.table.cell(index).body[slot_field::kEpoch].store(epoch.value(), std::memory_order_release);
  hold(index, epoch, kNoNumber);
  return Look::granted;
}

void Claiming::accept(CellIndex index, Wakes& wakes) {
  Cell& slot = core_.table.cell(index);
  Cell& node = core_.table.cell(node_);
  std::uint32_t number = kNoNumber;
  if (const CellIndex own = given_up_by(core_, node); own != 0) {
    number = give_up(slot, own);
    reclaimed_ = true;
  }
  const bool together = holding_ != 0;
  hold(index, Epoch{slot.body[slot_field::kEpoch].load(std::memory_order_relaxed)}, number);
  const CellIndex next = next_in_line(node);
  // Who comes next watches this member already; but not where one who was passed over stands between, or where there
  // are others beside us.
  leave_line(core_, slot, node_, together || before_in_line(node) != 0 ? &wakes : nullptr);
  by_line_ = true;
  spent_.node(std::exchange(node_, 0));
  // And it must know of a TTL.
  if (next != 0 && claim_.ttl != 0) wakes.raise(core_.table.cell(next));
  if (together) (void)grant_next(core_, slot, wakes, now_.monotonic);
}

Claiming::Look Claiming::look_at(CellIndex index, Wakes& wakes) {
  Cell& slot = core_.table.cell(index);
  if (node_ != 0 && !is_our_node(index)) {
    forget_place();
    return Look::superseded;
  }
  if (node_ == 0) find_ticket(slot, wakes);
  if (node_ != 0) {
    core_.table.cell(node_).body[node_field::kText].fetch_and(~(std::uint64_t{kPassed} << 32),
                                                              std::memory_order_relaxed);
  }
  keep_place_instead(core_, slot);
  if (is_offered(slot) && grantee_of(slot) == 0) {
    Kept kept;
    const Turn turn = grant_next(core_, slot, wakes, now_.monotonic, &kept);
    if (turn != Turn::granted && !epochs_left(core_)) return Look::no_epoch;
    if (turn == Turn::nobody && node_ == 0 && may_take_beside(slot, kept)) return take_offered(index);
  }
  if (first_together(slot) != 0 && room_in(core_, slot, request_.terms, 0) == rules::Room::other_number) {
    return Look::other_number;
  }
  if (node_ != 0 && grantee_of(slot) == node_) {
    if (may_accept(slot)) {
      accept(index, wakes);
      return Look::granted;
    }
    withdraw_grant(core_, slot, wakes);
  }
  see_holder(slot);
  place_ = 0;
  if (node_ == 0) return Look::another_has_it;
  see_line();
  return Look::another_has_it;
}

// What was offered is to be had still: not where the same process and part has come to hold it anew, meanwhile, by
// another claim than the one that this gives up.
bool Claiming::may_accept(const Cell& slot) const {
  const CellIndex own = given_up_by(core_, core_.table.cell(node_));
  if (own != 0 && guard_may_run(core_, core_.table.cell(own))) return false;
  return is_offered(slot) && room_in(core_, slot, request_.terms, own) == rules::Room::beside;
}

// A claim of labels that somebody here may hold it by already looks first whether it does.
bool Claiming::may_take_beside(const Cell& slot, const Kept& kept) const {
  if (first_together(slot) == 0 && kept.count == 0) return true;
  if (first_together(slot) != 0 && !own_looked_for_ && !request_.part.empty()) return false;
  return room_in(core_, slot, request_.terms, 0, kept) == rules::Room::beside;
}

void Claiming::record_grant() const {
  record(core_, {.kind = by_line_ ? EventKind::handed_over : EventKind::claimed,
                 .key = wanted_.key,
                 .hash = wanted_.hash,
                 .epoch = epoch_.value(),
                 .wall = now_.wall,
                 .pid = core_.pid,
                 .owner = request_.owner,
                 .why = request_.terms.reason});
}

Result<Claiming::Look> Claiming::look() {
  now_ = read_clocks();
  const bool may_stand = wait_ != nullptr && node_ == 0;
  if (may_stand) {
    if (auto spare = take_spare(); !spare) return fail(spare.error());
  }
  Wakes wakes(core_);
  Look seen = Look::again;
  Result<void> stood;
  {
    auto section = Section::enter(core_, bucket_, bound());
    if (!section) return fail(section.error());
    const CellIndex index = find_slot(core_, section->bucket(), wanted_);
    seen = index == 0 ? take_free(*section) : look_at(index, wakes);
    // Where there is nothing to ask the system first, and nobody to tell, we stand in line at once.
    if (seen == Look::another_has_it && may_stand && node_ == 0 && !needs_judging()) {
      stood = stand(index);
      if (stood) seen = look_at(index, wakes);
    }
    if (seen == Look::granted) record_grant();
  }
  settle(core_, wakes, spent_);
  if (!stood) return fail(stood.error());
  return seen;
}

// ---- outside --------------------------------------------------------------------------------------------------------

// True: something was done or has changed, look again.
Result<bool> Claiming::act_on_facts(const SlotView& seen) {
  // The first in line asks for the holder's byte now and then; the others rely on whom they stand behind.
  const bool first = node_ == 0 || place_ == 0;
  const Care care = wait_ == nullptr || (slept_to_the_bound_ && first) ? Care::usual : Care::quick;
  const Duration patience = wait_ == nullptr ? kOfferPatience : kFirstBound * (2 << std::min(place_, kDoublings));
  const Facts facts = judge(core_, seen, care, patience);
  if (facts.none()) return false;
  std::optional<Observation> displaced;
  if (facts.over) displaced = observe(core_, request_.key, seen, facts.occupant);
  if (!facts.together.empty()) displaced = observe_over(seen, facts.together.front());
  Wakes wakes(core_);
  bool done = false;
  {
    auto section = Section::enter(core_, bucket_, bound());
    if (!section) return fail(section.error());
    const CellIndex index = find_slot(core_, section->bucket(), wanted_);
    done = index != seen.index || advance(core_, section->bucket(), index, facts, wakes, spent_, core_.monotonic_ns());
  }
  settle(core_, wakes, spent_);
  if (done && displaced) displaced_ = std::move(displaced);
  return done;
}

// One of those who hold the key together, whose lease was over: as it stood.
Observation Claiming::observe_over(const SlotView& seen, const Facts::Over& over) const {
  SlotView alone = seen;
  std::erase_if(alone.together, [&](const HoldingView& one) { return one.index != over.slot; });
  Observation observation = observe(core_, request_.key, alone, Care::quick);
  observation.why = over.why;
  return observation;
}

Error Claiming::refusal(const SlotView& seen) {
  Observation shown = observe(core_, request_.key, seen, Care::usual);
  const rules::Claimant claimant{request_.owner, request_.part, core_.self()};
  rules::ClaimVerdict verdict;
  if (seen.held()) verdict = rules::decide_claim(rules::Expiry::proof, occupant_of(core_, seen, Care::quick), claimant);
  const bool by_part = verdict.answer == rules::ClaimVerdict::Answer::held_by_part;
  std::string why = by_part ? verdict.why : shown.why;
  return Error{by_part ? Code::held_by_part : Code::held, request_.key.text() + " is held: " + why,
               "tenure who " + request_.key.text(), std::make_shared<const Observation>(std::move(shown))};
}

// Where all of those who hold it so are gone, or past their TTL, they are in nobody's way. True: look again.
Result<bool> Claiming::clear_other_number() {
  auto view = read_key(core_, wanted_.key);
  if (!view) return fail(view.error());
  if (!*view || (*view)->together.empty()) return true;
  if (!observe(core_, request_.key, *view, Care::usual).claimable) return false;
  return act_on_facts(**view);
}

Error Claiming::other_number() {
  auto view = read_key(core_, wanted_.key);
  std::shared_ptr<const Observation> shown;
  std::string theirs = "another number of";
  if (view && *view && !(*view)->together.empty()) {
    theirs = std::to_string((*view)->together.front().terms.slots);
    shown = std::make_shared<const Observation>(observe(core_, request_.key, *view, Care::quick));
  }
  return Error{Code::slots_differ,
               request_.key.text() + " is held as " + theirs + " slots; this claim asks for " +
                   std::to_string(request_.terms.slots),
               "ask for as many as the others do", std::move(shown)};
}

Grant Claiming::grant() {
  note_grant(core_);
  Grant grant{.key = request_.key, .claim = claim_id(core_.nonce, claim_.counter), .epoch = epoch_};
  grant.place = slot_;
  if (request_.terms.slots > 1) grant.slot = number_;
  grant.reclaimed = reclaimed_;
  grant.displaced = std::move(displaced_);
  if (claim_.ttl != 0) grant.valid_until = BootTime{Duration{now_.boot}} + *request_.terms.ttl;
  if (passed_) {
    grant.life_descriptor = passed_->descriptor();
    std::lock_guard lock(engine_.mutex_);
    engine_.passed_.insert_or_assign(grant.claim.text(), std::move(passed_));
  }
  return grant;
}

Result<Grant> Claiming::run() {
  if (auto prepared = prepare(); !prepared) return fail(prepared.error());
  const auto ends = [&](Error error) -> Result<Grant> {
    if (leave(error.code == Code::section_busy)) return grant();
    if (error.code == Code::timed_out && error.holder == nullptr) {
      if (auto view = read_key(core_, wanted_.key); view && *view) {
        error.holder = std::make_shared<const Observation>(observe(core_, request_.key, *view, Care::quick));
      }
    }
    return fail(std::move(error));
  };
  for (int round = 0;; ++round) {
    auto seen = look();
    if (!seen && outlasts(seen.error())) continue;
    if (!seen) return ends(seen.error());
    if (*seen == Look::granted) return grant();
    if (*seen == Look::superseded) {
      return fail(Code::cancelled,
                  "another claim with the same ticket took up this one's place in the line of " + request_.key.text(),
                  "let one claim at a time wait with a ticket");
    }
    if (*seen == Look::other_number) {
      auto cleared = clear_other_number();
      if (!cleared && outlasts(cleared.error())) continue;
      if (!cleared) return ends(cleared.error());
      if (*cleared && round < kRounds) continue;
      return ends(other_number());
    }
    if (*seen == Look::no_epoch) {
      if (auto raised = engine_.raise_ceiling(true); !raised) return ends(raised.error());
      continue;
    }
    if (needs_judging()) {
      auto view = read_key(core_, wanted_.key);
      if (!view && outlasts(view.error())) continue;
      if (!view) return ends(view.error());
      if (!*view) continue;
      auto again = reclaim(**view);
      if (again && !*again) again = act_on_facts(**view);
      if (!again && outlasts(again.error())) continue;
      if (!again) return ends(again.error());
      if (epoch_ != Epoch{}) {
        Wakes none(core_);
        settle(core_, none, spent_);
        return grant();
      }
      if (*again && round < kRounds) continue;
      if (wait_ == nullptr) return fail(refusal(**view));
      if (node_ != 0) tell(**view);
    }
    if (node_ == 0) {
      if (auto error = over(core_.environment.clock->monotonic()); error && wait_->ticket.empty()) return ends(*error);
      if (auto entered = enter(); !entered && !outlasts(entered.error())) return ends(entered.error());
      continue;
    }
    slept_to_the_bound_ = false;
    if (auto slept = sleep(); !slept) return ends(slept.error());
  }
}

Result<Grant> LocalEngine::try_claim(const ClaimRequest& request) {
  if (auto checked = check_request(request, traits_); !checked) return fail(checked.error());
  if (auto member = check_change(request.key); !member) return fail(member.error());
  return Claiming(*this, request, nullptr).run();
}

Result<Grant> LocalEngine::await(const ClaimRequest& request, const Wait& wait) {
  if (auto checked = check_request(request, traits_); !checked) return fail(checked.error());
  if (auto member = check_change(request.key); !member) return fail(member.error());
  return Claiming(*this, request, &wait).run();
}

}  // namespace tenure::local
