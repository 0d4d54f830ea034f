#include "cli/top_view.h"

#include <algorithm>

#include "base/text.h"
#include "cli/layout.h"
#include "cli/top_table.h"

namespace tenure::cli {
namespace {

// Above the rows: title, head. Below: what is known of the chosen one, in two lines, and the keys.
constexpr std::size_t kAbove = 2;
constexpr std::size_t kBelow = 4;
constexpr std::size_t kSmall = 10;  // fewer lines than this have room for rows, title and keys alone

bool small(ScreenSize size) {
  return size.rows < kSmall;
}

std::string counted(const TopBoard::Totals& totals) {
  std::string out = std::to_string(totals.held) + " held";
  if (totals.dead != 0) out += ", " + std::to_string(totals.dead) + " dead";
  if (totals.unknown != 0) out += ", " + std::to_string(totals.unknown) + " unknown";
  if (totals.waiting != 0) out += ", " + std::to_string(totals.waiting) + " in line";
  return out;
}

// Left and right at the two ends of a line; the left one gives way.
std::string spread(const std::string& left, const std::string& right, std::size_t columns) {
  const std::size_t wanted = width_of(right) + 2;
  if (wanted > columns / 2) return shorten(left, columns);
  return cell(left, columns - wanted) + "  " + right;
}

std::string title(const TopBoard::Totals& totals, const TopSight& sight, std::size_t columns) {
  const std::string left =
      "tenure top  " + (sight.reading ? "reading…" : counted(totals)) + "  " + escape_controls(sight.from.url);
  return spread(left, (sight.paused ? "PAUSED  " : "") + sight.clock, columns);
}

const char* name_of(TopOrder order) {
  switch (order) {
    case TopOrder::key:
      return "key";
    case TopOrder::age:
      return "age";
    case TopOrder::line:
      return "waiting";
  }
  return "";
}

std::string nothing(const TopBoard& board, const TopSight& sight) {
  if (sight.reading) return "  reading…";
  if (board.prefix().empty()) return "  nothing is held";
  return "  nothing is held that begins with " + escape_controls(board.prefix());
}

// What of the rows is to be seen, and why not all.
std::string position(const TopBoard& board, std::size_t first, std::size_t count, std::size_t fit) {
  std::string out = "by " + std::string(name_of(board.order()));
  if (!board.prefix().empty()) out += ", only " + escape_controls(board.prefix()) + "…";
  if (count > fit) {
    out = "rows " + std::to_string(first + 1) + "-" + std::to_string(std::min(first + fit, count)) + " of " +
          std::to_string(count) + ", " + out;
  }
  return out;
}

ScreenLine last_line(const TopSight& sight, std::size_t columns) {
  if (sight.typed) {
    return {shorten("only keys that begin with: " + escape_controls(*sight.typed) + "_", columns), Emphasis::strong};
  }
  if (!sight.fault.empty()) return {shorten(escape_controls(sight.fault), columns), Emphasis::bad};
  return {shorten(
      "q quit  j/k or arrows move  Enter details  / prefix  s sort  p " + std::string(sight.paused ? "go on" : "pause"),
      columns)};
}

// The verdict with its evidence; who it is and why.
void add_chosen(std::vector<ScreenLine>& out, const Observation* seen, std::size_t columns) {
  if (seen == nullptr) {
    out.insert(out.end(), 2, {});
    return;
  }
  const std::string word = seen->state == State::damaged ? word_of(seen->state) : word_of(seen->verdict.liveness);
  const std::string& evidence = seen->verdict.evidence.empty() ? seen->why : seen->verdict.evidence;
  out.push_back({shorten("  " + word + ": " + escape_controls(evidence), columns)});
  std::string who;
  if (seen->holder) {
    const Holder& holder = *seen->holder;
    if (!holder.user_name.empty()) who += "user " + escape_controls(holder.user_name) + ", ";
    who += holder.reason.empty() ? "runs " + escape_controls(holder.command) : "for " + escape_controls(holder.reason);
  }
  out.push_back({shorten("  " + who, columns)});
}

void fill(std::vector<ScreenLine>& lines, std::size_t count) {
  if (lines.size() < count) lines.resize(count);
}

}  // namespace

std::size_t rows_that_fit(ScreenSize size) {
  const std::size_t beside = small(size) ? kAbove + 1 : kAbove + kBelow;
  return size.rows > beside ? size.rows - beside : 0;
}

std::size_t first_row(std::size_t first, std::size_t chosen, std::size_t count, std::size_t fit) {
  if (fit == 0 || count <= fit) return 0;
  if (chosen < first) first = chosen;
  if (chosen >= first + fit) first = chosen - fit + 1;
  return std::min(first, count - fit);
}

std::vector<ScreenLine> top_list(TopBoard& board, std::size_t first, const TopSight& sight, ScreenSize size) {
  const auto& shown = board.shown();
  const std::size_t fit = rows_that_fit(size);
  std::vector<const Observation*> window;
  for (std::size_t row = first; row < std::min(first + fit, shown.size()); ++row) window.push_back(shown[row]);
  std::vector<ScreenLine> out = {{title(board.totals(), sight, size.columns), Emphasis::strong}};
  const TopTable table(window, sight.from, sight.shows_line, size.columns);
  out.push_back({table.head(), Emphasis::strong});
  for (std::size_t row = 0; row < window.size(); ++row) {
    out.push_back(table.line(*window[row], first + row == board.chosen_row()));
  }
  if (window.empty() && fit > 0) out.push_back({shorten(nothing(board, sight), size.columns)});
  fill(out, kAbove + fit);
  if (!small(size)) {
    out.push_back({shorten(position(board, first, shown.size(), fit), size.columns)});
    add_chosen(out, board.chosen(), size.columns);
  }
  out.push_back(last_line(sight, size.columns));
  // On a screen of a few lines the title goes before the keys do.
  if (out.size() > size.rows) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(size.rows));
  return out;
}

std::vector<ScreenLine> top_details(const Key& key, const Observation* seen, std::size_t& first, const TopSight& sight,
                                    ScreenSize size) {
  std::string text = key.text() + " is " + (seen == nullptr ? "free" : one_line(*seen, sight.from)) + "\n\n";
  if (seen != nullptr) text += fields(*seen, sight.from);
  std::vector<ScreenLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    for (std::string& line : wrap(std::string_view(text).substr(begin, end - begin), std::max(size.columns, 1UL))) {
      lines.push_back({std::move(line)});
    }
    begin = end + 1;
  }
  lines.front().emphasis = Emphasis::strong;
  const std::size_t fit = size.rows > 1 ? size.rows - 1 : size.rows;
  first = std::min(first, lines.size() > fit ? lines.size() - fit : 0);
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
  const bool more = lines.size() > fit;
  lines.resize(fit);
  if (size.rows > 1) {
    const std::string keys = "q or Esc back to the list";
    lines.push_back({shorten(
        keys + (more || first > 0 ? "  j/k or arrows scroll" : "") + (more ? ", there is more" : ""), size.columns)});
  }
  return lines;
}

std::vector<ScreenLine> top_once(TopBoard& board, const TopSight& sight, std::size_t columns) {
  std::vector<ScreenLine> out = {{title(board.totals(), sight, columns)}};
  if (board.shown().empty()) {
    out.push_back({shorten(nothing(board, sight), columns)});
    return out;
  }
  const TopTable table(board.shown(), sight.from, sight.shows_line, columns);
  out.push_back({table.head()});
  for (const Observation* each : board.shown()) out.push_back({table.line(*each, false).text});
  return out;
}

std::string short_age(Duration age) {
  const auto two = [](std::int64_t number, const char* unit, std::int64_t part, const char* of) {
    return std::to_string(number) + unit + (part < 10 ? "0" : "") + std::to_string(part) + of;
  };
  const std::int64_t seconds = std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(age).count(), 0);
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return two(seconds / 60, "m", seconds % 60, "s");
  if (seconds < 86'400) return two(seconds / 3600, "h", seconds / 60 % 60, "m");
  const std::int64_t days = seconds / 86'400;
  return days < 100 ? two(days, "d", seconds / 3600 % 24, "h")
                    : std::to_string(std::min<std::int64_t>(days, 9999)) + "d";
}

}  // namespace tenure::cli
