#include "cli/top_table.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/layout.h"
#include "cli/top_view.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kMark = 2;   // "> " before the chosen one, which no terminal fails to show
constexpr std::size_t kAge = 6;    // of short_age(): fixed, so that nothing moves with the clock
constexpr std::size_t kAlive = 7;  // "unknown"
constexpr std::size_t kLeastWhy = 8;

// The default owner of a process is a random number of 16 hex digits, which tells nobody anything.
bool is_default_label(const std::string& owner) {
  return owner.size() == 16 && std::ranges::all_of(owner, [](char digit) { return hex_value(digit) >= 0; });
}

std::string program_of(const std::string& command) {
  const std::size_t dashes = command.find(" -- ");  // of a run: what it runs
  std::string word = dashes == std::string::npos ? command : command.substr(dashes + 4);
  word = word.substr(0, word.find(' '));
  const std::size_t slash = word.rfind('/');
  return slash == std::string::npos ? word : word.substr(slash + 1);
}

std::string name_of(const Holder& holder) {
  const std::string program = is_default_label(holder.owner) ? program_of(holder.command) : "";
  return escape_controls(program.empty() ? holder.owner : program);
}

std::string name_of(const Waiter& waiter) {
  const std::string program = is_default_label(waiter.owner) ? program_of(waiter.command) : "";
  return escape_controls(program.empty() ? waiter.owner : program);
}

}  // namespace

TopTable::Row TopTable::head_row() {
  return {"KEY", "HOLDER", "PID", "USER", "HELD", "LEFT", "ALIVE", "LINE", "NEXT", "WHY"};
}

TopTable::Row TopTable::row_of(const Observation& seen) const {
  Row row;
  row[key] = escape_controls(seen.key.text());
  row[alive] = seen.state == State::damaged ? word_of(seen.state) : word_of(seen.verdict.liveness);
  row[waiting] = seen.waiting == 0 ? "" : std::to_string(seen.waiting);
  if (!seen.line.empty()) row[next] = name_of(seen.line.front());
  row[why] = escape_controls(seen.why);
  if (!seen.holder) return row;
  const Holder& who = *seen.holder;
  row[holder] = name_of(who) + (seen.holders > 1 ? " +" + std::to_string(seen.holders - 1) : "");
  row[pid] = std::to_string(who.owner_process ? who.owner_process->pid : who.process.pid);
  row[user] = escape_controls(who.user_name);
  if (from_.now >= who.since) row[held] = short_age(from_.now - who.since);
  if (seen.frees_in) row[left] = short_age(*seen.frees_in);
  if (who.ttl && seen.claimable) row[left] = "over";
  row[why] = escape_controls(who.reason.empty() ? who.command : who.reason);
  return row;
}

TopTable::TopTable(const std::vector<const Observation*>& rows, const Viewpoint& from, bool shows_line,
                   std::size_t columns)
    : from_(from), columns_(columns) {
  const Row head = head_row();
  for (std::size_t i = 0; i < kColumnCount; ++i) widths_[i] = width_of(head[i]);
  for (const Observation* each : rows) {
    const Row row = row_of(*each);
    for (std::size_t i = 0; i < kColumnCount; ++i) widths_[i] = std::max(widths_[i], width_of(row[i]));
  }
  widths_[holder] = std::min<std::size_t>(widths_[holder], 20);
  widths_[user] = std::min<std::size_t>(widths_[user], 12);
  widths_[next] = std::min<std::size_t>(widths_[next], 16);
  widths_[held] = widths_[left] = kAge;
  widths_[alive] = kAlive;
  if (!shows_line) widths_[waiting] = widths_[next] = 0;
  fit(columns);
}

// Takes of a column what is lacking, down to its least width.
void TopTable::take(Column from, std::size_t least, std::size_t& lack) {
  const std::size_t gives = std::min(lack, widths_[from] - std::min(widths_[from], least));
  widths_[from] -= gives;
  lack -= gives;
}

void TopTable::fit(std::size_t columns) {
  const std::size_t wanted_why = std::exchange(widths_[why], 0);
  std::size_t used = kMark;
  for (const std::size_t each : widths_) used += each == 0 ? 0 : each + 1;
  --used;  // nothing follows the last one
  std::size_t lack = used > columns ? used - columns : 0;
  take(key, 24, lack);
  take(next, 8, lack);
  take(holder, 10, lack);
  take(user, 6, lack);
  take(key, 12, lack);
  take(next, 4, lack);
  take(holder, 6, lack);
  for (const Column least : {user, left, next, waiting, pid, held}) {
    if (lack == 0) break;
    const std::size_t gives = std::exchange(widths_[least], 0);
    lack -= std::min(lack, gives == 0 ? 0 : gives + 1);
  }
  used = kMark - 1;
  for (const std::size_t each : widths_) used += each == 0 ? 0 : each + 1;
  const std::size_t room = used < columns ? columns - used - 1 : 0;
  if (room >= kLeastWhy) widths_[why] = std::min(room, wanted_why);
}

std::string TopTable::joined(const std::string& mark, const Row& row) const {
  std::string out = mark;
  for (std::size_t i = 0; i < kColumnCount; ++i) {
    if (widths_[i] == 0) continue;
    if (i != 0) out += ' ';
    out += cell(row[i], widths_[i]);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return shorten(out, columns_);
}

std::string TopTable::head() const {
  return joined("  ", head_row());
}

ScreenLine TopTable::line(const Observation& seen, bool chosen) const {
  ScreenLine out{joined(chosen ? "> " : "  ", row_of(seen))};
  const bool doubtful = seen.state == State::damaged || seen.verdict.liveness == Liveness::unknown;
  if (seen.verdict.liveness == Liveness::dead && seen.state == State::held) out.emphasis = Emphasis::bad;
  if (doubtful) out.emphasis = Emphasis::doubtful;
  if (chosen) return {cell(out.text, columns_), Emphasis::chosen};
  return out;
}

}  // namespace tenure::cli
