// A space of each engine that a program can open by itself, in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "tenure/space.h"

namespace tenure {

class EachEngine : public testing::TestWithParam<const char*> {
 protected:
  EachEngine() {
    std::string pattern = std::filesystem::temp_directory_path() / "tenure-each-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    const std::string scheme = GetParam();
    auto opened = Space::open(scheme + ":" + (scheme == "memory" ? "" : folder_ + "/space"));
    EXPECT_TRUE(opened) << opened.error().message;
    space_.emplace(std::move(*opened));
  }
  ~EachEngine() override {
    space_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string folder_;
  std::optional<Space> space_;
};

inline auto each_engine() {
  return testing::Values("memory", "files", "local");
}
inline std::string name_of_engine(const testing::TestParamInfo<const char*>& each) {
  return each.param;
}

}  // namespace tenure
