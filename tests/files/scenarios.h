// Scenarios: every verb of the engine in every situation in which it takes another path to the disk, each ready to be
// run with any of its calls going wrong.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "files/files_world.h"

namespace tenure::tests {

using namespace std::chrono_literals;
using fakes::Fault;

inline const char* const kKey = "k";

// One run: a world of its own, the process under test, and a second one where the scenario has another holder.
class Stage {
 public:
  FilesWorld world;
  FilesClient actor = world.client({.command = "actor"});
  // Holds beside the actor, and must not lose by the actor's misfortune (unless it is what the actor does).
  std::optional<FilesClient> other;
  std::optional<Grant> others;  // what `other` holds
  std::optional<Grant> actors;  // what the actor holds
  std::uint64_t highest = 0;    // of all epochs that were returned to anybody

  Grant claim(FilesClient& client, const std::string& owner, const ClaimRequest& wanted);
  Grant claim(FilesClient& client, const std::string& owner) { return claim(client, owner, request(kKey, owner)); }
  void note(const Result<Grant>& grant) {
    if (grant) highest = std::max(highest, grant->epoch.value());
  }
  // Somebody holds and gives back, so that the key was used before.
  void use_once();
  FilesClient& make_other(const fakes::Birth& birth = {});
  // A record that can be judged only by watching is seen now, and then for longer than its TTL.
  void watch_out();

  std::string record() const { return std::string(kKey) + ".lease.json"; }
};

// How the verb under test ended; nullopt: well.
using Ending = std::optional<Error>;

struct Scenario {
  const char* name;
  std::function<void(Stage&)> prepare;
  std::function<Ending(Stage&)> act;
  // The verb takes a lease away from `other`.
  bool ends_other = false;
};

const std::vector<Scenario>& scenarios();

// The calls to the disk that the verb makes when nothing goes wrong.
std::size_t calls_of(const Scenario& scenario);

// Who holds it now, each asked for itself: 0, 1, or a fault.
int holders(Stage& stage);

// A stranger comes: it may look, it is refused while somebody holds, and gets the key under a number above all when
// nobody does: at once, or when a TTL has passed. Afterwards nothing is left but what belongs to the key.
void recover(Stage& stage);

}  // namespace tenure::tests
