// Words and variables in the shape that exec wants.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenure::cli {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Our environment, with these in it in place of those of the same names.
std::vector<std::string> environment_with(const Variables& variables);
// With a nullptr at the end; valid as long as the strings are.
std::vector<char*> pointers_to(std::vector<std::string>& strings);

}  // namespace tenure::cli
