// May this epoch replace a fenced file? Pure verdicts: over a look into the space, and over the file's sidecar.
#pragma once

#include <optional>
#include <string>

#include "model/fence_record.h"
#include "tenure/epoch.h"
#include "tenure/error.h"
#include "tenure/holder.h"

namespace tenure::rules {

// Whether the key is held under this epoch now. Code::lost when it is not, Code::expired when the lease is past its TTL
// (a renewal may still save it), Code::damaged when the record cannot be read; the error carries the observation.
Result<void> epoch_current(const Observation& seen, Epoch epoch);

struct FenceSight {
  enum class Reading : std::uint8_t { missing, unreadable, value };
  Reading reading = Reading::missing;
  FenceRecord record;        // when value
  std::optional<Error> why;  // when unreadable
  std::string place;         // of the sidecar, as people type it
};

// What the space said. Gone: there is no such space (any more), or it cannot be reached; any other failure is no answer
// and no leave.
struct SpaceSight {
  enum class Answer : std::uint8_t { seen, gone, failed };
  Answer answer = Answer::gone;
  std::optional<Observation> seen;  // when seen
  std::optional<Error> why;         // when gone or failed
};

struct FenceVerdict {
  bool raise = false;       // the sidecar must say this epoch, durably, before anything is replaced
  bool by_sidecar = false;  // the space could not be asked: the sidecar alone let it in
};

// `wanted`: the key and the space that the writer names, and its epoch.
//
//   sidecar      space   epoch               verdict
//   unreadable   any     any                 Code::damaged
//   other guard  any     any                 Code::usage
//   value        any     older than seen     Code::lost
//   any          failed  else                that failure
//   any          seen    not current there   as epoch_current()
//   any          seen    current             let in
//   value        gone    seen, or newer      let in, by the sidecar alone
//   missing      gone    any                 Code::unreachable: nobody vouches for it
Result<FenceVerdict> may_write(const FenceSight& sidecar, const SpaceSight& space, const FenceRecord& wanted);

}  // namespace tenure::rules
