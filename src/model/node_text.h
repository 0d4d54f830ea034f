// What Node.js makes of bytes and paths. pi-amq compares text that Node gave it: a record of ours that names the same
// thing must do so in the very same characters.
#pragma once

#include <string>
#include <string_view>

namespace tenure {

// Bytes as Node's "utf8" gives them: each longest beginning of a character that does not go on, and each byte that
// begins none, becomes one U+FFFD. Valid text stays as it is.
std::string node_text(std::string_view bytes);

// The path as path.normalize() gives it: no '.', no '..', no doubled '/', without a look at the disk. A '/' at the end
// stays. For absolute paths only.
std::string node_normalized(std::string_view absolute);

}  // namespace tenure
