// Ends a wait from the side: a thread that polls descriptors while another waits with a Stop.
#pragma once

#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "cli/files.h"
#include "tenure/stop.h"
#include "tenure/time.h"

namespace tenure::cli {

class Sentinel {
 public:
  // Called on the thread when the descriptor at `index` is readable or hung up: true ends the wait.
  using Judge = std::function<bool(std::size_t index)>;
  // `stop` and the descriptors must outlive it. `at_most`: end the wait then in any case. -1 among the descriptors is
  // passed over. Code::no_descriptors.
  static Result<Sentinel> post(const Stop& stop, std::vector<int> descriptors, Judge judge,
                               std::optional<Duration> at_most = std::nullopt);
  Sentinel(Sentinel&&) noexcept = default;
  Sentinel& operator=(Sentinel&&) = delete;
  ~Sentinel() { dismiss(); }
  // The thread has ended on return.
  void dismiss();

 private:
  explicit Sentinel(Stop end) : end_(std::make_unique<Stop>(std::move(end))) {}
  std::unique_ptr<Stop> end_;
  std::thread thread_;
};

}  // namespace tenure::cli
