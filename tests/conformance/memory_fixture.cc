// The reference engine in the suite.
#include "conformance/conformance.h"
#include "engine/memory/memory_engine.h"

namespace tenure::conformance {
namespace {

class MemoryFixture final : public Fixture {
 protected:
  std::shared_ptr<Engine> open(Client /*client*/, const env::Environment& environment) override {
    return open_memory(store_, environment);
  }

 private:
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

INSTANTIATE_TEST_SUITE_P(memory, Conformance, testing::Values(make_fixture<MemoryFixture>("fakes")), name_of);

}  // namespace
}  // namespace tenure::conformance
