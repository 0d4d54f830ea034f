// Where the spaces of a user lie, and which one is used when none is named.
//
// Under the home of the *password database*, so that a shell, cron, sudo and a service of one user meet in one place;
// only TENURE_HOME changes it. Without a usable home the choice falls once on /var/tmp/tenure-UID, is recorded there,
// and is not made again. See docs/reference/paths.md.
#pragma once

#include <string>
#include <vector>

#include "compose/space_url.h"

namespace tenure::compose {

struct StateFolder {
  std::string path;                // absolute
  std::string origin;              // "TENURE_HOME", "the home in the password database", "no usable home: …"
  std::vector<std::string> notes;  // what was found to differ and is not followed: HOME, XDG_STATE_HOME
  bool fallback = false;           // no usable home: the choice must be recorded in `path` when the folder is made
};

// Decides, makes nothing.
StateFolder state_folder();
// Makes the folder of the fall-back and records the choice there; does nothing for the others. False: it could not be
// made, or belongs to somebody else.
bool settle(const StateFolder& folder);

// Where the spaces of several users lie.
inline constexpr char kSystemFolder[] = "/var/lib/tenure";
// The folder of a local: or system: space, absolute.
std::string folder_of(const SpaceUrl& url);
// The URL as another process understands it, whatever its environment: a name becomes the folder that it stands for.
// Not of a relative folder.
SpaceUrl settled(SpaceUrl url);
// The same the other way: a folder of the user's own spaces becomes its name, for people to type.
std::string spelt(const SpaceUrl& url);

// The error as the user of this space can act on it: where a remedy says "--space URL", the URL is put in.
Error with_url(Error error, const SpaceUrl& url);

// The URL of the space that is used when neither --space nor TENURE_SPACE names one: local:, settled.
std::string default_space();

}  // namespace tenure::compose
