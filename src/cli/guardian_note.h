// What runner and guardian tell each other over their socket: one packet a note.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenure::cli {

struct GuardianNote {
  enum What : int {
    // To the guardian:
    begin,       // the command may be executed
    call_off,    // it may not
    hear,        // first: is this signal pending? Forget it.
    forget,      // first: a signal that was for the guardian itself
    signal_all,  // first: the signal
    end_tree,    // first: the signal, second: the grace in milliseconds
    // From it:
    made,        // first: the process of the command, which waits for `begin`
    executed,    // it runs
    failed,      // first: the exit code, text: why
    heard,       // first: 1 it was, 0 it was not
    main_ended,  // first: its exit code, second: its signal
    tree_empty,
  };
  int what = begin;
  int first = 0;
  int second = 0;
  std::int64_t at = 0;  // of what it tells: nanoseconds since the boot, sleep counted
  std::array<char, 512> text{};

  void set_text(std::string_view words) { words.substr(0, text.size() - 1).copy(text.data(), text.size() - 1); }
};

// False: nobody is there any more. Waits while the socket is full.
bool send_note(int socket, const GuardianNote& note);

enum class Received : unsigned char { note, nothing, closed };
// `now`: without waiting. Otherwise as long as the socket's own timeout says.
Received receive_note(int socket, GuardianNote& note, bool now);

}  // namespace tenure::cli
