// Takeover: a holder is killed with SIGKILL, and somebody waits for what it had.
#pragma once

#include <chrono>
#include <string>

namespace tenure::bench {

// From just before the signal is sent until the waiter has been granted the thing. Holder and waiter are processes of
// few pages, forked for the purpose; the holder is reaped at once, as its parent would.
std::chrono::nanoseconds measure_takeover(const std::string& way, const std::string& folder);

}  // namespace tenure::bench
