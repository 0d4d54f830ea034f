// A worker of the storm over a local space: it does at random all that a member can do, and writes down what it knows.
//
//   storm_local_worker MOOD URL HISTORY SERIAL SEED KEY…   until SIGTERM
//     storm    claims, waits, tickets, TTLs, renewals, revocations, children; it leaves, or becomes a new program,
//     unasked calm     claims, waits, verifications, releases and revocations alone
//   storm_local_worker --sweep URL KEY…    claims each key once, within 10 s, and releases it
//   storm_local_worker --check URL         says what is not whole in the table
//   storm_local_worker --prepare FOLDER MEMBERS   makes a space with room for so many
//   storm_local_worker --hold URL KEY      waits for the key, says its epoch, and holds it until the end of its input
//   storm_local_worker --deaf FOLDER KEY   the same, but it sleeps for a minute where the engine bids it sleep less,
//   and
//                                          hears no wake
//   storm_local_worker --nest              the first process of a pid namespace: buries orphans
//   storm_local_worker --idle MS           a child that was made by fork and exec
//
// HISTORY gets one line an event, as history.h says. Events:
//   joined -                      the space is open
//   waiting WAIT                  before a claim; WAIT in milliseconds is what was asked for
//   granted EPOCH WAIT TTL        after it returned; TTL in milliseconds, 0: none
//   refused CODE WAIT
//   inside EPOCH                  a verification passed      renewed EPOCH    a renewal
//   releasing EPOCH               before the release         released EPOCH   after it
//   leaving EPOCH                 before an end or an exec that gives nothing back
//   lost EPOCH                    the handle says so
//   failed CODE EPOCH             a verification, a renewal or a release that ended otherwise
//   revoking EPOCH                before a revocation by force of the lease with that epoch
//   revoked EPOCH                 after it                   spared CODE EPOCH    it was refused
//   child CODE                    what a forked child was told when it used the handle of its parent
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/local/check.h"
#include "engine/local/local.h"
#include "lease/over.h"
#include "os/linux/local_folder.h"
#include "os/linux/real_clock.h"
#include "os/linux/real_processes.h"
#include "os/linux/real_random.h"
#include "os/linux/real_words.h"
#include "storm/history.h"
#include "tenure/space.h"

namespace {

using std::chrono::milliseconds;
using tenure::Key;
using tenure::Lease;
using tenure::Space;
using tenure::storm::History;
using tenure::storm::name_of;
using tenure::storm::now;

constexpr int kMostWaitMs = 1'500;
constexpr int kMostHoldMs = 8;
constexpr int kMostTtlMs = 300;
constexpr int kMostIdleMs = 800;
constexpr unsigned kLastOfChildSeconds = 5;

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
        words_(words),
        wild_(std::string_view(words[1]) == "storm") {}

  void run() {
    const std::int64_t began = now();
    history_.tell(began, began, "-", "joined", "-");
    while (!stop_.requested()) turn();
  }

 private:
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  bool one_in(int count) { return below(count) == 0; }
  bool wild_one_in(int count) { return wild_ && one_in(count); }

  void turn();
  std::optional<Lease> claim(const Key& key);
  void work(Lease& lease);
  void look(Lease& lease);
  void extend(Lease& lease);
  void give_back(Lease& lease);
  void leave(const Lease& lease, bool exec);
  void revoke(const Key& key);
  void bear_child(Lease& lease);

  Space space_;
  History history_;
  const tenure::Stop& stop_;
  const std::vector<Key> keys_;
  std::mt19937_64 random_;
  char** const words_;
  const bool wild_;
  std::optional<Key> ticket_for_;  // its place in line may still be ours
};

std::optional<Lease> Worker::claim(const Key& key) {
  tenure::ClaimOptions options;
  int wait_ms = one_in(7) ? 0 : 1 + below(kMostWaitMs);
  if (wild_one_in(8) || ticket_for_) {
    // One in four polls in the place of others, too.
    options.ticket = one_in(4) ? "a shared ticket" : "ticket of " + std::string(words_[4]);
    options.grace = milliseconds(1 + below(1'000));
    wait_ms = 1 + below(60);
    ticket_for_ = key;
  }
  const int ttl_ms = wild_one_in(8) ? 20 + below(kMostTtlMs) : 0;
  if (ttl_ms != 0) options.terms.ttl = milliseconds(ttl_ms);
  options.wait = milliseconds(wait_ms);
  options.stop = &stop_;
  const std::int64_t before = now();
  const std::string asked = std::to_string(wait_ms);
  if (wild_) history_.tell(before, before, key.text(), "waiting", asked);
  auto lease = space_.claim(key, options);
  const std::int64_t after = now();
  if (!lease) {
    history_.tell(before, after, key.text(), "refused", name_of(lease.error().code) + " " + asked);
    if (!one_in(5)) return std::nullopt;
    ticket_for_.reset();
    return std::nullopt;
  }
  ticket_for_.reset();
  history_.tell(before, after, key.text(), "granted",
                lease->epoch().text() + " " + asked + " " + std::to_string(ttl_ms));
  return std::move(*lease);
}

void Worker::look(Lease& lease) {
  const std::int64_t before = now();
  auto mine = lease.verify();
  const std::int64_t after = now();
  const std::string epoch = lease.epoch().text();
  if (mine) {
    history_.tell(before, after, lease.key().text(), "inside", epoch);
  } else {
    history_.tell(before, after, lease.key().text(), "failed", name_of(mine.error().code) + " " + epoch);
  }
}

void Worker::extend(Lease& lease) {
  const std::int64_t before = now();
  auto renewed = lease.renew();
  const std::int64_t after = now();
  const std::string epoch = lease.epoch().text();
  if (renewed) {
    history_.tell(before, after, lease.key().text(), "renewed", epoch);
  } else {
    history_.tell(before, after, lease.key().text(), "failed", name_of(renewed.error().code) + " " + epoch);
  }
}

void Worker::work(Lease& lease) {
  const int looks = below(4);
  for (int i = 0; i < looks && !lease.lost(); ++i) {
    look(lease);
    if (wild_one_in(6)) extend(lease);
    if (one_in(2)) continue;
    pollfd loss{lease.lost_fd(), POLLIN, 0};
    poll(&loss, 1, wild_one_in(30) ? kMostTtlMs : below(kMostHoldMs));
  }
  if (wild_one_in(50)) bear_child(lease);
}

void Worker::give_back(Lease& lease) {
  const std::int64_t before = now();
  const std::string epoch = lease.epoch().text();
  history_.tell(before, before, lease.key().text(), "releasing", epoch);
  auto released = lease.release();
  const std::int64_t after = now();
  if (released && *released) {
    history_.tell(before, after, lease.key().text(), "released", epoch);
  } else {
    const std::string why = released ? "not_held" : name_of(released.error().code);
    history_.tell(before, after, lease.key().text(), "failed", why + " " + epoch);
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

// A child that may outlive us, and keeps nothing of ours: neither with our memory nor as another program.
void Worker::bear_child(Lease& lease) {
  const bool exec = one_in(2);
  const std::string idle = std::to_string(below(kMostIdleMs));
  if (fork() != 0) return;
  alarm(kLastOfChildSeconds);
  if (exec) {
    execl("/proc/self/exe", words_[0], "--idle", idle.c_str(), nullptr);
    _exit(5);
  }
  const std::int64_t before = now();
  auto mine = lease.verify();
  history_.tell(before, now(), lease.key().text(), "child", mine ? "ok" : name_of(mine.error().code));
  poll(nullptr, 0, std::atoi(idle.c_str()));
  _exit(0);
}

void Worker::revoke(const Key& key) {
  auto seen = space_.holder(key);
  if (!seen || seen->state != tenure::State::held) return;
  const std::string epoch = seen->epoch.text();
  const std::int64_t before = now();
  history_.tell(before, before, key.text(), "revoking", epoch);
  auto revoked = space_.revoke(key, {.reason = "a storm", .force = true, .only_epoch = seen->epoch});
  const std::int64_t after = now();
  if (revoked) {
    history_.tell(before, after, key.text(), "revoked", epoch);
  } else {
    history_.tell(before, after, key.text(), "spared", name_of(revoked.error().code) + " " + epoch);
  }
}

void Worker::turn() {
  const Key& key =
      ticket_for_ ? Key(*ticket_for_) : keys_[static_cast<std::size_t>(below(static_cast<int>(keys_.size())))];
  if (one_in(25)) return revoke(key);
  auto lease = claim(key);
  if (!lease) return;
  work(*lease);
  if (lease->lost()) {
    const std::int64_t seen = now();
    history_.tell(seen, seen, lease->key().text(), "lost", lease->epoch().text());
    return;
  }
  if (wild_one_in(80)) leave(*lease, one_in(2));
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
  std::cerr << getpid() << ": " << name_of(error.code) << ": " << error.message << '\n';
  return 3;
}

int sweep(const char* url, char** words) {
  auto space = Space::open(url);
  if (!space) return fail_with(space.error());
  for (const Key& key : keys_of(words)) {
    tenure::ClaimOptions options;
    options.wait = std::chrono::seconds(10);
    auto lease = space->claim(key, options);
    if (!lease) return fail_with(lease.error());
    if (auto released = lease->release(); !released) return fail_with(released.error());
    std::cout << key.text() << ' ' << lease->epoch().value() << '\n';
  }
  return 0;
}

int check(const char* url) {
  auto space = Space::open(url);
  if (!space) return fail_with(space.error());
  for (const std::string& fault : tenure::local::faults_in(tenure::local::core_of(space->engine()))) {
    std::cout << fault << '\n';
  }
  return 0;
}

constexpr auto kLongest = std::chrono::minutes(1);

tenure::env::Environment real_environment() {
  return {std::make_shared<const tenure::os::RealClock>(), std::make_shared<tenure::os::RealRandom>(),
          std::make_shared<const tenure::os::RealProcesses>()};
}

int hold(Space& space, const char* word) {
  auto key = Key::parse(word);
  if (!key) return 2;
  tenure::ClaimOptions options;
  options.wait = kLongest;
  auto lease = space.claim(*key, options);
  if (!lease) return fail_with(lease.error());
  std::cout << lease->epoch().value() << std::endl;
  std::cin.get();
  return lease->release() ? 0 : 3;
}

int hold(const char* url, const char* word) {
  auto space = Space::open(url);
  return space ? hold(*space, word) : fail_with(space.error());
}

// The mistake that the watch is there to find.
class DeafWords final : public tenure::env::Words {
 public:
  void wait(std::span<const tenure::env::Watched> /*words*/, tenure::Duration /*at_most*/) override {
    const auto until = std::chrono::steady_clock::now() + kLongest;
    while (std::chrono::steady_clock::now() < until) poll(nullptr, 0, 1'000);
  }
  void wake(const tenure::env::Word& word, int at_most) override { real_.wake(word, at_most); }

 private:
  tenure::os::RealWords real_;
};

int hold_deaf(const char* path, const char* word) {
  auto folder = tenure::os::RealLocalFolder::open(path, true, {});
  if (!folder) return fail_with(folder.error());
  auto environment = real_environment();
  auto engine = tenure::open_local(std::move(*folder), std::make_shared<DeafWords>(), environment, {});
  if (!engine) return fail_with(engine.error());
  Space space = tenure::lease::over(*engine, environment, std::string("local:") + path);
  return hold(space, word);
}

// Room for few: so the numbers of the dead are taken over, and cleared up after, all the time.
int prepare(const char* path, const char* members) {
  auto folder = tenure::os::RealLocalFolder::open(path, true, {});
  if (!folder) return fail_with(folder.error());
  const auto environment = real_environment();
  tenure::LocalOptions options;
  options.remake = tenure::local::WantedLimits{.members = static_cast<std::uint32_t>(std::atoi(members))};
  auto engine = tenure::open_local(std::move(*folder), std::make_shared<tenure::os::RealWords>(), environment, options);
  return engine ? 0 : fail_with(engine.error());
}

// Whose only task is to be there: children that lose their parent are buried by the system, because nobody asks for
// them.
int nest() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}

int aside(int count, char** words) {
  const std::string what = words[1];
  if (what == "--sweep" && count >= 4) return sweep(words[2], words + 3);
  if (what == "--check" && count == 3) return check(words[2]);
  if (what == "--prepare" && count == 4) return prepare(words[2], words[3]);
  if (what == "--hold" && count == 4) return hold(words[2], words[3]);
  if (what == "--deaf" && count == 4) return hold_deaf(words[2], words[3]);
  if (what == "--nest" && count == 2) return nest();
  if (what == "--idle" && count == 3) return poll(nullptr, 0, std::atoi(words[2]));
  return 2;
}

}  // namespace

int main(int count, char** words) {
  signal(SIGCHLD, SIG_IGN);
  if (count >= 2 && words[1][0] == '-') return aside(count, words);
  if (count < 7) return 2;
  auto stop = tenure::Stop::create();
  if (!stop) return fail_with(stop.error());
  stop_on_term = &*stop;
  struct sigaction action{};
  action.sa_handler = on_term;
  sigaction(SIGTERM, &action, nullptr);
  History history(words[3], words[4]);
  if (!history.good()) return 4;
  auto space = Space::open(words[2]);
  if (!space) return fail_with(space.error());
  // After an exec the same words come again: the time makes it another course.
  const std::uint64_t seed = std::strtoull(words[5], nullptr, 10) ^ static_cast<std::uint64_t>(now());
  Worker(std::move(*space), std::move(history), *stop, keys_of(words + 6), seed, words).run();
  return 0;
}
