#include <gtest/gtest.h>

#include <array>

#include "cli/arguments.h"

namespace tenure::cli {
namespace {

constexpr std::array<std::string_view, 5> kOptions = {"KEY", "--owner", "--wait", "--json", "--help"};

Result<Arguments> parse(std::vector<std::string> words, bool takes_command = true) {
  return parse_arguments("run", kOptions, takes_command, std::move(words));
}

TEST(Parse, TakesOptionsOnEitherSideOfTheKey) {
  const auto arguments = parse({"--owner", "me", "k", "--wait=5s", "--json", "--", "cmd", "--owner", "x", "--"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->key, "k");
  EXPECT_EQ(arguments->owner, "me");
  EXPECT_EQ(arguments->wait, "5s");
  EXPECT_TRUE(arguments->json);
  EXPECT_EQ(arguments->command, (std::vector<std::string>{"cmd", "--owner", "x", "--"}));
}

TEST(Parse, TakesValuesAsTheyAre) {
  for (const std::string value : {"[a,b]", "{}", "%%", "a,b", "-x", "--", "\"q\"", "@f", "é", "", " "}) {
    const auto arguments = parse({"k", "--owner=" + value});
    ASSERT_TRUE(arguments) << value;
    EXPECT_EQ(arguments->owner, value);
  }
}

TEST(Parse, TakesAKeyThatBeginsWithADash) {
  EXPECT_EQ(parse({"--key=-x"})->key, "-x");
  EXPECT_EQ(parse({"--", "-x"}, false)->key, "-x");
}

TEST(Parse, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(parse({"k", "--ownr", "x"}).error().remedy, "did you mean --owner?");
  EXPECT_EQ(parse({"k", "more"}).error().code, Code::usage);
  EXPECT_EQ(parse({"k", "--owner"}).error().code, Code::usage);
  EXPECT_EQ(parse({"k", "--owner", "a", "--owner", "b"}).error().code, Code::usage);
}

TEST(Parse, RefusesAHandleWithoutRepeatingIt) {
  const std::string handle = "tenure1:" + std::string(32, 'a') + ":7:k:files%3A%2Fx:00000000";
  for (const auto& words : {std::vector<std::string>{handle}, {"--owner=" + handle}, {"k", "--owner", handle}}) {
    const auto arguments = parse(words);
    ASSERT_FALSE(arguments);
    EXPECT_EQ(arguments.error().message.find(std::string(32, 'a')), std::string::npos);
  }
  // Behind "--" of run it is the command's business; and a key may begin so.
  EXPECT_TRUE(parse({"k", "--", handle}));
  EXPECT_TRUE(parse({"tenure1:x"}));
}

}  // namespace
}  // namespace tenure::cli
