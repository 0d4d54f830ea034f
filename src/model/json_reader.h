// Reading the JSON of our small files, strictly: one object, valid UTF-8, no key twice, nesting and size bounded; and
// members taken out with exact types. The first thing that is wrong is kept; all later reads then yield nothing.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "tenure/error.h"

namespace tenure {

inline constexpr std::size_t kMaxJsonDepth = 16;

// Code::damaged: longer than `max_bytes`, not JSON, not an object, a key twice in one object, too deep. Blanks around
// the object are allowed. `what` names the thing in messages ("the lease record").
Result<boost::json::object> parse_json_object(std::string_view bytes, std::size_t max_bytes, std::string_view what);

// The members of one object. All readers of one document share one complaint.
class JsonReader {
 public:
  // `object`, `complaint` must outlive the reader. `path` stands before names in complaints: "tenure.process.".
  JsonReader(const boost::json::object& object, std::optional<std::string>& complaint, std::string path = {})
      : object_(object), complaint_(complaint), path_(std::move(path)) {}

  // Required: a missing member or another type is complained of.
  std::string text(std::string_view name);
  std::int64_t signed_number(std::string_view name, std::int64_t smallest = std::numeric_limits<std::int64_t>::min(),
                             std::int64_t largest = std::numeric_limits<std::int64_t>::max());
  std::uint64_t number(std::string_view name, std::uint64_t largest);
  std::uint64_t big_number(std::string_view name, std::uint64_t largest);
  bool truth(std::string_view name);
  const boost::json::array* array(std::string_view name);
  const boost::json::object* object(std::string_view name);

  // True when the member is there, whatever its type.
  bool has(std::string_view name) const { return object_.contains(name); }
  // True when the member is there and is not null.
  bool has_value(std::string_view name) const;

  void complain(std::string_view name, std::string_view what);
  // The name with the path before it.
  std::string full(std::string_view name) const { return path_ + std::string(name); }
  std::optional<std::string>& complaint() { return complaint_; }

 private:
  const boost::json::value* find(std::string_view name);

  const boost::json::object& object_;
  std::optional<std::string>& complaint_;
  std::string path_;
};

// Reads the member "version" of one of our own objects. False, with a complaint, unless it is 1 to `newest`; one beyond
// says that a newer program wrote it.
bool check_version(JsonReader& reader, std::int64_t newest);

}  // namespace tenure
