#include "model/side_files.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "model/checksum.h"

namespace tenure {
namespace {

template <class T>
std::string why_damaged(const Result<T>& result) {
  if (result) return "it was accepted";
  EXPECT_EQ(result.error().code, Code::damaged);
  EXPECT_FALSE(fault_in_text(result.error().message)) << "the message is one line of text";
  return result.error().message;
}

#define EXPECT_SIDE_FILE_DAMAGED(result, words) \
  EXPECT_NE(why_damaged(result).find(words), std::string::npos) << why_damaged(result)

// ---- <id>.epoch ---------------------------------------------------------------------------------------------------

TEST(EpochFile, ComesBackAsItWas) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{17}, Epoch::kLimit - 1}) {
    EXPECT_EQ(decode_epoch_file(encode_epoch_file(Epoch(value))).value(), Epoch(value));
  }
  EXPECT_EQ(encode_epoch_file(Epoch(17)), "17\n");
}

TEST(EpochFile, IsReadTrimmed) {
  EXPECT_EQ(decode_epoch_file("17").value(), Epoch(17));
  EXPECT_EQ(decode_epoch_file(" \t17 \r\n\n").value(), Epoch(17));
  EXPECT_EQ(decode_epoch_file("0017\n").value(), Epoch(17));
}

TEST(EpochFile, IsNeverReadAsZeroWhenDamaged) {
  EXPECT_SIDE_FILE_DAMAGED(decode_epoch_file(""), "empty");
  EXPECT_SIDE_FILE_DAMAGED(decode_epoch_file(" \n"), "empty");
  for (const std::string text : {"x", "1x", "0x10", "1 2", "1.0", "1e3", "-1", "+1", "-0", "18446744073709551616"}) {
    EXPECT_SIDE_FILE_DAMAGED(decode_epoch_file(text), "not a decimal number");
  }
  EXPECT_SIDE_FILE_DAMAGED(decode_epoch_file(std::string_view("1\0002\n", 4)), "not a decimal number");
  EXPECT_SIDE_FILE_DAMAGED(decode_epoch_file(std::string_view("17\n\0", 4)), "not a decimal number");
  EXPECT_SIDE_FILE_DAMAGED(decode_epoch_file("9007199254740992\n"), "2^53");
  EXPECT_SIDE_FILE_DAMAGED(decode_epoch_file("18446744073709551615\n"), "2^53");
  EXPECT_SIDE_FILE_DAMAGED(decode_epoch_file(std::string(64, ' ') + "1"), "longer");
}

// ---- the note in <id>.lock ----------------------------------------------------------------------------------------

std::string noted(const std::string& body, const std::string& end = "\n") {
  return body + " " + crc32_hex(body) + end;
}

TEST(SectionNote, ComesBackAsItWas) {
  for (const auto state : {SectionNote::State::held, SectionNote::State::free, SectionNote::State::revoked}) {
    for (const std::uint64_t epoch : {std::uint64_t{0}, std::uint64_t{17}, Epoch::kLimit - 1}) {
      const SectionNote note{Epoch(epoch), state};
      EXPECT_EQ(decode_section_note(encode(note)).value(), note);
    }
  }
}

TEST(SectionNote, MayBePadded) {
  const SectionNote note{Epoch(17), SectionNote::State::held};
  for (const std::string padding : {"    ", "    \n", "\n\n"}) {
    EXPECT_EQ(decode_section_note(encode(note) + padding).value(), note);
  }
  EXPECT_EQ(decode_section_note(noted("tenure-note 1 17 held", "     \n")).value(), note);
}

TEST(SectionNote, IsDamagedWhenAnyByteOfItChangedOrIsMissing) {
  const std::string whole = encode(SectionNote{Epoch(1234), SectionNote::State::revoked});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = changed[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(decode_section_note(changed)) << i;
    EXPECT_FALSE(decode_section_note(whole.substr(0, i))) << i;
  }
}

TEST(SectionNote, IsDamagedWhenItIsNotOneNote) {
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(""), "empty");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note("   \n"), "begin");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note("tenure-note 1 \n"), "begin");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note("tenure-note 1 x\n"), "checksum");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(noted("tenure-note 2 17 held")), "begin");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note("tenure-note 1 17 held 00000000\n"), "checksum");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(noted("tenure-note 1 17 held", "")), "does not end");
  const std::string whole = noted("tenure-note 1 17 held");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(whole + whole), "checksum");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(noted("tenure-note 1 17 lost")), "not an epoch and a state");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(noted("tenure-note 1 17")), "not an epoch and a state");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(noted("tenure-note 1 -1 held")), "not an epoch and a state");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(noted("tenure-note 1 17  held")), "not an epoch and a state");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(noted("tenure-note 1 9007199254740992 held")), "2^53");
  EXPECT_SIDE_FILE_DAMAGED(decode_section_note(std::string(5000, ' ')), "longer");
}

// ---- <id>.seen ----------------------------------------------------------------------------------------------------

Sighting sighting(int number) {
  return {"observer " + std::to_string(number), "digest", MonotonicTime{Duration{number}}};
}

TEST(Sightings, ComeBackAsTheyWere) {
  std::vector<Sighting> sightings;
  EXPECT_EQ(decode_sightings(encode(sightings)).value(), sightings);
  for (int i = 0; i < static_cast<int>(kMaxSightings); ++i) sightings.push_back(sighting(i));
  EXPECT_EQ(decode_sightings(encode(sightings)).value(), sightings);
}

TEST(Sightings, TheOldestGivesWay) {
  std::vector<Sighting> sightings;
  for (int i = 0; i < static_cast<int>(kMaxSightings) + 3; ++i) sightings.push_back(sighting(i));
  const auto kept = decode_sightings(encode(sightings)).value();
  EXPECT_EQ(kept, std::vector<Sighting>(sightings.begin() + 3, sightings.end()));
}

TEST(Sightings, AreDamagedWhenAnyIs) {
  const std::string one = R"({"observer": "o", "digest": "d", "first_seen_monotonic_ns": "5"})";
  const auto list = [](const std::string& entries) { return R"({"version": 1, "sightings": [)" + entries + "]}"; };
  ASSERT_TRUE(decode_sightings(list(one)));
  EXPECT_SIDE_FILE_DAMAGED(decode_sightings(""), "empty");
  EXPECT_SIDE_FILE_DAMAGED(decode_sightings(list("1")), "\"sightings[0]\" is not an object");
  EXPECT_SIDE_FILE_DAMAGED(decode_sightings(list(one + ", {}")), "\"sightings[1].observer\" is missing");
  EXPECT_SIDE_FILE_DAMAGED(decode_sightings(list(R"({"observer": "o", "digest": "d", "first_seen_monotonic_ns": 5})")),
                           "not text");
  EXPECT_SIDE_FILE_DAMAGED(
      decode_sightings(list(R"({"observer": "o", "digest": "d", "first_seen_monotonic_ns": "9223372036854775807"})")),
      "out of range");
  EXPECT_SIDE_FILE_DAMAGED(decode_sightings(R"({"version": 1, "sightings": {}})"), "not a list");
  EXPECT_SIDE_FILE_DAMAGED(decode_sightings(R"({"version": 1})"), "\"sightings\" is missing");
  EXPECT_SIDE_FILE_DAMAGED(decode_sightings(R"({"version": 2, "sightings": []})"), "newer program");
  std::string many = one;
  for (std::size_t i = 0; i < kMaxSightings; ++i) many += ", " + one;
  EXPECT_SIDE_FILE_DAMAGED(decode_sightings(list(many)), "too many");
}

// ---- <id>.revoked.json --------------------------------------------------------------------------------------------

Revocation sample_revocation() {
  return {
      Epoch(17), "hangs", "ada", "workbench", 5151, "tenure revoke", true, 1'772'368'600'000, "make deploy, pid 4242"};
}

TEST(Revocation, ComesBackAsItWas) {
  EXPECT_EQ(decode_revocation(encode(sample_revocation())).value(), sample_revocation());
  EXPECT_EQ(decode_revocation(encode(Revocation{})).value(), Revocation{});
}

TEST(Revocation, IsBoundedWhenWritten) {
  Revocation revocation = sample_revocation();
  revocation.reason = revocation.was = revocation.by_command = revocation.by_user = revocation.by_host =
      std::string(5000, '\x01');
  const std::string text = encode(revocation);
  EXPECT_LE(text.size(), 16U * 1024);
  EXPECT_EQ(decode_revocation(text).value(), bounded(revocation));
}

TEST(Revocation, IsDamagedByAnyFieldMissingOrOfAnotherType) {
  const std::string text = encode(sample_revocation());
  for (const std::string name :
       {"version", "epoch", "reason", "by_user", "by_host", "by_pid", "by_command", "forced", "at_ms", "was"}) {
    std::string without = text;
    without.replace(without.find("\"" + name + "\""), name.size() + 2, "\"other\"");
    EXPECT_SIDE_FILE_DAMAGED(decode_revocation(without), "\"" + name + "\" is missing");
    // No field is a list.
    std::string changed = text;
    const std::size_t at = changed.find(": ", changed.find("\"" + name + "\"")) + 2;
    const std::size_t end = changed.find('\n', at);
    changed.replace(at, end - at, name == "was" ? "[]" : "[],");
    EXPECT_SIDE_FILE_DAMAGED(decode_revocation(changed), "\"" + name + "\" is");
  }
  std::string limit = text;
  limit.replace(limit.find("17"), 2, "9007199254740992");
  EXPECT_SIDE_FILE_DAMAGED(decode_revocation(limit), "\"epoch\" is out of range");
  std::string newer = text;
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 2");
  EXPECT_SIDE_FILE_DAMAGED(decode_revocation(newer), "newer program");
}

}  // namespace
}  // namespace tenure
