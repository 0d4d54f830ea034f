// What a Space and its leases share.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"
#include "env/environment.h"
#include "lease/keeper.h"
#include "lease/lease_pool.h"
#include "tenure/space.h"

namespace tenure::detail {

class SpaceState : public std::enable_shared_from_this<SpaceState> {
 public:
  SpaceState(std::shared_ptr<Engine> engine, env::Environment environment, std::string url)
      : engine_(std::move(engine)),
        environment_(std::move(environment)),
        url_(std::move(url)),
        short_way_(engine_->short_way()),
        pooled_(engine_->traits().pushes_loss),
        keeper_(engine_, environment_.clock) {
    if (pooled_) {
      // The engine calls from a thread that ends before it does.
      engine_->on_disturbance([pool = pool_, raw = engine_.get()] { pool->look(*raw); });
    }
  }
  ~SpaceState() {
    if (pooled_) engine_->on_disturbance(nullptr);
  }

  Engine& engine() { return *engine_; }
  const env::Environment& environment() const { return environment_; }
  const std::string& url() const { return url_; }
  Keeper& keeper() { return keeper_; }
  LeasePool& pool() { return *pool_; }
  // Whether the objects of its leases come from the pool: where no keeper has them too.
  bool pooled() const { return pooled_; }
  // nullptr: the engine has none.
  ShortWay* short_way() const { return short_way_; }

 private:
  const std::shared_ptr<LeasePool> pool_ = std::make_shared<LeasePool>();
  const std::shared_ptr<Engine> engine_;
  const env::Environment environment_;
  const std::string url_;
  ShortWay* const short_way_;
  const bool pooled_;
  Keeper keeper_;
};

// What the copies of a Space share: with the last of them nobody claims any more, and idle objects let go.
class SpaceHandle {
 public:
  explicit SpaceHandle(std::shared_ptr<SpaceState> state) : state_(std::move(state)) {}
  SpaceHandle(const SpaceHandle&) = delete;
  SpaceHandle& operator=(const SpaceHandle&) = delete;
  ~SpaceHandle() {
    if (mark_.same()) state_->pool().close();
  }
  SpaceState* state() const { return state_.get(); }

 private:
  const base::ProcessMark mark_;
  const std::shared_ptr<SpaceState> state_;
};

}  // namespace tenure::detail
