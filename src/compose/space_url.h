// The URL of a space, taken apart. Syntax only: nothing is opened and nobody is asked.
//
//   memory:
//   local:[NAME][?…]   system:[NAME][?…]   local:/DIR[?…]     options: volatile, owner=any, group=yes
//   files:DIR[?…]                                             options: expiry=age, expiry=proof, owner=any, group=yes
//   receiver:DIR[?…]                                          options: root=ID, namespaces=one, owner=any, group=yes
//
// DIR is percent-decoded; a literal '?', '#', '%' or control character in it is written %XX. NAME: 1 to 64 of
// [A-Za-z0-9._-], not beginning with a dot; "default" when it is left out. ID: 1 to 256 bytes of text, percent-encoded
// like DIR. At most 2,048 bytes.
#pragma once

#include <string>
#include <string_view>

#include "rules/ownership.h"
#include "tenure/error.h"

namespace tenure::compose {

struct SpaceUrl {
  enum class Kind : std::uint8_t { memory, files, local, receiver };
  Kind kind = Kind::memory;
  std::string folder;   // of files: and receiver: as written, absolute or relative; of local:/DIR, absolute; else empty
  std::string name;     // of local:NAME and system:NAME
  bool system = false;  // a space of several users, in the machine's folder
  rules::Expiry expiry = rules::Expiry::proof;
  std::string root;            // of receiver: the root id; empty: a digest of the folder's path
  bool one_namespace = false;  // namespaces=one, of receiver: all who use it are in our pid namespace
  bool any_owner = false;      // owner=any: a folder of another user is accepted
  bool group_ok = false;       // group=yes, and every system: space: a folder that its group may write to is accepted
  bool volatile_ok = false;    // volatile: a file system that a reboot empties is accepted

  friend bool operator==(const SpaceUrl&, const SpaceUrl&) = default;
};

inline constexpr char kDefaultName[] = "default";
bool is_space_name(std::string_view name);

// Code::bad_url; Code::unsupported for the engines that the design names and this build does not have.
Result<SpaceUrl> parse_space_url(std::string_view text);
// The same space; parse_space_url gives it back.
std::string text_of(const SpaceUrl& url);

}  // namespace tenure::compose
