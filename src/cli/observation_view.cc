#include "cli/observation_view.h"

#include <algorithm>

#include "base/text.h"
#include "cli/ancestors.h"
#include "cli/ask_view.h"
#include "cli/layout.h"
#include "cli/owner_process.h"
#include "compose/default_space.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kLabelColumns = 11;
constexpr const char* kReasonToType = "'needed elsewhere'";
constexpr const char* kRepairToType = "'its epoch cannot be read'";

// Who is behind the lease: the process that it is kept for, where that is another than its keeper.
const ProcessIdentity& behind(const Holder& holder) {
  return holder.owner_process ? *holder.owner_process : holder.process;
}

std::string age(const Holder& holder, const Viewpoint& from) {
  return from.now >= holder.since ? words(from.now - holder.since) : std::string();
}

std::string label_of(const Holder& holder) {
  return escape_controls(holder.owner) + (holder.part.empty() ? "" : ", part " + escape_controls(holder.part));
}

std::string process_of(const Holder& holder, const Viewpoint& from) {
  const ProcessIdentity& process = behind(holder);
  std::string out = "pid " + std::to_string(process.pid);
  if (process.pid_namespace != 0 && process.pid_namespace != from.self.pid_namespace) {
    out += " of pid namespace " + std::to_string(process.pid_namespace) + " (not ours)";
  }
  if (!holder.user_name.empty()) out += ", user " + escape_controls(holder.user_name);
  return out;
}

std::string host_of(const Holder& holder, const Viewpoint& from) {
  std::string out = holder.host.empty() ? "not said" : escape_controls(holder.host);
  const std::string& boot = behind(holder).boot_id;
  if (boot.empty()) return out;
  return out + (boot == from.self.boot_id ? " (this machine)" : " (another machine, or before its last boot)");
}

// The lines of the text, so that each is laid out in one way.
class Lines {
 public:
  void add(std::string_view label, std::string_view value) {
    if (value.empty()) return;
    out_ += hanging("  " + cell(label, kLabelColumns), value);
  }
  void escaped(std::string_view label, std::string_view value) { add(label, escape_controls(value)); }
  void step(const Step& step) { out_ += to_text(step); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string keeper_of(const Holder& holder, const Viewpoint& from) {
  const ProcessIdentity& keeper = holder.process;
  const bool ours = keeper.boot_id == from.self.boot_id && keeper.pid_namespace == from.self.pid_namespace;
  return "pid " + std::to_string(keeper.pid) + (ours && !still_there(keeper) ? ", which is gone" : "");
}

void add_holder(Lines& lines, const Holder& holder, const Viewpoint& from) {
  lines.add("owner", label_of(holder));
  lines.add("process", process_of(holder, from));
  if (holder.owner_process) lines.add("kept by", keeper_of(holder, from));
  lines.escaped("command", holder.command);
  lines.escaped("folder", holder.directory);
  lines.add("host", host_of(holder, from));
  const std::string ago = age(holder, from);
  lines.add("since", iso8601(holder.since) + (ago.empty() ? "" : " (" + ago + " ago)"));
  lines.escaped("reason", holder.reason);
  lines.escaped("channel", holder.channel);
  lines.escaped("version", holder.version);
  lines.escaped("session", holder.session);
  if (holder.ttl) lines.add("ttl", words(*holder.ttl));
  if (holder.slot) lines.add("slot", std::to_string(*holder.slot) + " of " + std::to_string(holder.slots));
  if (holder.mode == Mode::shared) lines.add("mode", "shared: a reader");
}

constexpr std::size_t kShownTogether = 8;

// "builder (pid 4711, user ann), epoch 17, slot 2, for 2 min 3 s, live: release 4.2"
void add_companions(Lines& lines, const Observation& seen, const Viewpoint& from) {
  std::size_t shown = 0;
  for (const Companion& each : seen.together) {
    if (each.epoch == seen.epoch) continue;  // above
    if (shown == kShownTogether) break;
    std::string text =
        escape_controls(each.holder.owner) + " (" + process_of(each.holder, from) + "), epoch " + each.epoch.text();
    if (each.holder.slot) text += ", slot " + std::to_string(*each.holder.slot);
    const std::string ago = age(each.holder, from);
    if (!ago.empty()) text += ", for " + ago;
    text += std::string(", ") + word_of(each.verdict.liveness);
    if (each.verdict.liveness != Liveness::live) text += " (" + escape_controls(each.verdict.evidence) + ")";
    if (each.over && each.verdict.liveness != Liveness::dead) text += ", past its TTL";
    if (!each.holder.reason.empty()) text += ": " + escape_controls(each.holder.reason);
    lines.add(shown++ == 0 ? "and by" : "", text);
  }
  if (seen.together.size() > shown + 1) {
    lines.add("", "and " + std::to_string(seen.together.size() - shown - 1) + " more");
  }
}

constexpr std::size_t kShownWaiters = 8;

// "1. builder (pid 4711, user ann) for 2 min 3 s: release 4.2"
std::string words_of(const Waiter& each, std::size_t place, const Viewpoint& from) {
  std::string text =
      std::to_string(place) + ". " + escape_controls(each.owner) + " (pid " + std::to_string(each.process.pid);
  if (!each.user_name.empty()) text += ", user " + escape_controls(each.user_name);
  text += each.process == from.self ? ", this one)" : ")";
  if (from.now >= each.since) text += " for " + words(from.now - each.since);
  if (!each.reason.empty()) text += ": " + escape_controls(each.reason);
  return text;
}

// Of this very process, 1 for the first; 0: it does not wait, or not among those who are shown.
std::size_t own_place(const Observation& seen, const Viewpoint& from) {
  const auto ours = std::ranges::find(seen.line, from.self, &Waiter::process);
  return ours == seen.line.end() ? 0 : static_cast<std::size_t>(ours - seen.line.begin()) + 1;
}

// The first few, and this one.
void add_line(Lines& lines, const Observation& seen, const Viewpoint& from) {
  const std::size_t shown = std::min(seen.line.size(), kShownWaiters);
  for (std::size_t i = 0; i < shown; ++i) lines.add(i == 0 ? "in line" : "", words_of(seen.line[i], i + 1, from));
  const std::size_t own = own_place(seen, from);
  if (own > shown) lines.add("", words_of(seen.line[own - 1], own, from));
  if (seen.waiting > shown) lines.add("", std::to_string(seen.waiting) + " in all");
}

// The arguments that name a key: one that begins with a dash stands behind "--".
std::string key_argument(const Key& key) {
  return (key.text().starts_with('-') ? "-- " : "") + shell_word(key.text());
}

std::string key_and_command(const Key& key) {
  return (key.text().starts_with('-') ? "--key=" : "") + shell_word(key.text()) + " -- true";
}

boost::json::object to_json(const ProcessIdentity& process) {
  return {{"pid", process.pid},
          {"start_ticks", process.start_ticks},
          {"boot_id", process.boot_id},
          {"machine_id", process.machine_id},
          {"pid_namespace", process.pid_namespace},
          {"time_namespace", process.time_namespace},
          {"user_id", process.user}};
}

boost::json::object to_json(const Holder& holder, const Viewpoint& from) {
  boost::json::object out{{"owner", holder.owner},
                          {"part", holder.part},
                          {"pid", behind(holder).pid},
                          {"process", to_json(behind(holder))},
                          {"keeper_process", to_json(holder.process)},
                          {"user", holder.user_name},
                          {"command", holder.command},
                          {"directory", holder.directory},
                          {"host", holder.host},
                          {"this_machine", behind(holder).boot_id == from.self.boot_id},
                          {"since", iso8601(holder.since)},
                          {"reason", holder.reason},
                          {"channel", holder.channel},
                          {"version", holder.version},
                          {"session", holder.session}};
  if (from.now >= holder.since) {
    out["held_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(from.now - holder.since).count();
  }
  if (holder.ttl) out["ttl_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(*holder.ttl).count();
  out["mode"] = holder.mode == Mode::shared ? "shared" : "exclusive";
  out["slots"] = holder.slots;
  if (holder.slot) out["slot"] = *holder.slot;
  return out;
}

boost::json::array to_json(const std::vector<Waiter>& line, const Viewpoint& from) {
  boost::json::array out;
  for (const Waiter& each : line) {
    boost::json::object waiter{{"owner", each.owner},         {"reason", each.reason},
                               {"user", each.user_name},      {"command", each.command},
                               {"pid", each.process.pid},     {"process", to_json(each.process)},
                               {"since", iso8601(each.since)}};
    if (from.now >= each.since) {
      waiter["waited_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(from.now - each.since).count();
    }
    out.push_back(std::move(waiter));
  }
  return out;
}

boost::json::array to_json(const std::vector<Companion>& companions, const Viewpoint& from) {
  boost::json::array out;
  for (const Companion& each : companions) {
    out.push_back(boost::json::object{{"epoch", each.epoch.value()},
                                      {"liveness", word_of(each.verdict.liveness)},
                                      {"evidence", each.verdict.evidence},
                                      {"over", each.over},
                                      {"why", each.why},
                                      {"holder", to_json(each.holder, from)}});
  }
  return out;
}

Viewpoint viewpoint(std::string url, std::string location) {
  const env::Environment environment = compose::real_environment();
  Viewpoint from{
      std::move(url), std::move(location), {}, environment.processes->self().identity, environment.clock->wall()};
  if (from.url != compose::default_space()) {
    const auto parsed = compose::parse_space_url(from.url);
    from.space_option = " --space " + shell_word(parsed ? compose::spelt(*parsed) : from.url);
  }
  return from;
}

}  // namespace

Viewpoint viewpoint_of(const Space& space) {
  return viewpoint(space.url(), space.location());
}
Viewpoint viewpoint_of(const std::string& url) {
  return viewpoint(url, {});
}

const char* word_of(State state) {
  switch (state) {
    case State::free:
      return "free";
    case State::held:
      return "held";
    case State::damaged:
      return "damaged";
  }
  return "unknown";
}

const char* word_of(Liveness liveness) {
  switch (liveness) {
    case Liveness::live:
      return "live";
    case Liveness::dead:
      return "dead";
    case Liveness::unknown:
      return "unknown";
  }
  return "unknown";
}

bool is_held(const Observation& seen) {
  return seen.state != State::free && !seen.claimable;
}

std::vector<OneHolder> holders_of(const Observation& seen) {
  std::vector<OneHolder> all;
  if (seen.holder && seen.together.empty()) all.push_back({&*seen.holder, seen.epoch});
  for (const Companion& each : seen.together) all.push_back({&each.holder, each.epoch});
  return all;
}

std::string words_of_holders(const Observation& seen) {
  const std::string count = std::to_string(seen.holders);
  if (!seen.holder || !hold_together(seen)) return {};
  if (seen.holder->mode == Mode::shared) return count + (seen.holders == 1 ? " reader" : " readers");
  return count + " of " + std::to_string(seen.holder->slots) + " slots";
}

bool hold_together(const Observation& seen) {
  return seen.holder && (seen.holder->mode == Mode::shared || seen.holder->slots > 1);
}

std::vector<Step> next_steps(const Observation& seen, const Viewpoint& from) {
  const std::string key = key_argument(seen.key);
  // Of several together one epoch names one alone.
  const std::string pin = seen.epoch.none() || seen.holders > 1 ? "" : " --epoch " + seen.epoch.text();
  const bool slots = seen.holder && seen.holder->slots > 1;
  const std::string terms = slots ? " --slots " + std::to_string(seen.holder->slots) : "";
  const Step take{"to take it", "tenure run" + from.space_option + terms + " " + key_and_command(seen.key)};
  if (seen.state == State::free) return {take};
  if (seen.claimable) return {take, {"to clear it", "tenure revoke" + from.space_option + pin + " " + key}};
  const Step take_away{"to take it away",
                       "tenure revoke" + from.space_option + " --force --reason " + kReasonToType + pin + " " + key};
  // One who runs inside the command of the holder would wait for its own end.
  const bool around_us =
      std::ranges::any_of(holders_of(seen), [](const OneHolder& each) { return is_ancestor(each.holder->process); });
  std::vector<Step> steps;
  if (!around_us) steps.push_back({"to wait for it", take.command});
  if (seen.holders > 1) {
    steps.push_back({"to take it from the one named first alone", "tenure revoke" + from.space_option +
                                                                      " --force --reason " + kReasonToType +
                                                                      " --epoch " + seen.epoch.text() + " " + key});
    steps.push_back({"to take it from all of them", take_away.command});
  } else {
    steps.push_back(take_away);
  }
  return steps;
}

Step adopt_step(const Key& key, const std::string& owner, const Viewpoint& from) {
  return {"to adopt it",
          "tenure run --adopt --owner " + shell_word(owner) + from.space_option + " " + key_and_command(key)};
}

Step repair_step(const Key& key, const Viewpoint& from) {
  return {"to go on above every epoch that time allows",
          "tenure revoke" + from.space_option + " --force --reason " + kRepairToType + " " + key_argument(key)};
}

std::string to_text(const Step& step) {
  return "  " + step.purpose + ":\n    " + step.command + "\n";
}

boost::json::array to_json(const std::vector<Step>& steps) {
  boost::json::array out;
  for (const Step& step : steps) {
    out.push_back(boost::json::object{{"purpose", step.purpose}, {"command", step.command}});
  }
  return out;
}

std::string one_line(const Observation& seen, const Viewpoint& from) {
  if (seen.state == State::free) return "free";
  if (!seen.holder) return std::string(word_of(seen.state)) + ", holder not readable";
  const bool expired = seen.claimable && seen.verdict.liveness != Liveness::dead;
  std::string out = expired ? "expired, but still with " : "held by ";
  if (hold_together(seen) && (seen.holders > 1 || seen.holder->slots > 1)) {
    const bool readers = seen.holder->mode == Mode::shared;
    out = readers ? "held by " + words_of_holders(seen) + ", the first "
                  : "held in " + words_of_holders(seen) + ", first by ";
  }
  out += escape_controls(seen.holder->owner) + " (" + process_of(*seen.holder, from) + ")";
  const std::string ago = age(*seen.holder, from);
  if (!ago.empty()) out += " for " + ago;
  return out + ", " + word_of(seen.verdict.liveness);
}

std::string fields(const Observation& seen, const Viewpoint& from) {
  Lines lines;
  if (!seen.epoch.none()) lines.add("epoch", seen.epoch.text());
  if (seen.holder) add_holder(lines, *seen.holder, from);
  if (seen.state != State::free) {
    std::string alive = word_of(seen.verdict.liveness);
    if (!seen.verdict.evidence.empty()) alive += ": " + seen.verdict.evidence;
    lines.escaped("alive", alive);
  }
  if (seen.silent_for) lines.add("silent", words(*seen.silent_for));
  if (seen.frees_in) {
    lines.add("frees in", words(*seen.frees_in));
  } else if (is_held(seen)) {
    lines.add("frees", "when its holder ends or gives it back");
  }
  lines.escaped("claimable", (seen.claimable ? "yes" : "no") + (seen.why.empty() ? "" : ": " + seen.why));
  add_companions(lines, seen, from);
  for (const Ask& ask : seen.asks) lines.add("asked by", in_words(ask, from));
  if (seen.offer) lines.add("offered to", in_words(*seen.offer));
  add_line(lines, seen, from);
  lines.escaped("note", seen.note);
  lines.escaped("space", from.location.empty() ? from.url : from.location);
  for (const Step& step : next_steps(seen, from)) lines.step(step);
  return lines.take();
}

boost::json::object to_json(const Observation& seen, const Viewpoint& from) {
  boost::json::object out{{"key", seen.key.text()},      {"state", word_of(seen.state)}, {"held", is_held(seen)},
                          {"epoch", seen.epoch.value()}, {"claimable", seen.claimable},  {"why", seen.why},
                          {"space", from.url},           {"location", from.location}};
  if (seen.holder) out["holder"] = to_json(*seen.holder, from);
  if (seen.state != State::free) {
    out["liveness"] = word_of(seen.verdict.liveness);
    out["evidence"] = seen.verdict.evidence;
  }
  const auto milliseconds = [](Duration d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); };
  out["holders"] = seen.holders;
  if (!seen.together.empty()) out["together"] = to_json(seen.together, from);
  if (seen.silent_for) out["silent_ms"] = milliseconds(*seen.silent_for);
  if (seen.frees_in) out["frees_in_ms"] = milliseconds(*seen.frees_in);
  if (seen.waiting != 0) {
    out["waiting"] = seen.waiting;
    out["line"] = to_json(seen.line, from);
    if (const std::size_t own = own_place(seen, from); own != 0) out["place"] = own;
  }
  if (!seen.asks.empty()) {
    boost::json::array asks;
    for (const Ask& ask : seen.asks) asks.push_back(to_json(ask));
    out["asks"] = std::move(asks);
  }
  if (seen.offer) out["offer"] = to_json(*seen.offer);
  if (!seen.note.empty()) out["note"] = seen.note;
  out["next"] = to_json(next_steps(seen, from));
  return out;
}

}  // namespace tenure::cli
