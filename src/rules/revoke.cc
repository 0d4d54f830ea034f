// Whether an operator may take a lease away.
#include "rules/ownership.h"

namespace tenure::rules {
namespace {

bool blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
}

}  // namespace

RevokeVerdict decide_revoke(const Occupant& occupant, Expiry policy, Epoch epoch, bool force, const std::string& reason,
                            std::optional<Epoch> only_epoch) {
  if (occupant.kind == Occupant::Kind::nobody) return {false, Code::not_held, "nobody holds it"};
  if (only_epoch && *only_epoch != epoch) {
    return {false, Code::epoch_changed, "it is held under epoch " + epoch.text() + ", not " + only_epoch->text()};
  }
  const bool damaged = occupant.kind == Occupant::Kind::damaged;
  const ClaimVerdict stranger = decide_for_stranger(policy, occupant);
  if (stranger.granted() && !damaged) return {true, Code::holder_live, stranger.why};

  const Code code = damaged ? Code::damaged : Code::holder_live;
  if (!force) return {false, code, stranger.why + "; taking it away needs force and a reason"};
  if (blank(reason)) return {false, code, stranger.why + "; taking it away by force needs a reason"};
  return {true, code, "by force: " + reason};
}

}  // namespace tenure::rules
