#include "engine/local/yielding.h"

#include <algorithm>
#include <array>

#include "engine/local/cells.h"
#include "engine/local/events.h"
#include "engine/local/guards.h"
#include "engine/local/judge.h"
#include "engine/local/texts.h"
#include "engine/local/words_of.h"
#include "rules/offer.h"

namespace tenure::local {
namespace {

constexpr std::size_t kHeadBytes = 24;  // tag, length, number of the text, end of the offer; up to whole words
constexpr std::size_t kNumberAt = 3, kUntilAt = 11;

// Of an amended text, wherever it is read.
struct Head {
  std::uint64_t number = 0;
  std::int64_t until = 0;
};
Head head_in(std::string_view bytes) {
  return {number_in(bytes, kNumberAt, 8), static_cast<std::int64_t>(number_in(bytes, kUntilAt, 8))};
}
Head head_of(const Core& core, const Cell& lease) noexcept {
  const CellIndex first = low(at(lease, slot_field::kText));
  if (first == 0 || first > core.table.last_cell()) return {};
  std::array<char, kHeadBytes> bytes{};
  return head_in(copy_bytes(core.table.cell(first).body.data(), kHeadBytes, bytes));
}

std::uint16_t flags_in(const Cell& lease) noexcept {
  return static_cast<std::uint16_t>(at(lease, slot_field::kText) >> 32);
}

// Numbers, then strings with two bytes of length each.
class Writer {
 public:
  Writer& number(std::uint64_t value, std::size_t bytes) {
    out_ += number_bytes(value, bytes);
    return *this;
  }
  Writer& wide(std::int64_t value) { return number(static_cast<std::uint64_t>(value), 8); }
  Writer& text(std::string_view value) {
    out_ += number_bytes(value.size(), 2);
    out_ += value;
    return *this;
  }
  const std::string& bytes() const { return out_; }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t number(std::size_t count) {
    const std::uint64_t value = number_in(bytes_, at_, count);
    at_ += count;
    return value;
  }
  std::int64_t wide() { return static_cast<std::int64_t>(number(8)); }
  std::string text() {
    const auto length = static_cast<std::size_t>(number(2));
    const std::string value(bytes_.substr(std::min(at_, bytes_.size()), length));
    at_ += length;
    return value;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

std::string bytes_of(const AskNote& ask) {
  Writer out;
  out.number(ask.id, 8).number(ask.asker.number, 2).number(ask.asker.generation, 4).number(ask.time_namespace, 8);
  out.wide(ask.until).wide(ask.since_wall).wide(ask.until_wall).number(static_cast<std::uint64_t>(ask.state), 1);
  return out.text(ask.by).text(ask.reason).text(ask.words).bytes();
}

AskNote ask_in(std::string_view bytes) {
  Reader in(bytes);
  AskNote ask;
  ask.id = in.number(8);
  ask.asker.number = static_cast<std::uint16_t>(in.number(2));
  ask.asker.generation = static_cast<std::uint32_t>(in.number(4));
  ask.time_namespace = in.number(8);
  ask.until = in.wide();
  ask.since_wall = in.wide();
  ask.until_wall = in.wide();
  const std::uint64_t state = in.number(1);
  if (state == 1) ask.state = AskNote::State::accepted;
  if (state == 2) ask.state = AskNote::State::declined;
  ask.by = in.text();
  ask.reason = in.text();
  ask.words = in.text();
  return ask;
}

std::string bytes_of(const OfferNote& offer) {
  Writer out;
  out.number(offer.time_namespace, 8).wide(offer.until).wide(offer.since_wall).wide(offer.until_wall);
  return out.number(offer.back == Back::line ? 1 : 0, 1).text(offer.to).bytes();
}

OfferNote offer_in(std::string_view bytes) {
  Reader in(bytes);
  OfferNote offer;
  offer.time_namespace = in.number(8);
  offer.until = in.wide();
  offer.since_wall = in.wide();
  offer.until_wall = in.wide();
  offer.back = in.number(1) == 1 ? Back::line : Back::holder;
  offer.to = in.text();
  return offer;
}

// The same words, with this in place of what was asked and offered.
std::string amended(std::string_view text, const Yield& yield, std::uint64_t number) {
  std::string out;
  const std::int64_t until = yield.offer ? yield.offer->until : 0;
  add_field(out, Tag::yielding, number_bytes(number, 8) + number_bytes(static_cast<std::uint64_t>(until), 8));
  if (yield.offer) add_field(out, Tag::offer, bytes_of(*yield.offer));
  each_field(text, [&](Tag tag, std::string_view value) {
    if (tag != Tag::yielding && tag != Tag::offer && tag != Tag::ask) add_field(out, tag, value);
  });
  for (const AskNote& ask : yield.asks) add_field(out, Tag::ask, bytes_of(ask));
  return out;
}

// Fresh cells of ours become those of the holder, as the texts of a lease are: else they would go with us. Inside the
// section of a lease that is known to be its own.
void hand_text(Core& core, CellIndex first, MemberId to) noexcept {
  const std::uint64_t theirs = CommitWord{Kind::text, 0, to}.packed();
  for (CellIndex index = first; index != 0;) {
    Cell& cell = core.table.cell(index);
    cell.word.store(theirs, std::memory_order_relaxed);
    TENURE_POINT("text handed");
    index = cell.next.load(std::memory_order_relaxed);
  }
}

bool comparable(const Core& core, std::uint64_t time_namespace) {
  return core.self().time_namespace == time_namespace;
}

}  // namespace

Yield yield_in(std::string_view text) {
  Yield yield;
  each_field(text, [&](Tag tag, std::string_view value) {
    if (tag == Tag::ask) yield.asks.push_back(ask_in(value));
    if (tag == Tag::offer) yield.offer = offer_in(value);
  });
  return yield;
}

// ---- verdicts on it -------------------------------------------------------------------------------------------------

bool offer_stands(const Core& core, const OfferNote& offer) {
  return comparable(core, offer.time_namespace) && core.monotonic_ns() < offer.until;
}

std::optional<OfferNote> open_offer(const Core& core, const HoldingView& lease) {
  if ((lease.flags & kOffers) == 0) return std::nullopt;
  auto offer = yield_in(lease.text).offer;
  if (!offer || !offer_stands(core, *offer)) return std::nullopt;
  return offer;
}

bool back_to_line(Core& core, const HoldingView& lease) {
  if ((lease.flags & kOffers) == 0 || guarded(core, lease)) return false;
  const auto offer = yield_in(lease.text).offer;
  return offer && offer->back == Back::line && comparable(core, offer->time_namespace) &&
         core.monotonic_ns() >= offer->until;
}

std::string not_adopted(const HoldingView& lease) {
  const auto offer = yield_in(lease.text).offer;
  return "it was offered to " + (offer ? offer->to : "a successor") + ", who did not adopt it in time";
}

bool is_pending(Core& core, const AskNote& ask) {
  if (ask.state != AskNote::State::pending) return false;
  if (comparable(core, ask.time_namespace) && core.monotonic_ns() >= ask.until) return false;
  return prove(core, ask.asker, Care::usual).liveness != Liveness::dead;
}

std::vector<Ask> pending_asks(Core& core, const HoldingView& lease) {
  std::vector<Ask> out;
  if ((lease.flags & kYielding) == 0) return out;
  for (AskNote& ask : yield_in(lease.text).asks) {
    if (!is_pending(core, ask)) continue;
    MemberSeen seen = see_member(core, ask.asker);
    out.push_back({.id = ask.id,
                   .by = std::move(ask.by),
                   .reason = std::move(ask.reason),
                   .user_name = std::move(seen.user_name),
                   .command = std::move(seen.command),
                   .process = std::move(seen.identity),
                   .since = WallTime{Duration{ask.since_wall}},
                   .until = WallTime{Duration{ask.until_wall}}});
  }
  return out;
}

void show_yielding(Core& core, const HoldingView& lease, const rules::Occupant& occupant,
                   const rules::ClaimVerdict& stranger, Observation& seen) {
  if ((lease.flags & kYielding) == 0) return;
  seen.asks = pending_asks(core, lease);
  if (back_to_line(core, lease)) {
    seen.claimable = true;
    seen.why = not_adopted(lease);
    return;
  }
  const auto offer = open_offer(core, lease);
  if (!offer) return;
  seen.offer =
      Offer{offer->to, offer->back, WallTime{Duration{offer->since_wall}}, WallTime{Duration{offer->until_wall}}};
  const bool dead = rules::offer_keeps_off(stranger, occupant);
  if (dead) {
    seen.claimable = false;
    seen.why = "its holder is dead, and had offered it to " + offer->to;
  }
  if (dead || offer->back == Back::line) seen.frees_in = Duration{offer->until - core.monotonic_ns()};
}

std::optional<std::int64_t> offer_end(const Core& core, const Cell& lease) noexcept {
  if ((flags_in(lease) & kOffers) == 0) return std::nullopt;
  return head_of(core, lease).until;
}

// ---- amending -------------------------------------------------------------------------------------------------------

bool is_same_text(const Core& core, const Cell& cell, const HoldingView& lease) noexcept {
  if (low(at(cell, slot_field::kText)) != lease.text_at || flags_in(cell) != lease.flags) return false;
  if ((lease.flags & kYielding) == 0) return true;
  // The same cells may hold another text by now.
  return head_of(core, cell).number == head_in(lease.text).number;
}

Result<bool> amend(Core& core, const HoldingView& lease, const Yield& yield, const Amendment& amendment) {
  const std::uint64_t number = core.table.header().arrivals.fetch_add(1, std::memory_order_relaxed);
  auto text = store_text(core, amended(lease.text, yield, number));
  if (!text) return fail(text.error());
  auto flags = static_cast<std::uint16_t>((lease.flags & ~kOffers) | kYielding);
  if (yield.offer) flags |= kOffers;
  Wakes wakes(core);
  Spent spent;
  bool done = false;
  {
    Cell& cell = core.table.cell(lease.index);
    auto section = Section::enter(core, cell.home.load(std::memory_order_relaxed), section_bound(core));
    if (!section) {
      give_text(core, *text);
      return fail(section.error());
    }
    done = is_same(cell, lease) && is_same_text(core, cell, lease);
    if (done) {
      const bool alone = lease.word.kind == Kind::slot;
      const Cell& slot = alone ? cell : core.table.cell(cell.owner.load(std::memory_order_relaxed));
      hand_text(core, *text, lease.word.member);
      const std::uint64_t length = at(cell, slot_field::kText) >> 48;
      cell.body[slot_field::kText].store(length << 48 | std::uint64_t{flags} << 32 | *text, std::memory_order_release);
      TENURE_POINT("text amended");
      spent.text(adopt_text(core, lease.text_at));
      if (amendment.knock) spent.knock_at(lease.word.member);
      const CellIndex first = first_in_line(slot);
      if (amendment.raise_first && first != 0) wakes.raise(core.table.cell(first));
      if (amendment.kind) say(core, slot, lease.epoch, *amendment.kind, amendment.why, amendment.owner);
    }
  }
  if (!done) give_text(core, *text);
  settle(core, wakes, spent);
  return done;
}

}  // namespace tenure::local
