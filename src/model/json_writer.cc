#include "model/json_writer.h"

#include <utility>

namespace tenure {
namespace {

void append_escaped(std::string& out, char c) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20) {
    out.push_back(c);
    return;
  }
  out += "\\u00";
  out.push_back(kDigits[byte >> 4]);
  out.push_back(kDigits[byte & 0xf]);
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) append_escaped(out, c);
  out.push_back('"');
  return out;
}

void JsonWriter::begin_item(std::string_view key) {
  if (depth_ == 0) return;
  out_ += empty_ ? "\n" : ",\n";
  out_.append(2 * depth_, ' ');
  if (!key.empty()) out_ += json_quoted(key) + ": ";
}

void JsonWriter::open(std::string_view key, char bracket) {
  begin_item(key);
  out_.push_back(bracket);
  ++depth_;
  empty_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!empty_) {
    out_.push_back('\n');
    out_.append(2 * depth_, ' ');
  }
  out_.push_back(bracket);
  empty_ = false;
}

void JsonWriter::member(std::string_view key, std::string_view raw) {
  begin_item(key);
  out_ += raw;
  empty_ = false;
}

std::string JsonWriter::finish() {
  out_.push_back('\n');
  return std::exchange(out_, {});
}

}  // namespace tenure
