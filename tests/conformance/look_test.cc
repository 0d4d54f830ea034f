// Looking, listing, being told; and what must never be shown.
#include <algorithm>

#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

// Every text in an observation, in one.
std::string all_text(const Observation& seen) {
  std::string text = seen.key.text() + "\n" + seen.verdict.evidence + "\n" + seen.why + "\n" + seen.note;
  if (!seen.holder) return text;
  const Holder& holder = *seen.holder;
  for (const std::string* field : {&holder.owner, &holder.part, &holder.host, &holder.user_name, &holder.command,
                                   &holder.directory, &holder.reason, &holder.channel, &holder.version, &holder.session,
                                   &holder.process.boot_id, &holder.process.machine_id}) {
    text += "\n" + *field;
  }
  return text;
}

// The id with dashes and blanks taken out of the text, so that no way of writing it escapes.
bool shows(std::string text, const ClaimId& claim) {
  std::erase_if(text, [](char c) { return c == '-' || c == ' '; });
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find(claim.text()) != std::string::npos;
}

TEST_P(Conformance, AFreeKeyIsShownFree) {
  auto seen = fixture->engine(fixture->add_client())->holder(key("thing"));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->key, key("thing"));
  EXPECT_EQ(seen->state, State::free);
  EXPECT_TRUE(seen->claimable);
  EXPECT_FALSE(seen->holder);
}

TEST_P(Conformance, TheHolderIsShownWithEverythingItSaid) {
  const Client first = fixture->add_client({.command = "make all", .directory = "/somewhere"});
  ClaimRequest asked = request(key("thing"), "the owner", "the part");
  asked.terms.reason = "a reason";
  asked.channel = "a channel";
  asked.version = "a version";
  asked.session = "a session";
  if (fixture->traits().ttl) asked.terms.ttl = minutes(3);
  const WallTime now = fixture->clock().wall();
  const Grant grant = claim(first, asked);
  const Client second = fixture->add_client();
  auto seen = fixture->engine(second)->holder(key("thing"));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->state, State::held);
  EXPECT_EQ(seen->epoch, grant.epoch);
  EXPECT_FALSE(seen->claimable);
  EXPECT_FALSE(seen->why.empty());
  EXPECT_EQ(seen->verdict.liveness, Liveness::live);
  EXPECT_FALSE(seen->verdict.evidence.empty());
  ASSERT_TRUE(seen->holder);
  const Holder& holder = *seen->holder;
  EXPECT_EQ(holder.owner, "the owner");
  EXPECT_EQ(holder.part, "the part");
  EXPECT_EQ(holder.reason, "a reason");
  EXPECT_EQ(holder.channel, "a channel");
  EXPECT_EQ(holder.version, "a version");
  EXPECT_EQ(holder.session, "a session");
  EXPECT_EQ(holder.command, "make all");
  EXPECT_EQ(holder.directory, "/somewhere");
  EXPECT_EQ(holder.host, "host-a");
  EXPECT_EQ(holder.user_name, "fake-user");
  EXPECT_EQ(holder.process, fixture->world().identity_of(first));
  EXPECT_EQ(holder.since.milliseconds(), now.milliseconds());
  EXPECT_EQ(holder.ttl, asked.terms.ttl);
}

TEST_P(Conformance, ADeadHolderIsShownAsClaimable) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  fixture->world().kill(first);
  auto seen = fixture->engine(fixture->add_client())->holder(key("thing"));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->state, State::held);
  EXPECT_EQ(seen->epoch, grant.epoch);
  EXPECT_EQ(seen->verdict.liveness, Liveness::dead);
  EXPECT_TRUE(seen->claimable);
}

TEST_P(Conformance, WhenItFreesItselfIsSaid) {
  NEEDS(fixture->traits().ttl);
  claim(fixture->add_client(), with_ttl(request(key("thing")), seconds(10)));
  fixture->pass(seconds(4));
  auto seen = fixture->engine(fixture->add_client())->holder(key("thing"));
  ASSERT_TRUE(seen) << seen.error().message;
  ASSERT_TRUE(seen->frees_in);
  EXPECT_GE(*seen->frees_in, seconds(5));
  EXPECT_LE(*seen->frees_in, seconds(7));
}

TEST_P(Conformance, TheListIsSortedAndGoesByPrefix) {
  const Client client = fixture->add_client();
  for (const char* name : {"b/2", "a", "b/1", "c", "b"}) claim(client, request(key(name)));
  const Grant free = claim(client, request(key("b/free")));
  release(client, free);
  const auto names = [&](const std::string& prefix) {
    std::vector<std::string> found;
    auto listed = fixture->engine(client)->list(prefix);
    EXPECT_TRUE(listed);
    if (listed) {
      for (const Observation& each : *listed) found.push_back(each.key.text());
    }
    return found;
  };
  EXPECT_EQ(names(""), (std::vector<std::string>{"a", "b", "b/1", "b/2", "c"}));
  EXPECT_EQ(names("b/"), (std::vector<std::string>{"b/1", "b/2"}));
  EXPECT_EQ(names("nothing"), std::vector<std::string>{});
}

TEST_P(Conformance, ClaimsAndReleasesAreReported) {
  auto changes = fixture->engine(fixture->add_client())->changes();
  ASSERT_TRUE(changes) << changes.error().message;
  const auto is_told = [&] {
    auto told = std::async(std::launch::async, [&] {
      for (int i = 0; i < 20; ++i) {
        auto seen = (*changes)->wait(minutes(1), nullptr);
        if (!seen) return false;
        if (seen->everything || std::count(seen->keys.begin(), seen->keys.end(), key("thing")) > 0) return true;
      }
      return false;
    });
    return comes(told) ? told.get() : comes(told, *fixture, minutes(2)) && false;
  };
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  EXPECT_TRUE(is_told()) << "the claim";
  release(client, grant);
  EXPECT_TRUE(is_told()) << "the release";
}

TEST_P(Conformance, AWaitForChangesEndsByTimeAndByStop) {
  auto changes = fixture->engine(fixture->add_client())->changes();
  ASSERT_TRUE(changes) << changes.error().message;
  auto timed = std::async(std::launch::async, [&] { return (*changes)->wait(seconds(10), nullptr); });
  ASSERT_TRUE(comes(timed, *fixture, seconds(1)));
  ASSERT_TRUE(timed.get());
  auto stop = Stop::create();
  ASSERT_TRUE(stop);
  auto stopped = std::async(std::launch::async, [&] { return (*changes)->wait(std::chrono::hours(1), &*stop); });
  stop->request();
  ASSERT_TRUE(comes(stopped));
  EXPECT_TRUE(stopped.get());
}

TEST_P(Conformance, NoSecretIsShownAnywhere) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  EXPECT_FALSE(grant.claim.none());
  std::string text = all_text(*fixture->engine(second)->holder(key("thing")));
  const auto listed = fixture->engine(second)->list("");
  ASSERT_TRUE(listed);
  for (const Observation& each : *listed) text += all_text(each);
  auto refused = fixture->engine(second)->try_claim(request(key("thing"), "second"));
  ASSERT_FALSE(refused);
  text += refused.error().message + refused.error().remedy + all_text(*refused.error().holder);
  Waiting waiting(*fixture, second, request(key("thing"), "second"));
  text += all_text(waiting.told());
  const Grant again = claim(first, request(key("thing"), "first"));
  auto lost = fixture->engine(first)->renew(ref(grant));
  ASSERT_FALSE(lost);
  text += lost.error().message + lost.error().remedy;
  if (lost.error().holder) text += all_text(*lost.error().holder);
  fixture->world().kill(first);
  ASSERT_TRUE(waiting.ends());
  auto over = waiting.result();
  ASSERT_TRUE(over);
  text += all_text(*over->displaced);
  for (const std::string& note : over->notes) text += note;
  auto revoked = fixture->engine(second)->revoke({key("thing"), "because", true, std::nullopt});
  ASSERT_TRUE(revoked);
  text += all_text(revoked->was);
  for (const ClaimId& secret : {grant.claim, again.claim, over->claim}) EXPECT_FALSE(shows(text, secret)) << text;
}

}  // namespace
}  // namespace tenure::conformance
