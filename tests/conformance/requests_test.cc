// What may be asked: names at their limits, labels, terms.
#include "base/limits.h"
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

std::vector<std::string> names_at_their_limits() {
  const auto of = [](std::size_t bytes) { return std::string(bytes, 'x'); };
  return {"x",           "y",           "..",
          ".",           "...",         "a/b",
          "/a",          "a/",          "a",
          "A",           "~",           "~a",
          "a b",         "ä",           "a\u0308",
          "日本",        "%2f",         "a%2Fb",
          of(199),       of(200),       of(201),
          of(511),       of(512),       of(200) + "/",
          "CON",         "nul",         "-rf",
          "thing",       "thing.tmp",   "thing.lock",
          "thing.life",  "thing2",      "thing.lease.json",
          "\\",          "'",           "$HOME",
          of(511) + "y", of(200) + "y", "\U0001F512",
          "thing.epoch", "thing.",      "thin"};
}

TEST_P(Conformance, NamesAtTheirLimitsAreDistinct) {
  const Client client = fixture->add_client();
  const auto names = names_at_their_limits();
  std::vector<Grant> grants;
  for (const std::string& name : names) {
    auto parsed = Key::parse(name);
    ASSERT_TRUE(parsed) << name;
    auto granted = fixture->engine(client)->try_claim(request(*parsed, "owner", "part"));
    ASSERT_TRUE(granted) << name << ": " << granted.error().message;
    EXPECT_FALSE(granted->reclaimed) << name << " is the same as another name";
    grants.push_back(*granted);
  }
  for (const Grant& grant : grants) {
    EXPECT_TRUE(is_current(client, grant)) << grant.key.text();
    auto seen = fixture->engine(client)->holder(grant.key);
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_EQ(seen->state, State::held);
    EXPECT_EQ(seen->key, grant.key);
    EXPECT_EQ(seen->epoch, grant.epoch);
  }
  auto all = fixture->engine(client)->list("");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), names.size());
  for (const Grant& grant : grants) release(client, grant);
  EXPECT_TRUE(fixture->engine(client)->list("")->empty());
}

TEST_P(Conformance, BadLabelsAreRefused) {
  const Client client = fixture->add_client();
  const std::string longest(256, 'l');
  const std::string too_long(257, 'l');
  const std::string not_text("\xff\xfe");
  const std::string control("a\nb");
  std::vector<ClaimRequest> bad;
  for (const std::string& label : {std::string{}, too_long, not_text, control}) {
    const bool stands_for_the_default = label.empty() && fixture->traits().own_labels;
    if (!stands_for_the_default) bad.push_back(request(key("thing"), label, "part"));
    if (!stands_for_the_default) bad.push_back(request(key("thing"), "owner", label));
    if (label.empty()) continue;
    for (std::string ClaimRequest::* field : {&ClaimRequest::channel, &ClaimRequest::version, &ClaimRequest::session}) {
      bad.push_back(request(key("thing")));
      bad.back().*field = label;
    }
  }
  bad.push_back(request(key("thing")));
  bad.back().terms.reason = std::string(1'025, 'r');
  for (const ClaimRequest& each : bad) {
    auto refused = fixture->engine(client)->try_claim(each);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::bad_label) << refused.error().message;
  }
  ClaimRequest good = request(key("thing"), longest, longest);
  good.terms.reason = std::string(1'024, 'r');
  claim(client, good);
}

TEST_P(Conformance, TermsAreGrantedOrRefusedByName) {
  const Client client = fixture->add_client();
  const Traits traits = fixture->traits();
  ClaimRequest shared = request(key("shared"));
  shared.terms.mode = Mode::shared;
  ClaimRequest slots = request(key("slots"));
  slots.terms.slots = 3;
  const ClaimRequest ttl = with_ttl(request(key("ttl")), seconds(10));
  struct Case {
    const ClaimRequest& request;
    bool offered;
    const char* word;
  };
  for (const Case& each :
       {Case{shared, traits.shared, "shared"}, Case{slots, traits.slots, "slot"}, Case{ttl, traits.ttl, "TTL"}}) {
    auto granted = fixture->engine(client)->try_claim(each.request);
    ASSERT_EQ(granted.has_value(), each.offered) << each.word;
    if (each.offered) continue;
    EXPECT_EQ(granted.error().code, Code::unsupported);
    EXPECT_NE(granted.error().message.find(each.word), std::string::npos) << granted.error().message;
  }
}

TEST_P(Conformance, AControlGroupThatCannotBeAProofIsRefused) {
  const Client client = fixture->add_client();
  ClaimRequest wanted = request(*Key::parse("thing"), "owner", "part");
  wanted.control_group = "/nowhere/at/all";
  auto granted = fixture->engine(client)->try_claim(wanted);
  ASSERT_FALSE(granted);
  if (!fixture->traits().control_groups) {
    EXPECT_EQ(granted.error().code, Code::unsupported);
  }
  wanted.control_group = std::string(limits::kGroupBytes + 1, 'x');
  EXPECT_FALSE(fixture->engine(client)->try_claim(wanted));
  EXPECT_EQ(fixture->engine(client)->holder(wanted.key)->state, State::free);
}

TEST_P(Conformance, TermsWithoutSenseAreRefused) {
  const Client client = fixture->add_client();
  ClaimRequest none = request(key("thing"));
  none.terms.slots = 0;
  EXPECT_FALSE(fixture->engine(client)->try_claim(none));
  for (Duration ttl : {Duration{0}, Duration{-1}}) {
    EXPECT_FALSE(fixture->engine(client)->try_claim(with_ttl(request(key("thing")), ttl)));
  }
  EXPECT_EQ(fixture->engine(client)->holder(key("thing"))->state, State::free);
}

TEST_P(Conformance, TheSessionFileIsAnAbsolutePathWhereTheRecordHasAPlaceForIt) {
  const Client client = fixture->add_client();
  const auto refused = [&](const std::string& path) -> std::optional<Code> {
    ClaimRequest asked = request(key("thing"));
    asked.session_file = path;
    auto granted = fixture->engine(client)->try_claim(asked);
    if (!granted) return granted.error().code;
    release(client, *granted);
    return std::nullopt;
  };
  const std::string longest = "/" + std::string(limits::kPathBytes - 1, 'f');
  if (!fixture->traits().session_files) {
    EXPECT_EQ(refused("/home/me/session.json"), Code::unsupported);
    return;
  }
  EXPECT_EQ(refused("/home/me/session.json"), std::nullopt);
  EXPECT_EQ(refused(longest), std::nullopt);
  EXPECT_EQ(refused(longest + "f"), Code::bad_label);
  EXPECT_EQ(refused("session.json"), Code::bad_label);
  EXPECT_EQ(refused("/a\nb"), Code::bad_label);
}

}  // namespace
}  // namespace tenure::conformance
