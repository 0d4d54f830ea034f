// The URL of a space, taken apart. Syntax only: nothing is opened and nobody is asked.
//
//   memory:
//   files:DIR[?expiry=age|proof][&owner=any][&group=yes]
//
// DIR is percent-decoded; a literal '?', '#', '%' or control character in it is written %XX. At most 2,048 bytes.
#pragma once

#include <string>
#include <string_view>

#include "rules/ownership.h"
#include "tenure/error.h"

namespace tenure::compose {

struct SpaceUrl {
  enum class Kind : std::uint8_t { memory, files };
  Kind kind = Kind::memory;
  std::string folder;  // of files: as written; absolute or relative
  rules::Expiry expiry = rules::Expiry::proof;
  bool any_owner = false;  // owner=any: a folder of another user is accepted
  bool group_ok = false;   // group=yes: a folder that its group may write to is accepted

  friend bool operator==(const SpaceUrl&, const SpaceUrl&) = default;
};

// Code::bad_url; Code::unsupported for the engines that the design names and this build does not have.
Result<SpaceUrl> parse_space_url(std::string_view text);
// The same space; parse_space_url gives it back.
std::string text_of(const SpaceUrl& url);

}  // namespace tenure::compose
