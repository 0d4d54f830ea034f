// What names a space beside a file that outlives it: the same for every URL that opens it, as far as words can tell.
#pragma once

#include <string>
#include <string_view>

#include "tenure/error.h"

namespace tenure::compose {

struct SpaceIdentity {
  std::string name;  // the URL without options, its folder absolute, without "." and ".." and doubled slashes
  std::string url;   // with its options: opens the space from any working directory
};
// Asks nobody, so it is the same whether the space is there or not. Code::bad_url; Code::unsupported for memory:, whose
// epochs end with the process.
Result<SpaceIdentity> space_identity(std::string_view url);

}  // namespace tenure::compose
