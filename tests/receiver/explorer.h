// Explorer: every interleaving of a few parties over one namespace, by steps of one call to the disk each.
//
// A schedule is run anew from the start each time, on a disk of its own. States that were met before are not gone into
// again: a state is what lies on the disk, and what each party has seen since it last began anew. Where a party waits
// for a change, it is not scheduled before there is one. A party's death is a step as any other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/receiver/guard.h"
#include "engine/receiver/pass.h"
#include "fakes/fake_clock.h"
#include "fakes/fake_disk.h"
#include "fakes/fake_processes.h"
#include "receiver/fibers.h"

namespace tenure::tests {

class Schedule;

// One party of one schedule.
struct Party {
  std::string name;
  fakes::ProcessNumber process{};
  std::unique_ptr<receiver::Core> core;
  std::unique_ptr<receiver::Draft> draft;
  int fiber = -1;
  std::string next;        // the call that it is about to make
  std::uint64_t seen = 0;  // all that it was told since it began anew
  bool waits = false;
  bool news = false;  // something changed since it began anew
  bool dead = false;
  bool mortal = false;  // the explorer kills it, at every step once
  bool ended = false;
  std::string failure;  // why it did not get in
};

// What is explored: makes the parties, and says at the end what must be so.
struct Scenario {
  // Puts things on the disk before anybody moves.
  std::function<void(Schedule& schedule)> begin;
  std::vector<std::string> parties;
  std::set<std::string> mortal;
  // How often a party that could go on is interrupted in one schedule; -1: no bound, every interleaving.
  int interruptions = -1;
  // Of a schedule that has come to its end.
  std::function<void(Schedule& schedule)> check;
};

class Schedule {
 public:
  explicit Schedule(const Scenario& scenario);
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  struct Choice {
    std::size_t party = 0;
    bool kill = false;
    friend bool operator==(const Choice&, const Choice&) = default;
  };
  std::vector<Choice> choices() const;
  void take(const Choice& choice);
  std::string state();
  std::string disk_state();
  std::string words() const;  // what was done so far, for a test that fails

  std::vector<std::unique_ptr<Party>> parties;
  const std::shared_ptr<fakes::FakeWorld> world = fakes::FakeWorld::create();
  const std::shared_ptr<fakes::FakeClock> clock = std::make_shared<fakes::FakeClock>();
  const std::shared_ptr<fakes::FakeDisk> disk = fakes::FakeDisk::create(world, clock);

  std::unique_ptr<receiver::Core> core_of(fakes::ProcessNumber process, Party* party);
  // By the running party, through its folder.
  void step(Party& party, const std::string& call);
  void wait(Party& party);
  bool abandoned() const { return abandoned_; }

 private:
  void live(Party& party);
  static bool can_move(const Party& party) { return !party.ended && !party.dead && (!party.waits || party.news); }

  Fibers fibers_;
  std::vector<std::string> done_;
  std::unique_ptr<env::Directory> observer_;
  std::unique_ptr<env::Directory> reclaims_;
  std::uint64_t next_seed_ = 1;
  const int most_interruptions_;
  int interruptions_ = 0;
  std::size_t last_ = 0;  // the party that moved last
  int inside_ = 0;
  bool abandoned_ = false;
  std::string disk_;  // as it was after the last step
};

struct Explored {
  std::size_t states = 0;
  std::size_t schedules = 0;
  std::size_t ends = 0;
};
Explored explore(const Scenario& scenario);

}  // namespace tenure::tests
