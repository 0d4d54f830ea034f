// handoff: the claim of a handle is offered to a successor.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/handle_input.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

Result<HandOff> wishes(const Arguments& arguments) {
  HandOff offer;
  if (!arguments.to) {
    return fail(Code::usage, "--to is missing: the owner to whom it is offered",
                "TENURE_HANDLE=\"$handle\" tenure handoff --to OWNER");
  }
  offer.to = *arguments.to;
  auto within = duration_of(arguments.within, "--within");
  if (!within) return fail(within.error());
  offer.within = within->value_or(offer.within);
  if (!arguments.back || *arguments.back == "holder") return offer;
  offer.back = Back::line;
  if (*arguments.back == "line") return offer;
  return fail(Code::usage, "--back wants holder or line, not " + escape_controls(*arguments.back));
}

// A key that is named is a check: the handle alone decides.
Result<void> is_of_key(const Handle& handle, const Arguments& arguments) {
  if (!arguments.key) return {};
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  if (*key == handle.key) return {};
  return fail(Code::usage, "the handle is that of " + handle.key.text() + ", not of " + key->text());
}

std::int64_t milliseconds(Duration span) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

Result<void> tell_offer(const Space& space, const Handle& handle, const HandOff& offer, bool json) {
  const bool stays = offer.back == Back::holder;
  if (json) {
    return print(boost::json::serialize(boost::json::object{{"key", handle.key.text()},
                                                            {"epoch", handle.epoch.value()},
                                                            {"offered_to", offer.to},
                                                            {"within_ms", milliseconds(offer.within)},
                                                            {"back", stays ? "holder" : "line"}}) +
                 "\n");
  }
  const std::string out =
      wrapped(handle.key.text() + ": offered to " + escape_controls(offer.to) + " for " + words(offer.within) +
              "; if nobody adopts it, it " + (stays ? "stays with you" : "goes to the line"));
  return print(out + to_text(adopt_step(handle.key, offer.to, viewpoint_of(space))));
}

Result<int> offer(const Space& space, const Handle& handle, const Arguments& arguments) {
  if (auto same = is_of_key(handle, arguments); !same) return fail(same.error());
  auto wanted = wishes(arguments);
  if (!wanted) return fail(wanted.error());
  if (auto offered = space.hand_off(handle, *wanted); !offered) return fail(offered.error());
  if (auto told = tell_offer(space, handle, *wanted, arguments.json); !told) return fail(told.error());
  return 0;
}

Result<int> withdraw(const Space& space, const Handle& handle, const Arguments& arguments) {
  if (auto same = is_of_key(handle, arguments); !same) return fail(same.error());
  auto stood = space.withdraw_hand_off(handle);
  if (!stood) return fail(stood.error());
  const std::string line =
      arguments.json ? boost::json::serialize(boost::json::object{
                           {"key", handle.key.text()}, {"epoch", handle.epoch.value()}, {"withdrawn", *stood}})
                     : handle.key.text() + (*stood ? ": the offer is withdrawn" : ": there was no offer any more");
  if (auto printed = print(line + "\n"); !printed) return fail(printed.error());
  return 0;
}

}  // namespace

Result<int> handoff_command(const Arguments& arguments) {
  if (!arguments.withdraw) return with_handle(arguments, offer);
  if (arguments.to || arguments.within || arguments.back) {
    return fail(Code::usage, "--withdraw takes an offer back: --to, --within and --back make one");
  }
  return with_handle(arguments, withdraw);
}

}  // namespace tenure::cli
