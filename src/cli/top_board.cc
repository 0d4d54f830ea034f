#include "cli/top_board.h"

#include <algorithm>
#include <utility>

namespace tenure::cli {
namespace {

// Oldest first; where no holder can be read, last.
std::pair<bool, WallTime> since(const Observation& seen) {
  return {!seen.holder, seen.holder ? seen.holder->since : WallTime{}};
}

bool before_by_age(const Observation* a, const Observation* b) {
  const auto begun_a = since(*a);
  const auto begun_b = since(*b);
  return begun_a != begun_b ? begun_a < begun_b : a->key < b->key;
}

bool before_by_line(const Observation* a, const Observation* b) {
  return a->waiting != b->waiting ? a->waiting > b->waiting : before_by_age(a, b);
}

bool same(const Observation& a, const Observation& b) {
  const auto next = [](const Observation& seen) { return seen.line.empty() ? 0 : seen.line.front().process.pid; };
  return a.key == b.key && a.state == b.state && a.epoch == b.epoch && a.claimable == b.claimable &&
         a.verdict.liveness == b.verdict.liveness && a.waiting == b.waiting && next(a) == next(b);
}

}  // namespace

bool TopBoard::replace(std::vector<Observation> all) {
  const std::map<Key, Observation> before = std::exchange(all_, {});
  for (Observation& each : all) {
    if (each.state == State::free) continue;
    Key key = each.key;
    all_.insert_or_assign(all_.end(), std::move(key), std::move(each));  // they come in order, mostly
  }
  arranged_ = false;
  return !std::ranges::equal(before, all_, [](const auto& a, const auto& b) { return same(a.second, b.second); });
}

bool TopBoard::update(Observation seen) {
  const auto found = all_.find(seen.key);
  if (seen.state == State::free) {
    if (found == all_.end()) return false;
    all_.erase(found);
    arranged_ = false;
    return true;
  }
  const bool changed = found == all_.end() || !same(found->second, seen);
  // Where the order stands, so do the places of what is known: an age alone moves nothing.
  arranged_ = arranged_ && !changed;
  Key key = seen.key;
  all_.insert_or_assign(std::move(key), std::move(seen));
  return changed;
}

void TopBoard::narrow(std::string prefix) {
  if (prefix == prefix_) return;
  prefix_ = std::move(prefix);
  row_ = 0;  // unless the chosen one is among them
  arranged_ = false;
}

void TopBoard::order_by(TopOrder order) {
  order_ = order;
  arranged_ = false;
}

const TopBoard::Totals& TopBoard::totals() {
  arrange();
  return totals_;
}

const std::vector<const Observation*>& TopBoard::shown() {
  arrange();
  return shown_;
}

const Observation* TopBoard::chosen() {
  arrange();
  return shown_.empty() ? nullptr : shown_[row_];
}

std::size_t TopBoard::chosen_row() {
  arrange();
  return row_;
}

void TopBoard::choose(std::size_t row) {
  arrange();
  if (shown_.empty()) return;
  row_ = std::min(row, shown_.size() - 1);
  chosen_ = shown_[row_]->key;
}

const Observation* TopBoard::find(const Key& key) const {
  const auto found = all_.find(key);
  return found == all_.end() ? nullptr : &found->second;
}

void TopBoard::arrange() {
  if (arranged_) return;
  arranged_ = true;
  shown_.clear();
  totals_ = {};
  for (const auto& [key, seen] : all_) {
    if (!key.text().starts_with(prefix_)) continue;
    shown_.push_back(&seen);
    const bool held = seen.state == State::held;
    ++totals_.held;
    totals_.dead += held && seen.verdict.liveness == Liveness::dead ? 1U : 0U;
    totals_.unknown += !held || seen.verdict.liveness == Liveness::unknown ? 1U : 0U;
    totals_.waiting += seen.waiting;
  }
  if (order_ == TopOrder::age) std::ranges::sort(shown_, before_by_age);
  if (order_ == TopOrder::line) std::ranges::sort(shown_, before_by_line);
  if (shown_.empty()) return;
  const auto found = chosen_ ? std::ranges::find(shown_, *chosen_, &Observation::key) : shown_.end();
  choose(found != shown_.end() ? static_cast<std::size_t>(found - shown_.begin()) : row_);
}

}  // namespace tenure::cli
