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

  // From the holder of a key to a key of ours.
  std::optional<std::string> from(const Observation& seen) {
    if (ours_.empty() || !visited_.insert(seen.key.text()).second) return std::nullopt;
    // Any reader keeps the key from a writer; but one in a slot that waits for nobody may go, and leave it.
    std::optional<std::string> circle;
    for (const OneHolder& each : holders_of(seen)) {
      auto found = from(seen.key, *each.holder);
      if (!found && each.holder->slots > 1) return std::nullopt;
      if (!circle) circle = std::move(found);
    }
    return circle;
  }

 private:
  std::optional<std::string> from(const Key& key, const Holder& holder) {
    const std::string so_far = escape_controls(key.text()) + " is held by " + escape_controls(holder.owner) + " (pid " +
                               std::to_string(holder.process.pid) + "), which waits for ";
    for (const Observation& next : all_) {
      if (!waits(holder, next)) continue;
      const std::string name = escape_controls(next.key.text());
      if (ours_.contains(next.key.text())) return so_far + name + ", which you hold";
      if (auto rest = from(next)) return so_far + name + "; " + *rest;
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
  std::set<std::string> visited_;
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
  if (held.mode == Mode::exclusive && held.slots == 1) return true;
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
