#include "fakes/fake_table.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tenure::fakes {

namespace {

constexpr std::size_t kReserved = std::size_t{256} << 20U;

std::byte* map_file(int file, std::size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (mapped == MAP_FAILED) return nullptr;
  ::madvise(mapped, bytes, MADV_DONTFORK);
  return static_cast<std::byte*>(mapped);
}

std::unexpected<Error> failed(const char* what) {
  return fail(Code::no_space, std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

Result<std::shared_ptr<FakeTable>> FakeTable::create(FileIdentity identity, std::size_t allocated, Mappings mappings) {
  const int file = ::memfd_create("fake-table", MFD_CLOEXEC);
  if (file < 0) return failed("memfd_create");
  std::shared_ptr<FakeTable> table(new FakeTable(identity, mappings, file));
  if (auto done = table->allocate(allocated); !done) return fail(done.error());
  table->data_ = map_file(file, kReserved);
  if (table->data_ == nullptr) return failed("mmap");
  return table;
}

FakeTable::~FakeTable() {
  if (data_ != nullptr) ::munmap(data_, kReserved);
  ::close(file_);
}

std::size_t FakeTable::allocated() const {
  std::lock_guard lock(mutex_);
  return allocated_;
}

Result<void> FakeTable::allocate(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes <= allocated_) return {};
  if (bytes > kReserved || ::ftruncate(file_, static_cast<off_t>(bytes)) != 0) return failed("ftruncate");
  allocated_ = bytes;
  return {};
}

Result<std::shared_ptr<FakeMapping>> FakeTable::map(std::size_t bytes) {
  if (bytes > kReserved) return fail(Code::limit_reached, "no more than 256 MiB of a fake table can be mapped");
  const bool own = mappings_ == Mappings::each_its_own;
  std::byte* data = own ? map_file(file_, bytes) : data_;
  if (data == nullptr) return failed("mmap");
  return std::make_shared<FakeMapping>(shared_from_this(), file_, data, bytes, own);
}

FakeMapping::FakeMapping(std::shared_ptr<FakeTable> table, int file, std::byte* data, std::size_t size, bool own)
    : table_(std::move(table)), file_(file), data_(data), size_(size), own_(own), born_in_(::getpid()) {}

FakeMapping::~FakeMapping() {
  if (own_ && ::getpid() == born_in_) ::munmap(data_, size_);
}

env::Word* FakeMapping::seen_by_all(const env::Word* word) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  const auto at = reinterpret_cast<std::uintptr_t>(word);
  if (at < begin || at - begin >= size_) return nullptr;
  return reinterpret_cast<env::Word*>(table_->data() + (at - begin));
}

// In one step for its threads: each of their accesses comes wholly before or wholly after.
void FakeMapping::cut_off() {
  if (!own_) return;
  // Not through the C library: a sanitizer would take it for a write by this thread to all of the mapping.
  ::syscall(SYS_mmap, data_, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file_, 0L);
  ::madvise(data_, size_, MADV_DONTFORK);
}

}  // namespace tenure::fakes
