// FakeTable: the memory of a `table`, and how fake processes map it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include "env/local_folder.h"

namespace tenure::fakes {

enum class Mappings : std::uint8_t {
  // Each process maps the table at an address of its own, as real ones do. When it is killed, its mapping becomes a
  // private copy: its threads, which run on in the test program, change nothing more that others see.
  each_its_own,
  // All share one mapping, so that ThreadSanitizer sees the members' accesses meet. The threads of a killed process can
  // still write: here a test sees to it that a process has no call under way when it is killed.
  one_for_all,
};
#ifdef __SANITIZE_THREAD__
inline constexpr Mappings kUsualMappings = Mappings::one_for_all;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr Mappings kUsualMappings = Mappings::one_for_all;
#else
inline constexpr Mappings kUsualMappings = Mappings::each_its_own;
#endif
#else
inline constexpr Mappings kUsualMappings = Mappings::each_its_own;
#endif

class FakeMapping;

// One file: memory without a name. What is not allocated costs nothing, and touching it ends in SIGBUS, as it does on a
// disk. Thread-safe.
class FakeTable : public std::enable_shared_from_this<FakeTable> {
 public:
  static Result<std::shared_ptr<FakeTable>> create(FileIdentity identity, std::size_t allocated, Mappings mappings);
  ~FakeTable();
  FakeTable(const FakeTable&) = delete;
  FakeTable& operator=(const FakeTable&) = delete;

  FileIdentity identity() const { return identity_; }
  std::size_t allocated() const;
  Result<void> allocate(std::size_t bytes);
  // As the test sees it, whoever maps it besides.
  std::byte* data() const { return data_; }
  // Code::limit_reached beyond what one_for_all has reserved.
  Result<std::shared_ptr<FakeMapping>> map(std::size_t bytes);

 private:
  FakeTable(FileIdentity identity, Mappings mappings, int file)
      : identity_(identity), mappings_(mappings), file_(file) {}

  const FileIdentity identity_;
  const Mappings mappings_;
  const int file_;
  std::byte* data_ = nullptr;
  mutable std::mutex mutex_;
  std::size_t allocated_ = 0;
};

// Of one process.
class FakeMapping {
 public:
  FakeMapping(std::shared_ptr<FakeTable> table, int file, std::byte* data, std::size_t size, bool own);
  ~FakeMapping();
  FakeMapping(const FakeMapping&) = delete;
  FakeMapping& operator=(const FakeMapping&) = delete;

  FakeTable& table() const { return *table_; }
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  // The same word where the test, and so everybody, sees it; nullptr: it does not lie in this mapping.
  env::Word* seen_by_all(const env::Word* word) const;
  // Its process is dead. Nothing where all share one mapping.
  void cut_off();

 private:
  std::shared_ptr<FakeTable> table_;
  const int file_;
  std::byte* const data_;
  const std::size_t size_;
  const bool own_;
  const int born_in_;  // pid: a forked child has no such mapping and must not unmap what came to lie there
};

}  // namespace tenure::fakes
