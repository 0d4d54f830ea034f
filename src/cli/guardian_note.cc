#include "cli/guardian_note.h"

#include <sys/socket.h>

#include <cerrno>

namespace tenure::cli {

bool send_note(int socket, const GuardianNote& note) {
  ::ssize_t sent = 0;
  do {
    sent = ::send(socket, &note, sizeof note, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<::ssize_t>(sizeof note);
}

Received receive_note(int socket, GuardianNote& note, bool now) {
  ::ssize_t got = 0;
  do {
    got = ::recv(socket, &note, sizeof note, now ? MSG_DONTWAIT : 0);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<::ssize_t>(sizeof note)) return Received::note;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Received::nothing : Received::closed;
}

}  // namespace tenure::cli
