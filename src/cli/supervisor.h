// Watches over a running command: passes signals on, and ends it when the lease is lost.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/child.h"
#include "cli/group_ear.h"
#include "cli/renewer.h"
#include "cli/signals.h"
#include "tenure/space.h"

namespace tenure::cli {

struct Supervised {
  ChildEnd end;
  std::optional<Loss> loss;  // it was lost before the command had ended
};

struct Watchwords {
  AtLoss at_loss = AtLoss::terminate;
  Duration grace = std::chrono::seconds(10);
  std::function<void(const Loss&)> on_loss;  // to tell the user, once
};

// Returns when the child has ended and been reaped.
Supervised supervise(const Child& child, Lease& lease, const Renewer& renewer, const SignalGate& gate, GroupEar& ear,
                     const Watchwords& words);

}  // namespace tenure::cli
