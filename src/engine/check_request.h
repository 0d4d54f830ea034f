// The checks that every engine makes of a claim before it looks at its store.
#pragma once

#include "engine/engine.h"
#include "tenure/error.h"

namespace tenure {

// Labels and reason: text without control characters, within their bounds (Code::bad_label); terms that the traits do
// not offer are refused by name (Code::unsupported); a TTL of zero or less, or beyond the longest duration, is
// Code::bad_duration.
Result<void> check_request(const ClaimRequest& request, const Traits& traits);

// The checks of yielding. Code::unsupported; Code::usage without a reason; Code::bad_label; Code::bad_duration.
Result<void> check_ask(const AskRequest& request, const Traits& traits);
Result<void> check_answer(const std::string& words);
Result<void> check_hand_off(const HandOff& offer);
// Of adopt(), whose terms of sharing are those of the lease.
Result<void> check_adoption(const ClaimRequest& request, const Traits& traits);

// A reason for revocation, a label: `what` names it in the message.
Result<void> check_text(const std::string& what, const std::string& text, std::size_t max_bytes, bool may_be_empty);

}  // namespace tenure
