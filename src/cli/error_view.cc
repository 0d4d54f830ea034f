#include "cli/error_view.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/layout.h"
#include "cli/observation_view.h"
#include "cli/output.h"

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

std::string as_text(const Error& error, const std::string& url) {
  const std::string message = error.message.empty() ? std::string(facts(error.code).meaning) : error.message;
  std::string out;
  for (const std::string& line : wrap("tenure: " + escape_controls(message), kColumns)) out += line + "\n";
  if (error.holder) out += fields(*error.holder, viewpoint_of(url));
  if (!error.remedy.empty() && !advised_by_standing(error))
    out += "  next:\n    " + escape_controls(error.remedy) + "\n";
  return out;
}

std::string as_json(const Error& error, const std::string& url) {
  const CodeFacts& line = facts(error.code);
  boost::json::object inner{{"code", line.name},
                            {"message", error.message.empty() ? std::string(line.meaning) : error.message},
                            {"exit_code", line.exit_code},
                            {"retry", word_of(line.retry)},
                            {"outcome", word_of(line.outcome)}};
  std::string remedy = advised_by_standing(error) ? std::string() : error.remedy;
  if (error.holder) {
    const Viewpoint from = viewpoint_of(url);
    inner["holder"] = to_json(*error.holder, from);
    const auto steps = next_steps(*error.holder, from);
    if (remedy.empty() && !steps.empty()) remedy = steps.back().command;
  }
  inner["remedy"] = remedy;
  return boost::json::serialize(boost::json::object{{"error", std::move(inner)}}) + "\n";
}

}  // namespace

std::string render(const Error& error, bool json, const std::string& url) {
  return json ? as_json(error, url) : as_text(error, url);
}

int show_error(const Error& error, bool json, const std::string& url) {
  complain(render(error, json, url));
  return facts(error.code).exit_code;
}

}  // namespace tenure::cli
