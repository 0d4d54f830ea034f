// What the command line of any command can say, and the table of its options.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenure/error.h"

namespace tenure::cli {

// One field for each option of the table in options.cc. A command looks only at those that it takes.
struct Arguments {
  using Text = std::optional<std::string>;
  Text key;
  std::vector<std::string> key_list;
  Text prefix;
  Text action;
  Text target;
  Text path;
  Text shell;
  Text topic;
  Text space;
  Text url;
  Text owner;
  Text part;
  Text session;
  Text session_file;
  Text channel;
  Text version;
  Text reason;
  Text wait;
  Text ttl;
  Text slots;
  bool shared = false;
  Text grace;
  Text guard_for;
  Text on_lost;
  Text on_ask;
  Text until;
  Text cgroup;
  Text busy_exit;
  Text ticket;
  Text keep_place;
  bool no_reentrant = false;
  Text status_file;
  Text handle_file;
  Text handle_source;
  Text pid;
  Text lasting_for;
  Text except;
  Text epoch;
  Text duration;
  Text count;
  Text deadline;
  Text to;
  Text within;
  Text back;
  Text keys;
  Text members;
  Text size;
  bool follow = false;
  bool once = false;
  bool withdraw = false;
  bool adopt = false;
  bool json = false;
  bool quiet = false;
  bool force = false;
  bool dead = false;
  bool dry_run = false;
  bool help = false;
  std::vector<std::string> command;  // what follows "--" of run
};

struct Option {
  using Target =
      std::variant<std::optional<std::string> Arguments::*, bool Arguments::*, std::vector<std::string> Arguments::*>;
  std::string_view name;   // "--wait"; a positional one has no dashes: "KEY"
  std::string_view value;  // what stands for the value in the help; empty for a flag
  std::string_view help;
  Target target;

  bool positional() const { return !name.starts_with("--"); }
};

// The option of that name, or of "name value" where two commands take different values: "--for session". It must be in
// the table.
const Option& option(std::string_view name);

// Parses the words after the name of a command. Code::usage.
Result<Arguments> parse_arguments(std::string_view command, std::span<const std::string_view> options,
                                  bool takes_command, std::vector<std::string> words);

}  // namespace tenure::cli
