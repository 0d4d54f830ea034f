// A forked child has no part in the leases of its parent.
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, AForkedChildIsRefused) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  auto engine = fixture->engine(client);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);  // a child that hangs ends itself
    const auto refused = [](const auto& result) { return !result && result.error().code == Code::wrong_process; };
    if (!refused(engine->verify(ref(grant)))) ::_exit(1);
    if (!refused(engine->renew(ref(grant)))) ::_exit(2);
    if (!refused(engine->beat(ref(grant)))) ::_exit(3);
    if (!refused(engine->release(ref(grant)))) ::_exit(4);
    if (!refused(engine->try_claim(request(key("other"))))) ::_exit(5);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1 verify, 2 renew, 3 beat, 4 release, 5 claim: not refused";
  EXPECT_TRUE(is_current(client, grant));
}

}  // namespace
}  // namespace tenure::conformance
