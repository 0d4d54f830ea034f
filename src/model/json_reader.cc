#include "model/json_reader.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <charconv>
#include <set>
#include <vector>

namespace tenure {
namespace {

namespace json = boost::json;

// Sees every key of a document as it is read and remembers the first that comes twice in one object: the tree that the
// library builds would silently keep the last one.
class TwiceKeyHandler {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  bool on_object_begin(json::error_code&) {
    objects_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    objects_.pop_back();
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    key_.append(part.data(), part.size());
    if (!objects_.back().insert(key_).second && !twice_) twice_ = key_;
    key_.clear();
    return true;
  }
  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t, json::error_code&) { return true; }
  bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
  bool on_double(double, json::string_view, json::error_code&) { return true; }
  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

  const std::optional<std::string>& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> objects_;
  std::string key_;
  std::optional<std::string> twice_;
};

bool blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

json::parse_options options() {
  json::parse_options chosen;
  chosen.max_depth = kMaxJsonDepth;
  return chosen;
}

std::unexpected<Error> damaged(std::string_view what, const std::string& why) {
  return fail(Code::damaged, std::string(what) + " is damaged: " + why);
}

}  // namespace

Result<json::object> parse_json_object(std::string_view bytes, std::size_t max_bytes, std::string_view what) {
  if (bytes.size() > max_bytes) return damaged(what, "longer than " + std::to_string(max_bytes) + " bytes");
  const std::string_view body = trimmed(bytes);
  if (body.empty()) return damaged(what, bytes.empty() ? "it is empty" : "it has only blanks");
  json::basic_parser<TwiceKeyHandler> keys(options());
  json::error_code error;
  const std::size_t used = keys.write_some(false, body.data(), body.size(), error);
  if (error) return damaged(what, "not JSON at byte " + std::to_string(used) + ": " + error.message());
  if (used != body.size()) return damaged(what, "something follows the JSON at byte " + std::to_string(used));
  if (body.front() != '{') return damaged(what, "not a JSON object");
  if (keys.handler().twice()) return damaged(what, "a key stands twice in one object");
  json::value value = json::parse(body, error, {}, options());
  if (error || !value.is_object()) return damaged(what, "not a JSON object");
  return std::move(value.get_object());
}

void JsonReader::complain(std::string_view name, std::string_view what) {
  if (!complaint_) complaint_ = "\"" + full(name) + "\" " + std::string(what);
}

const json::value* JsonReader::find(std::string_view name) {
  const json::value* value = object_.if_contains(name);
  if (value == nullptr) complain(name, "is missing");
  return value;
}

bool JsonReader::has_value(std::string_view name) const {
  const json::value* value = object_.if_contains(name);
  return value != nullptr && !value->is_null();
}

std::string JsonReader::text(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return {};
  const json::string* string = value->if_string();
  if (string == nullptr) {
    complain(name, "is not text");
    return {};
  }
  return std::string(string->data(), string->size());
}

std::int64_t JsonReader::signed_number(std::string_view name, std::int64_t smallest, std::int64_t largest) {
  const json::value* value = find(name);
  if (value == nullptr) return 0;
  const std::int64_t* number = value->if_int64();
  if (number == nullptr) {
    complain(name, "is not a whole number in range");
    return 0;
  }
  if (*number < smallest || *number > largest) {
    complain(name, "is out of range");
    return 0;
  }
  return *number;
}

std::uint64_t JsonReader::number(std::string_view name, std::uint64_t largest) {
  const json::value* value = find(name);
  if (value == nullptr) return 0;
  // The library keeps a whole number as signed while it fits, and as unsigned only beyond.
  std::uint64_t number = 0;
  if (const std::int64_t* small = value->if_int64(); small != nullptr && *small >= 0) {
    number = static_cast<std::uint64_t>(*small);
  } else if (const std::uint64_t* big = value->if_uint64(); big != nullptr) {
    number = *big;
  } else {
    complain(name, "is not a whole number from 0 up");
    return 0;
  }
  if (number > largest) {
    complain(name, "is out of range");
    return 0;
  }
  return number;
}

std::uint64_t JsonReader::big_number(std::string_view name, std::uint64_t largest) {
  const std::string digits = text(name);
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end) {
    complain(name, "is not a decimal number in text");
    return 0;
  }
  if (number > largest) {
    complain(name, "is out of range");
    return 0;
  }
  return number;
}

bool JsonReader::truth(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return false;
  const bool* truth = value->if_bool();
  if (truth == nullptr) complain(name, "is neither true nor false");
  return truth != nullptr && *truth;
}

const json::array* JsonReader::array(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return nullptr;
  const json::array* array = value->if_array();
  if (array == nullptr) complain(name, "is not a list");
  return array;
}

const json::object* JsonReader::object(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return nullptr;
  const json::object* object = value->if_object();
  if (object == nullptr) complain(name, "is not an object");
  return object;
}

bool check_version(JsonReader& reader, std::int64_t newest) {
  const std::int64_t version = reader.signed_number("version");
  if (version > newest) {
    reader.complain("version", "is " + std::to_string(version) + ": a newer program wrote it; this one reads up to " +
                                   std::to_string(newest));
  }
  if (version < 1) reader.complain("version", "is not a number from 1 up");
  return version >= 1 && version <= newest;
}

}  // namespace tenure
