// Traits: what an engine promises and what it offers.
#pragma once

#include <optional>
#include <string>

#include "tenure/time.h"

namespace tenure {

// What an engine offers. A claim that asks for more is refused with Code::unsupported, by name.
struct Traits {
  std::string name;                     // "memory", "files"
  bool shared = false;                  // Mode::shared
  bool slots = false;                   // Terms::slots above 1
  bool ttl = false;                     // Terms::ttl
  bool first_in_first_out = false;      // waiting claims are granted in the order of their arrival
  bool durable_epochs = false;          // epochs rise across loss of power
  bool between_processes = false;       // excludes other processes, not only other handles
  bool reclaim_keeps_epoch = false;     // the same process and part claiming again keeps its epoch
  bool life_descriptor = false;         // Grant::life_descriptor can be had
  bool control_groups = false;          // ClaimOptions::control_group
  bool session_files = false;           // ClaimOptions::session_file
  bool tickets = false;                 // places in line that outlive a poll
  bool shows_line = false;              // Observation::line
  bool log = false;                     // remembers what happened
  bool asks = false;                    // holders can be asked to yield
  bool handoff = false;                 // a lease can be handed to a named successor
  bool own_labels = false;              // an empty owner or part of a claim stands for the engine's default
  bool pushes_loss = false;             // tells of losses by itself; nobody need look
  std::optional<std::string> only_key;  // the one key that there is
  std::optional<Duration> heartbeat;    // how often beat() wants to be called while a lease is held
  // How long an operation under guard may take, unless more is asked for.
  Duration guard_for = std::chrono::seconds(10);
  // Guarded for longer than this, neighbours of another program that share the space are refused meanwhile.
  std::optional<Duration> guard_courtesy;
  std::string exclusion;  // one line for people: what it promises and to whom
};

}  // namespace tenure
