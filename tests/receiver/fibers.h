// Fibers: parties that run one at a time, each until it reaches its next step, in an order that the test chooses.
//
// One thread of the system, so that a schedule takes microseconds and is the same each time.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>
#include <vector>

namespace tenure::tests {

class Fibers {
 public:
  Fibers() = default;
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // It begins at its first resume(). What it still has on its stack when this object goes is not unwound: a party that
  // was abandoned must have ended by itself, see end_all() of its user.
  int add(std::function<void()> body);
  // Runs it until it pauses or ends.
  void resume(int fiber);
  // By the running one: back to whoever resumed it.
  void pause();
  bool ended(int fiber) const { return all_[static_cast<std::size_t>(fiber)]->ended; }
  int running() const { return running_; }

 private:
  struct Fiber {
    ucontext_t context{};
    std::vector<char> stack;
    std::function<void()> body;
    bool ended = false;
  };
  static void enter();

  ucontext_t home_{};
  std::vector<std::unique_ptr<Fiber>> all_;
  int running_ = -1;
};

}  // namespace tenure::tests
