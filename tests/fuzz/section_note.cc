// The note in the lock file. Random bytes hardly ever carry a right checksum, so each input is tried a second time as
// the fields of a note, with the checksum put right.
#include "fuzz.h"
#include "model/checksum.h"
#include "model/side_files.h"

namespace {

void try_one(std::string_view bytes) {
  using namespace tenure;
  const auto note = decode_section_note(bytes);
  if (!note) {
    fuzz::require_refusal(note.error(), Code::damaged);
    return;
  }
  fuzz::require(note->epoch.credible(), "an accepted epoch is below 2^53");
  const std::string written = encode(*note);
  const auto again = decode_section_note(written);
  fuzz::require(again && *again == *note, "a note comes back as it was");
  const auto padded = decode_section_note(written + "   ");
  fuzz::require(padded && *padded == *note, "blanks may follow a note");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(tenure::fuzz::text_of(data, size));
  try_one(text);
  const std::string body = "tenure-note 1 " + text;
  try_one(body + " " + tenure::crc32_hex(body) + "\n");
  return 0;
}
