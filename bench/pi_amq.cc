#include "pi_amq.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/descriptor.h"
#include "must.h"

namespace tenure::bench {
namespace {

constexpr std::chrono::milliseconds kGuardPoll{5};
// About the sizes of its records.
constexpr std::size_t kGuardBytes = 320;
constexpr std::size_t kOwnerBytes = 450;

constexpr char kGuard[] = "receiver.lifecycle.guard.json";
constexpr char kLease[] = "receiver.lock";
constexpr char kReclaims[] = "lifecycle-reclaims";

void sync_folder(const std::string& folder) {
  const base::Descriptor opened(must(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder.c_str()));
  must(::fsync(opened.get()), "fsync");
}

// Complete or not at all; false: the name is taken.
bool create(const std::string& folder, const std::string& name, std::size_t size) {
  const std::string path = folder + "/" + name;
  const std::string draft = folder + "/." + name + ".tmp";
  {
    const base::Descriptor file(must(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "draft"));
    const std::string bytes(size, 'r');
    if (::write(file.get(), bytes.data(), size) != static_cast<ssize_t>(size)) stop_here("short write");
    must(::fsync(file.get()), "fsync");
  }
  const bool made = ::link(draft.c_str(), path.c_str()) == 0;
  if (!made && errno != EEXIST) stop_here("cannot link " + path);
  must(::unlink(draft.c_str()), "unlink");
  if (made) sync_folder(folder);
  return made;
}

void read(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> bytes{};
  if (!file || ::read(file.get(), bytes.data(), bytes.size()) <= 0) stop_here("cannot read " + path);
}

}  // namespace

PiAmq::PiAmq(const std::string& folder) : folder_(folder + "/pi-amq") {
  std::filesystem::create_directories(of(kReclaims));
}

void PiAmq::list_intents() const {
  if (!std::filesystem::is_empty(of(kReclaims))) stop_here("somebody reclaims a guard");
}

bool PiAmq::is_there() const {
  struct stat status{};
  return ::stat(of(std::string(kLease) + "/owner.json").c_str(), &status) == 0;
}

void PiAmq::guard_on() {
  for (;;) {
    list_intents();
    if (create(folder_, kGuard, kGuardBytes)) break;
    std::this_thread::sleep_for(kGuardPoll);
  }
  list_intents();
}

void PiAmq::guard_off() {
  read(of(kGuard));
  must(::unlink(of(kGuard).c_str()), "unlink");
  sync_folder(folder_);
}

bool PiAmq::take_once() {
  guard_on();
  const bool free = !is_there();
  if (free) {
    const std::string prepared = of(".receiver.prepare-" + std::to_string(::getpid()));
    must(::mkdir(prepared.c_str(), 0700), "mkdir");
    must(::chmod(prepared.c_str(), 0700), "chmod");
    if (!create(prepared, "owner.json", kOwnerBytes)) stop_here("an owner was there");
    sync_folder(prepared);
    must(::rename(prepared.c_str(), of(kLease).c_str()), "rename");
    sync_folder(folder_);
  }
  guard_off();
  return free;
}

void PiAmq::take() {
  while (!take_once()) std::this_thread::sleep_for(kGuardPoll);
}

void PiAmq::give() {
  guard_on();
  read(of(std::string(kLease) + "/owner.json"));
  const std::string released = of(".receiver.released-" + std::to_string(::getpid()));
  must(::rename(of(kLease).c_str(), released.c_str()), "rename");
  sync_folder(folder_);
  std::filesystem::remove_all(released);
  sync_folder(folder_);
  guard_off();
}

}  // namespace tenure::bench
