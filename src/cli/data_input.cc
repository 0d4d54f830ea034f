#include "cli/data_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace tenure::cli {
namespace {

constexpr std::size_t kPartBytes = std::size_t{256} * 1024;
constexpr const char* kWayIn = "give it a file (< FILE) or a pipe";

// Nothing is said about output that nobody wants.
Result<void> fill_outputs() {
  for (int stream = 1; stream < 3; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is this one.
    if (::open("/dev/null", O_RDWR) < 0) return fail(system_error(errno, "cannot open /dev/null"));
  }
  return {};
}

}  // namespace

DataInput::DataInput(SignalGate gate) : gate_(std::move(gate)), part_(kPartBytes) {}

Result<DataInput> DataInput::open() {
  struct ::stat status{};
  if (::fstat(0, &status) != 0) return fail(Code::usage, "standard input is closed: the data comes there", kWayIn);
  if (S_ISDIR(status.st_mode)) return fail(Code::usage, "standard input is a folder: the data comes there", kWayIn);
  if (::isatty(0) == 1) return fail(Code::usage, "standard input is a terminal: the data comes there", kWayIn);
  if (auto filled = fill_outputs(); !filled) return fail(filled.error());
  auto gate = SignalGate::close_gate();
  if (!gate) return fail(gate.error());
  return DataInput(std::move(*gate));
}

// False: a signal came first.
Result<bool> DataInput::readable() {
  while (true) {
    std::array<::pollfd, 2> polled{{{0, POLLIN, 0}, {gate_.descriptor(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return fail(system_error(errno, "cannot wait for standard input"));
    }
    while (const auto taken = gate_.take()) {
      if (gate_.inert(taken->number)) continue;
      signal_ = taken->number;
      return false;
    }
    if (polled[0].revents != 0) return true;
  }
}

Result<std::string_view> DataInput::next() {
  while (true) {
    auto ready = readable();
    if (!ready) return fail(ready.error());
    if (!*ready) return fail(Code::cancelled, "interrupted while the data came");
    const ::ssize_t got = ::read(0, part_.data(), part_.size());
    if (got >= 0) return std::string_view(part_.data(), static_cast<std::size_t>(got));
    if (errno != EINTR && errno != EAGAIN) return fail(system_error(errno, "cannot read standard input"));
  }
}

}  // namespace tenure::cli
