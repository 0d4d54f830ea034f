// The port to control groups (version 2), in which the kernel counts processes so that none of them can hide: neither a
// new session, nor a closed descriptor, nor the death of every parent takes a process out of its group.
#pragma once

#include <cstdint>
#include <string>

#include "tenure/error.h"

namespace tenure::env {

// A group, named so that no other can be mistaken for it within one boot.
struct GroupIdentity {
  std::uint64_t root = 0;   // the id of the group at the top of the hierarchy, as who named it saw that
  std::uint64_t group = 0;  // its own; ids are not given out twice
  std::string path;         // from the top, begins with "/"

  friend bool operator==(const GroupIdentity&, const GroupIdentity&) = default;
};

enum class GroupSight : std::uint8_t {
  populated,  // a process lives in it, or in a group below it
  empty,
  gone,
  unseen,  // the hierarchy is not to be seen from here, or cannot be read
};

class ControlGroups {
 public:
  virtual ~ControlGroups() = default;
  // Of the folder of a group. Code::usage: it is none of version 2, or none that we can name; else as of files.
  virtual Result<GroupIdentity> identify(const std::string& folder) const = 0;
  virtual GroupSight look(const GroupIdentity& group) const = 0;
};

}  // namespace tenure::env
