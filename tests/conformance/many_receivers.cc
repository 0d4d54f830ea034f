#include "conformance/many_receivers.h"

#include "engine/receiver/receiver_engine.h"

namespace tenure::conformance {
namespace {

Key inner() {
  return *Key::parse(kReceiverKey);
}
ClaimRequest inner(ClaimRequest request) {
  request.key = inner();
  return request;
}
ClaimRef inner(ClaimRef claim) {
  claim.key = inner();
  return claim;
}

void rename(const Key& key, Observation& seen) {
  seen.key = key;
}
void rename(const Key& key, Grant& grant) {
  grant.key = key;
  if (grant.displaced) grant.displaced->key = key;
}
void rename(const Key& key, Revoked& revoked) {
  revoked.was.key = key;
}
template <class Value>
void rename(const Key& /*key*/, Value& /*value*/) {}

// A look at each namespace in turn, for a moment: a hint that comes late is allowed.
class EachInTurn final : public Changes {
 public:
  explicit EachInTurn(std::map<Key, std::unique_ptr<Changes>> all) : all_(std::move(all)) {}
  Result<Seen> wait(Duration at_most, const Stop* stop) override {
    Seen seen;
    if (all_.empty()) return Seen{{}, true};
    for (auto& [key, changes] : all_) {
      auto one = changes->wait(at_most / static_cast<Duration::rep>(all_.size()), stop);
      if (!one) return one;
      if (!one->keys.empty()) seen.keys.push_back(key);
      seen.everything = seen.everything || one->everything;
      if (!seen.keys.empty()) return seen;
    }
    return seen;
  }

 private:
  std::map<Key, std::unique_ptr<Changes>> all_;
};

}  // namespace

ManyReceivers::ManyReceivers(std::shared_ptr<KnownKeys> known, Open open)
    : known_(std::move(known)), open_(std::move(open)) {
  traits_ = open_(inner())->traits();
  traits_.only_key.reset();
}

Engine& ManyReceivers::of(const Key& key) {
  {
    const std::lock_guard lock(known_->mutex);
    known_->keys.insert(key);
  }
  const std::lock_guard lock(mutex_);
  auto& engine = engines_[key];
  if (!engine) engine = open_(key);
  return *engine;
}

template <class Value>
Result<Value> ManyReceivers::told(const Key& key, Result<Value> result) const {
  if (result) rename(key, *result);
  if (!result && result.error().holder != nullptr) {
    auto seen = std::make_shared<Observation>(*result.error().holder);
    seen->key = key;
    result.error().holder = std::move(seen);
  }
  return result;
}

Result<Grant> ManyReceivers::try_claim(const ClaimRequest& request) {
  return told(request.key, of(request.key).try_claim(inner(request)));
}
Result<Grant> ManyReceivers::await(const ClaimRequest& request, const Wait& wait) {
  Wait renamed = wait;
  if (wait.on_wait) {
    renamed.on_wait = [&](const Observation& seen) {
      Observation told = seen;
      told.key = request.key;
      wait.on_wait(told);
    };
  }
  return told(request.key, of(request.key).await(inner(request), renamed));
}
Result<Renewal> ManyReceivers::beat(const ClaimRef& claim) {
  return told(claim.key, of(claim.key).beat(inner(claim)));
}
Result<Renewal> ManyReceivers::renew(const ClaimRef& claim) {
  return told(claim.key, of(claim.key).renew(inner(claim)));
}
Result<Standing> ManyReceivers::verify(const ClaimRef& claim) {
  return told(claim.key, of(claim.key).verify(inner(claim)));
}
Result<Released> ManyReceivers::release(const ClaimRef& claim) {
  return told(claim.key, of(claim.key).release(inner(claim)));
}
Result<Revoked> ManyReceivers::revoke(const RevokeRequest& request) {
  RevokeRequest renamed = request;
  renamed.key = inner();
  return told(request.key, of(request.key).revoke(renamed));
}
Result<void> ManyReceivers::guard(const GuardRequest& request, const Guarded& operation) {
  GuardRequest renamed = request;
  renamed.key = inner();
  auto done = of(request.key).guard(renamed, operation);
  if (done) return done;
  // As an engine with many keys would say it.
  std::string& message = done.error().message;
  const auto at = message.find(kReceiverKey);
  if (at != std::string::npos) message.replace(at, std::string_view(kReceiverKey).size(), request.key.text());
  return done;
}
Result<Observation> ManyReceivers::holder(const Key& key) {
  return told(key, of(key).holder(inner()));
}

Result<std::vector<Observation>> ManyReceivers::list(const std::string& prefix) {
  std::set<Key> keys;
  {
    const std::lock_guard lock(known_->mutex);
    keys = known_->keys;
  }
  std::vector<Observation> all;
  for (const Key& key : keys) {
    if (!key.text().starts_with(prefix)) continue;
    auto seen = of(key).list("");
    if (!seen) return seen;
    for (Observation& each : *seen) {
      each.key = key;
      all.push_back(std::move(each));
    }
  }
  return all;
}

Result<std::unique_ptr<Changes>> ManyReceivers::changes() {
  std::set<Key> keys;
  {
    const std::lock_guard lock(known_->mutex);
    keys = known_->keys;
  }
  std::map<Key, std::unique_ptr<Changes>> all;
  for (const Key& key : keys) {
    auto changes = of(key).changes();
    if (!changes) return changes;
    all.emplace(key, std::move(*changes));
  }
  return std::make_unique<EachInTurn>(std::move(all));
}

}  // namespace tenure::conformance
