// Completion scripts for shells, made from the tables of commands and options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace tenure::cli {

// What a shell offers for a word.
struct Offer {
  enum class Kind : unsigned char { nothing, words, keys, files, folders, commands };
  Kind kind = Kind::nothing;
  std::string_view words;  // separated by blanks; of words, and beside files
};
// For the value of an option, or for a word that stands by itself.
Offer offer_for(const Option& each);

// The names of all commands, separated by blanks.
std::string command_names();
// The words of its own that a command takes, in their order: KEY, PREFIX, ACTION …
std::vector<const Option*> words_of(const Command& command);
// "'" in single quotes of bash and zsh.
std::string quoted(std::string_view text);

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace tenure::cli
