#include "cli/completion.h"

namespace tenure::cli {
namespace {

constexpr std::string_view kFishHead = R"script(# Completion of tenure for fish; made by: tenure completion fish

# The keys that are held, in the space that the words name.
function __tenure_keys
    set -l words (commandline -opc)
    set -l space
    for i in (seq (count $words))
        switch $words[$i]
            case --
                break
            case --space
                set -l next (math $i + 1)
                set -q words[$next]; and set space --space $words[$next]
            case '--space=*'
                set space $words[$i]
        end
    end
    tenure ls --json $space 2>/dev/null </dev/null | string match -ra '"key":"[^"\\\\]*"' |
        string replace -r '^"key":"(.*)"$' '$1'
end

# True when the command is the one that is named and no command line of its own has begun.
function __tenure_in
    set -l words (commandline -opc)
    set -q words[2]; and test $words[2] = $argv[1]; and not contains -- -- $words
end

# Behind "--" of run: a command line of its own.
function __tenure_behind
    set -l words (commandline -opc)
    set -q words[2]; and test $words[2] = $argv[1]; and contains -- -- $words
end
function __tenure_command_line
    set -l words (commandline -opc)
    while test $words[1] != --
        set -e words[1]
    end
    set -e words[1]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c tenure -f
complete -c tenure -n __fish_is_first_token -l help -d 'this text'
complete -c tenure -n __fish_is_first_token -l version -d 'which version this is'
)script";

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char byte : text) {
    if (byte == '\'' || byte == '\\') out += '\\';
    out += byte;
  }
  return out + "'";
}

// The options of `complete` that make the offer.
std::string fish_action(const Offer& offer) {
  switch (offer.kind) {
    case Offer::Kind::nothing:
      return "";
    case Offer::Kind::words:
      return " -a " + fish_quoted(offer.words);
    case Offer::Kind::keys:
      return " -a '(__tenure_keys)'";
    case Offer::Kind::files:
      return " -F";
    case Offer::Kind::folders:
      return " -a '(__fish_complete_directories)'";
    case Offer::Kind::commands:
      return " -a " + fish_quoted(command_names());
  }
  return "";
}

std::string lines_of(const Command& command) {
  const std::string name(command.name);
  std::string out =
      "\ncomplete -c tenure -n __fish_is_first_token -a " + name + " -d " + fish_quoted(command.summary) + "\n";
  const std::string begin = "complete -c tenure -n '__tenure_in " + name + "'";
  for (const std::string_view taken : command.options) {
    const Option& each = option(taken);
    if (each.positional()) {
      const std::string offer = fish_action(offer_for(each));
      if (!offer.empty()) out += begin + offer + "\n";
      continue;
    }
    out += begin + " -l " + std::string(each.name.substr(2)) + (each.value.empty() ? "" : " -x") +
           (each.value.empty() ? "" : fish_action(offer_for(each))) + " -d " + fish_quoted(each.help) + "\n";
  }
  if (command.takes_command) {
    out += "complete -c tenure -n '__tenure_behind " + name + "' -a '(__tenure_command_line)'\n";
  }
  return out;
}

}  // namespace

std::string fish_completion() {
  std::string out(kFishHead);
  for (const Command& each : commands()) out += lines_of(each);
  return out;
}

}  // namespace tenure::cli
