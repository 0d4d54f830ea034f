#include "cli/ask_desk.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "base/limits.h"
#include "base/text.h"
#include "compose/real_environment.h"
#include "model/bounded_text.h"

namespace tenure::cli {

// Shared with the calls of the library, which may be under way while the desk ends.
struct AskDesk::Inbox {
  const Descriptor bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::deque<Case> cases;  // bounded as requests are: so many for each lease

  void put(Case one) {
    const std::lock_guard lock(mutex);
    cases.push_back(std::move(one));
    const std::uint64_t ring = 1;
    (void)!::write(bell.get(), &ring, sizeof ring);
  }
  std::optional<Case> take() {
    const std::lock_guard lock(mutex);
    if (cases.empty()) {
      std::uint64_t rung = 0;
      (void)!::read(bell.get(), &rung, sizeof rung);
      return std::nullopt;
    }
    Case one = std::move(cases.front());
    cases.pop_front();
    return one;
  }
};

Result<AskPolicy> ask_policy_of(const Arguments& arguments) {
  if (!arguments.on_ask) return AskPolicy{};
  const std::string& text = *arguments.on_ask;
  if (text == "accept") return AskPolicy{AskPolicy::What::accept, {}};
  if (text == "decline") return AskPolicy{AskPolicy::What::decline, {}};
  if (text == "ignore") return AskPolicy{};
  if (!trim(text).empty()) return AskPolicy{AskPolicy::What::command, text};
  return fail(Code::usage, "--on-ask wants accept, decline, ignore or a command for sh");
}

AskDesk::AskDesk(AskPolicy policy, Telling telling, Start start)
    : policy_(std::move(policy)),
      telling_(std::move(telling)),
      start_(std::move(start)),
      inbox_(std::make_shared<Inbox>()) {}

AskDesk::~AskDesk() = default;

Result<void> AskDesk::open_for(Lease& lease) {
  auto opened = lease.on_ask([inbox = inbox_, raw = &lease](const Ask& ask) { inbox->put({raw, ask}); });
  // A lease that is lost already is told of as such.
  if (opened || opened.error().code == Code::unsupported || opened.error().code == Code::lost) return {};
  return opened;
}

int AskDesk::descriptor() const {
  // While one is decided about, the others wait.
  return hook_.runs() ? -1 : inbox_->bell.get();
}

std::optional<Duration> AskDesk::patience() const {
  if (!until_) return std::nullopt;
  return std::max(*until_ - compose::real_clock()->monotonic(), Duration{0});
}

bool AskDesk::answer(const Case& one, Answer answer, const std::string& words) {
  const auto answered = one.lease->answer(one.ask.id, answer, words);
  // Too late, or the lease is lost: nobody was promised anything.
  if (!answered || !*answered) return false;
  telling_.answered(answer == Answer::accept ? "yielding" : "declined", *one.lease, one.ask, words);
  return answer == Answer::accept;
}

bool AskDesk::decide(const Case& one) {
  telling_.asked(*one.lease, one.ask);
  switch (policy_.what) {
    case AskPolicy::What::ignore:
      return false;
    case AskPolicy::What::accept:
      return answer(one, Answer::accept, "");
    case AskPolicy::What::decline:
      return answer(one, Answer::decline, "");
    case AskPolicy::What::command: {
      const auto clock = compose::real_clock();
      hook_ = start_(*one.lease, one.ask);
      deciding_ = one;
      until_ = clock->monotonic() + std::max(one.ask.until - clock->wall(), Duration{0});
      return false;
    }
  }
  return false;
}

// 0 accepts, 1 declines, anything else leaves it without an answer. The first line that it wrote is the answer's words.
bool AskDesk::hear_decision() {
  const bool late = until_ && compose::real_clock()->monotonic() >= *until_;
  if (late) hook_.kill();
  const std::optional<int> code = late ? std::optional(-1) : hook_.reap();
  if (!code && hook_.runs()) return false;
  const Case one = *std::exchange(deciding_, std::nullopt);
  until_.reset();
  const std::string line(trim(hook_.first_line(limits::kAnswerBytes)));
  const std::string words(cut_text(escape_controls(bounded_text(line, limits::kAnswerBytes)), limits::kAnswerBytes));
  hook_ = Hook();
  if (code == 0) return answer(one, Answer::accept, words);
  if (code == 1) return answer(one, Answer::decline, words);
  telling_.answered("ignored", *one.lease, one.ask, "");
  return false;
}

bool AskDesk::attend() {
  if (deciding_) {
    if (hear_decision()) return true;
    if (deciding_) return false;
  }
  while (const auto one = inbox_->take()) {
    if (decide(*one)) return true;
    if (deciding_) return false;
  }
  return false;
}

void AskDesk::close() {
  hook_.kill();
  deciding_.reset();
  until_.reset();
}

}  // namespace tenure::cli
