// For the tests of a local space's folder: words that parent and children share, and the folder itself.
#pragma once

#include <sys/mman.h>

#include "os/linux/local_folder.h"
#include "os/linux/scratch_test.h"

namespace tenure::os {

// The thread sanitizer stands in the way of some calls: it makes a fork of a vfork, and waits for threads that it saw
// begin.
#ifdef __SANITIZE_THREAD__
#define TENURE_NOT_UNDER_TSAN(what) GTEST_SKIP() << "NOT TESTED: the thread sanitizer does not bear " what
#else
#define TENURE_NOT_UNDER_TSAN(what) static_assert(true)
#endif

inline constexpr Duration kPatience = std::chrono::milliseconds{kPatienceMs};

// Words of memory that is shared with children forked later. They stay usable when all descriptors are closed.
class SharedWords {
 public:
  SharedWords()
      : words_(
            static_cast<env::Word*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
  }
  SharedWords(const SharedWords&) = delete;
  SharedWords& operator=(const SharedWords&) = delete;
  ~SharedWords() { munmap(words_, kBytes); }

  env::Word& operator[](std::size_t index) const { return words_[index]; }
  void set(std::size_t index, std::uint32_t value = 1) const {
    words_[index].store(value);
    RealWords().wake(words_[index], 1000);
  }
  // Waits until it is no longer 0; false after the bound.
  bool seen(std::size_t index) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    const env::Watched watched{&words_[index], 0};
    while (words_[index].load() == 0) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= Duration::zero()) return false;
      RealWords().wait({&watched, 1}, left);
    }
    return true;
  }

 private:
  static constexpr std::size_t kBytes = 4096;
  env::Word* words_;
};

inline std::unique_ptr<RealLocalFolder> open_local(const std::string& path, FolderChecks checks = {}) {
  auto opened = RealLocalFolder::open(path, false, checks, true);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return opened ? std::move(*opened) : nullptr;
}

// Open, and in.
inline std::unique_ptr<RealLocalFolder> enter_local(const std::string& path) {
  auto folder = open_local(path);
  const auto entered = folder ? folder->enter(kPatience) : Result<void>(fail(Code::internal, "not open"));
  EXPECT_TRUE(entered) << (entered ? "" : entered.error().message);
  return entered ? std::move(folder) : nullptr;
}

inline constexpr std::size_t kTableBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMappedBytes = std::size_t{16} * 1024 * 1024;

// Makes a table of zeros; alone in the folder.
inline std::unique_ptr<env::SharedMemory> make_local_table(RealLocalFolder& folder) {
  EXPECT_TRUE(folder.enter_alone().value_or(false));
  auto table = folder.make_table(kTableBytes, kMappedBytes, [](std::byte*) {});
  EXPECT_TRUE(table) << (table ? "" : table.error().message);
  EXPECT_TRUE(folder.let_others_in());
  return table ? std::move(*table) : nullptr;
}

inline std::unique_ptr<env::SharedMemory> map_local_table(RealLocalFolder& folder) {
  auto table = folder.map_table(kTableBytes, kMappedBytes);
  EXPECT_TRUE(table && *table) << (table ? "" : table.error().message);
  return table ? std::move(*table) : nullptr;
}

inline env::Word& word_of(env::SharedMemory& table, std::size_t index) {
  return *reinterpret_cast<env::Word*>(table.data() + index * sizeof(env::Word));
}

// How many descriptors of the calling thread lead to the path; all of them are counted in `all`.
struct DescriptorCount {
  int there = 0;
  int all = 0;
};
inline DescriptorCount descriptors_of(pid_t thread, const std::string& path) {
  DescriptorCount count;
  std::error_code error;
  const std::string folder = "/proc/self/task/" + std::to_string(thread) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (error) continue;
    ++count.all;
    if (target == path) ++count.there;
  }
  return count;
}

// Copies of /dev/null under the lowest free numbers, as a host opens files after closefrom(3).
class Decoys {
 public:
  Decoys() {
    for (int& decoy : decoys_) decoy = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  }
  bool untouched() const {
    for (const int decoy : decoys_) {
      struct stat status{};
      if (decoy < 0 || fstat(decoy, &status) != 0 || !S_ISCHR(status.st_mode)) return false;
    }
    return true;
  }

 private:
  int decoys_[32];
};

}  // namespace tenure::os
