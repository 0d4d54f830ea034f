// The columns of `top`: as wide as what they have to show, as far as the line has room.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/observation_view.h"
#include "cli/screen_line.h"

namespace tenure::cli {

class TopTable {
 public:
  TopTable(const std::vector<const Observation*>& rows, const Viewpoint& from, bool shows_line, std::size_t columns);
  std::string head() const;
  ScreenLine line(const Observation& seen, bool chosen) const;

 private:
  enum Column : std::size_t { key, holder, pid, user, held, left, alive, waiting, next, why, kColumnCount };
  using Row = std::array<std::string, kColumnCount>;
  static Row head_row();
  Row row_of(const Observation& seen) const;
  void fit(std::size_t columns);
  void take(Column from, std::size_t least, std::size_t& lack);
  std::string joined(const std::string& mark, const Row& row) const;

  const Viewpoint& from_;
  std::array<std::size_t, kColumnCount> widths_{};  // 0: left out
  std::size_t columns_;
};

}  // namespace tenure::cli
