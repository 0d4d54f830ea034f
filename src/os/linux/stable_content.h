// Rewriting a file where it lies, and reading one that may be rewritten meanwhile.
//
// The kernel lets a reader see the front of a file new and its end still old, for as long as the writer is off the
// processor in the middle of its write; time stamps do not tell. So a writer marks the file while it writes (an
// open-file-description lock on a byte far behind its end), and a reader believes what two readings agree on when no
// mark stood between them. Nobody ever waits for a reader, and a reader's patience with a mark has a bound.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "os/linux/folder.h"

namespace tenure::os {

// One write of max(length, former length) bytes over the old content, blanks before the final newline. Room for more
// bytes than before is reserved first, so that a full disk leaves the old content whole. Code::unknown_outcome in the
// one case where the kernel wrote a part and then no more.
Result<void> rewrite_in_place(const Folder& folder, const std::string& name, const OpenFile& file,
                              std::string_view bytes, bool durable);

// At most `max_bytes` of the file, read until two readings in a row agree. nullopt: it keeps changing.
// Code::damaged when it is longer.
Result<std::optional<std::string>> read_stable(const Folder& folder, const std::string& name, const OpenFile& file,
                                               std::size_t max_bytes);

}  // namespace tenure::os
