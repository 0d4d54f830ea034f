#include "receiver/fibers.h"

namespace tenure::tests {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} * 1024;
Fibers* current = nullptr;  // makecontext() hands over no pointer

}  // namespace

void Fibers::enter() {
  Fibers& fibers = *current;
  Fiber& own = *fibers.all_[static_cast<std::size_t>(fibers.running_)];
  own.body();
  own.ended = true;
  fibers.pause();
}

int Fibers::add(std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  fiber->body = std::move(body);
  fiber->stack.resize(kStackBytes);
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.data();
  fiber->context.uc_stack.ss_size = fiber->stack.size();
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, &Fibers::enter, 0);
  all_.push_back(std::move(fiber));
  return static_cast<int>(all_.size()) - 1;
}

void Fibers::resume(int fiber) {
  current = this;
  running_ = fiber;
  swapcontext(&home_, &all_[static_cast<std::size_t>(fiber)]->context);
  running_ = -1;
}

void Fibers::pause() {
  Fiber& own = *all_[static_cast<std::size_t>(running_)];
  swapcontext(&own.context, &home_);
}

}  // namespace tenure::tests
