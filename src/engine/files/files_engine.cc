#include "engine/files/files_engine.h"

#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/files/store.h"
#include "engine/files/wait.h"

namespace tenure {
namespace {

Traits files_traits(rules::Expiry expiry) {
  Traits traits;
  traits.name = "files";
  traits.ttl = true;
  traits.durable_epochs = true;
  traits.between_processes = true;
  traits.reclaim_keeps_epoch = true;
  traits.life_descriptor = true;
  traits.heartbeat = rules::kAgentmuxHeartbeat;
  traits.exclusion = expiry == rules::Expiry::proof
                         ? "strict among processes that honour it on one machine, and on shared folders with working "
                           "flock; AgentMux of the same folder may still displace a silent holder"
                         : "AgentMux's own rule: a holder silent for 15 s is displaced, alive or not";
  return traits;
}

class FilesEngine final : public Engine {
 public:
  FilesEngine(std::shared_ptr<env::Directory> directory, env::Environment environment, FilesOptions options)
      : store_(std::move(directory), std::move(environment), options, files_traits(options.expiry)) {}

  const Traits& traits() const override { return store_.traits(); }
  std::string location() const override { return store_.directory().path(); }

  Result<Grant> try_claim(const ClaimRequest& request) override {
    if (auto checked = check_request(request, traits()); !checked) return fail(checked.error());
    return store_.claim(request, nullptr, limits::kSectionWait);
  }
  Result<Grant> await(const ClaimRequest& request, const Wait& wait) override {
    if (auto checked = check_request(request, traits()); !checked) return fail(checked.error());
    // Before it waits: it might find the key held, and wait for itself.
    if (auto change = store_.check_change(request.key); !change) return fail(change.error());
    return files::await(store_, request, wait);
  }
  Result<Renewal> beat(const ClaimRef& claim) override { return store_.beat(claim); }
  Result<Renewal> renew(const ClaimRef& claim) override { return store_.renew(claim); }
  Result<Standing> verify(const ClaimRef& claim) override { return store_.verify(claim); }
  Result<Released> release(const ClaimRef& claim) override { return store_.release(claim); }
  Result<Revoked> revoke(const RevokeRequest& request) override { return store_.revoke(request); }
  Result<void> guard(const GuardRequest& request, const Guarded& operation) override {
    return store_.guard(request, operation);
  }
  Result<Observation> holder(const Key& key) override { return store_.holder(key); }
  Result<std::vector<Observation>> list(const std::string& prefix) override { return store_.list(prefix); }
  Result<std::unique_ptr<Changes>> changes() override { return files::watch_keys(store_); }

 private:
  files::Store store_;
};

}  // namespace

std::shared_ptr<Engine> open_files(std::shared_ptr<env::Directory> directory, env::Environment environment,
                                   FilesOptions options) {
  return std::make_shared<FilesEngine>(std::move(directory), std::move(environment), options);
}

}  // namespace tenure
