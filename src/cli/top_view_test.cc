#include "cli/top_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/layout.h"
#include "cli/top_session.h"

namespace tenure::cli {
namespace {

const WallTime kNow = WallTime::from_milliseconds(1'800'000'000'000);

Observation held(const std::string& key, Duration age, const std::string& owner = "builder") {
  Observation seen{.key = *Key::parse(key)};
  seen.state = State::held;
  seen.epoch = Epoch(7);
  seen.verdict = {Liveness::live, "its keeper thread runs"};
  Holder holder;
  holder.owner = owner;
  holder.process.pid = 4711;
  holder.user_name = "ann";
  holder.command = "make -j2 all";
  holder.since = kNow - age;
  seen.holder = holder;
  return seen;
}

Observation freed(const std::string& key) {
  return Observation{.key = *Key::parse(key)};
}

class Top : public ::testing::Test {
 protected:
  void know(std::vector<Observation> all) { session_.take({std::move(all), {}, {}}); }
  void press(std::string_view letters) {
    for (const char letter : letters) session_.press({KeyPress::Kind::text, std::string(1, letter)});
  }
  void press(KeyPress::Kind kind) { session_.press({kind, {}}); }
  std::string shown(ScreenSize size = {}, WallTime now = kNow) {
    lines_ = session_.lines(size, {now, "Nov 30 07:00:00"});
    EXPECT_LE(lines_.size(), size.rows);
    std::string out;
    for (const ScreenLine& line : lines_) {
      EXPECT_LE(width_of(line.text), size.columns) << line.text;
      out += line.text + "\n";
    }
    return out;
  }
  std::string chosen() {
    shown();
    const auto found = std::ranges::find(lines_, Emphasis::chosen, &ScreenLine::emphasis);
    return found == lines_.end() ? "" : found->text.substr(2, found->text.find(' ', 2) - 2);
  }

  TopSession session_{Viewpoint{"local:", "/srv/t", {}, {}, kNow}, true};
  std::vector<ScreenLine> lines_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Top, SaysWhoHoldsWhatAndWhoIsNext) {
  EXPECT_TRUE(has(shown(), "reading"));
  Observation busy = held("deploy", std::chrono::seconds(125));
  busy.waiting = 3;
  busy.line.push_back({.owner = "bob"});
  busy.frees_in = std::chrono::minutes(61);
  Observation dead = held("port", std::chrono::hours(30));
  dead.verdict = {Liveness::dead, "pid 4711 is gone"};
  know({busy, dead});
  const std::string text = shown();
  EXPECT_TRUE(has(text, "2 held, 1 dead, 3 in line")) << text;
  EXPECT_TRUE(has(text, "> deploy builder 4711 ann  2m05s  1h01m  live    3    bob  make -j2 all")) << text;
  EXPECT_TRUE(has(text, "  port   builder 4711 ann  1d06h         dead")) << text;
  EXPECT_TRUE(has(text, "live: its keeper thread runs")) << text;
  press("j");
  EXPECT_TRUE(has(shown(), "dead: pid 4711 is gone"));
}

TEST_F(Top, FitsEveryScreen) {
  std::vector<Observation> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(
        held("日本/" + std::to_string(i) + std::string(60, 'x'), std::chrono::days(i), "größe und mehr davon"));
    all.back().waiting = 1'000'000;
    all.back().line.push_back({.owner = std::string(256, 'w')});
  }
  know(all);
  for (std::size_t columns = 2; columns <= 200; columns += columns < 30 ? 1 : 7) {
    for (const std::size_t rows : {1UL, 2UL, 3UL, 4UL, 9UL, 10UL, 24UL, 60UL}) {
      shown({columns, rows});
      EXPECT_LE(session_.on_screen({columns, rows}).size(), rows);
      press(KeyPress::Kind::enter);
      shown({columns, rows});
      press(KeyPress::Kind::escape);
    }
  }
  EXPECT_TRUE(has(shown({40, 24}), "live"));  // the verdict goes last
}

TEST_F(Top, OthersTextDoesNoHarm) {
  Observation seen = held("k", std::chrono::seconds(1), "red\x1b[31m");
  seen.holder->reason = "a\nb\x1b[2J\u202e";
  know({seen});
  for (const std::string& text : {shown({120, 24}), (press(KeyPress::Kind::enter), shown({120, 24}))}) {
    EXPECT_FALSE(has(text, "\x1b")) << text;
    EXPECT_FALSE(has(text, "\u202e"));
    EXPECT_TRUE(has(text, "red\\x1b[31m")) << text;
  }
}

TEST_F(Top, KeepsTheChosenKeyWhileOthersComeAndGo) {
  know({held("b", std::chrono::seconds(3)), held("c", std::chrono::seconds(1)), held("d", std::chrono::seconds(2))});
  press("j");
  EXPECT_EQ(chosen(), "c");
  EXPECT_TRUE(session_.take({std::nullopt, {held("a", std::chrono::seconds(9)), freed("b")}, {}}));
  EXPECT_EQ(chosen(), "c");
  press("s");  // by age: a d c
  EXPECT_EQ(chosen(), "c");
  press("k");
  EXPECT_EQ(chosen(), "d");
  EXPECT_TRUE(session_.take({std::nullopt, {freed("d")}, {}}));
  EXPECT_EQ(chosen(), "c");
  press("g");
  EXPECT_EQ(chosen(), "a");
  // Looked at again, and nothing has happened.
  EXPECT_FALSE(session_.take({std::nullopt, {held("a", std::chrono::seconds(9))}, {}}));
}

TEST_F(Top, SortsByWaiting) {
  Observation busy = held("z", std::chrono::seconds(1));
  busy.waiting = 2;
  know({held("a", std::chrono::seconds(1)), busy});
  press("ss");
  const std::string text = shown();
  EXPECT_LT(text.find(" z "), text.find(" a "));
  press("s");
  EXPECT_TRUE(has(shown(), "by key"));
}

TEST_F(Top, NarrowsWhileAPrefixIsTyped) {
  know({held("ab", std::chrono::seconds(1)), held("ac", std::chrono::seconds(1)), held("b", std::chrono::seconds(1))});
  press("/ac");
  EXPECT_TRUE(has(shown(), "1 held"));
  EXPECT_EQ(chosen(), "ac");
  press(KeyPress::Kind::erase);
  EXPECT_TRUE(has(shown(), "2 held"));
  press("q");  // a letter like any other
  EXPECT_TRUE(has(shown(), "nothing is held that begins with aq"));
  press(KeyPress::Kind::escape);
  EXPECT_TRUE(has(shown(), "3 held"));
  press("/a");
  press(KeyPress::Kind::enter);
  EXPECT_TRUE(has(shown(), "only a"));
  press(KeyPress::Kind::escape);
  EXPECT_TRUE(has(shown(), "3 held"));
}

TEST_F(Top, APauseStopsTheClock) {
  know({held("k", std::chrono::seconds(5))});
  shown();
  press("p");
  const std::string text = shown({}, kNow + std::chrono::seconds(60));
  EXPECT_TRUE(has(text, "PAUSED")) << text;
  EXPECT_TRUE(has(text, " 5s ")) << text;
  press("p");
  EXPECT_TRUE(has(shown({}, kNow + std::chrono::seconds(60)), " 1m05s "));
}

TEST_F(Top, DetailsStayWithTheirKey) {
  know({held("a", std::chrono::seconds(1)), held("b", std::chrono::seconds(1))});
  press("j");
  press(KeyPress::Kind::enter);
  EXPECT_TRUE(has(shown(), "b is held by builder"));
  session_.take({std::nullopt, {freed("b")}, {}});
  EXPECT_TRUE(has(shown(), "b is free"));
  EXPECT_TRUE(session_.press({KeyPress::Kind::text, "q"}));
  EXPECT_FALSE(session_.press({KeyPress::Kind::text, "q"}));
}

TEST_F(Top, SaysWhyNothingNewIsSeen) {
  know({held("a", std::chrono::seconds(1))});
  EXPECT_TRUE(session_.take({std::nullopt, {}, "the folder is gone"}));
  EXPECT_TRUE(has(shown(), "the folder is gone"));
  session_.take({std::nullopt, {held("a", std::chrono::seconds(1))}, {}});
  EXPECT_FALSE(has(shown(), "the folder is gone"));
}

TEST(TopWindow, MovesAsLittleAsItMust) {
  EXPECT_EQ(first_row(0, 5, 100, 10), 0U);
  EXPECT_EQ(first_row(0, 10, 100, 10), 1U);
  EXPECT_EQ(first_row(50, 49, 100, 10), 49U);
  EXPECT_EQ(first_row(95, 99, 100, 10), 90U);
  EXPECT_EQ(first_row(95, 3, 4, 10), 0U);
  EXPECT_EQ(first_row(3, 3, 4, 0), 0U);
}

TEST(TopAge, TakesSixColumns) {
  EXPECT_EQ(short_age(std::chrono::seconds(-3)), "0s");
  EXPECT_EQ(short_age(std::chrono::seconds(59)), "59s");
  EXPECT_EQ(short_age(std::chrono::seconds(3599)), "59m59s");
  EXPECT_EQ(short_age(std::chrono::hours(23)), "23h00m");
  EXPECT_EQ(short_age(std::chrono::hours(24 * 99 + 5)), "99d05h");
  EXPECT_EQ(short_age(std::chrono::hours(24 * 3650)), "3650d");
}

}  // namespace
}  // namespace tenure::cli
