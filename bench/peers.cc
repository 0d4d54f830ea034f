#include "peers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <thread>

#include "must.h"

namespace tenure::bench {
namespace {

constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW;

base::Descriptor open_or_create(const std::string& path) {
  return base::Descriptor(must(::open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0600), path.c_str()));
}

// Waits for as long as the file is there.
base::Descriptor create_exclusive(const std::string& path) {
  for (;;) {
    base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | kFlags, 0600));
    if (file) return file;
    if (errno != EEXIST) stop_here("cannot create " + path);
    std::this_thread::sleep_for(kPollInterval);
  }
}

void lock(int file) {
  while (::flock(file, LOCK_EX) != 0) {
    if (errno != EINTR) stop_here("flock");
  }
}

void write_all(int file, const std::string& bytes) {
  if (::pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) stop_here("short write");
}

// Empty when there is no such file.
std::string read_all(const std::string& path) {
  base::Descriptor file(::open(path.c_str(), O_RDONLY | kFlags));
  if (!file) {
    if (errno != ENOENT) stop_here("cannot read " + path);
    return {};
  }
  std::array<char, 4096> bytes{};
  const auto size = must(::pread(file.get(), bytes.data(), bytes.size(), 0), "read");
  return std::string(bytes.data(), static_cast<std::size_t>(size));
}

std::string record() {
  return std::string(kRecordBytes, 'r');
}

}  // namespace

Flock::Flock(const std::string& folder) : file_(open_or_create(folder + "/open.lock")) {}

void Flock::take() {
  lock(file_.get());
}
void Flock::give() {
  must(::flock(file_.get(), LOCK_UN), "unlock");
}

void FlockOpenClose::take() {
  file_ = open_or_create(path_);
  lock(file_.get());
}
void FlockOpenClose::give() {
  file_.reset();
}

void ExclusiveFile::take() {
  (void)create_exclusive(path_);
}
void ExclusiveFile::give() {
  must(::unlink(path_.c_str()), "unlink");
}

ClaimWrites::ClaimWrites(const std::string& folder, const std::string& stem)
    : directory_(must(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder.c_str())),
      note_(open_or_create(folder + "/" + stem + ".note")),
      counter_(open_or_create(folder + "/" + stem + ".counter")) {}

void ClaimWrites::write(int new_file) const {
  write_all(note_.get(), std::string(30, 'n'));
  must(::fdatasync(note_.get()), "fdatasync");
  write_all(counter_.get(), "1234\n");
  must(::fdatasync(counter_.get()), "fdatasync");
  write_all(new_file, record());
  must(::fdatasync(new_file), "fdatasync");
  must(::fsync(directory_.get()), "fsync");
}

SyncedFlock::SyncedFlock(const std::string& folder)
    : path_(folder + "/synced-flock"), lock_(open_or_create(path_ + ".lock")), writes_(folder, "synced-flock") {}

void SyncedFlock::take() {
  lock(lock_.get());
  (void)::unlink(path_.c_str());  // of a holder that was killed
  writes_.write(create_exclusive(path_).get());
}
void SyncedFlock::give() {
  must(::unlink(path_.c_str()), "unlink");
  must(::flock(lock_.get(), LOCK_UN), "unlock");
}

SyncedExclusiveFile::SyncedExclusiveFile(const std::string& folder)
    : path_(folder + "/synced-file"), writes_(folder, "synced-file") {}

void SyncedExclusiveFile::take() {
  writes_.write(create_exclusive(path_).get());
}
void SyncedExclusiveFile::give() {
  must(::unlink(path_.c_str()), "unlink");
}

base::Descriptor AgentMux::lock() const {
  base::Descriptor file = open_or_create(stem_ + ".lock");
  bench::lock(file.get());
  return file;
}

std::string AgentMux::lease() const {
  return read_all(stem_ + ".lease.json");
}

void AgentMux::write_atomically(const std::string& path, const std::string& bytes) const {
  const std::string temporary = path + ".tmp";
  base::Descriptor file(must(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | kFlags, 0600), "temporary"));
  write_all(file.get(), bytes);
  must(::fsync(file.get()), "fsync");
  must(::rename(temporary.c_str(), path.c_str()), "rename");
}

bool AgentMux::take_once() {
  const base::Descriptor section = lock();
  if (!lease().empty()) return false;
  const long epoch = std::atol(read_all(stem_ + ".epoch").c_str());
  write_atomically(stem_ + ".epoch", std::to_string(epoch + 1) + "\n");
  write_atomically(stem_ + ".lease.json", record());
  return true;
}

void AgentMux::take() {
  while (!take_once()) std::this_thread::sleep_for(kPollInterval);
}
void AgentMux::give() {
  const base::Descriptor section = lock();
  if (lease().empty()) stop_here("the lease is gone");
  must(::unlink((stem_ + ".lease.json").c_str()), "unlink");
}
void AgentMux::verify() {
  const base::Descriptor section = lock();
  if (lease().empty()) stop_here("the lease is gone");
}
void AgentMux::renew() {
  const base::Descriptor section = lock();
  if (lease().empty()) stop_here("the lease is gone");
  write_atomically(stem_ + ".lease.json", record());
}

SmallFile::SmallFile(const std::string& folder) : path_(folder + "/small"), file_(open_or_create(path_)) {
  rewrite();
}
void SmallFile::read() {
  if (read_all(path_).size() != kRecordBytes) stop_here("short read");
}
void SmallFile::rewrite() {
  write_all(file_.get(), record());
}

}  // namespace tenure::bench
