// How `top` looks: lines for a screen of a given size, from what is known. Nothing is asked of anybody here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/observation_view.h"
#include "cli/screen_line.h"
#include "cli/top_board.h"

namespace tenure::cli {

struct TopSight {
  const Viewpoint& from;
  std::string clock;       // the time of day, where the user lives
  bool shows_line = true;  // whether the space shows who waits
  bool reading = false;    // nothing is known yet
  std::string fault;       // why nothing new is seen
  bool paused = false;
  std::optional<std::string> typed;  // the prefix in the making
};

// The rows of keys that fit, beside what stands above and below them.
std::size_t rows_that_fit(ScreenSize size);
// The first row of the window, moved as little as the chosen row allows.
std::size_t first_row(std::size_t first, std::size_t chosen, std::size_t count, std::size_t fit);

// At most size.rows lines of at most size.columns.
std::vector<ScreenLine> top_list(TopBoard& board, std::size_t first, const TopSight& sight, ScreenSize size);
// All that is known of one key, from line `first` on, which is lowered where there are not so many. `seen`: null when
// nobody holds it any more.
std::vector<ScreenLine> top_details(const Key& key, const Observation* seen, std::size_t& first, const TopSight& sight,
                                    ScreenSize size);
// All keys, with neither choice nor keys to press.
std::vector<ScreenLine> top_once(TopBoard& board, const TopSight& sight, std::size_t columns);

// "42s", "12m05s", "3h07m", "12d03h": at most six columns.
std::string short_age(Duration age);

}  // namespace tenure::cli
