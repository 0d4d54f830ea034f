// What is typed at a terminal in raw mode, from its bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::cli {

struct KeyPress {
  enum class Kind { text, enter, escape, erase, clear, up, down, page_up, page_down, first, last };
  Kind kind = Kind::text;
  std::string text;  // one character, of Kind::text

  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

// A key may come in several parts: what is not complete waits for the rest.
class KeyPresses {
 public:
  std::vector<KeyPress> take(std::string_view bytes);
  // An escape may be the key of that name, or the beginning of another: true while that is not known.
  bool waits() const { return !rest_.empty(); }
  // Nothing followed.
  std::vector<KeyPress> end_wait();

 private:
  bool take_one(std::vector<KeyPress>& into);
  bool take_sequence(std::vector<KeyPress>& into);
  std::string rest_;
};

}  // namespace tenure::cli
