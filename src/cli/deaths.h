// The end of a holder's processes, pushed to whoever waits with a Stop.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cli/files.h"
#include "cli/sentinel.h"
#include "tenure/holder.h"
#include "tenure/stop.h"

namespace tenure::cli {

class Deaths {
 public:
  // nullptr where none of the processes can be watched from here, or all have ended already. Code::no_descriptors;
  // Code::limit_reached when no thread can be had.
  static Result<std::unique_ptr<Deaths>> watch(const Holder& holder);

  // Requested as soon as one of them has ended.
  const Stop& stop() const { return stop_; }

 private:
  explicit Deaths(Stop stop) : stop_(std::move(stop)) {}
  const Stop stop_;
  std::vector<Descriptor> processes_;
  std::optional<Sentinel> sentinel_;  // the last: it uses both
};

}  // namespace tenure::cli
