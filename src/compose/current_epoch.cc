#include "compose/current_epoch.h"

#include "rules/fence.h"

namespace tenure::compose {

Result<void> check_current(const Space& space, const Key& key, Epoch epoch) {
  auto seen = space.holder(key);
  if (!seen) return fail(seen.error());
  return rules::epoch_current(*seen, epoch);
}

}  // namespace tenure::compose
