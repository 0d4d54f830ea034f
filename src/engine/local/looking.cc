#include "engine/local/looking.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <span>

#include "engine/local/local.h"

namespace tenure {
namespace {

using OpenFolder = std::function<Result<std::unique_ptr<env::LocalFolder>>()>;

constexpr Duration kLook = std::chrono::milliseconds(200);  // for a table that comes or goes

// The table that lies there now.
class Sighting {
 public:
  Sighting(OpenFolder open, std::shared_ptr<env::Words> words, env::Environment environment)
      : open_(std::move(open)), words_(std::move(words)), environment_(std::move(environment)) {}

  env::Words& words() const { return *words_; }
  const env::Clock& clock() const { return *environment_.clock; }

  // nullptr: there is none. The same engine as long as the same table lies there.
  Result<std::shared_ptr<Engine>> now() {
    const std::lock_guard lock(mutex_);
    auto folder = open_();
    if (!folder) return fail(folder.error());
    auto head = (*folder)->map_table(sizeof(local::Header), sizeof(local::Header));
    if (!head) return fail(head.error());
    if (*head == nullptr) return forget();
    if (engine_ && (*head)->identity() == table_) return engine_;
    table_ = (*head)->identity();
    auto engine = open_local(std::move(*folder), words_, environment_, {.observe_only = true});
    if (!engine && engine.error().code == Code::unreachable) return forget();
    if (!engine) return fail(engine.error());
    engine_ = std::move(*engine);
    return engine_;
  }

 private:
  std::shared_ptr<Engine> forget() {
    engine_.reset();
    return nullptr;
  }

  const OpenFolder open_;
  const std::shared_ptr<env::Words> words_;
  const env::Environment environment_;
  std::mutex mutex_;  // of what follows
  std::shared_ptr<Engine> engine_;
  FileIdentity table_;
};

class LookingChanges final : public Changes {
 public:
  explicit LookingChanges(std::shared_ptr<Sighting> sighting) : sighting_(std::move(sighting)) {}

  // Begins with the table that lies there.
  Result<void> begin() {
    auto moved = follow();
    if (!moved) return fail(moved.error());
    return {};
  }

  Result<Seen> wait(Duration at_most, const Stop* stop) override {
    const env::Clock& clock = sighting_->clock();
    const MonotonicTime begun = clock.monotonic();
    for (;;) {
      auto moved = follow();
      if (!moved) return fail(moved.error());
      if (*moved) return Seen{{}, true};
      const Duration left = std::max(at_most - (clock.monotonic() - begun), Duration{0});
      auto seen = look(std::min(left, kLook), stop);
      if (!seen || !seen->keys.empty() || seen->everything) return seen;
      if (left == Duration{0} || (stop != nullptr && stop->requested())) return Seen{};
    }
  }

 private:
  // True: another table lies there than before, or none.
  Result<bool> follow() {
    auto engine = sighting_->now();
    if (!engine) return fail(engine.error());
    if (*engine == engine_) return false;
    changes_.reset();
    engine_ = *engine;
    if (engine_) {
      auto changes = engine_->changes();
      if (!changes) return fail(changes.error());
      changes_ = std::move(*changes);
    }
    return true;
  }

  Result<Seen> look(Duration at_most, const Stop* stop) {
    if (changes_) return changes_->wait(at_most, stop);
    const env::Word nobody{0};
    std::array watched{env::Watched{&nobody, 0}, env::Watched{}};
    if (stop != nullptr) watched[1] = {stop->word(), 0};
    sighting_->words().wait(std::span(watched).first(stop != nullptr ? 2 : 1), at_most);
    return Seen{};
  }

  const std::shared_ptr<Sighting> sighting_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Changes> changes_;
};

class LookingEngine final : public Engine {
 public:
  LookingEngine(std::shared_ptr<Sighting> sighting, std::string path)
      : sighting_(std::move(sighting)), path_(std::move(path)) {
    traits_.name = "local";
    traits_.shared = true;
    traits_.slots = true;
    traits_.ttl = true;
    traits_.first_in_first_out = true;
    traits_.shows_line = true;
    traits_.durable_epochs = true;
    traits_.between_processes = true;
    traits_.log = true;
    traits_.exclusion = "strict among all processes of this machine that open " + path_;
  }

  const Traits& traits() const override { return traits_; }
  std::string location() const override { return path_; }

  Result<Observation> holder(const Key& key) override {
    auto engine = sighting_->now();
    if (!engine) return fail(engine.error());
    if (*engine) return (*engine)->holder(key);
    Observation seen(key);
    seen.claimable = true;
    seen.why = "nobody has used the space since the machine started";
    return seen;
  }
  Result<std::vector<Observation>> list(const std::string& prefix) override {
    auto engine = sighting_->now();
    if (!engine) return fail(engine.error());
    if (*engine) return (*engine)->list(prefix);
    return std::vector<Observation>{};
  }
  Result<std::unique_ptr<Changes>> changes() override {
    auto changes = std::make_unique<LookingChanges>(sighting_);
    if (auto begun = changes->begin(); !begun) return fail(begun.error());
    return changes;
  }
  Result<std::vector<Event>> log(const std::string& key) override {
    auto engine = sighting_->now();
    if (!engine) return fail(engine.error());
    if (*engine) return (*engine)->log(key);
    return std::vector<Event>{};
  }

  Result<Grant> try_claim(const ClaimRequest& /*request*/) override { return only_looking(); }
  Result<Grant> await(const ClaimRequest& /*request*/, const Wait& /*wait*/) override { return only_looking(); }
  Result<Renewal> beat(const ClaimRef& /*claim*/) override { return only_looking(); }
  Result<Renewal> renew(const ClaimRef& /*claim*/) override { return only_looking(); }
  Result<Standing> verify(const ClaimRef& /*claim*/) override { return only_looking(); }
  Result<Released> release(const ClaimRef& /*claim*/) override { return only_looking(); }
  Result<Revoked> revoke(const RevokeRequest& /*request*/) override { return only_looking(); }
  Result<void> guard(const GuardRequest& /*request*/, const Guarded& /*operation*/) override { return only_looking(); }

 private:
  std::unexpected<Error> only_looking() const {
    return fail(Code::not_permitted, "the space at " + path_ + " was opened for looking only");
  }

  const std::shared_ptr<Sighting> sighting_;
  const std::string path_;
  Traits traits_;
};

}  // namespace

Result<std::shared_ptr<Engine>> look_at_local(OpenFolder open, std::shared_ptr<env::Words> words,
                                              env::Environment environment) {
  auto folder = open();
  if (!folder) return fail(folder.error());
  const std::string path = (*folder)->path();
  auto sighting = std::make_shared<Sighting>(std::move(open), std::move(words), std::move(environment));
  // A table that cannot be understood is told of at once.
  if (auto seen = sighting->now(); !seen) return fail(seen.error());
  return std::make_shared<LookingEngine>(std::move(sighting), path);
}

}  // namespace tenure
