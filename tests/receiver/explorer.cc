#include "receiver/explorer.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "fakes/fake_random.h"
#include "receiver/scheduled_directory.h"

namespace tenure::tests {
namespace {

constexpr std::size_t kNamesOfAGuard = 8;
constexpr std::size_t kMostSteps = 2'000;        // of one schedule: longer, and it goes on for ever
constexpr std::size_t kMostStates = 20'000'000;  // of one scenario

// Whether the party has come to the top of its loop, where what it saw before is of no account: it lists the intents,
// and not because it has just made the guard, or looks for it.
bool begins_anew(const std::string& former, const std::string& next) {
  if (!next.starts_with("list ")) return false;
  return former.starts_with("remove " + std::string(receiver::kReclaims)) ||
         former == "read " + std::string(receiver::kGuard) || former == "probe " + std::string(receiver::kGuard);
}

}  // namespace

Schedule::Schedule(const Scenario& scenario) : most_interruptions_(scenario.interruptions) {
  disk->set_most_links(kNamesOfAGuard);
  observer_ = disk->open(world->spawn({}));
  for (const char* folder : {receiver::kReclaims, receiver::kQuarantine}) (void)observer_->make_folder(folder);
  reclaims_ = std::move(*observer_->open_folder(receiver::kReclaims));
  scenario.begin(*this);
  for (const std::string& name : scenario.parties) {
    auto party = std::make_unique<Party>();
    party->name = name;
    party->process = world->spawn({});
    party->mortal = scenario.mortal.contains(name);
    party->core = core_of(party->process, party.get());
    auto draft = receiver::Draft::make(*party->core);
    if (!draft) throw std::runtime_error(draft.error().message);
    party->draft = std::make_unique<receiver::Draft>(std::move(*draft));
    Party& one = *party;
    one.next = "begin";
    one.fiber = fibers_.add([this, &one] { live(one); });
    parties.push_back(std::move(party));
  }
  disk_ = disk_state();
}

// What is left runs to its end without doing anything, so that nothing stays on a stack.
Schedule::~Schedule() {
  abandoned_ = true;
  for (auto& party : parties) {
    while (!party->ended) fibers_.resume(party->fiber);
    party->draft.reset();
  }
}

std::unique_ptr<receiver::Core> Schedule::core_of(fakes::ProcessNumber process, Party* party) {
  std::shared_ptr<env::Directory> root = disk->open(process);
  if (party != nullptr) root = std::make_shared<ScheduledDirectory>(disk->open(process), *this, *party, "");
  env::Environment environment{clock, std::make_shared<fakes::FakeRandom>(next_seed_++), world->view(process)};
  return std::make_unique<receiver::Core>(std::move(root), std::move(environment), ReceiverOptions{.root_id = "root"});
}

void Schedule::live(Party& party) {
  const receiver::Bound bound = receiver::Bound::of(*party.core, std::chrono::hours(1));
  auto guard = receiver::Guard::enter(*party.core, party.draft->pass(), bound);
  if (!guard) {
    party.failure = guard.error().message;
  } else if (!abandoned_ && !party.dead) {
    EXPECT_EQ(++inside_, 1) << "two are inside at once:\n" << words();
    step(party, "inside");
    if (!party.dead) --inside_;
    (void)guard->leave();
  }
  party.ended = true;
}

void Schedule::step(Party& party, const std::string& call) {
  if (abandoned_ || fibers_.running() != party.fiber) return;
  if (begins_anew(party.next, call)) party.seen = 0;
  party.next = call;
  fibers_.pause();
}

void Schedule::wait(Party& party) {
  if (abandoned_) return;
  party.waits = true;
  party.next = "wait";
  fibers_.pause();
  party.waits = false;
  // It looks at everything anew: what it saw before is of no account.
  party.seen = 0;
  party.news = false;
}

std::vector<Schedule::Choice> Schedule::choices() const {
  std::vector<Choice> all;
  const bool stays = can_move(*parties[last_]) && interruptions_ == most_interruptions_;
  for (std::size_t i = 0; i < parties.size(); ++i) {
    const Party& party = *parties[i];
    if (can_move(party) && (!stays || i == last_)) all.push_back({i, false});
    if (party.mortal && !party.ended && !party.dead) all.push_back({i, true});
  }
  return all;
}

void Schedule::take(const Choice& choice) {
  Party& party = *parties[choice.party];
  done_.push_back(party.name + ": " + (choice.kill ? "dies before: " + party.next : party.next));
  if (choice.kill) {
    if (party.next == "inside") --inside_;
    party.dead = true;
    world->kill(party.process);
  } else {
    if (choice.party != last_ && can_move(*parties[last_])) ++interruptions_;
    last_ = choice.party;
    fibers_.resume(party.fiber);
  }
  const std::string now = disk_state();
  const bool changed = now != std::exchange(disk_, now) || choice.kill;
  for (auto& each : parties) each->news = each->news || (changed && &*each != &party);
}

std::string Schedule::disk_state() {
  std::string state;
  const auto add = [&](env::Directory& folder) {
    const auto names = folder.list(1'000);
    for (const std::string& name : *names) {
      state += name + "=" + std::to_string(folder.look(name)->identity.inode) + ";";
    }
  };
  add(*observer_);
  add(*reclaims_);
  return state;
}

std::string Schedule::state() {
  std::string all = disk_;
  for (const auto& party : parties) {
    all += "|" + party->next + "/" + std::to_string(party->seen) + (party->dead ? "dead" : "") +
           (party->ended ? "ended" : "") + (party->news ? "news" : "");
  }
  if (most_interruptions_ >= 0) all += "|" + std::to_string(last_) + "/" + std::to_string(interruptions_);
  return all;
}

std::string Schedule::words() const {
  std::string all;
  for (const std::string& each : done_) all += "  " + each + "\n";
  return all;
}

Explored explore(const Scenario& scenario) {
  Explored explored;
  std::unordered_set<std::string> met;
  struct Turn {
    std::vector<Schedule::Choice> choices;
    std::size_t chosen = 0;
  };
  std::vector<Turn> path;
  for (;;) {
    Schedule schedule(scenario);
    ++explored.schedules;
    for (const Turn& turn : path) schedule.take(turn.choices[turn.chosen]);
    for (;;) {
      if (!met.insert(schedule.state()).second) break;
      auto choices = schedule.choices();
      if (choices.empty()) {
        ++explored.ends;
        scenario.check(schedule);
        break;
      }
      if (path.size() > kMostSteps || met.size() > kMostStates) {
        ADD_FAILURE() << "no end is in sight:\n" << schedule.words();
        return explored;
      }
      schedule.take(choices.front());
      path.push_back({std::move(choices), 0});
    }
    if (testing::Test::HasFailure()) break;
    while (!path.empty() && path.back().chosen + 1 == path.back().choices.size()) path.pop_back();
    if (path.empty()) break;
    ++path.back().chosen;
  }
  explored.states = met.size();
  return explored;
}

}  // namespace tenure::tests
