// History: what was granted, as the one who was granted it saw it. It knows nothing of the rules by which that came
// about, and checks two things only: no two hold at once, and no number is given twice.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tenure::tests {

class History {
 public:
  struct Turn {
    std::string who;
    std::uint64_t epoch = 0;
    int begun = 0;
    int ended = -1;  // -1: it still believes that it holds
  };

  // `who` was granted the key. With `again` it holds it already and keeps its number.
  void granted(const std::string& who, std::uint64_t epoch, bool again = false) {
    if (again) {
      ASSERT_FALSE(turns_.empty());
      EXPECT_EQ(turns_.back().who, who) << "claimed again what another was granted since";
      EXPECT_EQ(turns_.back().epoch, epoch);
      return;
    }
    EXPECT_GT(epoch, highest_) << who << " was granted a number that is not above all before";
    for (const Turn& turn : turns_) {
      EXPECT_NE(turn.ended, -1) << who << " was granted it under " << epoch << " while " << turn.who
                                << " holds it under " << turn.epoch << " since step " << turn.begun;
    }
    highest_ = std::max(highest_, epoch);
    turns_.push_back({who, epoch, step_++, -1});
  }
  // It gave back, died, or was silent for so long that its belief is its own fault.
  void ended(const std::string& who) {
    for (Turn& turn : turns_) {
      if (turn.who == who && turn.ended == -1) turn.ended = step_++;
    }
  }
  // Who holds it by this account; empty: nobody.
  std::string holder() const { return turns_.empty() || turns_.back().ended != -1 ? std::string{} : turns_.back().who; }
  std::uint64_t highest() const { return highest_; }
  std::size_t turns() const { return turns_.size(); }

 private:
  std::vector<Turn> turns_;
  std::uint64_t highest_ = 0;
  int step_ = 0;
};

}  // namespace tenure::tests
