// A folder of the user's own in a place where others may write too, such as /var/tmp.
#pragma once

#include <string>
#include <string_view>

namespace tenure::os {

// True when `folder` is a directory (no link) of the effective user, closed to all others, and holds a regular file
// `name` of the same user.
bool private_file_exists(const std::string& folder, const std::string& name);

// Makes the folder (0700) if it is not there, and the file in it. False when the folder belongs to somebody else, is
// open to others, or the file cannot be written. Never follows a link that somebody else could have put there.
bool make_private_file(const std::string& folder, const std::string& name, std::string_view bytes);

}  // namespace tenure::os
