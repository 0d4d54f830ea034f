// The session of `top`: what each key does, and what is on the screen. Neither terminal nor store is touched here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/key_presses.h"
#include "cli/top_board.h"
#include "cli/top_view.h"

namespace tenure::cli {

// What was seen of the space since it was asked last.
struct TopNews {
  std::optional<std::vector<Observation>> all;  // in place of all before
  std::vector<Observation> changed;
  std::string fault;  // why nothing can be seen; empty when it can
};

class TopSession {
 public:
  TopSession(Viewpoint from, bool shows_line) : from_(std::move(from)), shows_line_(shows_line) {}

  // True: more than ages and signs of life has changed.
  bool take(TopNews news);
  // False: the user has seen enough.
  bool press(const KeyPress& key);
  bool paused() const { return paused_; }

  struct Instant {
    WallTime now;
    std::string clock;
  };
  // `at` counts only while it is not paused.
  std::vector<ScreenLine> lines(ScreenSize size, const Instant& at);
  // Everything, for one look without a screen.
  std::vector<ScreenLine> all_lines(std::size_t columns, const Instant& at);
  // The keys on the screen: to be looked at again and again, for their verdicts and lines change without a word.
  std::vector<Key> on_screen(ScreenSize size);

 private:
  TopSight sight();
  bool shows_line() { return shows_line_ || board_.totals().waiting != 0; }
  bool press_in_list(const KeyPress& key);
  bool press_in_details(const KeyPress& key);
  void type(const KeyPress& key);
  void move(KeyPress::Kind kind);
  void next_order();

  Viewpoint from_;
  const bool shows_line_;
  TopBoard board_;
  Instant at_;
  bool reading_ = true;
  bool paused_ = false;
  std::string fault_;
  std::optional<std::string> typed_;
  std::string prefix_before_;  // while it is typed
  std::size_t first_ = 0;      // row of the window
  std::size_t fit_ = 1;        // rows of the window
  std::optional<Key> details_of_;
  std::size_t details_first_ = 0;
};

}  // namespace tenure::cli
