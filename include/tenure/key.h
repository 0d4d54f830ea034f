// Key: the name of what is owned.
//
// 1 to 512 bytes of valid UTF-8, no control characters (C0, DEL, C1), no leading or trailing blank. Compared byte
// for byte: no case folding, no Unicode normalisation.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

#include "tenure/error.h"

namespace tenure {

class Key {
 public:
  static constexpr std::size_t kMaxBytes = 512;

  // Code::bad_key when `text` is not a key; the message names the offending byte and its offset.
  static Result<Key> parse(std::string_view text);

  const std::string& text() const noexcept { return text_; }
  friend auto operator<=>(const Key&, const Key&) = default;
  friend bool operator==(const Key&, const Key&) = default;

 private:
  explicit Key(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace tenure
