// The one place that knows the library which parses command lines.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/nearest.h"

namespace tenure::cli {
namespace {

// "KEY" can also be given as --key=KEY, for names that begin with a dash before the "--" of run.
std::string library_name(const Option& each) {
  if (!each.positional()) return std::string(each.name);
  if (each.name == "-") return "source";
  if (each.name == "KEY…") return "--key";
  std::string lower = to_lower_ascii(each.name);
  return lower == "key" ? "--key," + lower : lower;
}

void add(CLI::App& app, const Option& each, Arguments& into) {
  if (const auto* flag = std::get_if<bool Arguments::*>(&each.target)) {
    app.add_flag(library_name(each), into.**flag);
    return;
  }
  if (const auto* list = std::get_if<std::vector<std::string> Arguments::*>(&each.target)) {
    // Not as a list of the library, which would take "[a,b]" apart: what is no option is left over, see below.
    app.add_option_function<std::string>(
        library_name(each), [&into, list = *list](const std::string& value) { (into.*list).push_back(value); });
    app.allow_extras();
    return;
  }
  auto member = std::get<std::optional<std::string> Arguments::*>(each.target);
  app.add_option_function<std::string>(library_name(each),
                                       [&into, member](const std::string& value) { into.*member = value; });
}

// A handle is a secret, and everybody can read the arguments of a process.
bool looks_like_handle(std::string_view word) {
  constexpr std::string_view kMark = "tenure1:";
  if (!word.starts_with(kMark) || word.size() < kMark.size() + 32) return false;
  const std::string_view claim = word.substr(kMark.size(), 32);
  return std::all_of(claim.begin(), claim.end(), [](char digit) { return hex_value(digit) >= 0; });
}

Result<void> refuse_handles(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::size_t value = word.starts_with("--") ? word.find('=') + 1 : 0;
    if (!looks_like_handle(std::string_view(word).substr(value))) continue;
    return fail(
        Code::usage,
        "an argument is a handle: a handle is a secret, and anybody can read the arguments of a process. It comes by "
        "TENURE_HANDLE, --handle-file FILE or - for standard input",
        "TENURE_HANDLE=\"$handle\" tenure verify");
  }
  return {};
}

// The library takes "--reason=" for an option that lacks its value; to a shell with an empty variable it is an empty
// one.
std::vector<std::string> with_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool options = true;
  for (const std::string& word : words) {
    options = options && word != "--";
    const bool empty_value = options && word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1;
    out.push_back(empty_value ? word.substr(0, word.size() - 1) : word);
    if (empty_value) out.emplace_back();
  }
  return out;
}

// What the library left over: the words of a list, unless they look like options.
Result<void> take_rest(const CLI::App& app, std::vector<std::string>& list) {
  for (const std::string& word : app.remaining()) {
    if (word.starts_with('-')) return fail(Code::usage, "there is no option " + escape_controls(word));
    list.push_back(word);
  }
  return {};
}

std::string hint_for(std::string_view command, std::span<const std::string_view> options,
                     const std::vector<std::string>& words, const CLI::App& app) {
  for (const std::string& word : words) {
    if (!word.starts_with("--") || word.size() < 3) continue;
    const std::string name = word.substr(0, word.find('='));
    if (app.get_option_no_throw(name) != nullptr) continue;
    if (auto near = nearest(name, options)) return "did you mean " + std::string(*near) + "?";
  }
  return "tenure " + std::string(command) + " --help";
}

}  // namespace

Result<Arguments> parse_arguments(std::string_view command, std::span<const std::string_view> options,
                                  bool takes_command, std::vector<std::string> words) {
  Arguments arguments;
  if (takes_command) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end()) {
      arguments.command.assign(dashes + 1, words.end());
      words.erase(dashes, words.end());
    }
  }
  if (auto clean = refuse_handles(words); !clean) return fail(clean.error());
  CLI::App app;
  app.set_help_flag();
  for (const std::string_view name : options) add(app, option(name), arguments);
  words = with_empty_values(words);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::Error& error) {
    return fail(Code::usage, escape_controls(error.what()), hint_for(command, options, words, app));
  }
  const bool listed = std::ranges::find(options, std::string_view("KEY…")) != options.end();
  if (auto rest = listed ? take_rest(app, arguments.key_list) : Result<void>{}; !rest) {
    return fail(Code::usage, rest.error().message, hint_for(command, options, words, app));
  }
  return arguments;
}

}  // namespace tenure::cli
