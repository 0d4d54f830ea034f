// How requests to yield, and offers, are shown.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "cli/observation_view.h"
#include "tenure/space.h"

namespace tenure::cli {

const char* word_of(Became became);

// "builder (pid 4711, user ann) 3 s ago, answer wanted by 12:00:00: release 4.2"
std::string in_words(const Ask& ask, const Viewpoint& from);
boost::json::object to_json(const Ask& ask);
// "builder until …; then it stays with its holder"
std::string in_words(const Offer& offer);
boost::json::object to_json(const Offer& offer);

// What `ask` says on standard output at its end.
std::string outcome_message(const Asked& asked, const Space& space, bool json);
// What `run` says on standard error: that somebody asks, and what became of it ("yielding", "declined", "ignored").
std::string ask_message(const Lease& lease, const Ask& ask, const Space& space, bool json);
std::string answer_message(std::string_view event, const Lease& lease, const Ask& ask, const std::string& words,
                           bool json);

}  // namespace tenure::cli
