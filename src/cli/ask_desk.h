// --on-ask: what `run` does with those who ask for its keys. They come in on a thread of the library, and are seen to
// one after the other on that of the run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/hook.h"
#include "tenure/space.h"

namespace tenure::cli {

struct AskPolicy {
  enum class What : unsigned char { ignore, accept, decline, command };
  What what = What::ignore;
  std::string command;
};
Result<AskPolicy> ask_policy_of(const Arguments& arguments);

class AskDesk {
 public:
  struct Telling {
    std::function<void(const Lease&, const Ask&)> asked;
    // "yielding", "declined", "ignored"
    std::function<void(std::string_view event, const Lease&, const Ask&, const std::string& words)> answered;
  };
  // Starts what AskPolicy::command says.
  using Start = std::function<Hook(const Lease&, const Ask&)>;

  AskDesk(AskPolicy policy, Telling telling, Start start);
  AskDesk(const AskDesk&) = delete;
  AskDesk& operator=(const AskDesk&) = delete;
  ~AskDesk();

  // From now on requests for this lease come here; it must outlive the desk. Where an engine offers none, there are
  // none.
  Result<void> open_for(Lease& lease);

  // Readable when there is something to attend to: a request, the end of the command that decides.
  int descriptor() const;
  int decision() const { return hook_.descriptor(); }
  // How long at most until attend() must be called again; nullopt: until something is readable.
  std::optional<Duration> patience() const;
  // True: the run is to yield, as was promised.
  bool attend();
  // No more answers.
  void close();

 private:
  struct Inbox;
  struct Case {
    Lease* lease = nullptr;
    Ask ask;
  };
  bool decide(const Case& one);
  bool answer(const Case& one, Answer answer, const std::string& words);
  bool hear_decision();

  const AskPolicy policy_;
  const Telling telling_;
  const Start start_;
  const std::shared_ptr<Inbox> inbox_;
  std::optional<Case> deciding_;  // what the hook decides about
  std::optional<MonotonicTime> until_;
  Hook hook_;
};

}  // namespace tenure::cli
