// claim: for scripts. Starts the keeper, waits for its word, hands the handle over.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/claiming.h"
#include "cli/command.h"
#include "cli/keeper_process.h"
#include "cli/layout.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "cli/signals.h"

#include <boost/json.hpp>

namespace tenure::cli {
namespace {

// For a keeper that was told to give up: its claim may be inside a short locked section.
constexpr int kFarewellMilliseconds = 15'000;

std::string example(const Arguments& arguments, const Key& key) {
  std::string words = arguments.adopt ? "adopt --owner " + shell_word(arguments.owner.value_or("OWNER")) : "claim";
  return "handle=$(tenure " + words + space_option(arguments) + " --pid $$ -- " + shell_word(key.text()) + ")";
}

Result<KeeperPlan> plan_of(const Arguments& arguments) {
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  if (!arguments.pid && !arguments.ttl && !arguments.lasting_for) {
    return fail(Code::usage,
                "a claim needs to know how long to last: --pid PID, --ttl DURATION or --for session; this command "
                "itself ends at once",
                example(arguments, *key));
  }
  auto options = claim_options(arguments, Duration{0});
  if (!options) return fail(options.error());
  if (arguments.adopt && options->owner.empty()) return fail(owner_is_missing(*key));
  auto owner = owner_process_of(arguments);
  if (!owner) return fail(owner.error());
  if (*owner) {
    options->owner_process = (*owner)->identity;
    options->command = (*owner)->command;
    options->directory = (*owner)->directory;
  }
  return KeeperPlan{arguments, std::move(*key), std::move(*options), std::move(*owner)};
}

// The other side of the keeper: what it says reaches the user, what happens to us reaches the keeper.
class Attendant {
 public:
  Attendant(const Arguments& arguments, KeeperLine line, std::optional<NewFile> file, SignalGate gate)
      : arguments_(arguments), line_(std::move(line)), file_(std::move(file)), gate_(std::move(gate)) {}

  Result<int> attend() {
    while (true) {
      if (const int signal = signal_while_waiting(); signal != 0) return interrupted(signal);
      const auto word = line_.hear();
      if (!word) return fail(Code::internal, "the keeper process ended without a word");
      if (word->kind == Word::Kind::wait) {
        complain(word->text);
      } else if (word->kind == Word::Kind::refused) {
        complain(word->text);
        return word->code;
      } else {
        return hand_over(word->text);
      }
    }
  }
  int signal() const { return signal_; }

 private:
  // 0: the keeper has something to say.
  int signal_while_waiting() {
    while (true) {
      std::array<::pollfd, 2> polled = {{{line_.descriptor(), POLLIN, 0}, {gate_.descriptor(), POLLIN, 0}}};
      if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return 0;
      if (polled[1].revents != 0) {
        const auto taken = gate_.take();
        if (taken && !gate_.inert(taken->number)) return taken->number;
      } else if (polled[0].revents != 0) {
        return 0;
      }
    }
  }

  // The keeper gives up, and gives back what it may have got in the same moment, before we end.
  int interrupted(int signal) {
    line_.fall_silent();
    ::pollfd polled{line_.descriptor(), POLLIN, 0};
    while (::poll(&polled, 1, kFarewellMilliseconds) > 0 && line_.hear()) {
    }
    signal_ = signal;
    return 128 + signal;
  }

  Result<int> hand_over(const std::string& text) {
    auto handed = file_ ? to_file(text) : print(text + "\n");
    // Without our word the keeper gives the lease back.
    if (!handed) return fail(handed.error());
    if (!line_.say({Word::Kind::kept, 0, {}})) return fail(Code::internal, "the keeper process ended too early");
    return 0;
  }

  Result<void> to_file(const std::string& text) {
    if (!arguments_.json) return file_->publish(text + "\n");
    boost::system::error_code problem;
    boost::json::value parsed = boost::json::parse(text, problem);
    if (problem || !parsed.is_object()) return fail(Code::internal, "the keeper process said something unheard of");
    boost::json::object& fields = parsed.get_object();
    const std::string handle(fields["handle"].get_string());
    fields.erase("handle");
    fields["handle_file"] = *arguments_.handle_file;
    if (auto written = file_->publish(handle + "\n"); !written) return written;
    return print(boost::json::serialize(fields) + "\n");
  }

  const Arguments& arguments_;
  KeeperLine line_;
  std::optional<NewFile> file_;
  SignalGate gate_;
  int signal_ = 0;
};

Result<std::optional<NewFile>> handle_file_of(const Arguments& arguments) {
  if (!arguments.handle_file) return std::nullopt;
  auto file = NewFile::prepare(*arguments.handle_file);
  if (!file) return fail(file.error());
  return std::optional<NewFile>(std::move(*file));
}

// A standard stream that the caller closed would be the next descriptor that is opened, and be taken for the stream.
Result<void> fill_streams() {
  for (int stream = 0; stream < 3; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is this one.
    if (::open("/dev/null", O_RDWR) < 0) return fail(system_error(errno, "cannot open /dev/null"));
  }
  return {};
}

}  // namespace

Result<int> claim_command(const Arguments& arguments) {
  if (auto filled = fill_streams(); !filled) return fail(filled.error());
  auto plan = plan_of(arguments);
  if (!plan) return fail(plan.error());
  auto file = handle_file_of(arguments);
  if (!file) return fail(file.error());
  auto line = KeeperLine::open();
  if (!line) return fail(line.error());
  // Before any thread and any descriptor of the library: the keeper starts from a clean slate.
  const ::pid_t keeper = ::fork();
  if (keeper < 0) return fail(system_error(errno, "cannot start the keeper process"));
  if (keeper == 0) {
    line->first = KeeperLine(Descriptor());
    ::_exit(keep(std::move(*plan), std::move(line->second)));
  }
  line->second = KeeperLine(Descriptor());
  auto gate = SignalGate::close_gate();
  if (!gate) return fail(gate.error());
  int signal = 0;
  Result<int> exit_code = 0;
  {
    Attendant attendant(arguments, std::move(line->first), std::move(*file), std::move(*gate));
    exit_code = attendant.attend();
    signal = attendant.signal();
  }
  if (signal != 0) die_of(signal);
  return exit_code;
}

Result<int> adopt_command(const Arguments& arguments) {
  Arguments adopting = arguments;
  adopting.adopt = true;
  return claim_command(adopting);
}

}  // namespace tenure::cli
