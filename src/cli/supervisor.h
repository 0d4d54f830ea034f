// Watches over a running command: passes signals on, and ends it and all that came of it when the lease is lost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/ask_desk.h"
#include "cli/guardian.h"
#include "cli/hook.h"
#include "cli/renewer.h"
#include "cli/signals.h"
#include "tenure/space.h"

namespace tenure::cli {

struct Supervised {
  ChildEnd end;
  bool at_bound = false;     // it was ended at its bound
  bool yielded = false;      // it was ended because somebody was promised its key
  std::optional<Loss> loss;  // it was lost before the command had ended
  BootTime at;               // when it was over
};

// What is held meanwhile: perhaps several leases, perhaps none.
struct Held {
  Lease lease;
  std::optional<Renewer> renewer;
};

using AllHeld = std::vector<std::unique_ptr<Held>>;

struct Watchwords {
  AtLoss at_loss = AtLoss::terminate;
  Duration grace = std::chrono::seconds(10);
  bool whole_tree = false;                                 // until nothing is left of what the command started
  bool json = false;                                       // how it tells of itself
  std::optional<MonotonicTime> bound;                      // when it is ended at the latest
  std::function<void()> on_bound;                          // to tell the user
  std::function<void(const Lease&, const Loss&)> on_loss;  // to tell the user, once
  std::function<Hook(const Lease&, const Loss&)> hook;     // what else is to be run then; may be empty
};

// Returns when the command has ended, and with `whole_tree`, or after a loss or a promise to yield that ends it, all
// that came of it.
Supervised supervise(Guardian& guardian, const AllHeld& held, SignalGate& gate, AskDesk& desk, const Watchwords& words);

}  // namespace tenure::cli
