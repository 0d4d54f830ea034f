#include "rules/sharing.h"

namespace tenure::rules {

bool together(const Terms& terms) {
  return terms.mode == Mode::shared || terms.slots > 1;
}

bool coexist(const Terms& one, const Terms& other) {
  if (one.mode != other.mode) return false;
  return one.mode == Mode::shared || (one.slots == other.slots && one.slots > 1);
}

Room room_beside(const Terms& theirs, std::size_t holders, const Terms& wanted) {
  if (holders == 0) return Room::beside;
  if (coexist(theirs, wanted)) {
    return wanted.mode == Mode::shared || holders < wanted.slots ? Room::beside : Room::taken;
  }
  const bool both_slots =
      theirs.mode == Mode::exclusive && wanted.mode == Mode::exclusive && theirs.slots > 1 && wanted.slots > 1;
  return both_slots ? Room::other_number : Room::taken;
}

std::string words_of_holders(const Terms& theirs, std::size_t holders) {
  const std::string count = std::to_string(holders);
  if (theirs.mode == Mode::shared) return count + (holders == 1 ? " reader has it" : " readers have it");
  const std::string slots = std::to_string(theirs.slots) + (theirs.slots == 1 ? " slot" : " slots");
  if (holders >= theirs.slots) return "all " + slots + " are taken";
  return count + " of " + slots + (holders == 1 ? " is taken" : " are taken");
}

}  // namespace tenure::rules
