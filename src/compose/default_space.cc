#include "compose/default_space.h"

#include <filesystem>
#include <string_view>

#include "os/linux/private_folder.h"
#include "os/linux/user_home.h"

namespace tenure::compose {
namespace {

constexpr char kRecord[] = "no-usable-home";

std::string fallback_path(const os::UserHome& home) {
  return "/var/tmp/tenure-" + std::to_string(home.user);
}

void note_differences(StateFolder& folder, const os::UserHome& home) {
  if (auto said = os::variable("HOME"); said && *said != home.folder) {
    folder.notes.push_back("HOME is " + *said + ", the password database says " + home.folder + "; the latter is used");
  }
  if (auto said = os::variable("XDG_STATE_HOME"); said && *said != home.folder + "/.local/state") {
    folder.notes.push_back("XDG_STATE_HOME is " + *said + " and is not followed; TENURE_HOME is");
  }
}

}  // namespace

StateFolder state_folder() {
  StateFolder folder;
  if (auto said = os::variable("TENURE_HOME")) {
    folder.path = said->front() == '/' ? *said : os::working_directory() + "/" + *said;
    folder.origin = "TENURE_HOME";
    return folder;
  }
  const os::UserHome home = os::user_home();
  const std::string fallback = fallback_path(home);
  if (os::private_file_exists(fallback, kRecord)) {
    folder.path = fallback;
    folder.origin = "recorded when there was no usable home";
    return folder;
  }
  note_differences(folder, home);
  if (home.usable) {
    folder.path = home.folder + "/.local/state/tenure";
    folder.origin = "the home in the password database";
    return folder;
  }
  folder.path = fallback;
  folder.origin = "no usable home: " + home.why_not;
  folder.fallback = true;
  return folder;
}

bool settle(const StateFolder& folder) {
  if (!folder.fallback) return true;
  return os::make_private_file(folder.path, kRecord, folder.origin + "\n");
}

std::string folder_of(const SpaceUrl& url) {
  if (url.name.empty()) return url.folder;
  return (url.system ? std::string(kSystemFolder) : state_folder().path + "/local") + "/" + url.name;
}

SpaceUrl settled(SpaceUrl url) {
  if (url.kind != SpaceUrl::Kind::local || url.system || url.name.empty()) return url;
  url.folder = folder_of(url);
  url.name.clear();
  return url;
}

std::string spelt(const SpaceUrl& url) {
  const std::filesystem::path folder = url.folder;
  const std::string name = folder.filename().string();
  SpaceUrl short_one = url;
  short_one.folder.clear();
  short_one.name = name;
  const bool ours = url.kind == SpaceUrl::Kind::local && !url.folder.empty() && is_space_name(name) &&
                    folder_of(short_one) == url.folder;
  return text_of(ours ? short_one : url);
}

Error with_url(Error error, const SpaceUrl& url) {
  constexpr std::string_view kPlace = "--space URL";
  const std::size_t at = error.remedy.find(kPlace);
  if (at == std::string::npos) return error;
  const std::string text = spelt(url);
  const bool bare = text.find_first_of("?&'\"$`\\*[]();<>|~! ") == std::string::npos;
  error.remedy.replace(at, kPlace.size(), "--space " + (bare ? text : "'" + text + "'"));
  return error;
}

std::string default_space() {
  return text_of(settled({.kind = SpaceUrl::Kind::local, .name = kDefaultName}));
}

}  // namespace tenure::compose
