// A JSON printer whose text is, byte for byte, what serde_json's pretty printer makes: two-space indentation, one
// member a line, ": " after a key, only the escapes that JSON demands. Records are compared and edited by people and
// by other programs, so their shape is fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenure {

// `text` between quotes; bytes that are not UTF-8 must have been replaced before.
std::string json_quoted(std::string_view text);

class JsonWriter {
 public:
  // An empty key opens the outermost object, or an element of an array.
  void open_object(std::string_view key = {}) { open(key, '{'); }
  void close_object() { close('}'); }
  void open_array(std::string_view key) { open(key, '['); }
  void close_array() { close(']'); }

  void text(std::string_view key, std::string_view value) { member(key, json_quoted(value)); }
  void number(std::string_view key, std::int64_t value) { member(key, std::to_string(value)); }
  void number(std::string_view key, std::uint64_t value) { member(key, std::to_string(value)); }
  void number(std::string_view key, std::uint32_t value) { member(key, std::to_string(value)); }
  void number(std::string_view key, std::int32_t value) { member(key, std::to_string(value)); }
  // A number that may pass 2^53, where readers that keep numbers as doubles would bend it: as decimal text.
  void big_number(std::string_view key, std::uint64_t value) { text(key, std::to_string(value)); }
  void truth(std::string_view key, bool value) { member(key, value ? "true" : "false"); }
  void null(std::string_view key) { member(key, "null"); }

  // The document with its final newline. Everything must have been closed.
  std::string finish();

 private:
  void open(std::string_view key, char bracket);
  void close(char bracket);
  void member(std::string_view key, std::string_view raw);
  void begin_item(std::string_view key);

  std::string out_;
  std::size_t depth_ = 0;
  bool empty_ = true;  // the innermost object or array has no member yet
};

}  // namespace tenure
