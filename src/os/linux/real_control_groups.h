// Control groups as this kernel shows them below the mount of their hierarchy.
#pragma once

#include "env/control_groups.h"

namespace tenure::os {

class RealControlGroups final : public env::ControlGroups {
 public:
  Result<env::GroupIdentity> identify(const std::string& folder) const override;
  env::GroupSight look(const env::GroupIdentity& group) const override;
};

}  // namespace tenure::os
