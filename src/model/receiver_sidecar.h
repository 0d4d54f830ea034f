// What we keep beside pi-amq's records, whose format has no room for it. Pages:
// docs/reference/format-receiver-sidecar.md; golden files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/evidence.h"
#include "tenure/epoch.h"
#include "tenure/error.h"
#include "tenure/handle.h"
#include "tenure/holder.h"
#include "tenure/terms.h"

namespace tenure {

// receiver.lock/tenure.json: the rest of what is known of an owner that is one of us.
struct ReceiverSidecar {
  std::string generation;  // of the owner.json it belongs to
  Epoch epoch;             // 1 to 2^53-1
  ClaimId claim;
  ProcessIdentity process;
  std::optional<ProcessIdentity> owner_process;  // whom the lease is kept for
  FileIdentity life;                             // tenure.guard, whose lock proves the holder's life
  std::string owner;                             // label
  std::string part;                              // label
  std::string reason;
  AtLoss at_loss = AtLoss::terminate;
  std::string host;
  std::string user_name;
  std::string command;
  std::string directory;
  std::string channel;  // label
  std::string version;  // label; under the key "owner_version", since "version" is that of the format
  std::int64_t since_ms = 0;

  friend bool operator==(const ReceiverSidecar&, const ReceiverSidecar&) = default;
};

inline constexpr std::size_t kMaxSidecarBytes = std::size_t{64} * 1024;
// What we write is never longer than this, whatever it holds.
inline constexpr std::size_t kMaxWrittenSidecarBytes = std::size_t{12} * 1024;

// The sidecar as it will stand on disk: text made valid UTF-8 and cut (labels, generation, host and user name 256
// bytes, reason 1024, command 512, directory 1024, ids 64). One within these bounds comes back unchanged.
ReceiverSidecar bounded(const ReceiverSidecar& sidecar);
// Two-space JSON and a newline. Always parses back to bounded(sidecar) if epoch, claim and generation are there.
std::string encode(const ReceiverSidecar& sidecar);
// Code::damaged: not JSON, not an object, a key twice, a field missing or of the wrong type, no generation, epoch or
// claim, an epoch of 2^53 or more, another version. Unknown keys are ignored.
Result<ReceiverSidecar> decode_receiver_sidecar(std::string_view bytes);

// tenure.epochs: the counter of the namespace's epochs, twice. Each half is 512 bytes, which a disk writes whole or
// leaves alone: so one of them can be written in place while the other stands.
//   tenure-epoch 1 <epoch> <folder> <crc32 of the text before, 8 hex digits>      blanks, then \n as the last byte
struct EpochSlot {
  Epoch epoch;               // below 2^53
  std::uint64_t folder = 0;  // inode of the namespace where it was written: a copy of the folder has another
  friend bool operator==(const EpochSlot&, const EpochSlot&) = default;
};
struct EpochSlots {
  std::optional<EpochSlot> first, second;  // nullopt: damaged, or not there
  friend bool operator==(const EpochSlots&, const EpochSlots&) = default;
};

inline constexpr std::size_t kEpochSlotBytes = 512;
inline constexpr std::size_t kEpochFileBytes = 2 * kEpochSlotBytes;

// One half, for writing it in place.
std::string encode_epoch_slot(const EpochSlot& slot);
std::string encode_epoch_slots(const EpochSlot& first, const EpochSlot& second);
// A half counts only if it is, byte for byte, what encode_epoch_slot() gives for an epoch below 2^53. Of a file that
// was cut short the first half may still be whole; bytes past the second are not looked at.
EpochSlots decode_epoch_slots(std::string_view bytes);

}  // namespace tenure
