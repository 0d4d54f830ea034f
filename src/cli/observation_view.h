// How an Observation is shown: one set of fields, as text for 80 columns and as JSON. Every command shows it so, and
// every command line that is suggested is made here.
//
// Text that others wrote (labels, commands, folders, reasons) is shown with its control characters escaped; JSON
// carries it as it is.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tenure/holder.h"
#include "tenure/space.h"

namespace tenure::cli {

// From where an observation is looked at.
struct Viewpoint {
  std::string url;           // of the space
  std::string location;      // its folder
  std::string space_option;  // " --space URL" for suggested commands, where they would go elsewhere without it
  ProcessIdentity self;
  WallTime now;
};
Viewpoint viewpoint_of(const Space& space);
// Where no space could be opened.
Viewpoint viewpoint_of(const std::string& url);

// What can be typed next, and what it is good for. Every command works as it stands.
struct Step {
  std::string purpose;
  std::string command;
};
std::vector<Step> next_steps(const Observation& seen, const Viewpoint& from);
// For whom a key is offered to.
Step adopt_step(const Key& key, const std::string& owner, const Viewpoint& from);
// Takes the key away and sets its epoch anew where that cannot be read.
Step repair_step(const Key& key, const Viewpoint& from);
// Purpose, and below it the command, which is never broken: it is there to be copied.
std::string to_text(const Step& step);
boost::json::array to_json(const std::vector<Step>& steps);

// "held by builder (pid 4711, user ann) for 2 min 3 s": no newline, no key, not wrapped.
std::string one_line(const Observation& seen, const Viewpoint& from);
// The fields, one a line and indented, then the next steps.
std::string fields(const Observation& seen, const Viewpoint& from);
boost::json::object to_json(const Observation& seen, const Viewpoint& from);

// Whether somebody holds it who may still be there: what a claim would have to wait for.
bool is_held(const Observation& seen);

// One of those who hold a key, alone or together.
struct OneHolder {
  const Holder* holder;
  Epoch epoch;
};
// All of them; valid while the observation is.
std::vector<OneHolder> holders_of(const Observation& seen);
// As readers, or in slots.
bool hold_together(const Observation& seen);
// "3 readers", "2 of 4 slots"; empty where it is held alone.
std::string words_of_holders(const Observation& seen);

const char* word_of(State state);
const char* word_of(Liveness liveness);

}  // namespace tenure::cli
