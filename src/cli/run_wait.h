// The wait of `run` for a key, with all that can end it.
#pragma once

#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/sentinel.h"
#include "cli/signals.h"
#include "tenure/space.h"
#include "tenure/stop.h"

namespace tenure::cli {

// What came of a wait that was not refused.
struct Got {
  std::optional<Lease> lease;  // nullopt: we run inside the command of whoever holds it, under its lease
  Epoch epoch;
  std::optional<std::uint32_t> slot;  // of several
};

class RunWait {
 public:
  RunWait(const Space& space, SignalGate& gate, const Arguments& arguments)
      : space_(space), gate_(gate), arguments_(arguments) {}

  // One key after the other. `holding`: others were got before, and are held meanwhile.
  Result<Got> claim(const Key& key, ClaimOptions options, bool holding);

  // A signal that ended the wait, 0 for none.
  int signal() const { return signal_; }
  // Whether one has come. Also asked once more when the command is about to begin.
  bool interrupted();

 private:
  void watch();
  void tell(const Observation& seen, std::optional<Duration> wait);
  void decide(const Observation& seen);
  // Whether what is held around us does for this claim, or never lets it be, where it need not wait to find out.
  Result<void> look_around(const Key& key);
  void refuse(const Observation& seen, const std::string& text, Code code = Code::held);

  const Space& space_;
  SignalGate& gate_;
  const Arguments& arguments_;
  int signal_ = 0;
  std::optional<Stop> stop_;  // of the wait for this key
  Terms terms_;               // of the claim
  bool holding_ = false;
  bool told_of_elsewhere_ = false;
  std::optional<Sentinel> sentinel_;
  std::optional<Error> blind_;  // signals could not be watched for
  // There is no point in waiting for this holder:
  std::optional<Got> nested_;  // as it is held around us
  std::optional<Error> refusal_;
};

}  // namespace tenure::cli
