// How many columns of a terminal a character takes: 0 for marks that are put upon the one before, 2 for the wide ones
// of East Asia and for most pictures, else 1. Of characters that can be shown: see escape_controls().
#pragma once

#include <cstddef>

namespace tenure::cli {

std::size_t columns_of(char32_t code);

}  // namespace tenure::cli
