#include "cli/top_session.h"

#include <algorithm>

#include "base/text.h"

namespace tenure::cli {
namespace {

using Kind = KeyPress::Kind;

// The letters that move, as in the pagers that everybody knows.
Kind moving(const KeyPress& key) {
  if (key.kind != Kind::text) return key.kind;
  if (key.text == "j") return Kind::down;
  if (key.text == "k") return Kind::up;
  if (key.text == " ") return Kind::page_down;
  if (key.text == "g") return Kind::first;
  if (key.text == "G") return Kind::last;
  return Kind::text;
}

std::size_t moved(std::size_t at, Kind kind, std::size_t page) {
  constexpr std::size_t kEnd = static_cast<std::size_t>(-1) / 2;  // whoever shows it knows the end
  switch (kind) {
    case Kind::up:
      return at - std::min<std::size_t>(at, 1);
    case Kind::down:
      return at + 1;
    case Kind::page_up:
      return at - std::min(at, page);
    case Kind::page_down:
      return at + page;
    case Kind::first:
      return 0;
    case Kind::last:
      return kEnd;
    default:
      return at;
  }
}

}  // namespace

bool TopSession::take(TopNews news) {
  bool changed = reading_ || fault_ != news.fault;
  fault_ = std::move(news.fault);
  if (news.all) {
    changed |= board_.replace(std::move(*news.all));
    reading_ = false;
  }
  for (Observation& each : news.changed) changed |= board_.update(std::move(each));
  return changed;
}

bool TopSession::press(const KeyPress& key) {
  if (typed_) {
    type(key);
    return true;
  }
  return details_of_ ? press_in_details(key) : press_in_list(key);
}

bool TopSession::press_in_list(const KeyPress& key) {
  if (key.kind == Kind::enter) {
    if (const Observation* chosen = board_.chosen()) details_of_ = chosen->key;
    details_first_ = 0;
    return true;
  }
  if (key.text == "q") return false;
  if (key.text == "p") paused_ = !paused_;
  if (key.text == "s") next_order();
  if (key.text == "/") {
    prefix_before_ = board_.prefix();
    typed_ = prefix_before_;
  }
  // The way back from a prefix, to all.
  if (key.kind == Kind::escape) board_.narrow("");
  const Kind kind = moving(key);
  if (kind != Kind::text) board_.choose(moved(board_.chosen_row(), kind, std::max<std::size_t>(fit_, 1)));
  return true;
}

bool TopSession::press_in_details(const KeyPress& key) {
  if (key.kind == Kind::escape || key.kind == Kind::enter || key.text == "q") {
    details_of_.reset();
    return true;
  }
  if (key.text == "p") paused_ = !paused_;
  details_first_ = moved(details_first_, moving(key), 10);
  return true;
}

// The rows follow while it is typed.
void TopSession::type(const KeyPress& key) {
  switch (key.kind) {
    case Kind::enter:
      typed_.reset();
      return;
    case Kind::escape:
      typed_.reset();
      return board_.narrow(prefix_before_);
    case Kind::erase:
      if (!typed_->empty()) typed_->resize(cut_text(*typed_, typed_->size() - 1).size());
      break;
    case Kind::clear:
      typed_->clear();
      break;
    case Kind::text:
      if (typed_->size() + key.text.size() <= Key::kMaxBytes) *typed_ += key.text;
      break;
    default:
      return;
  }
  board_.narrow(*typed_);
}

void TopSession::next_order() {
  const TopOrder now = board_.order();
  const TopOrder last = shows_line() ? TopOrder::line : TopOrder::age;
  board_.order_by(now == last ? TopOrder::key : now == TopOrder::key ? TopOrder::age : TopOrder::line);
}

TopSight TopSession::sight() {
  TopSight out{.from = from_};
  out.clock = at_.clock;
  out.shows_line = shows_line();
  out.reading = reading_;
  out.fault = fault_;
  out.paused = paused_;
  out.typed = typed_;
  return out;
}

std::vector<ScreenLine> TopSession::lines(ScreenSize size, const Instant& at) {
  if (!paused_ || at_.clock.empty()) at_ = at;
  from_.now = at_.now;
  if (details_of_) return top_details(*details_of_, board_.find(*details_of_), details_first_, sight(), size);
  fit_ = rows_that_fit(size);
  first_ = first_row(first_, board_.chosen_row(), board_.shown().size(), fit_);
  return top_list(board_, first_, sight(), size);
}

std::vector<ScreenLine> TopSession::all_lines(std::size_t columns, const Instant& at) {
  at_ = at;
  from_.now = at.now;
  return top_once(board_, sight(), columns);
}

std::vector<Key> TopSession::on_screen(ScreenSize size) {
  if (details_of_) return {*details_of_};
  const auto& shown = board_.shown();
  std::vector<Key> out;
  const std::size_t end = std::min(first_ + rows_that_fit(size), shown.size());
  for (std::size_t row = std::min(first_, end); row < end; ++row) out.push_back(shown[row]->key);
  return out;
}

}  // namespace tenure::cli
