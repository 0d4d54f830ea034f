// One key of a local: space that many processes want, or that a dead or hanging process has; and the same of its peers.
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "children.h"
#include "handoff.h"
#include "local_groups.h"
#include "must.h"
#include "ours.h"
#include "stores.h"
#include "takeover.h"

namespace tenure::bench {
namespace {

using Found = std::map<std::string, Figures>;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::size_t kBig = std::size_t{1} << 30;
constexpr int kBigDeaths = 1;
constexpr milliseconds kTtl{200};
constexpr int kHangs = 5;

// Alternates, `handoff_turns` times.
Found contend(const Settings& settings, const std::vector<std::string>& ways, const Contention& contention) {
  Found found;
  for (int turn = 0; turn < settings.handoff_turns; ++turn) {
    for (const std::string& way : ways) {
      if (!missing(way).empty()) continue;
      const Handoff result = measure_handoff(way, settings.folder, contention);
      Figures& figures = found[way];
      figures["handoffs_per_second"].push_back(static_cast<double>(result.handoffs) / result.seconds);
      figures["grants_per_second"].push_back(static_cast<double>(result.grants) / result.seconds);
      figures["jain_index"].push_back(result.jain);
      if (contention.hold.count() == 0) continue;
      figures["in_use"].push_back(result.in_use);
      auto& latencies = figures["latency_us"];
      latencies.insert(latencies.end(), result.latencies_us.begin(), result.latencies_us.end());
    }
  }
  return found;
}

template <int processes>
Found bare(const Settings& settings) {
  return contend(
      settings, {"local", "ticket", "flock"},
      {.processes = processes, .seconds = settings.handoff_seconds, .grants = settings.brief ? 0 : 20 * processes});
}

template <int processes>
Found with_hold(const Settings& settings) {
  return contend(settings, {"local", "flock", "ticket"},
                 {.processes = processes,
                  .seconds = settings.handoff_seconds,
                  .grants = 4 * processes,
                  .hold = milliseconds(1),
                  .away = milliseconds(1)});
}

Found share(const Settings& settings) {
  return contend(
      settings, {"local", "flock", "postgres"},
      {.processes = 32, .seconds = settings.handoff_seconds * 2, .hold = milliseconds(5), .away = milliseconds(50)});
}

Found deaths(const Settings& settings, int count, std::size_t resident_bytes) {
  Found found;
  for (int death = 0; death < count; ++death) {
    for (const std::string way : {"local", "flock"}) {
      const std::chrono::duration<double, std::micro> took = measure_takeover(way, settings.folder, resident_bytes);
      found[way]["us"].push_back(took.count());
    }
  }
  return found;
}

Found takeover(const Settings& settings) {
  return deaths(settings, settings.takeovers, 0);
}

long available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  long value = 0;
  while (file >> name >> value) {
    if (name == "MemAvailable:") return value * 1024;
    file.ignore(64, '\n');
  }
  return 0;
}

Found takeover_big(const Settings& settings) {
  if (!settings.brief && available_bytes() < 2 * static_cast<long>(kBig)) return {};  // bench/compare says so aloud
  return deaths(settings, std::min(settings.takeovers, kBigDeaths), settings.brief ? 1 << 20 : kBig);
}

// What the threads of a process have run so far, by its scheduler's account.
double cpu_ms(pid_t process) {
  double sum = 0;
  // Waiters begin no threads while they sleep: what is listed at the start is there at the end.
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::ifstream file(task.path() / "schedstat");
    double nanoseconds = 0;
    file >> nanoseconds;
    sum += nanoseconds / 1e6;
  }
  return sum;
}

double cpu_ms(const std::vector<pid_t>& processes) {
  double sum = 0;
  for (const pid_t each : processes) sum += cpu_ms(each);
  return sum;
}

// Sleepers behind a holder that is this measurement's parent of them all. They end with it.
class Line {
 public:
  Line(const std::string& way, const Settings& settings, int waiters) {
    processes_.push_back(start(way, settings, true));
    for (int each = 0; each < waiters; ++each) processes_.push_back(start(way, settings, false));
    for (const pid_t each : processes_) wait_until_asleep(each);
  }
  ~Line() {
    for (const pid_t each : processes_) ::kill(each, SIGKILL);
    for (const pid_t each : processes_) reap(each);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  std::vector<pid_t> waiters() const { return {processes_.begin() + 1, processes_.end()}; }

 private:
  static pid_t start(const std::string& name, const Settings& settings, bool first) {
    Pipe ready = make_pipe();
    const pid_t child = start_child([&] {
      auto way = make_way(name, settings.folder);
      if (first) way->take();
      send_byte(ready.write_end.get());
      if (!first) way->take();
      for (;;) ::pause();
    });
    ready.write_end.reset();
    if (!receive_byte(ready.read_end.get())) stop_here("a sleeper did not start");
    return child;
  }
  std::vector<pid_t> processes_;
};

Found sleepers(const Settings& settings) {
  const int count = settings.brief ? 5 : 100;
  const Line ours("local", settings, count);
  const Line theirs("flock", settings, count);
  const double ours_before = cpu_ms(ours.waiters());
  const double theirs_before = cpu_ms(theirs.waiters());
  std::this_thread::sleep_for(settings.brief ? milliseconds(100) : milliseconds(10'000));
  Found found;
  found["local"]["cpu_ms"] = {cpu_ms(ours.waiters()) - ours_before};
  found["flock"]["cpu_ms"] = {cpu_ms(theirs.waiters()) - theirs_before};
  return found;
}

struct Hang {
  std::atomic<std::int64_t> deadline{0};
  std::atomic<std::int64_t> granted{0};
};

std::int64_t boot_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A holder that stops itself with a TTL running, and a waiter.
double lateness_us(const Settings& settings) {
  const SharedValue<Hang> hang;
  Pipe held = make_pipe();
  const pid_t holder = start_child([&] {
    const Space space = must(Space::open(Ours::local(settings.folder)), "open");
    ClaimOptions options;
    options.terms.ttl = kTtl;
    Lease lease = must(space.claim(must(Key::parse("hang"), "key"), options), "claim");
    const auto left = lease.remaining();
    if (!left) stop_here("a lease with a TTL has no end");
    hang->deadline = boot_ns() + left->count();
    send_byte(held.write_end.get());
    ::raise(SIGSTOP);
  });
  held.write_end.reset();
  if (!receive_byte(held.read_end.get())) stop_here("the holder did not get it");
  const pid_t waiter = start_child([&] {
    const Space space = must(Space::open(Ours::local(settings.folder)), "open");
    ClaimOptions options;
    options.wait = std::nullopt;
    Lease lease = must(space.claim(must(Key::parse("hang"), "key"), options), "claim");
    hang->granted = boot_ns();
  });
  expect_success(waiter);
  must(::kill(holder, SIGKILL), "kill");
  reap(holder);
  return static_cast<double>(hang->granted - hang->deadline) / 1000;
}

// What the machine makes of a mere sleep until the same time.
double sleep_lateness_us() {
  const std::int64_t deadline = boot_ns() + std::chrono::nanoseconds(kTtl).count();
  const timespec until{deadline / 1'000'000'000, deadline % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
  return static_cast<double>(boot_ns() - deadline) / 1000;
}

Found hang(const Settings& settings) {
  Found found;
  for (int each = 0; each < (settings.brief ? 1 : kHangs); ++each) {
    found["local"]["late_us"].push_back(lateness_us(settings));
    found["sleep"]["late_us"].push_back(sleep_lateness_us());
  }
  return found;
}

}  // namespace

std::vector<Group> contended_groups() {
  return {{"handoff-8", bare<8>},
          {"handoff-32", bare<32>},
          {"handoff-64", bare<64>},
          {"hold-8", with_hold<8>},
          {"hold-32", with_hold<32>},
          {"hold-64", with_hold<64>},
          {"share", share},
          {"takeover", takeover},
          {"takeover-1GiB", takeover_big},
          {"sleepers", sleepers},
          {"hang", hang}};
}

}  // namespace tenure::bench
