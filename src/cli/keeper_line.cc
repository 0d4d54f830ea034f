#include "cli/keeper_line.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace tenure::cli {
namespace {

// Texts are a screen at most; a handle is 8 KiB at most.
constexpr std::size_t kMostBytes = 65536;

}  // namespace

Result<std::pair<KeeperLine, KeeperLine>> KeeperLine::open() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(system_error(errno, "cannot make a pair of sockets"));
  }
  return std::pair(KeeperLine(Descriptor(ends[0])), KeeperLine(Descriptor(ends[1])));
}

bool KeeperLine::say(const Word& word) const {
  std::string bytes{static_cast<char>(word.kind), static_cast<char>(word.code)};
  bytes += word.text.substr(0, kMostBytes - 2);
  ::ssize_t sent = 0;
  do {
    sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<::ssize_t>(bytes.size());
}

std::optional<Word> KeeperLine::hear() const {
  std::string bytes(kMostBytes, '\0');
  ::ssize_t got = 0;
  do {
    got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 2) return std::nullopt;
  return Word{static_cast<Word::Kind>(bytes[0]), static_cast<unsigned char>(bytes[1]),
              bytes.substr(2, static_cast<std::size_t>(got) - 2)};
}

void KeeperLine::fall_silent() const {
  ::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace tenure::cli
