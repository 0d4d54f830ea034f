#include "cli/ask_view.h"

#include "base/text.h"
#include "cli/layout.h"

namespace tenure::cli {
namespace {

std::string asker(const Ask& ask) {
  std::string out = escape_controls(ask.by) + " (pid " + std::to_string(ask.process.pid);
  if (!ask.user_name.empty()) out += ", user " + escape_controls(ask.user_name);
  return out + ")";
}

// "handed_off"
std::string name_of(EventKind kind) {
  std::string name(word_of(kind));
  for (char& each : name) each = each == ' ' ? '_' : each;
  return name;
}

std::string sentence(const Asked& asked) {
  const std::string holder = asked.was.holder ? escape_controls(asked.was.holder->owner) : "its holder";
  const std::string more = asked.words.empty() ? "" : ": " + escape_controls(asked.words);
  switch (asked.became) {
    case Became::accepted:
      return holder + " promises to yield it" + more;
    case Became::declined:
      return holder + " declines" + more;
    case Became::ignored:
      return holder + " has not answered in time";
    case Became::ended:
      return "the lease of " + holder +
             " has ended: " + (asked.words.empty() ? std::string(word_of(asked.end)) : escape_controls(asked.words));
  }
  return {};
}

}  // namespace

const char* word_of(Became became) {
  switch (became) {
    case Became::accepted:
      return "accepted";
    case Became::declined:
      return "declined";
    case Became::ignored:
      return "ignored";
    case Became::ended:
      return "ended";
  }
  return "unknown";
}

std::string in_words(const Ask& ask, const Viewpoint& from) {
  std::string out = asker(ask);
  if (from.now >= ask.since) out += " " + words(from.now - ask.since) + " ago";
  return out + ", until " + iso8601(ask.until) + ": " + escape_controls(ask.reason);
}

boost::json::object to_json(const Ask& ask) {
  return {
      {"id", ask.id},           {"by", ask.by},           {"reason", ask.reason},        {"user", ask.user_name},
      {"command", ask.command}, {"pid", ask.process.pid}, {"since", iso8601(ask.since)}, {"until", iso8601(ask.until)}};
}

std::string in_words(const Offer& offer) {
  return escape_controls(offer.to) + " until " + iso8601(offer.until) + "; then it " +
         (offer.back == Back::holder ? "stays with its holder" : "goes to the line");
}

boost::json::object to_json(const Offer& offer) {
  return {{"to", offer.to},
          {"back", offer.back == Back::holder ? "holder" : "line"},
          {"since", iso8601(offer.since)},
          {"until", iso8601(offer.until)}};
}

std::string outcome_message(const Asked& asked, const Space& space, bool json) {
  const Viewpoint from = viewpoint_of(space);
  const auto steps = next_steps(asked.was, from);
  if (json) {
    boost::json::object out{{"key", asked.was.key.text()},
                            {"epoch", asked.was.epoch.value()},
                            {"became", word_of(asked.became)},
                            {"words", asked.words}};
    if (asked.became == Became::ended) out["end"] = name_of(asked.end);
    out["asked"] = to_json(asked.was, from);
    return boost::json::serialize(out) + "\n";
  }
  std::string out = wrapped(escape_controls(asked.was.key.text()) + ": " + sentence(asked));
  for (const Step& step : steps) out += to_text(step);
  return out;
}

std::string ask_message(const Lease& lease, const Ask& ask, const Space& space, bool json) {
  if (json) {
    return boost::json::serialize(boost::json::object{{"event", "asked"},
                                                      {"key", lease.key().text()},
                                                      {"epoch", lease.epoch().value()},
                                                      {"ask", to_json(ask)}}) +
           "\n";
  }
  return wrapped("tenure: asked to yield " + escape_controls(lease.key().text()) + " by " +
                 in_words(ask, viewpoint_of(space)));
}

std::string answer_message(std::string_view event, const Lease& lease, const Ask& ask, const std::string& words,
                           bool json) {
  if (json) {
    return boost::json::serialize(boost::json::object{{"event", event},
                                                      {"key", lease.key().text()},
                                                      {"epoch", lease.epoch().value()},
                                                      {"by", ask.by},
                                                      {"words", words}}) +
           "\n";
  }
  std::string text = "tenure: ";
  if (event == "yielding") text += "promised to yield " + escape_controls(lease.key().text()) + ": ending the command";
  if (event == "declined") text += "declined to yield " + escape_controls(lease.key().text());
  if (event == "ignored") text += "gave no answer about " + escape_controls(lease.key().text());
  if (!words.empty()) text += " (" + escape_controls(words) + ")";
  return wrapped(text);
}

}  // namespace tenure::cli
