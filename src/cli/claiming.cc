#include "cli/claiming.h"

#include <filesystem>

#include "base/limits.h"
#include "base/text.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/observation_view.h"

namespace tenure::cli {
namespace {

// A command in place of one of the words sees to the loss itself: what runs is left to it.
AtLoss at_loss_of(const std::optional<std::string>& text) {
  if (!text || *text == "term") return AtLoss::terminate;
  return *text == "kill" ? AtLoss::kill : AtLoss::warn;
}

// What is given relative to where we stand. It need not be there.
std::string absolute_path(const std::optional<std::string>& path) {
  if (!path || path->empty()) return "";
  std::error_code error;
  const auto absolute = std::filesystem::absolute(*path, error);
  return error ? *path : absolute.lexically_normal().string();
}

Result<void> set_together(const Arguments& arguments, Terms& terms) {
  if (arguments.shared) terms.mode = Mode::shared;
  if (!arguments.slots) return {};
  if (arguments.shared) return fail(Code::usage, "either --slots or --shared: readers have no number");
  const auto slots = number_of(*arguments.slots, limits::kTogether, "--slots");
  if (!slots) return fail(slots.error());
  if (*slots == 0) return fail(Code::usage, "--slots wants 1 or more: nobody could hold it");
  terms.slots = static_cast<std::uint32_t>(*slots);
  return {};
}

}  // namespace

Result<ClaimOptions> claim_options(const Arguments& arguments, std::optional<Duration> otherwise) {
  ClaimOptions options;
  options.owner = arguments.owner.value_or("");
  options.part = arguments.part.value_or("");
  options.session = arguments.session.value_or("");
  options.session_file = absolute_path(arguments.session_file);
  options.channel = arguments.channel.value_or("");
  options.version = arguments.version.value_or("");
  options.terms.reason = arguments.reason.value_or("");
  auto ttl = duration_of(arguments.ttl, "--ttl");
  if (!ttl) return fail(ttl.error());
  if (*ttl && **ttl <= Duration{0}) return fail(Code::bad_duration, "--ttl must be more than 0");
  options.terms.ttl = *ttl;
  if (auto together = set_together(arguments, options.terms); !together) return fail(together.error());
  if (arguments.on_lost && trim(*arguments.on_lost).empty()) {
    return fail(Code::usage, "--on-lost wants term, kill, warn or a command for sh");
  }
  options.terms.at_loss = at_loss_of(arguments.on_lost);
  options.ticket = arguments.ticket.value_or("");
  auto place = duration_of(arguments.keep_place, "--keep-place");
  if (!place) return fail(place.error());
  if (*place && !arguments.ticket) return fail(Code::usage, "--keep-place needs a --ticket");
  options.grace = place->value_or(options.grace);
  options.wait = otherwise;
  if (arguments.wait == "forever") {
    options.wait = std::nullopt;
  } else if (arguments.wait) {
    auto wait = duration_of(arguments.wait, "--wait");
    if (!wait) return fail(wait.error());
    options.wait = *wait;
  }
  return options;
}

std::string loss_command(const Arguments& arguments) {
  const std::string text = arguments.on_lost.value_or("term");
  return text == "term" || text == "kill" || text == "warn" ? "" : text;
}

Error owner_is_missing(const Key& key) {
  return Error{Code::usage, "an offer is made to an owner: --owner says that it is you",
               "tenure who " + shell_word(key.text()), nullptr};
}

std::string waiting_message(const Observation& seen, const Space& space, std::optional<Duration> wait, bool json) {
  const Viewpoint from = viewpoint_of(space);
  if (json) {
    boost::json::object line{{"event", "waiting"}};
    if (wait) line["wait_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(*wait).count();
    for (auto& [name, value] : to_json(seen, from)) line[name] = value;
    return boost::json::serialize(line) + "\n";
  }
  const std::string until = wait ? ", at most " + words(*wait) : "";
  return wrapped("tenure: waiting" + until + " for " + seen.key.text() + ", " + one_line(seen, from)) +
         fields(seen, from);
}

std::string grant_message(const Lease& lease, const Space& space, bool json) {
  if (!lease.displaced() && lease.notes().empty()) return {};
  const Viewpoint from = viewpoint_of(space);
  if (json) {
    boost::json::object line{{"event", "granted"}, {"key", lease.key().text()}, {"epoch", lease.epoch().value()}};
    if (lease.displaced()) line["displaced"] = to_json(*lease.displaced(), from);
    line["notes"] = boost::json::array(lease.notes().begin(), lease.notes().end());
    return boost::json::serialize(line) + "\n";
  }
  std::string out;
  if (lease.displaced()) {
    const Observation& was = *lease.displaced();
    std::string text = "tenure: took " + lease.key().text() + " over, it was " + one_line(was, from);
    if (!was.verdict.evidence.empty()) text += ": " + escape_controls(was.verdict.evidence);
    out += wrapped(text);
  }
  for (const std::string& note : lease.notes()) out += wrapped("tenure: note: " + escape_controls(note));
  return out;
}

}  // namespace tenure::cli
