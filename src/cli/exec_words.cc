#include "cli/exec_words.h"

#include <unistd.h>

#include <string_view>

namespace tenure::cli {

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each) {
    bool replaced = false;
    for (const auto& [name, value] : variables) replaced |= std::string_view(*each).starts_with(name + "=");
    if (!replaced) out.emplace_back(*each);
  }
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& each : strings) out.push_back(each.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace tenure::cli
