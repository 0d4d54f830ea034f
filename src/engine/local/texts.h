// Texts: the words of a slot, a node or a member (labels, reason, further proofs), as a list of
// fields: tag, length (two bytes, low first), bytes. Bounded by what a request may hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::local {

enum class Tag : std::uint8_t {
  owner = 1,
  part,
  reason,
  channel,
  version,
  session,
  command,
  directory,
  host,
  user_name,
  owner_process,  // 20 bytes: pid (4), start ticks (8), pid namespace (8); same boot as the table
  owner_times,    // its time namespace (8) and user (4)
  passed_byte,    // 8: the byte of `lock` that a child was given
  ticket,
  yielding,       // 16, of a slot or holding, at the very beginning: see yielding.h
  offer,          // see yielding.h
  ask,            // any number of them
  control_group,  // the id of the top (8), its own (8), its path from there
};

// Appends one field; an empty one is left out.
void add_field(std::string& text, Tag tag, std::string_view value);
std::string number_bytes(std::uint64_t value, std::size_t bytes);

// Calls `visit` with the tag and the bytes of each field, in their order.
template <class Visit>
void each_field(std::string_view text, Visit visit) {
  while (text.size() >= 3) {
    const auto length = static_cast<std::size_t>(static_cast<std::uint8_t>(text[1])) |
                        static_cast<std::size_t>(static_cast<std::uint8_t>(text[2])) << 8;
    if (text.size() - 3 < length) return;
    visit(static_cast<Tag>(text[0]), text.substr(3, length));
    text.remove_prefix(3 + length);
  }
}
// nullopt: not there. Damaged text has no fields after the damage.
std::optional<std::string_view> field(std::string_view text, Tag tag);
std::string field_or(std::string_view text, Tag tag, std::string_view otherwise = {});
std::uint64_t number_in(std::string_view bytes, std::size_t offset, std::size_t count);

}  // namespace tenure::local
