// What `top` knows of the keys of a space: which of them are shown, in which order, and which one is chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenure/holder.h"

namespace tenure::cli {

enum class TopOrder : std::uint8_t { key, age, line };

class TopBoard {
 public:
  // In place of all that was known; what is free is passed over. True: more than ages and signs of life has changed.
  bool replace(std::vector<Observation> all);
  // How one key stands now.
  bool update(Observation seen);

  void narrow(std::string prefix);
  void order_by(TopOrder order);
  const std::string& prefix() const { return prefix_; }
  TopOrder order() const { return order_; }

  struct Totals {
    std::size_t held = 0;
    std::size_t dead = 0;
    std::size_t unknown = 0;  // or damaged
    std::size_t waiting = 0;
  };
  // Of what is shown.
  const Totals& totals();
  const std::vector<const Observation*>& shown();

  // The chosen key stays the same while others come and go; when it goes itself, the one in its place is chosen.
  const Observation* chosen();
  std::size_t chosen_row();
  void choose(std::size_t row);  // the last one, where there are not so many
  // How a key stands, be it shown or not.
  const Observation* find(const Key& key) const;

 private:
  void arrange();
  std::map<Key, Observation> all_;
  std::string prefix_;
  TopOrder order_ = TopOrder::key;
  bool arranged_ = false;
  std::vector<const Observation*> shown_;
  Totals totals_;
  std::size_t row_ = 0;
  std::optional<Key> chosen_;
};

}  // namespace tenure::cli
