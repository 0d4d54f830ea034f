// FaultPlan: which calls of one fake process to its disk go wrong, and how.
//
// Calls are counted from the moment of planning; their names are those of env::Directory, and the steps of a composed
// call count by themselves: "read", "replace.write", "replace.sync", "replace.rename", "overwrite.write",
// "overwrite.sync", "remove", "move_aside", "sync", "list", "lock", "section.read", "section.write", "section.sync",
// "take_life", "probe_life", "watch", "in_place", "look", "open_folder", "make_folder", "remove_folder",
// "create.write", "create.sync", "link", "move"; those of a folder in a folder count in the same row. Those of
// env::LocalFolder count in the same row: "enter", "enter_alone", "let_others_in", "leave", "lock_in_place",
// "map_table", "make_table.allocate", "make_table.rename", "allocate", "table_in_place", "take_byte", "drop_byte",
// "probe_byte", "pass_byte", "start_keeper", "stop_keeper". What cannot fail (leave, drop_byte, stop_keeper) is done
// whatever was planned; but the process can die there.
//
// Calls of a background thread (see Background) are not counted, so that the numbers of the others do not depend on its
// pace; it meets only what was planned for `always`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenure/error.h"

namespace tenure::fakes {

struct Fault {
  enum class Kind : std::uint8_t {
    refuse,       // nothing is done, the code comes back
    lose_answer,  // it is done, and yet the code comes back
    die_before,   // the process is killed at the entrance
    die_after,    // the process is killed when it is done
  };
  Kind kind = Kind::refuse;
  Code code = Code::input_output;
};

// While one lives, this thread is a background thread.
class Background {
 public:
  Background() { here() = true; }
  ~Background() { here() = false; }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  static bool& here() {
    static thread_local bool background = false;
    return background;
  }
};

class FaultPlan {
 public:
  // The `nth` call from now on, the first being 1, whatever its name.
  void at_call(std::uint64_t nth, Fault fault) {
    std::lock_guard lock(mutex_);
    by_number_[calls_.size() + nth] = fault;
  }
  // The `nth` call of that name from now on.
  void at(const std::string& name, std::uint64_t nth, Fault fault) {
    std::lock_guard lock(mutex_);
    by_name_[{name, count_of(name) + nth}] = fault;
  }
  // Just before the `nth` call of that name from now on, once: what others do meanwhile.
  void before(const std::string& name, std::uint64_t nth, std::function<void()> act) {
    std::lock_guard lock(mutex_);
    before_[{name, count_of(name) + nth}] = std::move(act);
  }
  // Every call of that name, until clear().
  void always(const std::string& name, Fault fault) {
    std::lock_guard lock(mutex_);
    always_[name] = fault;
  }
  void clear() {
    std::lock_guard lock(mutex_);
    by_number_.clear();
    by_name_.clear();
    always_.clear();
    before_.clear();
  }
  // The names of all calls so far: how many there are to fail one by one, and which one failed.
  std::vector<std::string> calls() const {
    std::lock_guard lock(mutex_);
    return calls_;
  }

  // For the fake: counts this call and tells what becomes of it.
  std::optional<Fault> next(const std::string& name) {
    if (auto act = meanwhile(name)) act();
    std::lock_guard lock(mutex_);
    if (!Background::here()) {
      calls_.push_back(name);
      const std::uint64_t of_this_name = ++counts_[name];
      if (auto it = by_number_.find(calls_.size()); it != by_number_.end()) return it->second;
      if (auto it = by_name_.find({name, of_this_name}); it != by_name_.end()) return it->second;
    }
    if (auto it = always_.find(name); it != always_.end()) return it->second;
    return std::nullopt;
  }

 private:
  std::function<void()> meanwhile(const std::string& name) {
    std::lock_guard lock(mutex_);
    if (Background::here()) return nullptr;
    auto it = before_.find({name, count_of(name) + 1});
    if (it == before_.end()) return nullptr;
    auto act = std::move(it->second);
    before_.erase(it);
    return act;
  }
  std::uint64_t count_of(const std::string& name) const {
    auto it = counts_.find(name);
    return it == counts_.end() ? 0 : it->second;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
  std::map<std::string, std::uint64_t> counts_;
  std::map<std::uint64_t, Fault> by_number_;
  std::map<std::pair<std::string, std::uint64_t>, Fault> by_name_;
  std::map<std::string, Fault> always_;
  std::map<std::pair<std::string, std::uint64_t>, std::function<void()>> before_;
};

}  // namespace tenure::fakes
