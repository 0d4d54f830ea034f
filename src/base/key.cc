#include "tenure/key.h"

#include "base/text.h"

namespace tenure {
namespace {

constexpr std::string_view kRemedy = "a key is 1 to 512 bytes of UTF-8 without control characters or outer blanks";

std::unexpected<Error> refuse(std::string message) {
  return fail(Code::bad_key, std::move(message), std::string(kRemedy));
}

}  // namespace

Result<Key> Key::parse(std::string_view text) {
  if (text.empty()) return refuse("the key is empty");
  if (text.size() > kMaxBytes) {
    return refuse("the key has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(kMaxBytes));
  }
  if (const auto fault = fault_in_text(text)) return refuse("the key is not one line of text: " + describe(*fault));
  if (text.front() == ' ') return refuse("the key begins with a blank: byte 0x20 at offset 0");
  if (text.back() == ' ') {
    return refuse("the key ends with a blank: byte 0x20 at offset " + std::to_string(text.size() - 1));
  }
  return Key(std::string(text));
}

}  // namespace tenure
