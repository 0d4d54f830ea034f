// Files of the source tree, for tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace tenure {

inline std::string model_path(const std::string& name) {
  return std::string(TENURE_SOURCE_DIR) + "/tests/model/" + name;
}

inline std::string golden(const std::string& name) {
  std::ifstream file(model_path("golden/" + name), std::ios::binary);
  EXPECT_TRUE(file) << "no golden file " << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tenure
