#include "engine/receiver/receiver_engine.h"

#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/receiver/store.h"
#include "engine/receiver/wait.h"

namespace tenure {
namespace {

Traits receiver_traits() {
  Traits traits;
  traits.name = "receiver";
  traits.durable_epochs = true;
  traits.between_processes = true;
  traits.life_descriptor = true;
  traits.session_files = true;
  traits.only_key = kReceiverKey;
  traits.guard_for = std::chrono::milliseconds(900);
  traits.guard_courtesy = receiver::kGuardWait;
  traits.exclusion =
      "strict among processes that keep to its guard; pi-amq of the same folder may displace a holder whose program "
      "was replaced, or whom it does not see";
  return traits;
}

class ReceiverEngine final : public Engine {
 public:
  ReceiverEngine(std::shared_ptr<env::Directory> folder, env::Environment environment, ReceiverOptions options)
      : store_(std::move(folder), std::move(environment), std::move(options), receiver_traits()) {}

  const Traits& traits() const override { return store_.traits(); }
  std::string location() const override { return store_.core().root->path(); }

  Result<Grant> try_claim(const ClaimRequest& request) override {
    if (auto checked = check_request(request, traits()); !checked) return fail(checked.error());
    return store_.claim(request, nullptr, receiver::kGuardWait);
  }
  Result<Grant> await(const ClaimRequest& request, const Wait& wait) override {
    if (auto checked = check_request(request, traits()); !checked) return fail(checked.error());
    // Before it waits: it might find the lease held, and wait for itself.
    if (auto change = store_.check_change(request.key); !change) return fail(change.error());
    return receiver::await(store_, request, wait);
  }
  Result<Renewal> beat(const ClaimRef& claim) override { return store_.beat(claim); }
  Result<Renewal> renew(const ClaimRef& claim) override {
    if (auto change = store_.check_change(claim.key); !change) return fail(change.error());
    return store_.renew(claim);
  }
  Result<Standing> verify(const ClaimRef& claim) override { return store_.verify(claim); }
  Result<Released> release(const ClaimRef& claim) override { return store_.release(claim); }
  Result<Revoked> revoke(const RevokeRequest& request) override { return store_.revoke(request); }
  Result<void> guard(const GuardRequest& request, const Guarded& operation) override {
    return store_.guard(request, operation);
  }
  Result<Observation> holder(const Key& key) override { return store_.holder(key); }
  Result<std::vector<Observation>> list(const std::string& prefix) override { return store_.list(prefix); }
  Result<std::unique_ptr<Changes>> changes() override { return receiver::watch_receiver(store_); }

 private:
  receiver::Store store_;
};

}  // namespace

std::shared_ptr<Engine> open_receiver(std::shared_ptr<env::Directory> folder, env::Environment environment,
                                      ReceiverOptions options) {
  return std::make_shared<ReceiverEngine>(std::move(folder), std::move(environment), std::move(options));
}

}  // namespace tenure
