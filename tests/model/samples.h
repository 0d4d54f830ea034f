// The records that the golden files show.
#pragma once

#include "model/ceiling_record.h"
#include "model/fence_record.h"
#include "model/lease_record.h"
#include "model/receiver_record.h"
#include "model/receiver_sidecar.h"
#include "model/side_files.h"

namespace tenure::samples {

inline constexpr const char* kBoot = "6f1ed002-ab55-4f1f-9d7e-0e6f4b6d3b0a";

// AgentMux's, as its first version wrote it.
inline LeaseRecord agentmux_1() {
  LeaseRecord record;
  record.instance_id = "agent-7f3a";
  record.owner_boot_id = "3e0c7a52-6a0d-4a63-9f0b-2f6f4b1d9c11";
  record.block_id = "block-1";
  record.pid = 4711;
  record.acquired_at_ms = 1767225600000;
  record.renewed_at_ms = 1767225605000;
  return record;
}

inline LeaseRecord agentmux_2() {
  LeaseRecord record = agentmux_1();
  record.session_id = "5d6b1a9e-8f0c-4f7e-8d2a-0f1e2d3c4b5a";
  record.epoch = 3;
  record.hostname = "workbench";
  record.pid_start_s = 1767225000;
  return record;
}

inline LeaseRecord agentmux_3() {
  LeaseRecord record = agentmux_2();
  record.epoch = 4;
  record.channel = "stable";
  record.version = "0.44.2";
  record.claim_id = "0f8fad5b-d9cb-469f-a165-70867728950e";
  return record;
}

inline LeaseRecord ours() {
  LeaseRecord record;
  record.instance_id = "deploy/production \"blue\"";
  record.owner_boot_id = "9b1c5d7e0a2f4c6d8e1f3a5b7c9d0e2f";
  record.block_id = "1";
  record.pid = 4242;
  record.acquired_at_ms = 1772368496789;
  record.renewed_at_ms = 1772368501790;
  record.epoch = 17;
  record.hostname = "workbench";
  record.version = "0.1.0";
  record.claim_id = "00112233445566778899aabbccddeeff";
  LeaseExtra& extra = record.extra.emplace();
  extra.process = {4242, 9007199254740993, kBoot, "b6f6c0f3d1b94a0fb2f7a3de53c7a3f1", 4026531836, 4026531834, 1000};
  extra.owner_process = extra.process;
  extra.owner_process->pid = 4200;
  extra.owner_process->start_ticks = 1234567;
  extra.life = {66306, 18446744073709551615U};
  extra.renewed_monotonic = MonotonicTime{Duration{12345678901234567}};
  extra.renewed_boot = BootTime{Duration{12345678901234999}};
  extra.extended_monotonic = MonotonicTime{Duration{12345673900000000}};
  extra.extended_boot = BootTime{Duration{12345673900000432}};
  extra.terms.ttl = std::chrono::seconds(90);
  extra.terms.reason = "Überholung,\n\tzweiter Teil \x01";
  extra.user_name = "ada";
  extra.command = "make deploy";
  extra.directory = "/srv/app";
  return record;
}

// With everything that may be absent or unknown absent or unknown.
inline LeaseRecord ours_plain() {
  LeaseRecord record = ours();
  record.instance_id = "demo";
  record.session_id = "s-1";
  record.renewed_at_ms = record.acquired_at_ms;
  record.epoch = 1;
  record.channel = "nightly";
  record.version = "2.0";
  LeaseExtra& extra = record.extra.emplace();
  extra.process.pid = 4242;
  extra.process.start_ticks = 1234567;
  extra.process.boot_id = kBoot;
  extra.terms.mode = Mode::shared;
  extra.terms.slots = 4;
  extra.terms.at_loss = AtLoss::warn;
  return record;
}

inline std::vector<Sighting> sightings() {
  return {{std::string(kBoot) + "/4026531834", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
           MonotonicTime{Duration{12345678901234567}}},
          {"0b5a7c1e-3f0d-4c52-a8d1-9e0f6b7c8d21/4026531834",
           "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", MonotonicTime{Duration{5000000000}}}};
}

inline Revocation revocation() {
  return {Epoch(17),
          "hangs since noon",
          "ada",
          "workbench",
          5151,
          "tenure revoke deploy --force --reason 'hangs since noon'",
          true,
          1772368600000,
          "make deploy (pid 4242 of ada on workbench), epoch 17, since 2026-03-01T12:34:56.789Z"};
}

inline CeilingRecord ceiling() {
  return {.bound = Epoch(1772368497048576),
          .wall_seconds = 1772368496,
          .folder = {.identity = {.device = 66306, .inode = 131073}, .born = 1767225600123456789},
          .space = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}};
}

inline FenceRecord fence() {
  return {.epoch = Epoch(1772368497048576),
          .key = "deploy to b\xc3\xa9ta",
          .space = "local:/home/ada/.local/state/tenure/local/default"};
}

// As pi-amq writes it, but for the generation.
inline ReceiverOwner receiver_owner() {
  return {.process = {.generation = "tenure-00112233-4455-4677-8899-aabbccddeeff",
                      .pid = 4242,
                      .start_identity = "1234567",
                      .boot_identity = kBoot,
                      .executable = "/usr/local/bin/tenure",
                      .hostname = "workbench",
                      .created_at = "2026-11-30T10:26:50.123Z"},
          .session_id = "01985c3e-7a42-7c1b-9f3d-2b6e8a40d715",
          .session_file = "/home/ada/.pi/agent/sessions/\u00fcbung.jsonl",
          .root_id = "root-1"};
}

inline ReceiverSidecar receiver_sidecar() {
  ReceiverSidecar sidecar;
  sidecar.generation = receiver_owner().process.generation;
  sidecar.epoch = Epoch(17);
  sidecar.claim = ClaimId::parse("00112233445566778899aabbccddeeff").value();
  sidecar.process = {4242, 9007199254740993, kBoot, "b6f6c0f3d1b94a0fb2f7a3de53c7a3f1", 4026531836, 4026531834, 1000};
  sidecar.owner_process = sidecar.process;
  sidecar.owner_process->pid = 4200;
  sidecar.owner_process->start_ticks = 1234560;
  sidecar.life = {66306, 18446744073709551615U};
  sidecar.owner = "9b1c5d7e0a2f4c6d8e1f3a5b7c9d0e2f";
  sidecar.part = "1";
  sidecar.reason = "\u00dcberholung,\n\tzweiter Teil \x01";
  sidecar.host = "workbench";
  sidecar.user_name = "ada";
  sidecar.command = "pi --continue";
  sidecar.directory = "/srv/app";
  sidecar.channel = "nightly";
  sidecar.version = "2.0";
  sidecar.since_ms = 1796034410123;
  return sidecar;
}

// With everything that may be absent or unknown absent or unknown.
inline ReceiverSidecar receiver_sidecar_plain() {
  ReceiverSidecar sidecar;
  sidecar.generation = receiver_owner().process.generation;
  sidecar.epoch = Epoch(1);
  sidecar.claim = receiver_sidecar().claim;
  sidecar.process.pid = 4242;
  sidecar.at_loss = AtLoss::warn;
  return sidecar;
}

inline EpochSlots receiver_epochs() {
  return {EpochSlot{Epoch(18), 131073}, EpochSlot{Epoch(17), 131073}};
}

}  // namespace tenure::samples
