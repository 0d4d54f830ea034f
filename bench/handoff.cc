#include "handoff.h"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "children.h"
#include "must.h"
#include "way.h"

namespace tenure::bench {
namespace {

constexpr int kMostProcesses = 64;

struct alignas(64) Tally {
  std::atomic<long> grants{0};
};

struct Scene {
  std::atomic<bool> over{false};
  std::atomic<int> inside{0};
  // Written only by who has the thing.
  std::atomic<int> last{-1};
  std::atomic<long> handoffs{0};
  std::array<Tally, kMostProcesses> tallies;
};

void note_grant(Scene& scene, int self) {
  if (scene.inside.fetch_add(1) != 0) stop_here("two processes had it at once");
  if (!scene.over) {
    if (scene.last.exchange(self) != self) ++scene.handoffs;
    ++scene.tallies[static_cast<std::size_t>(self)].grants;
  }
  scene.inside.fetch_sub(1);
}

void contend(Scene& scene, Way& way, int self) {
  while (!scene.over) {
    way.take();
    note_grant(scene, self);
    way.give();
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

}  // namespace

Handoff measure_handoff(const std::string& name, const std::string& folder, int processes, double seconds) {
  if (processes > kMostProcesses) stop_here("too many processes");
  Scene& scene = shared<Scene>();
  Pipe ready = make_pipe();
  Pipe gate = make_pipe();
  std::vector<pid_t> children;
  for (int self = 0; self < processes; ++self) {
    children.push_back(start_child([&] {
      gate.write_end.reset();
      auto way = make_way(name, folder);
      send_byte(ready.write_end.get());
      (void)receive_byte(gate.read_end.get());  // all start when the parent closes its end
      contend(scene, *way, self);
    }));
  }
  ready.write_end.reset();
  for (int each = 0; each < processes; ++each) {
    if (!receive_byte(ready.read_end.get())) stop_here("a contender did not start");
  }
  const auto begun = std::chrono::steady_clock::now();
  gate.write_end.reset();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  scene.over = true;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  for (const pid_t child : children) expect_success(child);
  Handoff result{took.count(), 0, scene.handoffs, jain_index(scene, processes)};
  for (const Tally& tally : scene.tallies) result.grants += tally.grants;
  return result;
}

}  // namespace tenure::bench
