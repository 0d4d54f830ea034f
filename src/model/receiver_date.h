// Dates of pi-amq's records. It writes what JavaScript's toISOString() gives and takes whatever its Date.parse() takes;
// we take only what the language itself defines, and real days of the calendar: less, and the same in every engine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tenure/time.h"

namespace tenure {

// "2026-11-30T10:26:50.123Z": milliseconds, rounded down.
std::string receiver_date(WallTime time);

// YYYY, YYYY-MM, YYYY-MM-DD, the year also as a sign and six digits; any of them with THH:mm, THH:mm:ss or
// THH:mm:ss.s (1 to 9 digits), that with Z or ±HH:mm behind it. nullopt for all else, also for -000000, for a day that
// its month does not have, and for what lies more than 100,000,000 days from 1970.
//
// A time of day without a zone is the writer's local time, which we cannot know: it is read as UTC. Good for showing
// only. Times past the range of WallTime become its bounds, as with wall_time_of().
std::optional<WallTime> parse_receiver_date(std::string_view text);

}  // namespace tenure
