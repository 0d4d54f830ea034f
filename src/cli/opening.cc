#include "cli/opening.h"

#include <cstdlib>

#include "cli/layout.h"
#include "compose/default_space.h"

namespace tenure::cli {
namespace {

bool is_own_default(const std::string& text) {
  const auto url = compose::parse_space_url(text);
  return url && compose::text_of(compose::settled(*url)) == compose::default_space();
}

}  // namespace

std::string chosen_url(const Arguments& arguments) {
  if (arguments.space) return *arguments.space;
  const char* variable = std::getenv("TENURE_SPACE");
  return variable != nullptr && *variable != '\0' ? variable : compose::default_space();
}

std::string space_option(const Arguments& arguments) {
  return arguments.space ? " --space " + shell_word(*arguments.space) : "";
}

Result<Space> open_chosen(const Arguments& arguments) {
  return Space::open(chosen_url(arguments), {.create = true, .observe_only = false});
}

Result<Space> open_present(const Arguments& arguments) {
  const std::string url = chosen_url(arguments);
  return Space::open(url, {.create = is_own_default(url), .observe_only = false});
}

Result<Space> open_to_look(const Arguments& arguments) {
  // A folder that somebody named and that is not there is a mistake; one's own is made at the first look.
  const std::string url = chosen_url(arguments);
  return Space::open(url, {.create = is_own_default(url), .observe_only = true});
}

Result<Key> key_of(const Arguments& arguments) {
  if (!arguments.key) return fail(Code::usage, "KEY is missing: the name of what is to be owned");
  return Key::parse(*arguments.key);
}

}  // namespace tenure::cli
