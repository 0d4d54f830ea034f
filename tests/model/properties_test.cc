// What holds for every record, not only for the ones that somebody thought of. RapidCheck prints the seed of a failure;
// RC_PARAMS="seed=…" repeats it.
#include <gtest/gtest.h>
// RapidCheck leans on GoogleTest's header and does not include it.
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "model/file_names.h"
#include "model/lease_record.h"
#include "model/node_text.h"
#include "model/receiver_names.h"
#include "model/receiver_record.h"
#include "model/receiver_sidecar.h"
#include "model/side_files.h"
#include "tenure/handle.h"

namespace tenure {
namespace {

// Any bytes at all, among them quotes, control characters and bytes that are no UTF-8; sometimes long.
rc::Gen<std::string> any_text() {
  const auto unit = rc::gen::oneOf(rc::gen::map(rc::gen::arbitrary<char>(), [](char c) { return std::string(1, c); }),
                                   rc::gen::element<std::string>("\"", "\\", "\n", "é", "€", "😀", std::string(1, '\0'),
                                                                 "\xed\xa0\x80", std::string(300, 'x')));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(unit), [](const std::vector<std::string>& units) {
    std::string text;
    for (const std::string& piece : units) text += piece;
    return text;
  });
}

// Keys of plain and of other characters, short, near the limit of a plain stem, and long.
Key any_key() {
  const auto unit = rc::gen::element<std::string>("a", "B", "7", ".", "_", "-", "~", "/", ":", "%", "é", "\"", "€",
                                                  std::string(99, 'x'));
  const auto units = *rc::gen::resize(5, rc::gen::container<std::vector<std::string>>(unit));
  std::string text = *rc::gen::element<std::string>("k", "K", "..", "~");
  for (const std::string& piece : units) text += piece;
  return Key::parse(cut_text(text, Key::kMaxBytes)).value();
}

std::uint64_t any_epoch() {
  return *rc::gen::inRange<std::uint64_t>(0, Epoch::kLimit);
}

ProcessIdentity any_process() {
  return {*rc::gen::arbitrary<std::int32_t>(),
          *rc::gen::arbitrary<std::uint64_t>(),
          *any_text(),
          *any_text(),
          *rc::gen::arbitrary<std::uint64_t>(),
          *rc::gen::arbitrary<std::uint64_t>(),
          *rc::gen::arbitrary<std::uint32_t>()};
}

template <class Time>
Time any_time() {
  return Time{Duration{*rc::gen::arbitrary<std::int64_t>()}};
}

Terms any_terms() {
  Terms terms;
  terms.mode = *rc::gen::element(Mode::exclusive, Mode::shared);
  terms.slots = *rc::gen::arbitrary<std::uint32_t>();
  if (*rc::gen::arbitrary<bool>()) terms.ttl = Duration{*rc::gen::arbitrary<std::int64_t>()};
  terms.reason = *any_text();
  terms.at_loss = *rc::gen::element(AtLoss::terminate, AtLoss::kill, AtLoss::warn);
  return terms;
}

LeaseExtra any_extra() {
  LeaseExtra extra;
  extra.process = any_process();
  if (*rc::gen::arbitrary<bool>()) extra.owner_process = any_process();
  extra.life = {*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()};
  extra.renewed_monotonic = any_time<MonotonicTime>();
  extra.renewed_boot = any_time<BootTime>();
  extra.extended_monotonic = any_time<MonotonicTime>();
  extra.extended_boot = any_time<BootTime>();
  extra.terms = any_terms();
  extra.user_name = *any_text();
  extra.command = *any_text();
  extra.directory = *any_text();
  return extra;
}

LeaseRecord any_record() {
  LeaseRecord record;
  record.instance_id = *any_text();
  record.owner_boot_id = *any_text();
  record.block_id = *any_text();
  if (*rc::gen::arbitrary<bool>()) record.session_id = *any_text();
  record.pid = *rc::gen::arbitrary<std::uint32_t>();
  record.acquired_at_ms = *rc::gen::arbitrary<std::int64_t>();
  record.renewed_at_ms = *rc::gen::arbitrary<std::int64_t>();
  record.epoch = any_epoch();
  record.hostname = *any_text();
  record.pid_start_s = *rc::gen::arbitrary<std::uint64_t>();
  record.channel = *any_text();
  record.version = *any_text();
  record.claim_id = *any_text();
  if (*rc::gen::arbitrary<bool>()) record.extra = any_extra();
  return record;
}

RC_GTEST_PROP(Properties, ALeaseRecordComesBackWithinItsBounds, ()) {
  const LeaseRecord record = any_record();
  const std::string text = encode(record);
  RC_ASSERT(text.size() <= kMaxWrittenRecordBytes);
  RC_ASSERT(text.back() == '\n');
  RC_ASSERT(valid_utf8(text));
  const auto again = decode_lease_record(text);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == bounded(record));
  RC_ASSERT(bounded(*again) == *again);
}

RC_GTEST_PROP(Properties, ARecordWithOneByteChangedNeverBreaksTheReader, ()) {
  const LeaseRecord record = any_record();
  std::string text = encode(record);
  text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  const auto read = decode_lease_record(text);
  if (!read) {
    RC_ASSERT(read.error().code == Code::damaged);
  } else {
    RC_ASSERT(read->epoch < Epoch::kLimit);
    RC_ASSERT(read->extra.has_value() <= record.extra.has_value());
  }
}

RC_GTEST_PROP(Properties, TheHolderNeverShowsTheClaimId, ()) {
  LeaseRecord record = any_record();
  record.claim_id = "00112233445566778899aabbccddeeff";
  const Holder holder = holder_of(record);
  for (const std::string& text :
       {holder.owner, holder.part, holder.host, holder.user_name, holder.command, holder.directory, holder.reason,
        holder.channel, holder.version, holder.session, holder.process.boot_id, holder.process.machine_id}) {
    RC_ASSERT(text.find(record.claim_id) == std::string::npos);
  }
}

RC_GTEST_PROP(Properties, AnEpochAndANoteComeBack, ()) {
  const Epoch epoch(any_epoch());
  RC_ASSERT(decode_epoch_file(encode_epoch_file(epoch)).value() == epoch);
  const SectionNote note{
      epoch, *rc::gen::element(SectionNote::State::held, SectionNote::State::free, SectionNote::State::revoked)};
  const auto padding = *rc::gen::inRange<std::size_t>(0, 100);
  RC_ASSERT(decode_section_note(encode(note) + std::string(padding, ' ')).value() == note);
}

RC_GTEST_PROP(Properties, ARevocationComesBackWithinItsBounds, ()) {
  const Revocation revocation{Epoch(any_epoch()),
                              *any_text(),
                              *any_text(),
                              *any_text(),
                              *rc::gen::arbitrary<std::int64_t>(),
                              *any_text(),
                              *rc::gen::arbitrary<bool>(),
                              *rc::gen::arbitrary<std::int64_t>(),
                              *any_text()};
  const auto again = decode_revocation(encode(revocation));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == bounded(revocation));
}

ReceiverOwner any_receiver_owner() {
  ReceiverOwner owner;
  ReceiverProcess& process = owner.process;
  process.pid = *rc::gen::inRange<std::uint64_t>(1, kMaxReceiverPid + 1);
  if (*rc::gen::arbitrary<bool>()) process.boot_identity = "b" + *any_text();
  process.executable = "/" + *any_text();
  process.created_at = receiver_date(any_time<WallTime>());
  owner.session_file = "/" + *any_text();
  for (std::string* text :
       {&process.generation, &process.start_identity, &process.hostname, &owner.session_id, &owner.root_id}) {
    *text = "x" + *any_text();
  }
  return owner;
}

// What the reader makes of text and paths that any bytes may be.
ReceiverOwner as_read(ReceiverOwner owner) {
  ReceiverProcess& process = owner.process;
  for (std::string* text : {&process.generation, &process.start_identity, &process.hostname, &process.executable,
                            &owner.session_file, &owner.session_id, &owner.root_id}) {
    *text = node_text(*text);
  }
  if (process.boot_identity) process.boot_identity = node_text(*process.boot_identity);
  process.executable = node_normalized(process.executable);
  owner.session_file = node_normalized(owner.session_file);
  return owner;
}

RC_GTEST_PROP(Properties, AReceiversRecordsComeBack, ()) {
  const ReceiverOwner owner = any_receiver_owner();
  const std::string text = encode(owner);
  RC_PRE(text.size() <= kMaxReceiverBytes);
  RC_ASSERT(valid_utf8(text));
  const ReceiverOwner read = decode_receiver_owner(text).value();
  RC_ASSERT(read == as_read(owner));
  RC_ASSERT(decode_receiver_owner(encode(read)).value() == read);
  RC_ASSERT(decode_receiver_guard(encode(owner.process)).value() == read.process);
}

RC_GTEST_PROP(Properties, AReceiversSidecarComesBackWithinItsBounds, ()) {
  ReceiverSidecar sidecar;
  sidecar.generation = "tenure-" + *any_text();
  sidecar.epoch = Epoch(*rc::gen::inRange<std::uint64_t>(1, Epoch::kLimit));
  sidecar.claim = ClaimId({*rc::gen::inRange<std::uint8_t>(1, 255)});
  sidecar.process = any_process();
  if (*rc::gen::arbitrary<bool>()) sidecar.owner_process = any_process();
  sidecar.life = {*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()};
  sidecar.at_loss = *rc::gen::element(AtLoss::terminate, AtLoss::kill, AtLoss::warn);
  sidecar.since_ms = *rc::gen::arbitrary<std::int64_t>();
  for (std::string* text : {&sidecar.owner, &sidecar.part, &sidecar.reason, &sidecar.host, &sidecar.user_name,
                            &sidecar.command, &sidecar.directory, &sidecar.channel, &sidecar.version}) {
    *text = *any_text();
  }
  const std::string text = encode(sidecar);
  RC_ASSERT(text.size() <= kMaxWrittenSidecarBytes);
  const ReceiverSidecar read = decode_receiver_sidecar(text).value();
  RC_ASSERT(read == bounded(sidecar));
  RC_ASSERT(bounded(read) == read);
}

RC_GTEST_PROP(Properties, AReceiversEpochsComeBack, ()) {
  const EpochSlot first{Epoch(any_epoch()), *rc::gen::arbitrary<std::uint64_t>()};
  const EpochSlot second{Epoch(any_epoch()), *rc::gen::arbitrary<std::uint64_t>()};
  const std::string bytes = encode_epoch_slots(first, second);
  RC_ASSERT(bytes.size() == kEpochFileBytes);
  RC_ASSERT(decode_epoch_slots(bytes) == (EpochSlots{first, second}));
}

// Whatever a generation is, its names are plain, short, and told from one another.
RC_GTEST_PROP(Properties, NamesOfAnyGenerationAreFileNames, ()) {
  const std::string generation = "x" + *any_text();
  const std::string uuid = receiver::uuid_of({*rc::gen::arbitrary<std::uint8_t>()});
  const WallTime moved = any_time<WallTime>();
  RC_ASSERT(receiver::is_intent(receiver::intent(generation)));
  RC_ASSERT(receiver::is_released(receiver::released(generation, uuid)));
  RC_ASSERT(receiver::is_quarantined(receiver::quarantined_lease(generation, moved, uuid)));
  RC_ASSERT(receiver::is_quarantined(receiver::quarantined_guard(generation, moved, uuid)));
  for (const std::string& name :
       {receiver::intent(generation), receiver::released(generation, uuid),
        receiver::quarantined_lease(generation, moved, uuid), receiver::quarantined_guard(generation, moved, uuid)}) {
    RC_ASSERT(name.size() <= 255U);
    RC_ASSERT(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
              std::string::npos);
  }
}

RC_GTEST_PROP(Properties, AKeyAndItsHandleComeBack, ()) {
  std::array<std::uint8_t, 16> claim{};
  for (auto& byte : claim) byte = *rc::gen::arbitrary<std::uint8_t>();
  const Handle handle{any_key(), ClaimId(claim), Epoch(any_epoch()),
                      "files:/srv/" + *rc::gen::element<std::string>("a", "ä b", "%41?x=y&z")};
  const auto again = Handle::parse(handle.text());
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->key == handle.key && again->claim == handle.claim && again->epoch == handle.epoch);
  RC_ASSERT(again->space == handle.space);
}

RC_GTEST_PROP(Properties, TwoKeysHaveTwoStems, ()) {
  const Key one = any_key();
  const Key other = *rc::gen::arbitrary<bool>() ? any_key() : one;
  RC_ASSERT((file_names(one).stem == file_names(other).stem) == (one == other));
}

}  // namespace
}  // namespace tenure
