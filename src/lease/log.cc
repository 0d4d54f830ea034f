#include "lease/space_state.h"
#include "tenure/space.h"

namespace tenure {

Result<std::vector<Event>> Space::log(const std::string& key) const {
  return state_->engine().log(key);
}

}  // namespace tenure
