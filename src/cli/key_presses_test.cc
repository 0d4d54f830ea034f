#include "cli/key_presses.h"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

using Kind = KeyPress::Kind;
using Pressed = std::vector<KeyPress>;

TEST(KeyPresses, KnowsTheKeysOfSeveralTerminals) {
  KeyPresses keys;
  EXPECT_EQ(keys.take("\x1b[A\x1bOB\x1b[5~\x1b[F"),
            (Pressed{{Kind::up, {}}, {Kind::down, {}}, {Kind::page_up, {}}, {Kind::last, {}}}));
  EXPECT_EQ(keys.take("q\r\x7f"), (Pressed{{Kind::text, "q"}, {Kind::enter, {}}, {Kind::erase, {}}}));
}

TEST(KeyPresses, PutsTheirPartsTogether) {
  KeyPresses keys;
  EXPECT_EQ(keys.take("\x1b"), Pressed{});
  EXPECT_TRUE(keys.waits());
  EXPECT_EQ(keys.take("["), Pressed{});
  EXPECT_EQ(keys.take("B"), (Pressed{{Kind::down, {}}}));
  EXPECT_EQ(keys.take("\xc3"), Pressed{});
  EXPECT_EQ(keys.take("\xa9"), (Pressed{{Kind::text, "é"}}));
  EXPECT_FALSE(keys.waits());
}

TEST(KeyPresses, AnEscapeThatNothingFollowsIsTheKey) {
  KeyPresses keys;
  EXPECT_EQ(keys.take("\x1b"), Pressed{});
  EXPECT_EQ(keys.end_wait(), (Pressed{{Kind::escape, {}}}));
  EXPECT_FALSE(keys.waits());
  EXPECT_EQ(keys.take("\x1bq"), (Pressed{{Kind::escape, {}}, {Kind::text, "q"}}));
}

TEST(KeyPresses, PassesOverWhatItDoesNotKnow) {
  KeyPresses keys;
  EXPECT_EQ(keys.take("\x1b[1;5Cj\x1b[200~\x01\xff"
                      "k"),
            (Pressed{{Kind::text, "j"}, {Kind::text, "k"}}));
}

}  // namespace
}  // namespace tenure::cli
