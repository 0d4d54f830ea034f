// Owner and guard of a receiver lease: whatever lies on disk is refused or read, and what was read survives being
// written.
#include "model/receiver_record.h"

#include "fuzz.h"

namespace {

using namespace tenure;

template <class Record>
void try_record(std::string_view bytes, Result<Record> (*decode)(std::string_view)) {
  const auto record = decode(bytes);
  if (!record) {
    fuzz::require_refusal(record.error(), Code::damaged);
    return;
  }
  const std::string written = encode(*record);
  // A short escape can stand for a longer one of ours only past the bound of what we would write.
  if (written.size() > kMaxReceiverBytes) return;
  const auto again = decode(written);
  fuzz::require(again.has_value() && *again == *record, "what was read is read again after being written");
  fuzz::require(encode(*again) == written, "one record has one text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  try_record(bytes, &decode_receiver_owner);
  try_record(bytes, &decode_receiver_guard);
  const auto owner = decode_receiver_owner(bytes);
  if (!owner) return 0;
  fuzz::require(owner->process.pid > 0 && owner->process.pid <= kMaxReceiverPid, "a pid is one that JSON can keep");
  fuzz::require(owner->process.executable.starts_with('/') && owner->session_file.starts_with('/'),
                "paths are absolute");
  fuzz::require(parse_receiver_date(owner->process.created_at).has_value(), "an accepted date is one");
  fuzz::require(!decode_receiver_guard(bytes), "an owner is no guard");
  return 0;
}
