// Looking: who holds what, and what happened. Needs only read permission, writes nothing, waits for nobody for long.
#include <algorithm>
#include <array>

#include "engine/local/events.h"
#include "engine/local/local_engine.h"

namespace tenure::local {
namespace {

constexpr Duration kLook =
    std::chrono::milliseconds(50);  // of who may not write to the table, and so is woken by nobody

// Tells of the keys in the events that were written since.
class LocalChanges final : public Changes {
 public:
  explicit LocalChanges(Core& core) : core_(core), next_(core.table.header().events.load(std::memory_order_acquire)) {}

  Result<Seen> wait(Duration at_most, const Stop* stop) override {
    if (!core_.mark.same()) return fail(Code::wrong_process, "a forked child is not told of its parent's changes");
    const MonotonicTime begun = core_.environment.clock->monotonic();
    for (;;) {
      Word32& bell = core_.table.header().event_futex;
      const std::uint32_t before = bell.load(std::memory_order_acquire);
      if (!core_.me.none()) core_.table.header().watchers.store(1, std::memory_order_seq_cst);
      if (auto seen = look()) return std::move(*seen);
      if (stop != nullptr && stop->requested()) return Seen{};
      const Duration left = at_most - (core_.environment.clock->monotonic() - begun);
      if (left <= Duration{0}) return Seen{};
      std::array watched{env::Watched{&bell, before}, env::Watched{}};
      if (stop != nullptr) watched[1] = {stop->word(), 0};
      core_.words->wait(std::span(watched).first(stop != nullptr ? 2 : 1),
                        core_.me.none() ? std::min(left, kLook) : left);
    }
  }

 private:
  std::optional<Seen> look() {
    Read read = read_events(core_, next_);
    next_ = read.next;
    if (read.events.empty() && !read.missed) return std::nullopt;
    Seen seen{{}, read.missed};
    for (const Event& event : read.events) {
      auto key = Key::parse(event.key);
      // An event keeps the beginning of a long key alone.
      if (event.key.size() >= kInlineKey) seen.everything = true;
      if (key) seen.keys.push_back(std::move(*key));
    }
    std::sort(seen.keys.begin(), seen.keys.end());
    seen.keys.erase(std::unique(seen.keys.begin(), seen.keys.end()), seen.keys.end());
    if (seen.keys.empty() && !seen.everything) return std::nullopt;
    return seen;
  }

  Core& core_;
  std::uint64_t next_;
};

}  // namespace

Result<Observation> LocalEngine::holder(const Key& key) {
  if (auto own = check_process(); !own) return fail(own.error());
  auto slot = read_key(*core_, key.text());
  if (!slot) return fail(slot.error());
  return observe(*core_, key, *slot, Care::usual);
}

Result<std::vector<Observation>> LocalEngine::list(const std::string& prefix) {
  if (auto own = check_process(); !own) return fail(own.error());
  std::vector<Observation> all;
  for (CellIndex index = 1; index <= core_->table.last_cell(); ++index) {
    const auto word = CommitWord::unpacked(core_->table.cell(index).word.load(std::memory_order_acquire));
    if (word.kind != Kind::slot) continue;
    auto slot = read_slot(*core_, index);
    if (!slot) return fail(slot.error());
    if (!*slot || !(*slot)->key.starts_with(prefix)) continue;
    auto key = Key::parse((*slot)->key);
    if (!key) continue;
    Observation seen = observe(*core_, *key, *slot, Care::usual);
    if (seen.state != State::free) all.push_back(std::move(seen));
  }
  std::sort(all.begin(), all.end(), [](const Observation& a, const Observation& b) { return a.key < b.key; });
  return all;
}

Result<std::unique_ptr<Changes>> LocalEngine::changes() {
  if (auto own = check_process(); !own) return fail(own.error());
  return std::make_unique<LocalChanges>(*core_);
}

Result<std::vector<Event>> LocalEngine::log(const std::string& key) {
  if (auto own = check_process(); !own) return fail(own.error());
  Read read = read_events(*core_, 0);
  if (key.empty()) return std::move(read.events);
  std::erase_if(read.events, [&](const Event& event) { return event.key != key; });
  return std::move(read.events);
}

}  // namespace tenure::local
