#include "cli/completion.h"

namespace tenure::cli {
namespace {

// Bash takes words apart at ":" and "=", which keys and URLs contain: they are put together again, and of what is
// offered that part is cut off which stands before the last such sign.
constexpr std::string_view kBashHead = R"script(# Completion of tenure for bash; made by: tenure completion bash

# The words up to the cursor, not taken apart at : and =.
_tenure_words() {
  local i word line=${COMP_LINE:0:COMP_POINT}
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i == 0)) || [[ $line == [[:space:]]* || -z $line ]]; then
      words+=("$word")
    else
      words[${#words[@]} - 1]+=$word
    fi
    line=${line#"${line%%[![:space:]]*}"}
    line=${line#"$word"}
  done
}

# The keys that are held, in the space that the words name.
_tenure_keys() {
  local i space=()
  for ((i = 2; i < ${#words[@]} - 1; i++)); do
    case ${words[i]} in
      --) break ;;
      --space) space=(--space "${words[i + 1]}") ;;
      --space=*) space=("${words[i]}") ;;
    esac
  done
  "${words[0]}" ls --json "${space[@]}" 2>/dev/null </dev/null |
    grep -o '"key":"[^"\\]*"' | sed 's/^"key":"//; s/"$//'
}

# Offers those lines of its input that begin as the word does.
_tenure_offer() {
  local each plain=${typed//\\/} head=${typed%"$part"}
  while IFS= read -r each; do
    [[ $each == "$plain"* ]] || continue
    printf -v each %q "$each"
    COMPREPLY+=("${each#"$head"}")
  done
}

_tenure_offer_kind() {
  case $1 in
    keys) _tenure_offer < <(_tenure_keys) ;;
    files | folders)
      local option=-f
      [[ $1 == folders ]] && option=-d
      compopt -o filenames 2>/dev/null
      while IFS= read -r REPLY; do COMPREPLY+=("$REPLY"); done < <(compgen $option -- "$typed")
      ;;
    words) _tenure_offer < <(printf '%s\n' $2) ;;
  esac
}
)script";

constexpr std::string_view kBashTail = R"script(
# After "--": a command line of its own.
_tenure_command_line() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] || continue
    if declare -F _command_offset >/dev/null; then
      _command_offset $((i + 1))
    elif ((i + 1 == COMP_CWORD)); then
      while IFS= read -r REPLY; do COMPREPLY+=("$REPLY"); done < <(compgen -c -- "$typed")
    else
      _tenure_offer_kind files
    fi
    return
  done
}

_tenure() {
  local words typed part command options valued place last i dashes=0 seen=0
  COMPREPLY=()
  _tenure_words
  last=$((${#words[@]} - 1))
  typed=${words[last]} part=${COMP_WORDS[COMP_CWORD]}
  [[ $part == *[!:=]* ]] || part=
  command=${words[1]}
  if ((last == 1)); then
    _tenure_offer_kind words "$commands --help --version"
    return
  fi
  _tenure_table "$command" || return
  for ((i = 2; i < last; i++)); do
    if [[ ${words[i]} == -- ]]; then
      dashes=1
    elif [[ $dashes == 0 && " $valued " == *" ${words[i]} "* ]]; then
      i=$((i + 1))
      ((i == last)) && { _tenure_value "$command" "${words[last - 1]}"; return; }
    elif [[ $dashes == 1 || ${words[i]} != --?* ]]; then
      seen=$((seen + 1))
    fi
  done
  if [[ $dashes == 1 && $takes_command == 1 ]]; then
    _tenure_command_line
  elif [[ $dashes == 0 && $typed == --*=* ]]; then
    i=${typed%%=*}
    typed=${typed#*=}
    _tenure_value "$command" "$i"
  elif [[ $dashes == 0 && $typed == --* ]]; then
    _tenure_offer_kind words "$options"
  else
    _tenure_place "$command" "$seen"
  fi
}

complete -F _tenure tenure
)script";

std::string offered(const Offer& offer) {
  switch (offer.kind) {
    case Offer::Kind::nothing:
      return ":";
    case Offer::Kind::words:
      return "_tenure_offer_kind words '" + quoted(offer.words) + "'";
    case Offer::Kind::keys:
      return "_tenure_offer_kind keys";
    case Offer::Kind::files:
      return "_tenure_offer_kind files";
    case Offer::Kind::folders:
      return "_tenure_offer_kind folders";
    case Offer::Kind::commands:
      return "_tenure_offer_kind words \"$commands\"";
  }
  return ":";
}

// Which options a command has, and which of them take a value.
std::string table() {
  std::string out = "\n_tenure_table() {\n  takes_command=0\n  case $1 in\n";
  for (const Command& each : commands()) {
    std::string options;
    std::string valued;
    for (const std::string_view name : each.options) {
      const Option& taken = option(name);
      if (taken.positional()) continue;
      options += (options.empty() ? "" : " ") + std::string(taken.name);
      if (!taken.value.empty()) valued += (valued.empty() ? "" : " ") + std::string(taken.name);
    }
    out += "    " + std::string(each.name) + ")\n      options='" + options + "'\n      valued='" + valued + "'\n";
    if (each.takes_command) out += "      takes_command=1\n";
    out += "      ;;\n";
  }
  return out + "    *) return 1 ;;\n  esac\n}\n";
}

// What is offered for the value of an option, and for a word by its place.
std::string values() {
  std::string options = "\n_tenure_value() {\n  case $1,$2 in\n";
  std::string places = "\n_tenure_place() {\n  case $1,$2 in\n";
  for (const Command& each : commands()) {
    const std::string name(each.name);
    for (const std::string_view taken : each.options) {
      const Option& with_value = option(taken);
      const Offer offer = offer_for(with_value);
      if (with_value.positional() || offer.kind == Offer::Kind::nothing) continue;
      options += "    " + name + "," + std::string(with_value.name) + ") " + offered(offer) + " ;;\n";
    }
    std::size_t place = 0;
    for (const Option* word : words_of(each)) {
      const std::string at = word->name.ends_with("…") ? "*" : std::to_string(place++);
      places += "    " + name + "," + at + ") " + offered(offer_for(*word)) + " ;;\n";
    }
  }
  return options + "  esac\n}\n" + places + "  esac\n}\n";
}

}  // namespace

std::string bash_completion() {
  std::string tail(kBashTail);
  const std::string_view mark = "  COMPREPLY=()\n";
  tail.insert(tail.find(mark), "  local takes_command commands='" + command_names() + "'\n");
  return std::string(kBashHead) + table() + values() + tail;
}

}  // namespace tenure::cli
