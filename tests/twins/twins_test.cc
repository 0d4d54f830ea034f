// Two copies of the library in one process are two members: they exclude each other, hand a key over, and end apart.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <future>
#include <string>

namespace tenure {
namespace {

constexpr int kPatienceMs = 20'000;

class Twin {
 public:
  Twin(const char* file, const std::string& url) : library_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
    if (library_ != nullptr) space_ = call<void*(const char*)>("twin_open")(url.c_str());
    EXPECT_NE(space_, nullptr);
  }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;
  ~Twin() {
    if (space_ != nullptr) call<void(void*)>("twin_close")(space_);
    if (library_ != nullptr) dlclose(library_);
  }

  int claim(const char* key, int wait_ms = 0) {
    return call<int(void*, const char*, int)>("twin_claim")(space_, key, wait_ms);
  }
  bool verify() { return call<bool(void*)>("twin_verify")(space_); }
  bool release() { return call<bool(void*)>("twin_release")(space_); }

 private:
  template <class Function>
  Function* call(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  void* library_;
  void* space_ = nullptr;
};

class Twins : public testing::TestWithParam<const char*> {
 protected:
  Twins() {
    std::string pattern = std::filesystem::temp_directory_path() / "tenure-twins-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    url_ = std::string(GetParam()) + ":" + folder_ + "/space";
  }
  ~Twins() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string folder_, url_;
};

TEST_P(Twins, ExcludeEachOtherAndHandOver) {
  Twin first(FIRST_TWIN, url_);
  Twin second(SECOND_TWIN, url_);
  ASSERT_EQ(first.claim("k"), 0);
  EXPECT_EQ(second.claim("k"), 1);
  EXPECT_TRUE(first.verify());
  auto waiting = std::async(std::launch::async, [&] { return second.claim("k", kPatienceMs); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  EXPECT_TRUE(first.release());
  EXPECT_EQ(waiting.get(), 0);
  EXPECT_FALSE(first.verify());
  EXPECT_TRUE(second.verify());
  EXPECT_EQ(first.claim("k"), 1);
}

TEST_P(Twins, EndApart) {
  Twin second(SECOND_TWIN, url_);
  {
    Twin first(FIRST_TWIN, url_);
    ASSERT_EQ(second.claim("mine"), 0);
    ASSERT_EQ(first.claim("its"), 0);
  }
  EXPECT_TRUE(second.verify()) << "the other's end took it";
  EXPECT_TRUE(second.release());
  EXPECT_EQ(second.claim("its", kPatienceMs), 0);
}

INSTANTIATE_TEST_SUITE_P(engines, Twins, testing::Values("local", "files"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace tenure
