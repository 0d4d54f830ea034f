#include "cli/key_presses.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tenure::cli {
namespace {

using Kind = KeyPress::Kind;

constexpr char kEscape = '\x1b';
constexpr std::size_t kLongestSequence = 16;

struct Sequence {
  std::string_view text;  // after the escape
  Kind kind;
};

// ECMA-48 as xterm, the Linux console, vt100 and rxvt send it.
constexpr auto kSequences = std::to_array<Sequence>({
    {"[A", Kind::up},
    {"OA", Kind::up},
    {"[B", Kind::down},
    {"OB", Kind::down},
    {"[5~", Kind::page_up},
    {"[6~", Kind::page_down},
    {"[H", Kind::first},
    {"OH", Kind::first},
    {"[1~", Kind::first},
    {"[7~", Kind::first},
    {"[F", Kind::last},
    {"OF", Kind::last},
    {"[4~", Kind::last},
    {"[8~", Kind::last},
});

std::optional<Kind> kind_of(char byte) {
  switch (byte) {
    case '\r':
    case '\n':
      return Kind::enter;
    case '\b':
    case '\x7f':
      return Kind::erase;
    case '\x15':  // Ctrl-U
      return Kind::clear;
    case '\x10':  // Ctrl-P, and so on
      return Kind::up;
    case '\x0e':
      return Kind::down;
    case '\x02':
      return Kind::page_up;
    case '\x06':
      return Kind::page_down;
    default:
      return std::nullopt;
  }
}

bool ends_sequence(char byte) {
  return byte >= '@' && byte <= '~';
}

// How many bytes the character that begins so should have.
std::size_t wanted_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0xc2 || byte > 0xf4) return 1;  // no character begins so
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

std::vector<KeyPress> KeyPresses::take(std::string_view bytes) {
  rest_ += bytes;
  std::vector<KeyPress> out;
  while (!rest_.empty() && take_one(out)) {
  }
  return out;
}

std::vector<KeyPress> KeyPresses::end_wait() {
  std::vector<KeyPress> out;
  if (rest_.starts_with(kEscape)) out.push_back({Kind::escape, {}});
  rest_.clear();
  return out;
}

// False: more must come first.
bool KeyPresses::take_one(std::vector<KeyPress>& into) {
  if (rest_[0] == kEscape) return take_sequence(into);
  if (const auto kind = kind_of(rest_[0])) {
    into.push_back({*kind, {}});
    rest_.erase(0, 1);
    return true;
  }
  const auto character = decode_utf8(rest_, 0);
  if (!character && rest_.size() < wanted_bytes(rest_[0])) return false;
  if (character && !is_control(character->code)) into.push_back({Kind::text, rest_.substr(0, character->length)});
  rest_.erase(0, character ? character->length : 1);
  return true;
}

// What is not known is passed over as a whole, so that its parts are not taken for keys.
bool KeyPresses::take_sequence(std::vector<KeyPress>& into) {
  if (rest_.size() < 2) return false;
  if (rest_[1] != '[' && rest_[1] != 'O') {
    into.push_back({Kind::escape, {}});
    rest_.erase(0, 1);
    return true;
  }
  std::size_t end = 2;
  while (end < rest_.size() && end < kLongestSequence && !ends_sequence(rest_[end])) ++end;
  if (end == rest_.size() && end < kLongestSequence) return false;
  const std::string_view sequence = std::string_view(rest_).substr(1, end);
  const auto found = std::ranges::find(kSequences, sequence, &Sequence::text);
  if (found != kSequences.end()) into.push_back({found->kind, {}});
  rest_.erase(0, end + 1);
  return true;
}

}  // namespace tenure::cli
