// What an engine without yielding answers.
#include "engine/engine.h"

namespace tenure {
namespace {

std::unexpected<Error> not_offered_here(const Engine& engine, const std::string& what) {
  return fail(Code::unsupported, "the engine '" + engine.traits().name + "' does not offer " + what,
              "local: and system: spaces do");
}

}  // namespace

Result<Asked> Engine::ask(const AskRequest& /*request*/) {
  return not_offered_here(*this, "to ask a holder");
}
Result<std::vector<Ask>> Engine::asks(const ClaimRef& /*claim*/) {
  return not_offered_here(*this, "to ask a holder");
}
Result<bool> Engine::answer(const ClaimRef& /*claim*/, std::uint64_t /*id*/, Answer /*answer*/,
                            const std::string& /*words*/) {
  return not_offered_here(*this, "to ask a holder");
}
Result<void> Engine::hand_off(const ClaimRef& /*claim*/, const HandOff& /*offer*/) {
  return not_offered_here(*this, "to hand a lease over");
}
Result<bool> Engine::withdraw_hand_off(const ClaimRef& /*claim*/) {
  return not_offered_here(*this, "to hand a lease over");
}
Result<Grant> Engine::adopt(const ClaimRequest& /*request*/) {
  return not_offered_here(*this, "to hand a lease over");
}

}  // namespace tenure
