#include "cli/error_view.h"

#include <boost/json.hpp>
#include <sstream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/observation_view.h"
#include "cli/output.h"
#include "compose/default_space.h"

namespace tenure::cli {
namespace {

// Where the holder is known, what to type is found from how the key stands, in the same way as `who` finds it. The
// engine's own advice is for the other cases.
bool advised_by_standing(const Error& error) {
  switch (error.code) {
    case Code::held:
    case Code::held_by_part:
    case Code::timed_out:
    case Code::cancelled:
    case Code::holder_live:
    case Code::epoch_changed:
    case Code::lost:
    case Code::damaged:
      return error.holder != nullptr;
    default:
      return false;
  }
}

std::string_view word_of(Retry retry) {
  switch (retry) {
    case Retry::never:
      return "never";
    case Retry::after_change:
      return "after_change";
    case Retry::later:
      return "later";
  }
  return "never";
}

std::string_view word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::refused:
      return "refused";
    case Outcome::lost:
      return "lost";
    case Outcome::unknown:
      return "unknown";
  }
  return "unknown";
}

// What our own commands suggest is a line to type. Other floors give advice in words, which may begin with "tenure".
bool is_command(const std::string& text) {
  if (text.starts_with("handle=") || text.starts_with("TENURE_HANDLE=")) return true;
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; stream >> part;) parts.push_back(part);
  if (parts.size() < 2 || parts[0] != "tenure") return false;
  if (parts[1] == "--help") return parts.size() == 2;
  const Command* command = find_command(parts[1]);
  if (command == nullptr) return false;
  if (text.find('\'') != std::string::npos) return true;
  return parse_arguments(command->name, command->options, command->takes_command, {parts.begin() + 2, parts.end()})
      .has_value();
}

// The error's advice: words, and what can be typed.
struct Advice {
  std::string words;
  std::vector<Step> steps;
};

Advice advice_on(const Error& error, const Viewpoint& from, const Key* key) {
  Advice advice;
  // An epoch of a key is mended with the key; that of a whole space has a command of its own, which the error names.
  const bool named = error.remedy.find("tenure space repair") != std::string::npos ||
                     error.remedy.find("tenure repair") != std::string::npos;
  if (error.code == Code::epoch_unreadable && !named && key != nullptr) advice.steps.push_back(repair_step(*key, from));
  if (advised_by_standing(error) && !named) return advice;
  if (is_command(error.remedy)) {
    advice.steps.push_back({"for example", error.remedy});
  } else {
    advice.words = error.remedy;
  }
  return advice;
}

std::string as_text(const Error& error, const std::string& url, const Key* key) {
  const std::string message = error.message.empty() ? std::string(facts(error.code).meaning) : error.message;
  std::string out;
  for (const std::string& line : wrap("tenure: " + escape_controls(message), kColumns)) out += line + "\n";
  const Viewpoint from = viewpoint_of(url);
  const Advice advice = advice_on(error, from, key);
  if (!advice.words.empty()) out += hanging("tenure: what to do: ", escape_controls(advice.words));
  if (error.holder) out += fields(*error.holder, from);
  for (const Step& step : advice.steps) out += to_text(Step{step.purpose, escape_controls(step.command)});
  return out;
}

std::string as_json(const Error& error, const std::string& url, const Key* key) {
  const CodeFacts& line = facts(error.code);
  boost::json::object inner{{"code", line.name},
                            {"message", error.message.empty() ? std::string(line.meaning) : error.message},
                            {"exit_code", line.exit_code},
                            {"retry", word_of(line.retry)},
                            {"outcome", word_of(line.outcome)}};
  const Viewpoint from = viewpoint_of(url);
  Advice advice = advice_on(error, from, key);
  if (error.holder) {
    inner["holder"] = to_json(*error.holder, from);
    const auto steps = next_steps(*error.holder, from);
    advice.steps.insert(advice.steps.begin(), steps.begin(), steps.end());
  }
  inner["remedy"] = advice.words;
  inner["next"] = to_json(advice.steps);
  return boost::json::serialize(boost::json::object{{"error", std::move(inner)}}) + "\n";
}

}  // namespace

std::string render(const Error& raised, bool json, const std::string& url, const Key* key) {
  const auto space = compose::parse_space_url(url);
  const Error error = space ? compose::with_url(raised, *space) : raised;
  return json ? as_json(error, url, key) : as_text(error, url, key);
}

int show_error(const Error& error, bool json, const std::string& url, const Key* key) {
  complain(render(error, json, url, key));
  return facts(error.code).exit_code;
}

}  // namespace tenure::cli
