#include "cli/nesting.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "base/text.h"
#include "cli/ancestors.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

std::string entry_of(const Epoch& epoch, const Key& key, const std::string& url) {
  return epoch.text() + " " + percent_encode(key.text()) + " " + percent_encode(url);
}

bool told_of(const std::string& entry) {
  const std::string all = holds_before();
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(';', begin), all.size());
    if (all.compare(begin, end - begin, entry) == 0) return true;
    begin = end + 1;
  }
  return false;
}

// One search through who waits for whom.
class Search {
 public:
  explicit Search(std::vector<Observation> all) : all_(std::move(all)) {
    for (const Observation& each : all_) {
      const bool ours =
          std::ranges::any_of(holders_of(each), [](const OneHolder& one) { return is_around_us(one.holder->process); });
      if (ours) ours_.insert(each.key.text());
    }
  }

  // Why a key never comes to be had: in words; nullopt: it may.
  std::optional<std::string> from(const Observation& seen) {
    const std::string& key = seen.key.text();
    if (ours_.empty() || may_be_had_.contains(key)) return std::nullopt;
    if (!under_way_.insert(key).second) return std::string();  // it comes back to itself
    auto circle = of_holders(seen);
    under_way_.erase(key);
    if (!circle) may_be_had_.insert(key);
    return circle;
  }

 private:
  std::optional<std::string> of_holders(const Observation& seen) {
    std::optional<std::string> circle;
    for (const OneHolder& each : holders_of(seen)) {
      auto found = of_holder(seen.key, *each.holder);
      // Any reader keeps the key from a writer; but of those in slots one that may go leaves its own.
      if (!found && each.holder->slots > 1) return std::nullopt;
      if (!circle) circle = std::move(found);
    }
    return circle;
  }

  std::optional<std::string> of_holder(const Key& key, const Holder& holder) {
    const std::string so_far = escape_controls(key.text()) + " is held by ";
    if (is_around_us(holder.process)) return so_far + "you";
    for (const Observation& next : all_) {
      if (!waits(holder, next)) continue;
      const std::string here = so_far + escape_controls(holder.owner) + " (pid " + std::to_string(holder.process.pid) +
                               "), which waits for " + escape_controls(next.key.text());
      auto rest = from(next);
      if (!rest) continue;
      if (next.holders <= 1 && ours_.contains(next.key.text())) return here + ", which you hold";
      return here + (rest->empty() ? "" : "; " + *rest);
    }
    return std::nullopt;
  }

  static bool is_around_us(const ProcessIdentity& process) {
    return is_ancestor(process) || process == compose::real_environment().processes->self().identity;
  }

  static bool waits(const Holder& holder, const Observation& key) {
    for (const Waiter& each : key.line) {
      if (descends(each.process, holder.process)) return true;
    }
    return false;
  }

  std::vector<Observation> all_;
  std::set<std::string> ours_;
  std::set<std::string> under_way_;
  std::set<std::string> may_be_had_;
};

}  // namespace

std::string holds_before() {
  const char* value = std::getenv(kHoldsVariable);
  return value == nullptr ? "" : value;
}

std::string holds_with(const std::string& before, const Lease& lease, const std::string& url) {
  return (before.empty() ? "" : before + ";") + entry_of(lease.epoch(), lease.key(), url);
}

Around nesting_in(const Observation& seen, const std::string& url) {
  Around closest;
  for (const OneHolder& each : holders_of(seen)) {
    const bool named = told_of(entry_of(each.epoch, seen.key, url));
    if (is_ancestor(each.holder->process)) {
      const Nesting nesting = named ? Nesting::within : Nesting::unasked;
      if (closest.nesting != Nesting::within) closest = {nesting, each};
    } else if (named && closest.nesting == Nesting::none) {
      // Pid 1 has a parent, too: 0, of which there is nothing to be seen.
      closest = {ancestors_are_seen() ? Nesting::elsewhere : Nesting::unseen, each};
    }
  }
  return closest;
}

bool covers(const Holder& held, const Terms& wanted) {
  if (held.mode == Mode::exclusive && held.slots == 1) return wanted.slots == 1;
  return held.mode == wanted.mode && held.slots == wanted.slots;
}

std::optional<std::string> circle_of(const Space& space, const Observation& wanted, bool holding) {
  // Only a run inside another holds something while it waits.
  if ((holds_before().empty() && !holding) || !space.traits().shows_line) return std::nullopt;
  auto all = space.list();
  if (!all) return std::nullopt;
  return Search(std::move(*all)).from(wanted);
}

}  // namespace tenure::cli
