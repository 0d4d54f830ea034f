#include "cli/run_messages.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/layout.h"
#include "cli/observation_view.h"

namespace tenure::cli {

std::string loss_message(const Lease& lease, const Loss& loss, const Space& space, bool json) {
  const std::string& key = lease.key().text();
  const Epoch epoch = lease.epoch();
  const Viewpoint from = viewpoint_of(space);
  if (json) {
    boost::json::object line{{"event", "lost"}, {"key", key}, {"epoch", epoch.value()}, {"why", loss.why}};
    if (loss.successor) line["successor"] = to_json(*loss.successor, from);
    return boost::json::serialize(line) + "\n";
  }
  std::string text =
      "tenure: lost " + escape_controls(key) + ", epoch " + epoch.text() + ": " + escape_controls(loss.why);
  if (loss.successor) text += "; it is now " + one_line(*loss.successor, from);
  std::string out;
  for (const std::string& line : wrap(text, kColumns)) out += line + "\n";
  if (loss.successor && loss.successor->state != State::free) out += fields(*loss.successor, from);
  return out;
}

std::string overrun_message(Duration by, bool json) {
  if (!json) return "tenure: the command ended " + words(by) + " past the deadline of its lease\n";
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(by).count();
  return boost::json::serialize(boost::json::object{{"event", "overrun"}, {"overrun_ms", milliseconds}}) + "\n";
}

std::string notice(std::string_view event, const std::string& message, bool json) {
  if (json) return boost::json::serialize(boost::json::object{{"event", event}, {"message", message}}) + "\n";
  std::string out;
  for (const std::string& line : wrap("tenure: " + message, kColumns)) out += line + "\n";
  return out;
}

std::string no_command_message(std::string_view code, const std::string& message, int exit_code, bool json) {
  if (!json) return "tenure: " + message + "\n";
  return boost::json::serialize(
             boost::json::object{{"error", {{"code", code}, {"message", message}, {"exit_code", exit_code}}}}) +
         "\n";
}

}  // namespace tenure::cli
