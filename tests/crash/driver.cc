// One verb on one key of a `files:` or `receiver:` folder, to be killed or disturbed at any of its system calls.
//
//   crash_driver VERB URL KEY
//
// The verb runs between two marks, write(-1, "begin") and write(-1, "end"), which fail and are seen by a tracer. What
// is needed before it (the space, a lease of our own) is made before the first mark; `first` and `look` open the space
// between the marks as well. `stay` is guarded work without an end: it says its line inside and waits there to be
// killed. Else one line tells the result:
//
//   ok EPOCH                       or   refused CODE OUTCOME MESSAGE
//
// and commands are read, one a line, each answered with a line of the same form: verify, rival (another owner of this
// process tries to claim), again (claims once more), release. At the end of the input the process ends without giving
// anything back.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "engine/engine.h"
#include "tenure/space.h"

namespace {

using tenure::ClaimOptions;
using tenure::ClaimRef;
using tenure::Epoch;
using tenure::Key;
using tenure::Lease;
using tenure::Result;
using tenure::Space;

// Longer than any call of a campaign may take: who needs it all has found a key that does not become free.
constexpr tenure::Duration kTtl = std::chrono::hours{1};
constexpr tenure::Duration kShortWait = std::chrono::milliseconds{60};

void mark(const char* word) {
  // The descriptor does not exist: the call is for the tracer alone.
  if (write(-1, word, std::strlen(word)) >= 0) std::cerr << "descriptor -1 was written to\n";
}

void tell(const Result<Epoch>& result) {
  if (result) {
    std::cout << "ok " << result->value() << std::endl;
    return;
  }
  const tenure::Error& error = result.error();
  const tenure::CodeFacts& facts = tenure::facts(error.code);
  const char* outcome = "refused";
  if (facts.outcome == tenure::Outcome::lost) outcome = "lost";
  if (facts.outcome == tenure::Outcome::unknown) outcome = "unknown";
  std::cout << "refused " << facts.name << ' ' << outcome << ' ' << error.message << std::endl;
}

class Driver {
 public:
  Driver(std::string url, Key key) : url_(std::move(url)), key_(std::move(key)) {}

  // 2: the preparation failed, which no campaign disturbs.
  int run(const std::string& verb);

 private:
  using Verb = Result<Epoch> (Driver::*)();

  bool prepare(const std::string& verb);
  Result<Epoch> open();
  Result<Epoch> first();
  Result<Epoch> look();
  Result<Epoch> claim() { return claim_waiting(tenure::Duration{0}); }
  Result<Epoch> wait() { return claim_waiting(kShortWait); }
  Result<Epoch> claim_waiting(tenure::Duration at_most);
  Result<Epoch> claim_bare();
  Result<Epoch> renew();
  Result<Epoch> verify();
  Result<Epoch> release();
  Result<Epoch> revoke();
  Result<Epoch> guarded(const std::function<void()>& work);
  Result<Epoch> guard();
  Result<Epoch> stay();
  Result<Epoch> rival();

  const std::string url_;
  const Key key_;
  std::optional<Space> space_;
  std::optional<Lease> lease_;    // kept by a keeper thread
  std::optional<ClaimRef> bare_;  // claimed from the engine: nobody beats for it, so that nothing moves but the verb
};

Result<Epoch> Driver::open() {
  auto space = Space::open(url_);
  if (!space) return tenure::fail(space.error());
  space_ = std::move(*space);
  return Epoch{};
}

Result<Epoch> Driver::first() {
  if (auto opened = open(); !opened) return opened;
  return claim();
}

Result<Epoch> Driver::look() {
  auto space = Space::open(url_, {.create = false, .observe_only = true});
  if (!space) return tenure::fail(space.error());
  auto seen = space->holder(key_);
  if (!seen) return tenure::fail(seen.error());
  return seen->epoch;
}

Result<Epoch> Driver::claim_waiting(tenure::Duration at_most) {
  ClaimOptions options;
  options.wait = at_most;
  auto lease = space_->claim(key_, options);
  if (!lease) return tenure::fail(lease.error());
  lease_.emplace(std::move(*lease));
  return lease_->epoch();
}

// Twice by the same process, owner and part: the second takes the first one's place.
Result<Epoch> Driver::claim_bare() {
  tenure::ClaimRequest request{.key = key_, .owner = "driver", .part = "only"};
  if (space_->engine().traits().ttl) request.terms.ttl = kTtl;
  auto grant = space_->engine().try_claim(request);
  if (!grant) return tenure::fail(grant.error());
  bare_ = ClaimRef{key_, grant->claim, grant->epoch};
  return grant->epoch;
}

Result<Epoch> Driver::renew() {
  auto renewal = space_->engine().renew(*bare_);
  if (!renewal) return tenure::fail(renewal.error());
  return renewal->epoch;
}

Result<Epoch> Driver::verify() {
  if (lease_) {
    if (auto verified = lease_->verify(); !verified) return tenure::fail(verified.error());
    return lease_->epoch();
  }
  if (!bare_) return tenure::fail(tenure::Code::not_held, "nothing was claimed");
  auto standing = space_->engine().verify(*bare_);
  if (!standing) return tenure::fail(standing.error());
  return standing->epoch;
}

Result<Epoch> Driver::release() {
  const Epoch epoch = lease_ ? lease_->epoch() : bare_->epoch;
  Result<bool> released = true;
  if (lease_) {
    released = lease_->release();
  } else if (auto done = space_->engine().release(*bare_); done) {
    released = done->released;
  } else {
    released = tenure::fail(done.error());
  }
  if (!released) return tenure::fail(released.error());
  if (!*released) return tenure::fail(tenure::Code::not_held, "there was nothing to release");
  return epoch;
}

Result<Epoch> Driver::revoke() {
  auto was = space_->revoke(key_, {.reason = "campaign", .force = true, .only_epoch = std::nullopt});
  if (!was) return tenure::fail(was.error());
  return was->epoch;
}

Result<Epoch> Driver::guarded(const std::function<void()>& work) {
  bool ran = false;
  auto done = space_->engine().guard({bare_->key, bare_->epoch, bare_->claim, std::chrono::seconds{20}}, [&] {
    work();
    ran = true;
    return Result<void>{};
  });
  if (!done) return tenure::fail(done.error());
  if (!ran) return tenure::fail(tenure::Code::internal, "guarded, and yet not run");
  return bare_->epoch;
}

Result<Epoch> Driver::guard() {
  return guarded([] { mark("work"); });
}

Result<Epoch> Driver::stay() {
  return guarded([this] {
    tell(bare_->epoch);
    std::string nothing;
    std::getline(std::cin, nothing);
  });
}

Result<Epoch> Driver::rival() {
  ClaimOptions options;
  options.owner = "rival";
  auto lease = space_->claim(key_, options);
  if (!lease) return tenure::fail(lease.error());
  return lease->epoch();
}

bool Driver::prepare(const std::string& verb) {
  if (verb == "first" || verb == "look") return true;
  if (auto opened = open(); !opened) {
    tell(opened);
    return false;
  }
  if (verb == "claim" || verb == "wait" || verb == "revoke") return true;
  if (auto claimed = claim_bare(); !claimed) {
    tell(claimed);
    return false;
  }
  if (verb != "restore") return true;
  // As a cleaner would: the keeper's next sign of life has to write the record anew.
  const std::string record = space_->location() + "/" + key_.text() + ".lease.json";
  return unlink(record.c_str()) == 0;
}

int Driver::run(const std::string& verb) {
  const std::map<std::string, Verb> verbs{
      {"first", &Driver::first},     {"look", &Driver::look},          {"claim", &Driver::claim},
      {"wait", &Driver::wait},       {"renew", &Driver::renew},        {"restore", &Driver::renew},
      {"verify", &Driver::verify},   {"guard", &Driver::guard},        {"revoke", &Driver::revoke},
      {"release", &Driver::release}, {"rival", &Driver::rival},        {"again", &Driver::claim},
      {"stay", &Driver::stay},       {"reclaim", &Driver::claim_bare},
  };
  const auto chosen = verbs.find(verb);
  if (chosen == verbs.end() || !prepare(verb)) return 2;
  mark("begin");
  auto result = (this->*chosen->second)();
  mark("end");
  tell(result);
  std::string command;
  while (std::getline(std::cin, command)) {
    const auto found = verbs.find(command);
    if (found == verbs.end()) return 2;
    tell((this->*found->second)());
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "usage: crash_driver VERB URL KEY\n";
    return 2;
  }
  auto key = Key::parse(words[3]);
  if (!key) return 2;
  Driver driver(words[2], std::move(*key));
  const int status = driver.run(words[1]);
  // Nothing is given back: that is what the end of a process means here.
  std::cout.flush();
  _exit(status);
}
