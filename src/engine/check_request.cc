#include "engine/check_request.h"

#include "base/limits.h"
#include "base/text.h"

namespace tenure {
namespace {

Result<void> check_labels(const ClaimRequest& request, const Traits& traits) {
  struct Label {
    const char* what;
    const std::string& text;
    bool may_be_empty;
  };
  for (const Label& label : {Label{"owner", request.owner, traits.own_labels},
                             Label{"part", request.part, traits.own_labels}, Label{"channel", request.channel, true},
                             Label{"version", request.version, true}, Label{"session", request.session, true}}) {
    auto checked = check_text(label.what, label.text, limits::kLabelBytes, label.may_be_empty);
    if (!checked) return checked;
  }
  return check_text("reason", request.terms.reason, limits::kReasonBytes, true);
}

Result<void> check_session_file(const std::string& path) {
  if (auto text = check_text("path of the session file", path, limits::kPathBytes, false); !text) return text;
  if (path.starts_with('/')) return {};
  return fail(Code::bad_label, "the path of the session file is not absolute: " + path, "begin it with /");
}

Result<void> refuse(const Traits& traits, const std::string& what) {
  return fail(Code::unsupported, "the engine '" + traits.name + "' does not offer " + what,
              "leave it out, or use a space whose engine offers it");
}

Result<void> check_terms(const Terms& terms, const Traits& traits) {
  if (terms.mode == Mode::shared && !traits.shared) return refuse(traits, "shared leases");
  if (terms.slots == 0) return fail(Code::usage, "0 slots: at least one holder must be possible");
  if (terms.slots > 1 && !traits.slots) return refuse(traits, "more than one slot");
  if (terms.slots > limits::kTogether) {
    return fail(Code::usage,
                std::to_string(terms.slots) + " slots: a key has at most " + std::to_string(limits::kTogether));
  }
  if (terms.slots > 1 && terms.mode == Mode::shared) {
    return fail(Code::usage, "a lease is shared among readers or one of several slots, not both");
  }
  if (!terms.ttl) return {};
  if (!traits.ttl) return refuse(traits, "a TTL");
  if (*terms.ttl <= Duration{0}) return fail(Code::bad_duration, "a TTL must be longer than 0");
  if (*terms.ttl > limits::kLongestDuration) return fail(Code::bad_duration, "a TTL may be at most ten years");
  return {};
}

Result<void> check_span(const std::string& what, Duration span, Duration longest) {
  if (span > Duration{0} && span <= longest) return {};
  return fail(Code::bad_duration, what + " is above 0 and at most " + words(longest));
}

}  // namespace

Result<void> check_text(const std::string& what, const std::string& text, std::size_t max_bytes, bool may_be_empty) {
  if (text.empty() && !may_be_empty) return fail(Code::bad_label, "the " + what + " is empty");
  if (text.size() > max_bytes) {
    return fail(Code::bad_label, "the " + what + " has " + std::to_string(text.size()) + " bytes; the limit is " +
                                     std::to_string(max_bytes));
  }
  if (auto fault = fault_in_text(text)) {
    return fail(Code::bad_label, "the " + what + " is not plain text: " + describe(*fault));
  }
  return {};
}

Result<void> check_request(const ClaimRequest& request, const Traits& traits) {
  if (traits.only_key && request.key.text() != *traits.only_key) {
    return fail(Code::bad_key, "a space of the engine '" + traits.name + "' has one key, " + *traits.only_key,
                "claim that one");
  }
  if (auto labels = check_labels(request, traits); !labels) return labels;
  if (!request.control_group.empty() && !traits.control_groups)
    return refuse(traits, "a control group that keeps a lease");
  if (request.control_group.size() > limits::kGroupBytes) {
    return fail(Code::usage,
                "the folder of a control group may have " + std::to_string(limits::kGroupBytes) + " bytes");
  }
  if (!request.session_file.empty()) {
    if (!traits.session_files) return refuse(traits, "a place for the session file in its record");
    if (auto path = check_session_file(request.session_file); !path) return path;
  }
  return check_terms(request.terms, traits);
}

Result<void> check_ask(const AskRequest& request, const Traits& traits) {
  if (request.reason.empty())
    return fail(Code::usage, "a request to yield needs a reason: the holder is to decide by it");
  if (auto text = check_text("reason", request.reason, limits::kAskReasonBytes, false); !text) return text;
  if (auto by = check_text("owner", request.by, limits::kLabelBytes, traits.own_labels); !by) return by;
  return check_span("the deadline of a request", request.deadline, limits::kLongestAsk);
}

Result<void> check_answer(const std::string& words) {
  return check_text("answer", words, limits::kAnswerBytes, true);
}

Result<void> check_hand_off(const HandOff& offer) {
  if (auto to = check_text("owner to hand it to", offer.to, limits::kLabelBytes, false); !to) return to;
  return check_span("the time of an offer", offer.within, limits::kLongestOffer);
}

Result<void> check_adoption(const ClaimRequest& request, const Traits& traits) {
  ClaimRequest plain = request;
  plain.terms.mode = Mode::exclusive;
  plain.terms.slots = 1;
  if (request.owner.empty()) return fail(Code::usage, "an offer is made to an owner: say which one you are");
  return check_request(plain, traits);
}

}  // namespace tenure
