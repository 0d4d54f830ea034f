// ManyReceivers: an engine whose every key is a namespace of its own, so that the suite, which has many keys, is run
// over the receiver engine, which has one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/engine.h"

namespace tenure::conformance {

// The keys that were ever used, by whichever process: for listing.
struct KnownKeys {
  std::mutex mutex;
  std::set<Key> keys;
};

class ManyReceivers final : public Engine {
 public:
  using Open = std::function<std::shared_ptr<Engine>(const Key& key)>;
  ManyReceivers(std::shared_ptr<KnownKeys> known, Open open);

  const Traits& traits() const override { return traits_; }
  std::string location() const override { return "/fake/space"; }
  Result<Grant> try_claim(const ClaimRequest& request) override;
  Result<Grant> await(const ClaimRequest& request, const Wait& wait) override;
  Result<Renewal> beat(const ClaimRef& claim) override;
  Result<Renewal> renew(const ClaimRef& claim) override;
  Result<Standing> verify(const ClaimRef& claim) override;
  Result<Released> release(const ClaimRef& claim) override;
  Result<Revoked> revoke(const RevokeRequest& request) override;
  Result<void> guard(const GuardRequest& request, const Guarded& operation) override;
  Result<Observation> holder(const Key& key) override;
  Result<std::vector<Observation>> list(const std::string& prefix) override;
  Result<std::unique_ptr<Changes>> changes() override;

 private:
  Engine& of(const Key& key);
  template <class Value>
  Result<Value> told(const Key& key, Result<Value> result) const;

  const std::shared_ptr<KnownKeys> known_;
  const Open open_;
  Traits traits_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Engine>> engines_;
};

}  // namespace tenure::conformance
