// Watches over a running command: passes signals on, and ends it and all that came of it when the lease is lost.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/guardian.h"
#include "cli/loss_hook.h"
#include "cli/renewer.h"
#include "cli/signals.h"
#include "tenure/space.h"

namespace tenure::cli {

struct Supervised {
  ChildEnd end;
  std::optional<Loss> loss;  // it was lost before the command had ended
};

// What is held meanwhile.
struct Held {
  Lease& lease;
  const Renewer& renewer;
};

struct Watchwords {
  AtLoss at_loss = AtLoss::terminate;
  Duration grace = std::chrono::seconds(10);
  bool whole_tree = false;                    // until nothing is left of what the command started
  std::function<void(const Loss&)> on_loss;   // to tell the user, once
  std::function<LossHook(const Loss&)> hook;  // what else is to be run then; may be empty
};

// Returns when the command has ended, and with `whole_tree`, or after a loss that ends it, all that came of it. `held`
// may be nullptr: then nothing can be lost.
Supervised supervise(Guardian& guardian, const Held* held, const SignalGate& gate, const Watchwords& words);

}  // namespace tenure::cli
