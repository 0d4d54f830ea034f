// Who holds, whether it lives, and how a key stands.
//
// Nothing in here is a secret and nothing in here proves anything to an engine: these are the words of a record,
// and a verdict on them with its evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenure/epoch.h"
#include "tenure/key.h"
#include "tenure/terms.h"
#include "tenure/time.h"

namespace tenure {

// A process, named so that no other can be mistaken for it. Start ticks are field 22 of /proc/PID/stat, raw: never
// turned into wall time, which a clock step would move. A zero or empty field means "not known".
struct ProcessIdentity {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot_id;     // /proc/sys/kernel/random/boot_id
  std::string machine_id;  // /etc/machine-id; for display and for "another machine", never as proof of sameness
  std::uint64_t pid_namespace = 0;   // inode of /proc/self/ns/pid
  std::uint64_t time_namespace = 0;  // inode of /proc/self/ns/time
  std::uint32_t user = 0;            // effective user id

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

enum class Liveness : std::uint8_t { live, dead, unknown };

// The verdict on a holder. `evidence` is one clause for people: "its life lock is held", "pid 4711 is gone".
// Unknown counts as live.
struct Verdict {
  Liveness liveness = Liveness::unknown;
  std::string evidence;
};

struct Holder {
  std::string owner;                             // label
  std::string part;                              // label
  ProcessIdentity process;                       // the process that keeps the lease
  std::optional<ProcessIdentity> owner_process;  // whom it is kept for, where that is another process
  std::string host;
  std::string user_name;
  std::string command;    // command line of the owner, cut to 512 bytes
  std::string directory;  // working directory of the owner
  std::string reason;
  std::string channel;
  std::string version;
  std::string session;
  WallTime since;
  std::optional<Duration> ttl;
  // Alone, or beside other readers; or in one of so many slots, and in which: 0 to slots - 1, no two at a time in one.
  Mode mode = Mode::exclusive;
  std::uint32_t slots = 1;
  std::optional<std::uint32_t> slot;
};

// One of those who hold a key together: readers, or those in its slots.
struct Companion {
  Holder holder;
  Epoch epoch;
  Verdict verdict;
  bool over = false;  // proven dead, or past its TTL: its place is to be had
  std::string why;    // or why it is not
};

// Somebody in line for a key.
struct Waiter {
  std::string owner;  // label
  std::string reason;
  std::string user_name;
  std::string command;  // of the process that waits
  ProcessIdentity process;
  WallTime since;
};

// Somebody who asks the holder to yield and has no answer yet.
struct Ask {
  std::uint64_t id = 0;  // what Lease::answer() wants; of this lease alone
  std::string by;        // label
  std::string reason;
  std::string user_name;
  std::string command;  // of the process that asks
  ProcessIdentity process;
  WallTime since;
  WallTime until;  // its deadline, for people: it is kept on another clock
};

// What becomes of an offer that nobody adopts in time.
enum class Back : std::uint8_t {
  holder,  // the holder keeps the lease, and the offer is gone
  line,    // the lease ends: the key goes to the first in line, or is free
};

// A lease that its holder offers to a successor. See yield.h.
struct Offer {
  std::string to;  // label of whoever may adopt it
  Back back = Back::holder;
  WallTime since;
  WallTime until;  // for people, as above
};

enum class State : std::uint8_t {
  free,     // nobody holds it
  held,     // a record names a holder (who may be dead: see the verdict)
  damaged,  // there is a record, but it cannot be read
};

// How a key stands, as one look saw it.
struct Observation {
  Key key;
  State state = State::free;
  Epoch epoch;  // of the lease; of a free key the highest one known, or none
  std::optional<Holder> holder;
  Verdict verdict;
  // Whether a claim made now by a stranger would be granted, and why or why not, in one clause.
  bool claimable = false;
  std::string why;
  // How many hold it: 0 of a free key, 1 of one that is held alone. Those who hold it together are here, all of them,
  // in the order of their grants; `holder` is the first of them that is not over.
  std::uint32_t holders = 0;
  std::vector<Companion> together;
  // How long since the holder last gave a sign, where that can be said on a clock that we share with it.
  std::optional<Duration> silent_for;
  // When it becomes claimable by itself, if it does.
  std::optional<Duration> frees_in;
  // Who waits for it, in the order of their turn, at most 64 of them; and how many do. Empty where the engine keeps no
  // line that others can see: see Traits::shows_line.
  std::vector<Waiter> line;
  std::uint32_t waiting = 0;
  // Who asks the holder to yield, in the order of their asking; and to whom the lease is offered, while it is. Only
  // where Traits::asks and Traits::handoff.
  std::vector<Ask> asks;
  std::optional<Offer> offer;
  // Other remarks worth a line: "renewed late by 3 s", "copied folder".
  std::string note;
};

}  // namespace tenure
