#include "rules/fence.h"

#include <algorithm>

#include "base/text.h"

namespace tenure::rules {
namespace {

using Reading = FenceSight::Reading;
using Answer = SpaceSight::Answer;

std::unexpected<Error> refused(Code code, const Observation& seen, std::string message) {
  return fail(Error{code, std::move(message), {}, std::make_shared<const Observation>(seen)});
}

std::string quoted(std::string_view place) {
  return "'" + std::string(place) + "'";
}

// The sidecar is in the way of everybody; what is lost with it is the knowledge of the highest epoch.
std::string set_aside(const FenceSight& sidecar) {
  return "once no older holder can still write: mv " + quoted(sidecar.place) + " " + quoted(sidecar.place + ".aside");
}

std::unexpected<Error> unreadable(const FenceSight& sidecar) {
  Error error = *sidecar.why;
  if (error.code == Code::damaged && error.remedy.empty()) error.remedy = set_aside(sidecar);
  return fail(std::move(error));
}

std::unexpected<Error> other_guard(const FenceSight& sidecar, const FenceRecord& wanted) {
  const FenceRecord& guard = sidecar.record;
  std::string message = "the file is guarded by the key " + guard.key + " of " + guard.space;
  if (guard.key != wanted.key) {
    message += ", not by the key " + wanted.key + (guard.space == wanted.space ? "" : " of " + wanted.space);
  } else {
    message += ", and this is " + wanted.space + ": epochs of two spaces cannot be compared";
  }
  return fail(Code::usage, message, "name its guard; or give it another, " + set_aside(sidecar));
}

std::unexpected<Error> older(const FenceSight& sidecar, const SpaceSight& space, Epoch epoch) {
  const std::string seen = sidecar.record.epoch.text();
  if (space.answer == Answer::seen && epoch_current(*space.seen, epoch)) {
    return fail(Code::lost,
                "the sidecar has seen epoch " + seen + ", and the space gives " + epoch.text() +
                    " now: it was restored or made anew, and its epochs say nothing about this file",
                set_aside(sidecar));
  }
  return fail(
      Code::lost,
      "epoch " + epoch.text() + " is over: the file's sidecar has seen epoch " + seen + " (refused by the sidecar)",
      "claim the key anew, and write under the epoch of that claim");
}

std::unexpected<Error> nobody_vouches(const FenceSight& sidecar, const SpaceSight& space, const FenceRecord& wanted) {
  return fail(Code::unreachable,
              "nobody vouches for epoch " + wanted.epoch.text() + ": " + space.why->message +
                  ", and the file has no sidecar (" + sidecar.place + ") that knows an epoch",
              "name the space of the lease with --space");
}

// Of those who hold the key together.
const Companion* companion_under(const Observation& seen, Epoch epoch) {
  const auto found = std::ranges::find(seen.together, epoch, &Companion::epoch);
  return found == seen.together.end() ? nullptr : &*found;
}

}  // namespace

Result<void> epoch_current(const Observation& seen, Epoch epoch) {
  const std::string& key = seen.key.text();
  const std::string number = epoch.text();
  if (seen.state == State::damaged) {
    return refused(Code::damaged, seen,
                   "the record of " + key + " cannot be read, so nothing says whether epoch " + number + " is current");
  }
  if (seen.state == State::free) {
    return refused(Code::lost, seen,
                   "nobody holds " + key + ": epoch " + number + " was given back, taken away, or never granted");
  }
  if (const Companion* one = companion_under(seen, epoch)) {
    if (!one->over) return {};
    const bool dead = one->verdict.liveness == Liveness::dead;
    return refused(dead ? Code::lost : Code::expired, seen,
                   "the lease under epoch " + number + " is over: " + one->why);
  }
  if (seen.epoch > epoch) {
    return refused(Code::lost, seen,
                   "epoch " + number + " is over: " + key + " is held under epoch " + seen.epoch.text());
  }
  if (!seen.together.empty() && epoch < seen.together.back().epoch) {
    return refused(Code::lost, seen, "epoch " + number + " is over: of those who hold " + key + " now, none has it");
  }
  if (seen.epoch < epoch) {
    return refused(Code::lost, seen,
                   "epoch " + number + " was never granted: " + key + " is held under epoch " +
                       (seen.epoch.none() ? "none" : seen.epoch.text()));
  }
  if (seen.verdict.liveness == Liveness::dead) {
    return refused(Code::lost, seen,
                   "epoch " + number + " is over: its holder is gone (" + seen.verdict.evidence + ")");
  }
  if (seen.claimable) {
    return refused(Code::expired, seen, "the lease under epoch " + number + " is over: " + seen.why);
  }
  return {};
}

Result<FenceVerdict> may_write(const FenceSight& sidecar, const SpaceSight& space, const FenceRecord& wanted) {
  if (sidecar.reading == Reading::unreadable) return unreadable(sidecar);
  const bool known = sidecar.reading == Reading::value;
  if (known && (sidecar.record.key != wanted.key || sidecar.record.space != wanted.space)) {
    return other_guard(sidecar, wanted);
  }
  if (known && wanted.epoch < sidecar.record.epoch) return older(sidecar, space, wanted.epoch);
  if (space.answer == Answer::failed) return fail(*space.why);
  if (space.answer == Answer::seen) {
    if (auto current = epoch_current(*space.seen, wanted.epoch); !current) {
      Error error = current.error();
      error.message += " (refused by the space)";
      return fail(std::move(error));
    }
  } else if (!known) {
    return nobody_vouches(sidecar, space, wanted);
  }
  return FenceVerdict{!known || sidecar.record.epoch < wanted.epoch, space.answer == Answer::gone};
}

}  // namespace tenure::rules
