#include "cli/completion.h"

namespace tenure::cli {
namespace {

constexpr std::string_view kZshHead = R"script(#compdef tenure
# Completion of tenure for zsh; made by: tenure completion zsh

# The keys that are held, in the space that the words name.
_tenure_keys() {
  local -a space held
  local i
  for ((i = 2; i < CURRENT; i++)); do
    case ${words[i]} in
      --) break ;;
      --space) space=(--space "${(Q)words[i+1]}") ;;
      --space=*) space=("${(Q)words[i]}") ;;
    esac
  done
  held=(${(f)"$(tenure ls --json $space 2>/dev/null </dev/null |
    grep -o '"key":"[^"\\]*"' | sed 's/^"key":"//; s/"$//')"})
  compadd -a held
}

# Keys, and after "--" a command line of its own.
_tenure_keys_or_command() {
  local at=${words[(i)--]}
  if ((at < CURRENT)); then
    shift $at words
    ((CURRENT -= at))
    _normal
  else
    _tenure_keys
  fi
}

_tenure() {
  local curcontext=$curcontext state line
  local -a state_descr
  if ((CURRENT == 2)); then
    local -a commands
    commands=(
)script";

// Where a description stands, ":" and brackets mean something else.
std::string described(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '[' || byte == ']' || byte == ':' || byte == '\\') out += '\\';
    out += byte;
  }
  return quoted(out);
}

std::string zsh_action(const Offer& offer) {
  switch (offer.kind) {
    case Offer::Kind::nothing:
      return " ";
    case Offer::Kind::words: {
      std::string words;
      for (const char byte : offer.words) words += byte == ':' ? std::string("\\:") : std::string(1, byte);
      return "(" + words + ")";
    }
    case Offer::Kind::keys:
      return "_tenure_keys";
    case Offer::Kind::files:
      return "_files";
    case Offer::Kind::folders:
      return "_files -/";
    case Offer::Kind::commands:
      return "(" + command_names() + ")";
  }
  return " ";
}

std::string specification(const Command& command) {
  std::string out = "    " + std::string(command.name) + ")\n      _arguments -S";
  for (const std::string_view name : command.options) {
    const Option& each = option(name);
    const std::string help = described(each.help);
    if (each.positional() && command.takes_command) {
      out += " \\\n        '*:" + std::string(each.name) + ":_tenure_keys_or_command'";
    } else if (each.positional()) {
      out += " \\\n        '::" + std::string(each.name) + ":" + zsh_action(offer_for(each)) + "'";
    } else if (each.value.empty()) {
      out += " \\\n        '" + std::string(each.name) + "[" + help + "]'";
    } else {
      out += " \\\n        '" + std::string(each.name) + "=[" + help + "]:" + std::string(each.value) + ":" +
             zsh_action(offer_for(each)) + "'";
    }
  }
  return out + "\n      ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::string out(kZshHead);
  for (const Command& each : commands()) {
    out += "      '" + std::string(each.name) + ":" + quoted(each.summary) + "'\n";
  }
  out += "    )\n    _describe command commands\n    return\n  fi\n  case ${words[2]} in\n";
  std::string rows;
  for (const Command& each : commands()) rows += specification(each);
  // The command stands where _arguments expects the name of the program.
  const std::string shift = "  local name=${words[2]}\n  shift words\n  ((CURRENT--))\n";
  out.insert(out.rfind("  case ${words[2]}"), shift);
  out.replace(out.rfind("${words[2]}"), 11, "$name");
  return out + rows +
         "  esac\n}\n\nif [[ ${funcstack[1]} == _tenure ]]; then\n  _tenure \"$@\"\nelse\n  compdef _tenure " +
         "tenure\nfi\n";
}

}  // namespace tenure::cli
