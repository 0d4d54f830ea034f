// Asking a holder to yield. The request lies in the text of the lease; who asks sleeps on the bell of the events, which
// an answer and every end of a lease ring, and on the liveness word of the holder's member.
#include <algorithm>
#include <array>

#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/local/events.h"
#include "engine/local/judge.h"
#include "engine/local/local_engine.h"
#include "engine/local/yielding.h"

namespace tenure::local {
namespace {

constexpr Duration kAskerLooks = std::chrono::milliseconds(250);  // at what tells of itself by no word

bool is_over(Core& core, const HoldingView& lease, Care care) {
  return judge_holding(core, lease, care).liveness == Liveness::dead;
}

// One request, from its first look at the key to what became of it.
class Asking {
 public:
  Asking(Core& core, const AskRequest& request)
      : core_(core), request_(request), begun_(core.environment.clock->monotonic()), was_{.key = request.key} {}

  Result<Asked> run() {
    while (true) {
      auto entered = enter();
      if (!entered) return fail(entered.error());
      if (*entered) break;
      // The key is offered to the first in line, who has not taken it up.
      if (auto error = given_up()) return fail(*error);
      if (left() == Duration{0}) return asked(Became::ignored);
      rest(bell());
    }
    while (true) {
      const std::uint32_t rung = bell();
      auto became = look();
      if (!became) return fail(became.error());
      if (*became) return std::move(**became);
      rest(rung);
    }
  }

 private:
  std::uint32_t bell() const {
    Header& header = core_.table.header();
    const std::uint32_t rung = header.event_futex.load(std::memory_order_acquire);
    header.watchers.store(1, std::memory_order_seq_cst);
    return rung;
  }

  Duration left() const {
    return std::max(request_.deadline - (core_.environment.clock->monotonic() - begun_), Duration{0});
  }

  std::optional<Error> given_up() const {
    if (request_.stop == nullptr || !request_.stop->requested()) return std::nullopt;
    return Error{Code::cancelled, "the request for " + request_.key.text() + " was taken back", "", nullptr};
  }

  Asked asked(Became became, std::string words = {}, EventKind end = EventKind::released) const {
    return {.became = became, .end = end, .words = std::move(words), .was = was_};
  }

  // False: there is no lease yet that could be asked for.
  Result<bool> enter() {
    for (int round = 0; round < kAmendments; ++round) {
      auto slot = read_key(core_, request_.key.text());
      if (!slot) return fail(slot.error());
      was_ = observe(core_, request_.key, *slot, Care::usual);
      if (was_.state == State::free) return fail(Code::not_held, "nobody holds " + request_.key.text(), "claim it");
      if (was_.claimable) {
        return fail(Error{Code::not_held, "there is nobody to ask for " + request_.key.text() + ": " + was_.why,
                          "claim it: a claim succeeds now", std::make_shared<const Observation>(was_)});
      }
      const HoldingView* lease = whom_to_ask(**slot);
      if (lease == nullptr) return false;
      auto recorded = record_in(*lease);
      if (!recorded || *recorded) return recorded;
    }
    return busy();
  }

  // Of several, who holds it longest of those that live.
  const HoldingView* whom_to_ask(const SlotView& slot) const {
    if (slot.held()) return &slot;
    const auto alive =
        std::ranges::find_if(slot.together, [&](const HoldingView& one) { return !is_over(core_, one, Care::quick); });
    return alive == slot.together.end() ? nullptr : &*alive;
  }

  Result<bool> record_in(const HoldingView& lease) {
    Yield yield = yield_in(lease.text);
    drop_stale(yield);
    const auto pending = std::ranges::count(yield.asks, AskNote::State::pending, &AskNote::state);
    if (static_cast<std::size_t>(pending) >= limits::kAsksAtOnce) {
      return fail(Code::limit_reached,
                  "at most " + std::to_string(limits::kAsksAtOnce) +
                      " may ask for one lease at a time, and so many ask for that of " + request_.key.text() +
                      " already",
                  "ask again when one of them has its answer");
    }
    AskNote ask;
    ask.id = id_ = core_.table.header().arrivals.fetch_add(1, std::memory_order_relaxed) + 1;
    ask.asker = core_.me;
    ask.time_namespace = core_.self().time_namespace;
    ask.until = (begun_ + request_.deadline).since_origin.count();
    ask.since_wall = core_.wall_ns();
    ask.until_wall = ask.since_wall + request_.deadline.count();
    ask.by = request_.by.empty() ? core_.owner_label : request_.by;
    ask.reason = request_.reason;
    yield.asks.push_back(ask);
    by_ = ask.by;
    asked_ = {request_.key, lease.claim, lease.epoch};
    member_ = lease.word.member;
    return amend(core_, lease, yield, {EventKind::asked, by_, request_.reason, true, false});
  }

  void drop_stale(Yield& yield) {
    std::erase_if(yield.asks, [&](const AskNote& ask) {
      // One that has its answer waits for its asker, as long as that lives and may still look.
      AskNote open = ask;
      open.state = AskNote::State::pending;
      return !is_pending(core_, open);
    });
    // Whoever does not come for its answer finds it in the ring.
    const auto answered = [](const AskNote& ask) { return ask.state != AskNote::State::pending; };
    while (std::ranges::count_if(yield.asks, answered) > static_cast<std::ptrdiff_t>(limits::kAsksAtOnce)) {
      yield.asks.erase(std::ranges::find_if(yield.asks, answered));
    }
  }

  // nullopt: nothing yet.
  Result<std::optional<Asked>> look() {
    for (int round = 0; round < kAmendments; ++round) {
      auto lease = read_lease(core_, asked_.key.text(), asked_.claim, asked_.epoch);
      if (!lease) return fail(lease.error());
      if (!*lease) return std::optional(ended());
      Yield yield = yield_in((*lease)->text);
      const auto ours = std::ranges::find(yield.asks, id_, &AskNote::id);
      // Somebody held us for dead, or our time for over, or was in need of room.
      const bool gone = ours == yield.asks.end();
      auto became = gone ? std::optional(answered().value_or(asked(Became::ignored))) : became_of(*ours, **lease);
      const auto error = became ? std::nullopt : given_up();
      if (!became && !error) return std::optional<Asked>();
      if (gone) return became;
      // It leaves with us, unless it has its answer in this very moment.
      yield.asks.erase(ours);
      drop_stale(yield);
      auto left = amend(core_, **lease, yield, {});
      if (left && !*left) continue;
      if (error) return fail(*error);
      return became;  // whether or not the note could be taken out: it is stale from now on
    }
    return busy();
  }

  std::optional<Asked> became_of(const AskNote& ours, const HoldingView& lease) {
    if (ours.state == AskNote::State::accepted) return asked(Became::accepted, ours.words);
    if (ours.state == AskNote::State::declined) return asked(Became::declined, ours.words);
    if (back_to_line(core_, lease)) return asked(Became::ended, not_adopted(lease));
    const Verdict verdict = judge_holding(core_, lease, std::exchange(slept_out_, false) ? Care::usual : Care::quick);
    if (verdict.liveness == Liveness::dead) {
      return asked(Became::ended, "its holder is dead: " + verdict.evidence, EventKind::lost);
    }
    if (left() == Duration{0}) return asked(Became::ignored);
    return std::nullopt;
  }

  // As the ring has it.
  std::optional<Asked> answered() const {
    for (const Event& event : read_events(core_, 0).events) {
      if (event.epoch != asked_.epoch || event.kind != EventKind::answered) continue;
      if (auto answer = answer_in(event.why)) return answer;
    }
    return std::nullopt;
  }

  // What the ring says of the end of that epoch. It may have been answered just before.
  Asked ended() const {
    if (auto answer = answered()) return *answer;
    Asked out = asked(Became::ended, "", EventKind::lost);
    for (const Event& event : read_events(core_, 0).events) {
      if (event.epoch != asked_.epoch) continue;
      switch (event.kind) {
        case EventKind::released:
        case EventKind::revoked:
        case EventKind::taken_over:
        case EventKind::handed_off:
        case EventKind::lost:
          out.end = event.kind;
          out.words = event.why.empty() ? "" : std::string(word_of(event.kind)) + ": " + event.why;
          break;
        default:
          break;
      }
    }
    return out;
  }

  // As answer() writes it.
  std::optional<Asked> answer_in(std::string_view why) const {
    for (const auto& [became, word] : {std::pair{Became::accepted, "accepted"}, {Became::declined, "declined"}}) {
      const std::string head = std::string(word) + " request " + std::to_string(id_);
      if (why == head) return asked(became);
      if (why.starts_with(head + ": ")) return asked(became, std::string(why.substr(head.size() + 2)));
    }
    return std::nullopt;
  }

  void rest(std::uint32_t rung) {
    std::array<env::Watched, 3> watched{env::Watched{&core_.table.header().event_futex, rung}};
    std::size_t count = 1;
    if (!member_.none() && member_ != core_.me) {
      Word32& life = core_.table.row(member_.number).life;
      const std::uint32_t value = life.fetch_or(env::kSleepersBit, std::memory_order_acq_rel) | env::kSleepersBit;
      // Flagged: no word tells of the rest.
      if ((value & env::kFlaggedBit) == 0) watched[count++] = {&life, value};
    }
    if (request_.stop != nullptr) watched[count++] = {request_.stop->word(), 0};
    const bool dying = !member_.none() && suspicious(core_, member_);
    const MonotonicTime before = core_.environment.clock->monotonic();
    const Duration most = std::min(left(), dying ? kAskerLooks / 25 : kAskerLooks);
    core_.words->wait(std::span(watched).first(count), most);
    slept_out_ = dying || core_.environment.clock->monotonic() - before >= most;
  }

  std::unexpected<Error> busy() const {
    return fail(Code::section_busy, request_.key.text() + " changes all the time", "try again");
  }

  Core& core_;
  const AskRequest& request_;
  const MonotonicTime begun_;
  Observation was_;
  ClaimRef asked_{request_.key, {}, {}};
  MemberId member_;  // the holder's
  std::string by_;
  std::uint64_t id_ = 0;
  bool slept_out_ = false;
};

}  // namespace

Result<Asked> LocalEngine::ask(const AskRequest& request) {
  if (auto checked = check_ask(request, traits_); !checked) return fail(checked.error());
  if (auto member = check_member(); !member) return fail(member.error());
  return Asking(*core_, request).run();
}

Result<std::vector<Ask>> LocalEngine::asks(const ClaimRef& claim) {
  if (auto member = check_member(); !member) return fail(member.error());
  auto lease = current(claim);
  if (!lease) return fail(lease.error());
  return pending_asks(*core_, *lease);
}

Result<bool> LocalEngine::answer(const ClaimRef& claim, std::uint64_t id, Answer answer, const std::string& words) {
  if (auto checked = check_answer(words); !checked) return fail(checked.error());
  if (auto member = check_member(); !member) return fail(member.error());
  for (int round = 0; round < kAmendments; ++round) {
    auto lease = current(claim);
    if (!lease) return fail(lease.error());
    Yield yield = yield_in(lease->text);
    const auto ask = std::ranges::find(yield.asks, id, &AskNote::id);
    if (ask == yield.asks.end() || !is_pending(*core_, *ask)) return false;
    const bool accepts = answer == Answer::accept;
    ask->state = accepts ? AskNote::State::accepted : AskNote::State::declined;
    ask->words = words;
    ask->reason.clear();
    const std::string by = ask->by;
    const std::string why = std::string(accepts ? "accepted" : "declined") + " request " + std::to_string(id) +
                            (words.empty() ? "" : ": " + words);
    auto answered = amend(*core_, *lease, yield, {EventKind::answered, by, why, false, false});
    if (!answered || *answered) return answered;
  }
  return fail(Code::section_busy, claim.key.text() + " changes all the time", "try again");
}

}  // namespace tenure::local
