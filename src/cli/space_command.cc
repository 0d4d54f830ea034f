// space: which spaces there are, and how one is made, moved and purged.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "compose/spaces.h"

namespace tenure::cli {
namespace {

using compose::SpaceInfo;
using compose::SpaceList;

Result<int> show(const std::string& text) {
  if (auto printed = print(text); !printed) return fail(printed.error());
  return 0;
}

boost::json::object to_json(const LocalMember& member) {
  return {{"pid", member.process.pid}, {"pid_namespace", member.process.pid_namespace},
          {"user", member.user_name},  {"owner", member.owner},
          {"command", member.command}, {"directory", member.directory},
          {"host", member.host},       {"since", iso8601(member.since)},
          {"keys", member.keys},       {"waits", member.waits},
          {"stopped", member.stopped}, {"evidence", member.verdict.evidence}};
}

boost::json::object to_json(const LocalSight& inside) {
  boost::json::array members;
  for (const LocalMember& each : inside.members) members.push_back(to_json(each));
  return {{"keys_limit", inside.limits.cells},
          {"cells_taken", inside.cells},
          {"members_limit", inside.limits.members},
          {"members", std::move(members)}};
}

boost::json::object to_json(const SpaceInfo& info) {
  boost::json::object out{{"name", info.name},
                          {"url", info.url},
                          {"path", info.path},
                          {"engine", info.engine},
                          {"file_system", info.file_system},
                          {"files", info.files},
                          {"size_bytes", info.bytes},
                          {"held", info.held},
                          {"dead", info.dead},
                          {"damaged", info.damaged},
                          {"exists", info.exists},
                          {"default", info.is_default},
                          {"chosen", info.is_chosen},
                          {"interrupted", info.interrupted},
                          {"notes", boost::json::array(info.notes.begin(), info.notes.end())}};
  if (info.inside) out["table"] = to_json(*info.inside);
  if (info.error) {
    out["error"] = boost::json::object{
        {"code", facts(info.error->code).name}, {"message", info.error->message}, {"remedy", info.error->remedy}};
  }
  return out;
}

std::string summary_of(const SpaceInfo& info) {
  if (info.error) return "cannot be looked into: " + info.error->message;
  if (!info.exists) return "not made yet";
  std::string out = std::to_string(info.held) + " held";
  if (info.dead != 0) out += ", " + std::to_string(info.dead) + " of dead holders";
  if (info.damaged != 0) out += ", " + std::to_string(info.damaged) + " damaged";
  out += "; " + std::to_string(info.files) + " files, " + std::to_string((info.bytes + 1023) / 1024) + " KiB";
  if (!info.file_system.empty()) out += " on " + info.file_system;
  if (info.inside) {
    out += "; open in " + std::to_string(info.inside->members.size()) + " of " +
           std::to_string(info.inside->limits.members) + " processes, room for " +
           std::to_string(info.inside->limits.cells) + " keys";
  } else if (info.engine == "local") {
    out += "; not used since the machine started";
  }
  return out;
}

// Who is in, one a line; the first of them.
std::string members_of(const LocalSight& inside) {
  constexpr std::size_t kShown = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(inside.members.size(), kShown); ++i) {
    const LocalMember& member = inside.members[i];
    std::string line = "pid " + std::to_string(member.process.pid) + (member.stopped ? " (stopped)" : "");
    if (member.keys != 0) line += ", holds " + std::to_string(member.keys);
    if (member.waits != 0) line += ", waits for " + std::to_string(member.waits);
    line += ", since " + iso8601(member.since) + ": " + escape_controls(member.command);
    out += "    " + shorten(line, kColumns - 4) + "\n";
  }
  if (inside.members.size() > kShown) out += "    and " + std::to_string(inside.members.size() - kShown) + " more\n";
  return out;
}

std::string to_text(const SpaceInfo& info) {
  std::string marks;
  if (info.is_default) marks += " (default)";
  if (info.is_chosen) marks += " (chosen)";
  if (info.interrupted) marks += " (interrupted)";
  std::string out = escape_controls(info.url) + marks + "\n";
  out += hanging("  ", escape_controls(summary_of(info)));
  if (!info.path.empty()) out += hanging("  in ", escape_controls(info.path));
  if (info.inside) out += members_of(*info.inside);
  for (const std::string& note : info.notes) out += hanging("  note: ", escape_controls(note));
  if (info.error && !info.error->remedy.empty()) out += "  next: " + escape_controls(info.error->remedy) + "\n";
  return out;
}

Result<int> list(const Arguments& arguments) {
  auto found = compose::list_spaces(chosen_url(arguments));
  if (!found) return fail(found.error());
  if (arguments.json) {
    boost::json::array spaces;
    for (const SpaceInfo& each : found->spaces) spaces.push_back(to_json(each));
    return show(boost::json::serialize(
                    boost::json::object{{"state_folder", found->state_folder},
                                        {"origin", found->origin},
                                        {"notes", boost::json::array(found->notes.begin(), found->notes.end())},
                                        {"spaces", std::move(spaces)}}) +
                "\n");
  }
  std::string out =
      hanging("", "state folder " + escape_controls(found->state_folder) + ", from " + escape_controls(found->origin));
  for (const std::string& note : found->notes) out += hanging("note: ", escape_controls(note));
  for (const SpaceInfo& each : found->spaces) out += to_text(each);
  return show(out);
}

// How many, of --keys and --members.
Result<std::optional<std::uint32_t>> room(const std::optional<std::string>& text, std::uint32_t most,
                                          const char* name) {
  if (!text) return std::nullopt;
  auto number = number_of(*text, most, name);
  if (!number) return fail(number.error());
  if (*number == 0) return fail(Code::usage, std::string(name) + " wants a number above 0");
  return static_cast<std::uint32_t>(*number);
}

Result<int> init(const Arguments& arguments) {
  auto keys = room(arguments.keys, compose::kMostKeys, "--keys");
  if (!keys) return fail(keys.error());
  auto members = room(arguments.members, compose::kMostMembers, "--members");
  if (!members) return fail(members.error());
  auto made = compose::init_space(chosen_url(arguments), {*keys, *members});
  if (!made) return fail(made.error());
  if (arguments.json) {
    return show(boost::json::serialize(
                    boost::json::object{{"space", to_json(made->space)},
                                        {"was_there", made->was_there},
                                        {"put_back", made->put_back},
                                        {"notes", boost::json::array(made->notes.begin(), made->notes.end())}}) +
                "\n");
  }
  const char* what = made->put_back ? "put back" : made->was_there ? "was there already" : "made";
  std::string out = std::string(what) + ": " + to_text(made->space);
  for (const std::string& note : made->notes) out += "  note: " + escape_controls(note) + "\n";
  return show(out);
}

Result<int> repair(const Arguments& arguments) {
  auto repaired = compose::repair_space(chosen_url(arguments), arguments.reason.value_or(""));
  if (!repaired) return fail(repaired.error());
  if (arguments.json) {
    return show(boost::json::serialize(boost::json::object{
                    {"space", to_json(repaired->space)},
                    {"notes", boost::json::array(repaired->notes.begin(), repaired->notes.end())}}) +
                "\n");
  }
  std::string out = "repaired: " + to_text(repaired->space);
  for (const std::string& note : repaired->notes) out += hanging("  note: ", escape_controls(note));
  return show(out);
}

Result<int> move(const Arguments& arguments) {
  if (!arguments.target) {
    return fail(Code::usage, "space move wants the new folder",
                "tenure space move --space files:/old/place /new/place");
  }
  auto moved = compose::move_space(chosen_url(arguments), *arguments.target);
  if (!moved) return fail(moved.error());
  if (arguments.json) {
    return show(
        boost::json::serialize(boost::json::object{{"from", moved->from}, {"to", moved->to}, {"url", moved->url}}) +
        "\n");
  }
  return show("moved " + escape_controls(moved->from) + " to " + escape_controls(moved->to) + "; it is now " +
              escape_controls(moved->url) + "\n");
}

Result<int> purge(const Arguments& arguments) {
  auto purged = compose::purge_space(chosen_url(arguments), arguments.force);
  if (!purged) return fail(purged.error());
  if (arguments.json) {
    return show(boost::json::serialize(
                    boost::json::object{{"path", purged->path},
                                        {"removed_files", purged->removed},
                                        {"folder_removed", purged->folder_removed},
                                        {"left", boost::json::array(purged->left.begin(), purged->left.end())},
                                        {"notes", boost::json::array(purged->notes.begin(), purged->notes.end())}}) +
                "\n");
  }
  std::string out = "purged " + escape_controls(purged->path) + ": " + std::to_string(purged->removed) + " files" +
                    (purged->folder_removed ? ", and the folder" : "") + "\n";
  for (const std::string& name : purged->left) out += "  left, not ours: " + escape_controls(name) + "\n";
  for (const std::string& note : purged->notes) out += hanging("  note: ", escape_controls(note));
  return show(out);
}

}  // namespace

Result<int> space_command(const Arguments& arguments) {
  const std::string action = arguments.action.value_or("ls");
  if (arguments.target && action != "move") {
    return fail(Code::usage, "space " + escape_controls(action) + " takes the space by --space, not as a word",
                "tenure space " + shell_word(action) + " --space " + shell_word(*arguments.target));
  }
  if (action != "init" && (arguments.keys || arguments.members)) {
    return fail(Code::usage, "--keys and --members are for space init", "tenure space init --keys 1000000");
  }
  if (action == "ls") return list(arguments);
  if (action == "init") return init(arguments);
  if (action == "move") return move(arguments);
  if (action == "purge") return purge(arguments);
  if (action == "repair") return repair(arguments);
  return fail(Code::usage, "space wants ls, init, move, purge or repair, not " + escape_controls(action),
              "tenure space --help");
}

}  // namespace tenure::cli
