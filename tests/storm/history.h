// The history that the workers of a storm write: one line an event, each written whole by one write(2) with O_APPEND.
//
//   BEFORE AFTER PID.SERIAL KEY EVENT DETAIL…
//
// BEFORE and AFTER are CLOCK_MONOTONIC in nanoseconds, before and after the call that the event tells of.
#pragma once

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "tenure/error.h"

namespace tenure::storm {

inline std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline std::string name_of(Code code) {
  return std::string(facts(code).name);
}

class History {
 public:
  History(const std::string& path, std::string serial)
      : descriptor_(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)),
        who_(std::to_string(getpid()) + "." + std::move(serial)) {}

  bool good() const { return descriptor_ >= 0; }

  void tell(std::int64_t before, std::int64_t after, const std::string& key, const char* event,
            const std::string& detail) {
    const std::string line = std::to_string(before) + " " + std::to_string(after) + " " + who_ + " " + key + " " +
                             event + " " + detail + "\n";
    if (write(descriptor_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
    std::perror("history");
    _exit(4);  // without a history there is nothing to prove
  }

 private:
  int descriptor_;
  std::string who_;
};

}  // namespace tenure::storm
