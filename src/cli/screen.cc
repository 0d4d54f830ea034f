#include "cli/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>

#include "cli/files.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kMostColumns = 1000;
constexpr std::size_t kMostRows = 1000;

// Another screen, no cursor, and lines that end at the edge.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[0m\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

std::size_t number_of_variable(const char* name, std::size_t otherwise) {
  const std::string_view text = variable(name);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number != 0 ? number : otherwise;
}

bool places_cursor() {
  const std::string_view term = variable("TERM");
  return !term.empty() && term != "dumb" && term != "unknown";
}

// As https://no-color.org has it: set and not empty.
bool wants_colour() {
  const std::string_view term = variable("TERM");
  return variable("NO_COLOR").empty() && !term.starts_with("vt1") && !term.starts_with("vt2") &&
         !term.ends_with("-m") && !term.ends_with("-mono");
}

}  // namespace

bool on_terminal() {
  return ::isatty(0) == 1 && ::isatty(1) == 1;
}

ScreenSize screen_size() {
  ::winsize seen{};
  ScreenSize size;
  if (::ioctl(1, TIOCGWINSZ, &seen) == 0 && seen.ws_col != 0 && seen.ws_row != 0) {
    size = {seen.ws_col, seen.ws_row};
  } else {
    size = {number_of_variable("COLUMNS", 80), number_of_variable("LINES", 24)};
  }
  return {std::min(size.columns, kMostColumns), std::min(size.rows, kMostRows)};
}

Screen::Screen() : scrolls_(!places_cursor()), colour_(wants_colour()) {}

Result<void> Screen::enter() {
  if (entered_) return {};
  if (::tcgetattr(0, &before_) != 0) return fail(system_error(errno, "cannot ask the terminal how it is set"));
  ::termios raw = before_;
  raw.c_iflag &= static_cast<tcflag_t>(~(IXON | ICRNL | INLCR | IGNCR));
  raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO | IEXTEN));
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  int done = 0;
  while ((done = ::tcsetattr(0, TCSADRAIN, &raw)) != 0 && errno == EINTR) {
  }
  if (done != 0) return fail(system_error(errno, "cannot set the terminal"));
  entered_ = true;
  there_.clear();
  size_ = {0, 0};
  return scrolls_ ? Result<void>{} : write_all(1, kEnter, "the terminal");
}

void Screen::leave() {
  if (!entered_) return;
  entered_ = false;
  if (!scrolls_) (void)write_all(1, kLeave, "the terminal");
  while (::tcsetattr(0, TCSADRAIN, &before_) != 0 && errno == EINTR) {
  }
}

void Screen::add(std::string& out, const ScreenLine& line) const {
  std::string_view begin;
  switch (line.emphasis) {
    case Emphasis::none:
      break;
    case Emphasis::strong:
      begin = "\x1b[1m";
      break;
    case Emphasis::chosen:
      begin = "\x1b[7m";
      break;
    case Emphasis::bad:
      begin = colour_ ? "\x1b[31m" : "\x1b[1m";
      break;
    case Emphasis::doubtful:
      begin = colour_ ? "\x1b[33m" : "\x1b[1m";
      break;
  }
  out += begin;
  out += line.text;
  if (!begin.empty()) out += "\x1b[0m";
}

Result<void> Screen::draw(const std::vector<ScreenLine>& lines, ScreenSize size) {
  if (scrolls_) return draw_below(lines);
  std::string out;
  if (size != size_) {
    out = "\x1b[2J";
    there_.assign(size.rows, {});
    size_ = size;
  }
  for (std::size_t row = 0; row < there_.size(); ++row) {
    const ScreenLine& line = row < lines.size() ? lines[row] : ScreenLine{};
    if (line == there_[row]) continue;
    // Cleared first: past a line that fills the screen, the cursor of some terminals stands on its last column.
    out += "\x1b[" + std::to_string(row + 1) + ";1H\x1b[K";
    add(out, line);
    there_[row] = line;
  }
  if (out.empty()) return {};
  return write_all(1, out, "the terminal");
}

Result<void> Screen::draw_below(const std::vector<ScreenLine>& lines) {
  std::string out;
  for (const ScreenLine& line : lines) {
    if (line.text.empty()) continue;
    out += line.text;
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return write_all(1, out + "\n", "the terminal");
}

Result<std::string> Screen::read() {
  std::array<char, 1024> bytes{};
  ::ssize_t got = 0;
  do {
    got = ::read(0, bytes.data(), bytes.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno != EIO) return fail(system_error(errno, "cannot read from the terminal"));
  return std::string(bytes.data(), static_cast<std::size_t>(std::max<::ssize_t>(got, 0)));
}

}  // namespace tenure::cli
