// The benchmarks of the files engine and of its peers, for Google Benchmark. Names are MEASUREMENT/WAY; what the ways
// are stands in way.h. bench/compare runs them in turns and says how they compare: one run of this program alone does
// not.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "handoff.h"
#include "must.h"
#include "ours.h"
#include "peers.h"
#include "settings.h"
#include "takeover.h"
#include "whole_process.h"

namespace tenure::bench {
namespace {

using benchmark::State;

void claim_release(State& state, const std::string& name, const std::string& folder) {
  auto way = make_way(name, folder);
  way->take();  // the first claim of a key makes its files
  way->give();
  for (auto _ : state) {
    way->take();
    way->give();
  }
}

// One operation while the thing is held.
template <class Operation>
void while_held(State& state, Way& way, Operation operation) {
  way.take();
  for (auto _ : state) operation();
  way.give();
}

void add_verify(const std::string& folder) {
  benchmark::RegisterBenchmark("verify/tenure", [=](State& state) {
    Ours ours(Ours::files(folder));
    while_held(state, ours, [&] { must(ours.lease().verify(), "verify"); });
  });
  benchmark::RegisterBenchmark("verify/agentmux", [=](State& state) {
    AgentMux agentmux(folder);
    while_held(state, agentmux, [&] { agentmux.verify(); });
  });
  benchmark::RegisterBenchmark("verify/file-read", [=](State& state) {
    SmallFile file(folder);
    for (auto _ : state) file.read();
  });
}

void add_renew(const std::string& folder) {
  benchmark::RegisterBenchmark("renew/tenure", [=](State& state) {
    Ours ours(Ours::files(folder));
    while_held(state, ours, [&] { must(ours.lease().renew(), "renew"); });
  });
  benchmark::RegisterBenchmark("renew/agentmux", [=](State& state) {
    AgentMux agentmux(folder);
    while_held(state, agentmux, [&] { agentmux.renew(); });
  });
  benchmark::RegisterBenchmark("renew/file-rewrite", [=](State& state) {
    SmallFile file(folder);
    for (auto _ : state) file.rewrite();
  });
}

void handoff(State& state, const std::string& name, const Settings& settings, int processes) {
  for (auto _ : state) {
    const Handoff result =
        measure_handoff(name, settings.folder, {.processes = processes, .seconds = settings.handoff_seconds});
    state.SetIterationTime(result.seconds);
    state.counters["grants_per_second"] = static_cast<double>(result.grants) / result.seconds;
    state.counters["handoffs_per_second"] = static_cast<double>(result.handoffs) / result.seconds;
    state.counters["jain_index"] = result.jain;
  }
}

void add_handoff(const Settings& settings) {
  for (const int processes : {2, 8}) {
    for (const std::string name : {"tenure", "flock", "flock-synced", "agentmux"}) {
      const std::string title = "handoff-" + std::to_string(processes) + "/" + name;
      benchmark::RegisterBenchmark(title.c_str(), [=](State& state) { handoff(state, name, settings, processes); })
          ->Iterations(1)
          ->UseManualTime();
    }
  }
}

// The smallest sample that at least this share of all does not exceed.
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void takeover(State& state, const std::string& name, const std::string& folder) {
  std::vector<double> samples_us;
  for (auto _ : state) {
    const std::chrono::duration<double> took = measure_takeover(name, folder);
    state.SetIterationTime(took.count());
    samples_us.push_back(took.count() * 1e6);
  }
  std::sort(samples_us.begin(), samples_us.end());
  state.counters["p50_us"] = percentile(samples_us, 0.50);
  state.counters["p99_us"] = percentile(samples_us, 0.99);
}

void add_takeover(const Settings& settings) {
  for (const std::string name : {"tenure", "flock", "flock-synced"}) {
    benchmark::RegisterBenchmark(("takeover/" + name).c_str(),
                                 [=](State& state) { takeover(state, name, settings.folder); })
        ->Iterations(settings.takeovers)
        ->UseManualTime();
  }
}

void add_whole_process(const Settings& settings) {
  const std::string& folder = settings.folder;
  const std::vector<std::pair<std::string, std::vector<std::string>>> programs = {
      {"tenure", {settings.program, "run", "k", "--space", Ours::files(folder), "--wait", "0", "--", "true"}},
      {"flock", {"flock", "--nonblock", folder + "/program.lock", "true"}},
      {"true", {"true"}}};
  for (const auto& [name, words] : programs) {
    benchmark::RegisterBenchmark(("process/" + name).c_str(), [words = words](State& state) {
      for (auto _ : state) run_program(words);
    })->UseRealTime();
  }
}

void add_all(const Settings& settings) {
  for (const std::string& name : way_names()) {
    benchmark::RegisterBenchmark(("claim_release/" + name).c_str(), [=, folder = settings.folder](State& state) {
      claim_release(state, name, folder);
    })->UseRealTime();
  }
  add_verify(settings.folder);
  add_renew(settings.folder);
  add_handoff(settings);
  add_takeover(settings);
  if (!settings.program.empty()) add_whole_process(settings);
}

}  // namespace
}  // namespace tenure::bench

int main(int count, char** arguments) {
  const auto settings = tenure::bench::take_settings(&count, arguments);
  tenure::bench::add_all(settings);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 64;
  return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}
