// A generation that others wrote, in the names of a receiver namespace; and the dates, texts and paths of its records.
#include "model/receiver_names.h"

#include "base/limits.h"
#include "fuzz.h"
#include "model/node_text.h"
#include "model/receiver_date.h"

namespace {

using namespace tenure;

void try_names(std::string_view generation) {
  const std::string uuid = receiver::uuid_of({});
  const WallTime moved{};
  const std::string intent = receiver::intent(generation);
  const std::string released = receiver::released(generation, uuid);
  const std::string lease = receiver::quarantined_lease(generation, moved, uuid);
  const std::string guard = receiver::quarantined_guard(generation, moved, uuid);
  fuzz::require(receiver::is_intent(intent), "an intent is one");
  if (!generation.empty()) {
    fuzz::require(receiver::is_released(released), "a released lease is one");
    fuzz::require(receiver::is_quarantined(lease) && receiver::is_quarantined(guard), "evidence is evidence");
  }
  for (const std::string& name : {intent, released, lease, guard}) {
    fuzz::require(name.size() <= limits::kFileNameBytes, "a name fits a file name");
    fuzz::require(name.find('/') == std::string::npos && !fault_in_text(name), "a name is plain");
  }
}

void try_kinds(std::string_view name) {
  using namespace receiver;
  const int kinds = (is_prepared(name) ? 1 : 0) + (is_released(name) ? 1 : 0) + (is_intent(name) ? 1 : 0) +
                    (is_quarantined(name) ? 1 : 0) + (is_taken_guard(name) ? 1 : 0) + (is_guard_draft(name) ? 1 : 0);
  fuzz::require(kinds <= 1, "a name is of one kind");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  try_names(bytes);
  try_kinds(bytes);
  const std::string text = node_text(bytes);
  fuzz::require(valid_utf8(text) && node_text(text) == text, "text is text, and stays");
  const std::string path = node_normalized("/" + text);
  fuzz::require(path.starts_with('/') && node_normalized(path) == path, "a normal path is absolute and normal");
  fuzz::require(path.find("//") == std::string::npos && (path + "/").find("/../") == std::string::npos,
                "and has no steps");
  if (const auto date = parse_receiver_date(bytes)) {
    const auto again = parse_receiver_date(receiver_date(*date));
    fuzz::require(again == date, "a date comes back");
  }
  return 0;
}
