// The formats on disk, byte for byte. A difference here is a change of format: it needs a new version and a line in the
// page of the format under docs/reference.
#include <gtest/gtest.h>

#include "model/files.h"
#include "model/samples.h"
#include "tenure/handle.h"

namespace tenure {
namespace {

TEST(Golden, AgentMuxsThreeShapesAreRead) {
  EXPECT_EQ(decode_lease_record(golden("agentmux-1.lease.json")).value(), samples::agentmux_1());
  EXPECT_EQ(decode_lease_record(golden("agentmux-2.lease.json")).value(), samples::agentmux_2());
  EXPECT_EQ(decode_lease_record(golden("agentmux-3.lease.json")).value(), samples::agentmux_3());
}

// Our printer makes the very bytes that AgentMux's current version makes.
TEST(Golden, AgentMuxsCurrentShapeIsWritten) {
  EXPECT_EQ(encode(samples::agentmux_3()), golden("agentmux-3.lease.json"));
}

TEST(Golden, OurLeaseRecord) {
  EXPECT_EQ(encode(samples::ours()), golden("tenure-1.lease.json"));
  EXPECT_EQ(decode_lease_record(golden("tenure-1.lease.json")).value(), samples::ours());
  EXPECT_EQ(encode(samples::ours_plain()), golden("tenure-1-plain.lease.json"));
  EXPECT_EQ(decode_lease_record(golden("tenure-1-plain.lease.json")).value(), samples::ours_plain());
}

TEST(Golden, EpochFile) {
  EXPECT_EQ(encode_epoch_file(Epoch(17)), golden("counter.epoch"));
  EXPECT_EQ(decode_epoch_file(golden("counter.epoch")).value(), Epoch(17));
}

TEST(Golden, SectionNote) {
  const std::vector<std::pair<std::string, SectionNote::State>> cases = {
      {"held", SectionNote::State::held}, {"free", SectionNote::State::free}, {"revoked", SectionNote::State::revoked}};
  for (const auto& [word, state] : cases) {
    const SectionNote note{Epoch(17), state};
    EXPECT_EQ(encode(note), golden("note-" + word + ".lock"));
    EXPECT_EQ(decode_section_note(golden("note-" + word + ".lock")).value(), note);
  }
}

TEST(Golden, Sightings) {
  EXPECT_EQ(encode(samples::sightings()), golden("sightings.seen"));
  EXPECT_EQ(decode_sightings(golden("sightings.seen")).value(), samples::sightings());
  EXPECT_EQ(encode(std::vector<Sighting>{}), golden("sightings-none.seen"));
}

TEST(Golden, Revocation) {
  EXPECT_EQ(encode(samples::revocation()), golden("revocation.revoked.json"));
  EXPECT_EQ(decode_revocation(golden("revocation.revoked.json")).value(), samples::revocation());
}

TEST(Golden, Fence) {
  EXPECT_EQ(encode(samples::fence()), golden("file.fence"));
  EXPECT_EQ(decode_fence_record(golden("file.fence")).value(), samples::fence());
}

TEST(Golden, Ceiling) {
  EXPECT_EQ(encode(samples::ceiling()), golden("ceiling"));
  EXPECT_EQ(decode_ceiling_record(golden("ceiling")).value(), samples::ceiling());
}

TEST(Golden, ReceiverOwnerAndGuard) {
  EXPECT_EQ(encode(samples::receiver_owner()), golden("receiver-owner.json"));
  EXPECT_EQ(decode_receiver_owner(golden("receiver-owner.json")).value(), samples::receiver_owner());
  EXPECT_EQ(encode(samples::receiver_owner().process), golden("receiver-guard.json"));
  EXPECT_EQ(decode_receiver_guard(golden("receiver-guard.json")).value(), samples::receiver_owner().process);
}

TEST(Golden, ReceiverSidecar) {
  EXPECT_EQ(encode(samples::receiver_sidecar()), golden("receiver-sidecar.json"));
  EXPECT_EQ(decode_receiver_sidecar(golden("receiver-sidecar.json")).value(), samples::receiver_sidecar());
  EXPECT_EQ(encode(samples::receiver_sidecar_plain()), golden("receiver-sidecar-plain.json"));
  EXPECT_EQ(decode_receiver_sidecar(golden("receiver-sidecar-plain.json")).value(), samples::receiver_sidecar_plain());
}

TEST(Golden, ReceiverEpochs) {
  const EpochSlots slots = samples::receiver_epochs();
  EXPECT_EQ(encode_epoch_slots(*slots.first, *slots.second), golden("receiver.epochs"));
  EXPECT_EQ(decode_epoch_slots(golden("receiver.epochs")), slots);
}

TEST(Golden, Handle) {
  const Handle handle{Key::parse("deploy/production \"blue\"").value(),
                      ClaimId::parse("00112233445566778899aabbccddeeff").value(), Epoch(17), "files:/srv/leases"};
  EXPECT_EQ(handle.text(), golden("handle.txt"));
  const auto read = Handle::parse(golden("handle.txt"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), handle.text());
}

}  // namespace
}  // namespace tenure
