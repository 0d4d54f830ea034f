// counted_call: one call of a fake process to its disk, with the fault that was planned for it.
#pragma once

#include "fakes/fake_processes.h"
#include "fakes/fault_plan.h"

namespace tenure::fakes {

inline Error dead_process() {
  return Error{Code::internal, "this fake process is dead", "", nullptr};
}

// `effect` takes what locks it needs itself and has let go of them when it returns: killing calls back into the disk.
template <class Effect>
auto counted_call(FakeWorld& world, ProcessNumber process, FaultPlan& faults, const char* name, Effect effect)
    -> decltype(effect()) {
  if (!world.running(process)) return fail(dead_process());
  const std::optional<Fault> fault = faults.next(name);
  if (fault && fault->kind == Fault::Kind::refuse) return fail(fault->code, std::string("planned fault in ") + name);
  if (fault && fault->kind == Fault::Kind::die_before) {
    world.kill(process);
    return fail(dead_process());
  }
  auto result = effect();
  if (!fault) return result;
  if (fault->kind == Fault::Kind::die_after) {
    world.kill(process);
    return fail(dead_process());
  }
  if (!result) return result;
  return fail(fault->code, std::string("the answer of ") + name + " was lost");
}

}  // namespace tenure::fakes
