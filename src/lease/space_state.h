// What a Space and its leases share.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"
#include "env/environment.h"
#include "lease/keeper.h"
#include "tenure/space.h"

namespace tenure::detail {

class SpaceState {
 public:
  SpaceState(std::shared_ptr<Engine> engine, env::Environment environment, std::string url)
      : engine_(std::move(engine)),
        environment_(std::move(environment)),
        url_(std::move(url)),
        keeper_(engine_, environment_.clock) {}

  Engine& engine() { return *engine_; }
  const env::Environment& environment() const { return environment_; }
  const std::string& url() const { return url_; }
  Keeper& keeper() { return keeper_; }

 private:
  const std::shared_ptr<Engine> engine_;
  const env::Environment environment_;
  const std::string url_;
  Keeper keeper_;
};

}  // namespace tenure::detail
