#include "lease/guarded.h"

#include <cxxabi.h>

namespace tenure::lease {

GuardedEnd run_guarded(Engine& engine, const GuardRequest& request, const Guarded& operation) {
  GuardedEnd end;
  const auto caught = [&]() -> Result<void> {
    try {
      return operation();
    } catch (abi::__forced_unwind&) {
      throw;  // a thread that is cancelled must not be held up; its guard goes with the bound
    } catch (...) {
      end.thrown = std::current_exception();
      return fail(Code::internal, "it threw an exception");
    }
  };
  end.done = engine.guard(request, operation ? Guarded(caught) : Guarded());
  return end;
}

}  // namespace tenure::lease
