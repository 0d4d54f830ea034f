#include "conformance/conformance.h"

#include <algorithm>
#include <fstream>

namespace tenure::conformance {

ClaimRequest Conformance::request(const Key& key, const std::string& owner, const std::string& part) {
  ClaimRequest request{.key = key};
  request.owner = owner;
  request.part = part;
  return request;
}

ClaimRequest Conformance::with_ttl(ClaimRequest request, Duration ttl) {
  request.terms.ttl = ttl;
  return request;
}

Grant Conformance::claim(Client client, const ClaimRequest& request) {
  auto granted = fixture->engine(client)->try_claim(request);
  if (granted) return *granted;
  ADD_FAILURE() << "a claim of " << request.key.text() << " was refused: " << granted.error().message;
  return Grant{.key = request.key};
}

void Conformance::release(Client client, const Grant& grant) {
  auto released = fixture->engine(client)->release(ref(grant));
  ASSERT_TRUE(released) << released.error().message;
  ASSERT_TRUE(released->released);
}

Epoch Conformance::stranger_gets(const Key& key) {
  const Client stranger = fixture->add_client();
  auto granted = fixture->engine(stranger)->try_claim(request(key, "stranger"));
  if (granted) return granted->epoch;
  EXPECT_EQ(granted.error().code, Code::held) << granted.error().message;
  return Epoch{};
}

bool Conformance::is_current(Client client, const Grant& grant) {
  auto standing = fixture->engine(client)->verify(ref(grant));
  return standing && standing->epoch == grant.epoch;
}

bool Conformance::is_lost(Client client, const Grant& grant) {
  auto standing = fixture->engine(client)->verify(ref(grant));
  return !standing && standing.error().code == Code::lost;
}

Waiting::Waiting(Fixture& fixture, Client client, ClaimRequest request, std::optional<Duration> at_most,
                 const Stop* stop)
    : fixture_(fixture) {
  if (stop == nullptr) own_stop_ = std::make_shared<Stop>(std::move(*Stop::create()));
  Wait wait{.at_most = at_most, .stop = stop != nullptr ? stop : own_stop_.get(), .on_wait = nullptr};
  wait.on_wait = [told = told_](const Observation& seen) {
    std::lock_guard lock(told->mutex);
    told->all.push_back(seen);
    if (told->all.size() == 1) told->first.set_value(seen);
  };
  future_ = std::async(std::launch::async, [engine = fixture.engine(client), request = std::move(request), wait] {
    return engine->await(request, wait);
  });
}

// A case that failed leaves a thread in line; its own Stop brings it back.
Waiting::~Waiting() {
  if (own_stop_) own_stop_->request();
}

Observation Waiting::told() {
  auto first = told_->first.get_future();
  if (comes(first)) return first.get();
  ADD_FAILURE() << "on_wait was not called";
  return Observation{.key = *Key::parse("nothing")};
}

std::vector<Observation> Waiting::all_told() const {
  std::lock_guard lock(told_->mutex);
  return told_->all;
}

bool Waiting::ends(Duration step) {
  return step > Duration{0} ? comes(future_, fixture_, step) : comes(future_);
}

std::vector<std::string> required_cases() {
  std::ifstream readme(TENURE_SOURCE_DIR "/tests/conformance/README.md");
  std::vector<std::string> names;
  bool inside = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("## ")) inside = line == "## No engine may skip";
    if (inside && line.starts_with("- `")) names.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return names;
}

bool is_required(const std::string& case_name) {
  static const std::vector<std::string> required = required_cases();
  return std::find(required.begin(), required.end(), case_name) != required.end();
}

}  // namespace tenure::conformance
