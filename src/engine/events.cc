#include "engine/engine.h"

namespace tenure {

std::string_view word_of(EventKind kind) {
  switch (kind) {
    case EventKind::claimed:
      return "claimed";
    case EventKind::handed_over:
      return "handed over";
    case EventKind::taken_over:
      return "taken over";
    case EventKind::released:
      return "released";
    case EventKind::renewed:
      return "renewed";
    case EventKind::revoked:
      return "revoked";
    case EventKind::lost:
      return "lost";
    case EventKind::passed_over:
      return "passed over";
    case EventKind::repaired:
      return "repaired";
    case EventKind::asked:
      return "asked";
    case EventKind::answered:
      return "answered";
    case EventKind::offered:
      return "offered";
    case EventKind::withdrawn:
      return "withdrawn";
    case EventKind::handed_off:
      return "handed off";
  }
  return "unknown";
}

Result<std::vector<Event>> Engine::log(const std::string& /*key*/) {
  return fail(Code::unsupported, "the engine '" + traits().name + "' remembers nothing of the past",
              "tenure who shows how a key stands now, tenure watch what happens from now on; a local: space remembers");
}

}  // namespace tenure
