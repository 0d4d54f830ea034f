// top: a space, live, on the whole screen.
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/text.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "cli/signals.h"
#include "cli/top_gatherer.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr Duration kAges = std::chrono::seconds{1};               // for the ages
constexpr Duration kFrame = std::chrono::milliseconds{40};        // at most so many frames a second
constexpr int kFrameShare = 10;                                   // and at most this part of the time is spent on them
constexpr Duration kAfterEscape = std::chrono::milliseconds{50};  // whatever follows an escape comes sooner

TopSession::Instant instant() {
  const WallTime now = compose::real_clock()->wall();
  return {now, compose::local_time(now)};
}

std::string plain(const std::vector<ScreenLine>& lines) {
  std::string out;
  for (const ScreenLine& line : lines) {
    out += line.text;
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

class Top {
 public:
  Top(const Space& space, SignalGate& gate, TopGatherer& gatherer)
      : session_(viewpoint_of(space), space.traits().shows_line), gate_(gate), gatherer_(gatherer) {}

  // The signal that ended it; 0: the user did.
  Result<int> run() {
    if (auto entered = screen_.enter(); !entered) return fail(entered.error());
    while (!over_) {
      if (auto drawn = draw_when_due(); !drawn) return fail(drawn.error());
      if (auto woken = sleep(); !woken) return fail(woken.error());
    }
    return signal_;
  }

 private:
  Result<void> draw_when_due() {
    const MonotonicTime begun = clock_->monotonic();
    if (begun < frame_due_ || (!changed_ && (screen_.scrolls() || begun < tick_))) return {};
    const ScreenSize size = screen_size();
    auto drawn = screen_.draw(session_.lines(size, instant()), size);
    gatherer_.attend(session_.on_screen(size));
    changed_ = false;
    const MonotonicTime now = clock_->monotonic();
    frame_due_ = now + std::max(kFrame, (now - begun) * kFrameShare);
    tick_ = now + kAges;
    return drawn;
  }

  Duration patience() const {
    Duration out = std::max(changed_ ? frame_due_ : tick_, frame_due_) - clock_->monotonic();
    if (keys_.waits()) out = std::min(out, kAfterEscape);
    return std::max(out, Duration{0});
  }

  Result<void> sleep() {
    std::array<::pollfd, 3> polled = {{{0, POLLIN, 0},
                                       {gate_.descriptor(), POLLIN, 0},
                                       {session_.paused() ? -1 : gatherer_.descriptor(), POLLIN, 0}}};
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(patience()).count() + 1;
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(milliseconds));
    if (ready < 0 && errno != EINTR) return fail(system_error(errno, "cannot wait for keys"));
    if (ready <= 0 && keys_.waits()) press(keys_.end_wait());
    if (ready <= 0) return {};
    if (polled[2].revents != 0) {
      const bool news = session_.take(gatherer_.take());
      changed_ |= news || !screen_.scrolls();
    }
    if (auto heard = heed_signals(); !heard) return heard;
    if (polled[0].revents != 0 && !over_) return read_keys();
    return {};
  }

  void press(const std::vector<KeyPress>& keys) {
    for (const KeyPress& key : keys) over_ = over_ || !session_.press(key);
    changed_ = true;
    frame_due_ = MonotonicTime{};  // a key is answered at once
  }

  Result<void> read_keys() {
    auto bytes = Screen::read();
    if (!bytes) return fail(bytes.error());
    if (bytes->empty()) over_ = true;  // the terminal is gone
    press(keys_.take(*bytes));
    return {};
  }

  Result<void> heed_signals() {
    while (const auto signal = gate_.take()) {
      if (signal->number == SIGTSTP) {
        screen_.leave();
        stop_by(SIGTSTP);
        if (auto entered = screen_.enter(); !entered) return entered;
        stopped_by_itself_ = true;
      } else if (signal->number == SIGCONT) {
        // Whoever stopped us, by STOP, may have written to the terminal since, or set it anew.
        if (std::exchange(stopped_by_itself_, false)) continue;
        screen_.leave();
        if (auto entered = screen_.enter(); !entered) return entered;
      } else if (gate_.ends_a_wait(*signal)) {
        signal_ = signal->number;
        over_ = true;
      }
      changed_ = true;
    }
    return {};
  }

  std::shared_ptr<const env::Clock> clock_ = compose::real_clock();
  TopSession session_;
  SignalGate& gate_;
  TopGatherer& gatherer_;
  Screen screen_;
  KeyPresses keys_;
  MonotonicTime frame_due_;
  MonotonicTime tick_;
  bool changed_ = true;
  bool over_ = false;
  bool stopped_by_itself_ = false;
  int signal_ = 0;
};

std::string with_prefix(const Arguments& arguments) {
  return space_option(arguments) + (arguments.prefix ? " -- " + shell_word(*arguments.prefix) : "");
}

Result<int> print_once(const Arguments& arguments, const Space& space) {
  auto all = space.list(arguments.prefix.value_or(""));
  if (!all) return fail(all.error());
  TopSession session(viewpoint_of(space), space.traits().shows_line);
  session.take({std::move(*all), {}, {}});
  const std::size_t columns = on_terminal() ? screen_size().columns : kColumns;
  if (auto printed = print(plain(session.all_lines(columns, instant()))); !printed) return fail(printed.error());
  return 0;
}

}  // namespace

Result<int> top_command(const Arguments& arguments) {
  if (!arguments.once && !on_terminal()) {
    return fail(Code::usage,
                "top wants a terminal, to read keys from and to draw on. One look at all: tenure ls" +
                    with_prefix(arguments) + ". Each change, a line each:",
                "tenure watch" + with_prefix(arguments));
  }
  auto space = open_to_look(arguments);
  if (!space) return fail(space.error());
  if (arguments.once) return print_once(arguments, *space);
  auto gate = SignalGate::close_gate();
  if (!gate) return fail(gate.error());
  gate->watch_screen();
  auto gatherer = TopGatherer::start(*space, arguments.prefix.value_or(""));
  if (!gatherer) return fail(gatherer.error());
  const Result<int> signal = Top(*space, *gate, **gatherer).run();
  if (!signal) return fail(signal.error());
  if (*signal != 0) die_of(*signal);
  return 0;
}

}  // namespace tenure::cli
