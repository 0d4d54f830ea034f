// Does each operation a few times between two marks, for strace to see: writes to descriptor -1, which fail and say
// "begin WAY OPERATION", "end" and "rest". Between "begin" and "end" works the calling thread; until "rest" the keeper
// of the space may still be at what the operation set off. bench/compare --calls counts.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "ours.h"
#include "peers.h"
#include "settings.h"

namespace tenure::bench {
namespace {

constexpr int kTimes = 5;
constexpr std::chrono::milliseconds kRest{100};

void mark(const std::string& text) {
  if (::write(-1, text.data(), text.size()) != -1) stop_here("a mark was written somewhere");
}

template <class Operation>
void marked(const std::string& title, Operation operation) {
  mark("begin " + title);
  operation();
  mark("end");
  std::this_thread::sleep_for(kRest);
  mark("rest");
}

void claims_and_releases(const std::string& name, Way& way) {
  way.take();
  way.give();
  std::this_thread::sleep_for(kRest);
  for (int time = 0; time < kTimes; ++time) {
    marked(name + " claim", [&] { way.take(); });
    marked(name + " release", [&] { way.give(); });
  }
}

void ours(const std::string& folder) {
  Ours way(Ours::files(folder));
  claims_and_releases("tenure", way);
  way.take();
  std::this_thread::sleep_for(kRest);
  for (int time = 0; time < kTimes; ++time) {
    marked("tenure verify", [&] { must(way.lease().verify(), "verify"); });
    marked("tenure renew", [&] { must(way.lease().renew(), "renew"); });
  }
  way.give();
  // Another key each time, in the same space; and the first of it starts no keeper, for there is one.
  for (int time = 0; time < kTimes; ++time) {
    way.use_key("new-" + std::to_string(time));
    marked("tenure claim-of-a-new-key", [&] { way.take(); });
    way.give();
    std::this_thread::sleep_for(kRest);
  }
}

void peers(const std::string& folder) {
  std::vector<std::string> names = way_names();
  names.insert(names.begin() + 1, {"receiver", "local", "pi-amq"});
  for (const std::string& name : names) {
    if (name != "tenure") claims_and_releases(name, *make_way(name, folder));
  }
  AgentMux agentmux(folder);
  agentmux.take();
  for (int time = 0; time < kTimes; ++time) {
    marked("agentmux verify", [&] { agentmux.verify(); });
    marked("agentmux renew", [&] { agentmux.renew(); });
  }
  agentmux.give();
}

}  // namespace
}  // namespace tenure::bench

int main(int count, char** arguments) {
  const auto settings = tenure::bench::take_settings(&count, arguments);
  if (count > 1) tenure::bench::stop_here("unknown argument: " + std::string(arguments[1]));
  tenure::bench::ours(settings.folder);
  tenure::bench::peers(settings.folder);
}
