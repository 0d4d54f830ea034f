#include "cli/run_plan.h"

#include "base/text.h"
#include "cli/claiming.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/opening.h"
#include "lease/claim_order.h"

namespace tenure::cli {
namespace {

constexpr Duration kGrace = std::chrono::seconds(10);

Result<bool> whole_tree_of(const Arguments& arguments) {
  if (!arguments.until || *arguments.until == "main") return false;
  if (*arguments.until == "tree") return true;
  return fail(Code::usage, "--until wants main or tree, not " + escape_controls(*arguments.until));
}

Result<std::optional<int>> busy_exit_of(const Arguments& arguments) {
  if (!arguments.busy_exit) return std::nullopt;
  const auto code = number_of(*arguments.busy_exit, 255, "--busy-exit");
  if (!code) return fail(code.error());
  return static_cast<int>(*code);
}

Result<std::vector<Key>> keys_of(const Arguments& arguments) {
  std::vector<Key> keys;
  for (const std::string& text : arguments.key_list) {
    auto key = Key::parse(text);
    if (!key) return fail(key.error());
    keys.push_back(std::move(*key));
  }
  return keys;
}

Result<void> check_adopt(const Arguments& arguments, const std::vector<Key>& keys) {
  if (!arguments.adopt) return {};
  if (arguments.owner.value_or("").empty()) return fail(owner_is_missing(keys.front()));
  // What was adopted could not be given back to whom it came from, if the next one were refused.
  if (keys.size() > 1) return fail(Code::usage, "--adopt takes one key");
  return {};
}

Result<GroupWish> group_wish_of(const Arguments& arguments) {
  if (!arguments.cgroup || *arguments.cgroup == "auto") return GroupWish::automatic;
  if (*arguments.cgroup == "never") return GroupWish::never;
  if (*arguments.cgroup == "require") return GroupWish::require;
  return fail(Code::usage, "--cgroup wants auto, never or require, not " + escape_controls(*arguments.cgroup));
}

}  // namespace

Result<RunPlan> run_plan_of(const Arguments& arguments) {
  auto keys = keys_of(arguments);
  if (!keys) return fail(keys.error());
  if (keys->empty()) return fail(Code::usage, "KEY is missing: the name of what is to be owned");
  auto order = lease::claim_order(*keys);
  if (!order) return fail(order.error());
  if (arguments.command.empty()) {
    return fail(Code::usage, "there is no command to run: it follows \"--\"",
                "tenure run" + space_option(arguments) + " --key=" + shell_word(keys->front().text()) + " -- true");
  }
  auto options = claim_options(arguments, std::nullopt);
  if (!options) return fail(options.error());
  auto grace = duration_of(arguments.grace, "--grace");
  if (!grace) return fail(grace.error());
  options->keep_life_descriptor = true;
  auto whole_tree = whole_tree_of(arguments);
  if (!whole_tree) return fail(whole_tree.error());
  auto busy_exit = busy_exit_of(arguments);
  if (!busy_exit) return fail(busy_exit.error());
  auto on_ask = ask_policy_of(arguments);
  if (!on_ask) return fail(on_ask.error());
  if (auto adopts = check_adopt(arguments, *keys); !adopts) return fail(adopts.error());
  auto group = group_wish_of(arguments);
  if (!group) return fail(group.error());
  return RunPlan{.keys = *keys,
                 .order = *order,
                 .options = *options,
                 .grace = grace->value_or(kGrace),
                 .hook = loss_command(arguments),
                 .on_ask = *on_ask,
                 .adopt = arguments.adopt,
                 .whole_tree = *whole_tree,
                 .busy_exit = *busy_exit,
                 .group = *group};
}

}  // namespace tenure::cli
