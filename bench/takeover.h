// Takeover: a holder is killed with SIGKILL, and somebody waits for what it had.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tenure::bench {

// From just before the signal is sent until the waiter has been granted the thing. Holder and waiter are processes of
// few pages, forked for the purpose, and the holder has so many resident bytes more; it is reaped at once, as its
// parent would.
std::chrono::nanoseconds measure_takeover(const std::string& way, const std::string& folder,
                                          std::size_t resident_bytes = 0);

}  // namespace tenure::bench
