#include "floors.h"
#include "must.h"
#include "ours.h"
#include "peers.h"
#include "pi_amq.h"
#include "stores.h"

namespace tenure::bench {

std::vector<std::string> way_names() {
  return {"tenure", "flock", "flock-open-close", "flock-synced", "o_excl", "o_excl-synced", "agentmux"};
}

std::unique_ptr<Way> make_way(const std::string& name, const std::string& folder) {
  if (name == "tenure") return std::make_unique<Ours>(Ours::files(folder));
  if (name == "local") return std::make_unique<Ours>(Ours::local(folder));
  if (name == "receiver") return Ours::receiver(folder);
  if (name == "pi-amq") return std::make_unique<PiAmq>(folder);
  if (name == "mutex") return std::make_unique<MutexFloor>(folder);
  if (name == "ticket") return std::make_unique<TicketLock>(folder);
  if (name == "sqlite") return make_sqlite(folder);
  if (name == "redis") return make_redis();
  if (name == "postgres") return make_postgres();
  if (name == "flock") return std::make_unique<Flock>(folder);
  if (name == "flock-open-close") return std::make_unique<FlockOpenClose>(folder);
  if (name == "flock-synced") return std::make_unique<SyncedFlock>(folder);
  if (name == "o_excl") return std::make_unique<ExclusiveFile>(folder);
  if (name == "o_excl-synced") return std::make_unique<SyncedExclusiveFile>(folder);
  if (name == "agentmux") return std::make_unique<AgentMux>(folder);
  stop_here("no way of owning is called " + name);
}

}  // namespace tenure::bench
