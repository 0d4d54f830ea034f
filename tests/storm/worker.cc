// A worker of the storm: claims one of a few keys again and again, holds it for a moment, and writes down what it
// knows.
//
//   storm_worker URL HISTORY SERIAL SEED KEY…     until SIGTERM; sometimes it leaves, or becomes a new program, unasked
//   storm_worker --sweep URL KEY…                 claims and releases each key once
//
// HISTORY gets one line an event, as history.h says. Events:
//   granted EPOCH     after the claim returned           inside EPOCH     a verification passed
//   releasing EPOCH   before the release                 released EPOCH   after it
//   leaving EPOCH     before an end or an exec that gives nothing back
//   lost EPOCH        the handle says so                 refused CODE     a claim, and why
//   failed CODE       a verification or a release that ended otherwise
// A claim's line carries the wait that was asked for, in milliseconds, as a further word.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "storm/history.h"
#include "tenure/space.h"

namespace {

using tenure::Code;
using tenure::Key;
using tenure::Lease;
using tenure::Space;
using tenure::storm::History;
using tenure::storm::name_of;
using tenure::storm::now;

constexpr int kMostWaitMs = 1500;
constexpr int kMostHoldMs = 12;

// Set once in main, and used by the handler of SIGTERM.
const tenure::Stop* stop_on_term = nullptr;

void on_term(int /*signal*/) {
  stop_on_term->request();
}

class Worker {
 public:
  Worker(Space space, History history, const tenure::Stop& stop, std::vector<Key> keys, std::uint64_t seed,
         char** words)
      : space_(std::move(space)),
        history_(std::move(history)),
        stop_(stop),
        keys_(std::move(keys)),
        random_(seed),
        words_(words) {}

  void run() {
    while (!stop_.requested()) turn();
  }

 private:
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  void turn();
  std::optional<Lease> claim(const Key& key);
  void work(Lease& lease);
  void give_back(Lease& lease);
  void leave(const Lease& lease, bool exec);

  Space space_;
  History history_;
  const tenure::Stop& stop_;
  const std::vector<Key> keys_;
  std::mt19937_64 random_;
  char** const words_;
};

std::optional<Lease> Worker::claim(const Key& key) {
  // A tenth only tries; the others wait.
  const int wait_ms = below(10) == 0 ? 0 : 1 + below(kMostWaitMs);
  tenure::ClaimOptions options;
  options.wait = std::chrono::milliseconds(wait_ms);
  options.stop = &stop_;
  const std::int64_t before = now();
  auto lease = space_.claim(key, options);
  const std::int64_t after = now();
  const std::string asked = " " + std::to_string(wait_ms);
  if (!lease) {
    history_.tell(before, after, key.text(), "refused", name_of(lease.error().code) + asked);
    return std::nullopt;
  }
  history_.tell(before, after, key.text(), "granted", lease->epoch().text() + asked);
  return std::move(*lease);
}

void Worker::work(Lease& lease) {
  const int looks = 1 + below(3);
  for (int look = 0; look < looks && !lease.lost(); ++look) {
    const std::int64_t before = now();
    auto mine = lease.verify();
    const std::int64_t after = now();
    if (mine) {
      history_.tell(before, after, lease.key().text(), "inside", lease.epoch().text());
    } else {
      history_.tell(before, after, lease.key().text(), "failed", name_of(mine.error().code));
    }
    pollfd loss{lease.lost_fd(), POLLIN, 0};
    poll(&loss, 1, below(kMostHoldMs));
  }
}

void Worker::give_back(Lease& lease) {
  const std::int64_t before = now();
  history_.tell(before, before, lease.key().text(), "releasing", lease.epoch().text());
  auto released = lease.release();
  const std::int64_t after = now();
  if (released && *released) {
    history_.tell(before, after, lease.key().text(), "released", lease.epoch().text());
  } else {
    history_.tell(before, after, lease.key().text(), "failed", released ? "not_held" : name_of(released.error().code));
  }
}

// Ends, or becomes a new program, with the lease in hand: the kernel is to let go of it.
void Worker::leave(const Lease& lease, bool exec) {
  const std::int64_t before = now();
  history_.tell(before, before, lease.key().text(), "leaving", lease.epoch().text());
  if (exec) {
    execv("/proc/self/exe", words_);
    std::perror("exec");
    _exit(5);
  }
  _exit(0);
}

void Worker::turn() {
  const Key& key = keys_[static_cast<std::size_t>(below(static_cast<int>(keys_.size())))];
  auto lease = claim(key);
  if (!lease) return;
  work(*lease);
  if (lease->lost()) {
    const std::int64_t seen = now();
    history_.tell(seen, seen, key.text(), "lost", lease->epoch().text());
    return;
  }
  const int chance = below(40);
  if (chance == 0) leave(*lease, false);
  if (chance == 1) leave(*lease, true);
  give_back(*lease);
}

std::vector<Key> keys_of(char** words) {
  std::vector<Key> keys;
  for (; *words != nullptr; ++words) {
    auto key = Key::parse(*words);
    if (!key) std::exit(2);
    keys.push_back(std::move(*key));
  }
  return keys;
}

int fail_with(const tenure::Error& error) {
  std::cerr << name_of(error.code) << ": " << error.message << '\n';
  return 3;
}

int sweep(const char* url, char** words) {
  auto space = Space::open(url);
  if (!space) return fail_with(space.error());
  for (const Key& key : keys_of(words)) {
    auto lease = space->claim(key);
    if (!lease) return fail_with(lease.error());
    if (auto released = lease->release(); !released) return fail_with(released.error());
    std::cout << key.text() << ' ' << lease->epoch().value() << '\n';
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count >= 4 && std::string(words[1]) == "--sweep") return sweep(words[2], words + 3);
  if (count < 6) return 2;
  auto stop = tenure::Stop::create();
  if (!stop) return fail_with(stop.error());
  stop_on_term = &*stop;
  struct sigaction action{};
  action.sa_handler = on_term;
  sigaction(SIGTERM, &action, nullptr);
  History history(words[2], words[3]);
  auto space = Space::open(words[1]);
  if (!space) return fail_with(space.error());
  if (!history.good()) return 4;
  // After an exec the same words come again: the time makes it another course.
  const std::uint64_t seed = std::strtoull(words[4], nullptr, 10) ^ static_cast<std::uint64_t>(now());
  Worker(std::move(*space), std::move(history), *stop, keys_of(words + 5), seed, words).run();
  return 0;
}
