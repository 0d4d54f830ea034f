// Sharing: may one more hold a key beside those who hold it already? Readers stand beside readers; holders of a key of
// N slots beside others of the same N, up to that number. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tenure/terms.h"

namespace tenure::rules {

// Whether two leases of one key can stand side by side, their number aside.
bool coexist(const Terms& one, const Terms& other);
// Not alone: a reader, or in one of several slots.
bool together(const Terms& terms);

enum class Room : std::uint8_t {
  beside,        // may hold it now, beside those who do
  taken,         // once some of them are gone
  other_number,  // they hold it as another number of slots: a mistake of one side, which waiting does not mend
};
// `theirs`: the terms of one of the `holders` (all of them coexist); with none of them there is room for everybody.
Room room_beside(const Terms& theirs, std::size_t holders, const Terms& wanted);

// "3 readers have it", "all 4 slots are taken", "1 of 4 slots is taken": for people.
std::string words_of_holders(const Terms& theirs, std::size_t holders);

}  // namespace tenure::rules
