// Plain text for a terminal of 80 columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::cli {

inline constexpr std::size_t kColumns = 80;

// How many columns of a terminal it takes.
std::size_t width_of(std::string_view text);

// Lines of at most `columns`, broken at blanks where there are some, else within the word. Never empty.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

// `text` wrapped to 80 columns; each line ends in a newline.
std::string wrapped(std::string_view text);
// `text` wrapped to 80 columns: the first line after `first`, the others after as many blanks; each ends in a newline.
std::string hanging(std::string_view first, std::string_view text);

// At most `columns`; what was cut is marked by "…".
std::string shorten(std::string_view text, std::size_t columns);
// The same, followed by blanks up to `columns`.
std::string cell(std::string_view text, std::size_t columns);

// As one word of a POSIX shell, bare where it needs no quotes.
std::string shell_word(std::string_view text);

}  // namespace tenure::cli
