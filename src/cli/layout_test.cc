#include "cli/layout.h"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

TEST(Layout, WrapsAtBlanksAndElseWithinTheWord) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("abcdefghij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrap("", 4), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap("abcd", 4), (std::vector<std::string>{"abcd"}));
}

TEST(Layout, CountsColumnsNotBytes) {
  EXPECT_EQ(width_of("größe"), 5U);
  EXPECT_EQ(width_of("e\u0301"), 1U);
  EXPECT_EQ(width_of("日本"), 4U);
  EXPECT_EQ(width_of("\U0001f512"), 2U);
  EXPECT_EQ(width_of("a\xff"), 2U);
  EXPECT_EQ(wrap("ééééé", 2), (std::vector<std::string>{"éé", "éé", "é"}));
  EXPECT_EQ(wrap("日本", 1), (std::vector<std::string>{"日", "本"}));
  EXPECT_EQ(shorten("日本語の名前", 8), "日本語…");
  EXPECT_EQ(shorten("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(cell("日本語の名前", 8), "日本語… ");
  EXPECT_EQ(cell("é", 3), "é  ");
}

TEST(Layout, EveryLineFitsAndNothingIsLost) {
  const std::string text = "a " + std::string(200, 'x') + " b  c " + std::string(79, 'y') + " " + std::string(81, 'z');
  for (std::size_t columns = 1; columns <= 90; ++columns) {
    std::string joined;
    for (const std::string& line : wrap(text, columns)) {
      EXPECT_LE(width_of(line), columns);
      joined += line;
    }
    std::string without_blanks = text;
    std::erase(without_blanks, ' ');
    std::erase(joined, ' ');
    EXPECT_EQ(joined, without_blanks);
  }
}

TEST(Layout, HangingKeepsTheIndent) {
  const std::string text = hanging("  label ", std::string(100, 'x'));
  EXPECT_EQ(text, "  label " + std::string(72, 'x') + "\n        " + std::string(28, 'x') + "\n");
}

TEST(Layout, ShellWordsStayOneWord) {
  EXPECT_EQ(shell_word("files:/srv/x-1_2.3"), "files:/srv/x-1_2.3");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word("~"), "'~'");
  EXPECT_EQ(shell_word("é"), "'é'");
}

}  // namespace
}  // namespace tenure::cli
