#include "handoff.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "children.h"
#include "must.h"
#include "way.h"

namespace tenure::bench {
namespace {

using Clock = std::chrono::steady_clock;  // one clock for all processes of a machine

constexpr int kMostProcesses = 64;
constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr int kMostLooks = 60'000;
constexpr std::size_t kMostLatencies = 1 << 16;

std::int64_t now() {
  return Clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

struct alignas(64) Tally {
  std::atomic<long> grants{0};
  std::atomic<std::int64_t> held_ns{0};
};

// gathering: until each has had it once, so that whoever starts first is not counted alone.
enum class Act : int { gathering, counting, over };

struct Scene {
  std::atomic<Act> act{Act::gathering};
  std::atomic<int> gathered{0};
  std::atomic<std::int64_t> begun_at{0};  // written before counting
  std::atomic<std::int64_t> over_at{0};   // written before over
  std::atomic<int> inside{0};
  // Written only by who has the thing.
  std::atomic<int> last{-1};
  std::atomic<long> handoffs{0};
  std::atomic<std::int64_t> given_at{0};
  std::array<float, kMostLatencies> latencies_us{};
  std::array<Tally, kMostProcesses> tallies;
};

void sleep(std::chrono::microseconds time) {
  if (time.count() > 0) std::this_thread::sleep_for(time);
}

void note_grant(Scene& scene, int self, std::int64_t taken) {
  if (scene.inside.fetch_add(1) != 0) stop_here("two processes had it at once");
  const int last = scene.last.exchange(self);
  if (scene.act != Act::counting) return;
  if (last != self) {
    const auto index = static_cast<std::size_t>(scene.handoffs.fetch_add(1));
    if (index < kMostLatencies) scene.latencies_us[index] = static_cast<float>(taken - scene.given_at) / 1000;
  }
  ++scene.tallies[static_cast<std::size_t>(self)].grants;
}

// Just before it is given back. With `timed`, clocks are read: a measurement of bare hand-offs is better without.
void note_end(Scene& scene, int self, std::int64_t taken, bool timed) {
  scene.inside.fetch_sub(1);
  if (!timed) return;
  const std::int64_t given = now();
  scene.given_at = given;
  const Act act = scene.act;
  if (act == Act::gathering) return;
  const std::int64_t until = act == Act::over ? scene.over_at.load() : given;
  const std::int64_t from = std::max(taken, scene.begun_at.load());
  scene.tallies[static_cast<std::size_t>(self)].held_ns += std::max(until - from, std::int64_t{0});
}

void contend(Scene& scene, Way& way, int self, const Contention& contention) {
  const bool timed = contention.hold.count() > 0;
  bool gathered = false;
  while (scene.act != Act::over) {
    way.take();
    const std::int64_t taken = timed ? now() : 0;
    if (!std::exchange(gathered, true)) ++scene.gathered;
    note_grant(scene, self, taken);
    sleep(contention.hold);
    note_end(scene, self, taken, timed);
    way.give();
    sleep(contention.away);
  }
}

double jain_index(const Scene& scene, int processes) {
  double sum = 0;
  double squares = 0;
  for (int each = 0; each < processes; ++each) {
    const auto grants = static_cast<double>(scene.tallies[static_cast<std::size_t>(each)].grants);
    sum += grants;
    squares += grants * grants;
  }
  return squares > 0 ? sum * sum / (processes * squares) : 0;
}

void await_all(const Scene& scene, int processes) {
  for (int look = 0; scene.gathered < processes; ++look) {
    if (look == kMostLooks) stop_here("a contender never had it");
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

long grants(const Scene& scene) {
  long sum = 0;
  for (const Tally& tally : scene.tallies) sum += tally.grants;
  return sum;
}

void let_contend(const Scene& scene, const Contention& contention) {
  std::this_thread::sleep_for(std::chrono::duration<double>(contention.seconds));
  const std::int64_t longest = scene.begun_at + std::chrono::nanoseconds(kLongest).count();
  while (grants(scene) < contention.grants && now() < longest) std::this_thread::sleep_for(kBetweenLooks);
}

Handoff result_of(const Scene& scene, int processes) {
  const double nanoseconds = static_cast<double>(scene.over_at - scene.begun_at);
  Handoff result{nanoseconds / 1e9, 0, scene.handoffs, jain_index(scene, processes), 0, {}};
  result.grants = grants(scene);
  for (const Tally& tally : scene.tallies) {
    result.in_use += static_cast<double>(tally.held_ns) / nanoseconds;
  }
  const auto known = std::min(kMostLatencies, static_cast<std::size_t>(scene.handoffs));
  result.latencies_us.assign(scene.latencies_us.begin(), scene.latencies_us.begin() + static_cast<long>(known));
  return result;
}

}  // namespace

Handoff measure_handoff(const std::string& name, const std::string& folder, const Contention& contention) {
  if (contention.processes > kMostProcesses) stop_here("too many processes");
  const SharedValue<Scene> memory;
  Scene& scene = *memory;
  Pipe ready = make_pipe();
  Pipe gate = make_pipe();
  std::vector<pid_t> children;
  for (int self = 0; self < contention.processes; ++self) {
    children.push_back(start_child([&] {
      gate.write_end.reset();
      auto way = make_way(name, folder);
      send_byte(ready.write_end.get());
      (void)receive_byte(gate.read_end.get());  // all start when the parent closes its end
      contend(scene, *way, self, contention);
    }));
  }
  ready.write_end.reset();
  for (int each = 0; each < contention.processes; ++each) {
    if (!receive_byte(ready.read_end.get())) stop_here("a contender did not start");
  }
  gate.write_end.reset();
  await_all(scene, contention.processes);
  scene.begun_at = now();
  scene.act = Act::counting;
  let_contend(scene, contention);
  scene.over_at = now();
  scene.act = Act::over;
  for (const pid_t child : children) expect_success(child);
  return result_of(scene, contention.processes);
}

}  // namespace tenure::bench
