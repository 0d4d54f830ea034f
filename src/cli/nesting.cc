#include "cli/nesting.h"

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
      if (each.holder && is_around_us(each.holder->process)) ours_.insert(each.key.text());
    }
  }

  // From the holder of a key to a key of ours.
  std::optional<std::string> from(const Observation& seen) {
    if (ours_.empty() || !seen.holder || !visited_.insert(seen.key.text()).second) return std::nullopt;
    const std::string so_far = escape_controls(seen.key.text()) + " is held by " + escape_controls(seen.holder->owner) +
                               " (pid " + std::to_string(seen.holder->process.pid) + "), which waits for ";
    for (const Observation& next : all_) {
      if (!waits(*seen.holder, next)) continue;
      const std::string name = escape_controls(next.key.text());
      if (ours_.contains(next.key.text())) return so_far + name + ", which you hold";
      if (auto rest = from(next)) return so_far + name + "; " + *rest;
    }
    return std::nullopt;
  }

 private:
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

Nesting nesting_in(const Observation& seen, const std::string& url) {
  if (!seen.holder) return Nesting::none;
  const bool named = told_of(entry_of(seen.epoch, seen.key, url));
  if (is_ancestor(seen.holder->process)) return named ? Nesting::within : Nesting::unasked;
  if (!named) return Nesting::none;
  // Pid 1 has a parent, too: 0, of which there is nothing to be seen.
  return ancestors_are_seen() ? Nesting::elsewhere : Nesting::unseen;
}

std::optional<std::string> circle_of(const Space& space, const Observation& wanted, bool holding) {
  // Only a run inside another holds something while it waits.
  if ((holds_before().empty() && !holding) || !space.traits().shows_line) return std::nullopt;
  auto all = space.list();
  if (!all) return std::nullopt;
  return Search(std::move(*all)).from(wanted);
}

}  // namespace tenure::cli
