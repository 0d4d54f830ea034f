#include "rules/receiver.h"

#include <gtest/gtest.h>

#include <array>

namespace tenure::rules {
namespace {

constexpr char kBoot[] = "11111111-2222-3333-4444-555555555555";
constexpr char kOtherBoot[] = "66666666-7777-8888-9999-000000000000";

Standpoint here() {
  Standpoint self;
  self.host = "host-a";
  self.identity.boot_id = kBoot;
  return self;
}

ReceiverProcess recorded() {
  ReceiverProcess process;
  process.generation = "g";
  process.pid = 4711;
  process.start_identity = "815";
  process.boot_identity = kBoot;
  process.executable = "/usr/bin/node";
  process.hostname = "host-a";
  process.created_at = "2026-01-01T00:00:00.000Z";
  return process;
}

Liveness liveness(const ReceiverProcess& process, Anywhere anywhere, bool shared = false) {
  return judge_receiver_process(process, anywhere, shared, here()).verdict.liveness;
}

TEST(ReceiverVerdicts, InThisBootTheKernelDecides) {
  EXPECT_EQ(liveness(recorded(), Anywhere::found), Liveness::live);
  EXPECT_EQ(liveness(recorded(), Anywhere::nowhere), Liveness::dead);
  EXPECT_EQ(liveness(recorded(), Anywhere::unseen), Liveness::unknown);
}

TEST(ReceiverVerdicts, NeitherARenamedHostNorAReplacedProgramIsADeath) {
  ReceiverProcess process = recorded();
  process.hostname = "Former-Name";
  process.executable = "/usr/bin/node (deleted)";
  EXPECT_EQ(liveness(process, Anywhere::found), Liveness::live);
  EXPECT_EQ(liveness(process, Anywhere::nowhere), Liveness::dead) << "the kernel is the same, whatever its name";
  EXPECT_FALSE(judge_receiver_process(process, Anywhere::unseen, false, here()).elsewhere);
}

TEST(ReceiverVerdicts, OfAnotherBootOnlyThisMachinesOwnFolderTells) {
  ReceiverProcess process = recorded();
  process.boot_identity = kOtherBoot;
  EXPECT_EQ(liveness(process, Anywhere::unseen), Liveness::dead);
  EXPECT_EQ(liveness(process, Anywhere::unseen, true), Liveness::unknown) << "another machine may bear the name";
  process.hostname = "host-b";
  const auto judged = judge_receiver_process(process, Anywhere::unseen, false, here());
  EXPECT_EQ(judged.verdict.liveness, Liveness::unknown);
  EXPECT_TRUE(judged.elsewhere);
}

TEST(ReceiverVerdicts, AHostNameOfManyMachinesProvesNothing) {
  for (const char* name : {"localhost", "localhost.localdomain"}) {
    ReceiverProcess process = recorded();
    process.boot_identity = kOtherBoot;
    process.hostname = name;
    Standpoint self = here();
    self.host = name;
    EXPECT_EQ(judge_receiver_process(process, Anywhere::unseen, false, self).verdict.liveness, Liveness::unknown);
  }
}

TEST(ReceiverVerdicts, HostNamesAreComparedAsNames) {
  ReceiverProcess process = recorded();
  process.boot_identity = kOtherBoot;
  process.hostname = "HOST-A";
  EXPECT_EQ(liveness(process, Anywhere::unseen), Liveness::dead);
}

TEST(ReceiverVerdicts, WithoutABootOnlyLifeCanBeProven) {
  ReceiverProcess process = recorded();
  process.boot_identity.reset();
  EXPECT_EQ(liveness(process, Anywhere::found), Liveness::live);
  EXPECT_EQ(liveness(process, Anywhere::nowhere), Liveness::unknown);
  Standpoint self = here();
  self.identity.boot_id.clear();
  EXPECT_EQ(judge_receiver_process(recorded(), Anywhere::nowhere, false, self).verdict.liveness, Liveness::unknown);
}

TEST(ReceiverVerdicts, RecordsOfMacOsAreUnknownWhateverIsSeenHere) {
  ReceiverProcess process = recorded();
  process.start_identity = "Mon Nov 30 10:26:50 2026";
  process.boot_identity = "{ sec = 1764498410, usec = 0 } Sun Nov 30 10:26:50 2026";
  for (const Anywhere anywhere : {Anywhere::found, Anywhere::nowhere, Anywhere::unseen}) {
    EXPECT_EQ(liveness(process, anywhere), Liveness::unknown);
  }
  EXPECT_FALSE(comparable(process));
}

TEST(ReceiverVerdicts, NumbersThatNoProcessHasAreNotCompared) {
  ReceiverProcess process = recorded();
  process.pid = std::uint64_t{1} << 33;
  EXPECT_FALSE(comparable(process));
  EXPECT_EQ(liveness(process, Anywhere::nowhere), Liveness::unknown);
  process = recorded();
  process.start_identity = "8 15";
  EXPECT_FALSE(comparable(process));
}

// Every small world: dead is never said but of a process of this boot that is nowhere, or of a former boot of this very
// machine's own folder; and what was found is never called dead.
TEST(ReceiverVerdicts, DeadIsSaidOnProofAlone) {
  int worlds = 0;
  for (const char* boot : {kBoot, kOtherBoot, ""}) {
    for (const char* own : {kBoot, ""}) {
      for (const char* host : {"host-a", "host-b", "localhost"}) {
        for (const Anywhere anywhere : {Anywhere::found, Anywhere::nowhere, Anywhere::unseen}) {
          for (const bool shared : {false, true}) {
            ReceiverProcess process = recorded();
            process.boot_identity = *boot == '\0' ? std::nullopt : std::optional<std::string>(boot);
            process.hostname = host;
            Standpoint self = here();
            self.identity.boot_id = own;
            const auto judged = judge_receiver_process(process, anywhere, shared, self);
            const bool this_boot = process.boot_identity && *process.boot_identity == own;
            const bool former = process.boot_identity && *own != '\0' && !this_boot && process.hostname == self.host;
            const bool proof = (this_boot && anywhere == Anywhere::nowhere) || (former && !shared);
            EXPECT_EQ(judged.verdict.liveness == Liveness::dead, proof)
                << boot << own << host << int(anywhere) << shared;
            EXPECT_TRUE(!this_boot || anywhere != Anywhere::found || judged.verdict.liveness == Liveness::live);
            EXPECT_FALSE(judged.verdict.evidence.empty());
            ++worlds;
          }
        }
      }
    }
  }
  EXPECT_EQ(worlds, 3 * 2 * 3 * 3 * 2);
}

}  // namespace
}  // namespace tenure::rules
