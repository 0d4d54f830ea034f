// The lease record: whatever lies on disk is refused or read, and what was read survives being written.
#include "model/lease_record.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const auto record = decode_lease_record(fuzz::text_of(data, size));
  if (!record) {
    fuzz::require_refusal(record.error(), Code::damaged);
    return 0;
  }
  const std::string written = encode(*record);
  fuzz::require(written.size() <= kMaxWrittenRecordBytes, "a written record is within its bound");
  const auto again = decode_lease_record(written);
  fuzz::require(again.has_value(), "what we write, we read");
  fuzz::require(*again == bounded(*record), "a record comes back as it was, within bounds");
  fuzz::require(bounded(*again) == *again, "a bounded record is bounded");
  fuzz::require(encode(*again) == written, "one record has one text");
  const Holder holder = holder_of(*record);
  fuzz::require(holder.owner == record->owner_boot_id, "the holder is the one of the record");
  return 0;
}
