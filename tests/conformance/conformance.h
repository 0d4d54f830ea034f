// Conformance: what every case of the suite stands on. One file of cases per subject; the list of those that no engine
// may skip is in README.md.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "conformance/fixture.h"

namespace tenure::conformance {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Lets fake time pass in steps until the future is there. Bounded: a case that hangs fails with a sentence.
template <class T>
bool comes(std::future<T>& future, Fixture& fixture, Duration step) {
  for (int round = 0; round < 5'000; ++round) {
    if (future.wait_for(milliseconds(2)) == std::future_status::ready) return true;
    if (step > Duration{0}) fixture.pass(step);
  }
  return false;
}
// The same without moving the clock: it comes by itself.
template <class T>
bool comes(std::future<T>& future) {
  return future.wait_for(seconds(60)) == std::future_status::ready;
}

// Looks again and again, in short waits, until it is so; fake time passes meanwhile by `step` a look.
template <class Predicate>
bool eventually(Fixture& fixture, Duration step, Predicate predicate) {
  std::promise<void> never;
  auto nothing = never.get_future();
  for (int round = 0; round < 5'000; ++round) {
    if (predicate()) return true;
    if (step > Duration{0}) fixture.pass(step);
    nothing.wait_for(milliseconds(2));
  }
  return false;
}

class Conformance : public testing::TestWithParam<FixtureFactory> {
 protected:
  Conformance() : fixture(GetParam().make()) {}

  static Key key(const std::string& text) { return *Key::parse(text); }
  static ClaimRequest request(const Key& key, const std::string& owner = "owner", const std::string& part = "part");
  static ClaimRequest with_ttl(ClaimRequest request, Duration ttl);
  static ClaimRef ref(const Grant& grant) { return {grant.key, grant.claim, grant.epoch}; }
  static GuardRequest by_claim(const Grant& grant, Duration at_most) {
    return {grant.key, grant.epoch, grant.claim, at_most};
  }
  static GuardRequest by_epoch(const Grant& grant, Duration at_most) {
    return {grant.key, grant.epoch, std::nullopt, at_most};
  }

  // A claim that must succeed.
  Grant claim(Client client, const ClaimRequest& request);
  void release(Client client, const Grant& grant);
  // A claim by a fresh process: its epoch if granted, none if refused as held.
  Epoch stranger_gets(const Key& key);
  bool is_current(Client client, const Grant& grant);
  bool is_lost(Client client, const Grant& grant);

  std::unique_ptr<Fixture> fixture;
};

// A claim that waits in a thread of its own.
class Waiting {
 public:
  Waiting(Fixture& fixture, Client client, ClaimRequest request, std::optional<Duration> at_most = std::nullopt,
          const Stop* stop = nullptr);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // The first call of on_wait: from then on it is in line.
  Observation told();
  std::vector<Observation> all_told() const;
  bool ends(Duration step = Duration{0});
  bool ended() const { return future_.wait_for(Duration{0}) == std::future_status::ready; }
  Result<Grant> result() { return future_.get(); }

 private:
  struct Told {
    mutable std::mutex mutex;
    std::vector<Observation> all;
    std::promise<Observation> first;
  };
  Fixture& fixture_;
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
  std::shared_ptr<Stop> own_stop_;
  std::future<Result<Grant>> future_;
};

// Printed by GoogleTest as the name of the instance.
inline std::string name_of(const testing::TestParamInfo<FixtureFactory>& info) {
  return info.param.name;
}

// Whether README.md says that no engine may skip this case.
bool is_required(const std::string& case_name);
std::vector<std::string> required_cases();

// Skips a case that an engine does not offer what for. A case of the list must not get here.
#define NEEDS(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      const std::string full = testing::UnitTest::GetInstance()->current_test_info()->name(); \
      ASSERT_FALSE(::tenure::conformance::is_required(full.substr(0, full.find('/'))))        \
          << "README.md says that no engine may skip it, and this one lacks: " #condition;    \
      GTEST_SKIP() << "needs " #condition;                                                    \
    }                                                                                         \
  } while (false)

// For the few cases that contradict a foreign rule of age: see Fixture::judges_by_age.
#define NOT_BY_AGE() \
  if (fixture->judges_by_age()) GTEST_SKIP() << "the foreign rule of age says the contrary"

}  // namespace tenure::conformance
