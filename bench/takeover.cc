#include "takeover.h"

#include <signal.h>

#include <atomic>

#include "children.h"
#include "must.h"
#include "way.h"

namespace tenure::bench {
namespace {

using Clock = std::chrono::steady_clock;  // one clock for all processes of a machine

struct Grant {
  std::atomic<std::int64_t> at{0};
};

std::int64_t now() {
  return Clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

pid_t start_holder(const std::string& name, const std::string& folder, std::size_t resident_bytes) {
  Pipe held = make_pipe();
  const pid_t holder = start_child([&] {
    const std::string ballast(resident_bytes, 'x');
    auto way = make_way(name, folder);
    way->take();
    send_byte(held.write_end.get());
    for (;;) ::pause();
  });
  held.write_end.reset();
  if (!receive_byte(held.read_end.get())) stop_here("the holder did not get it");
  return holder;
}

}  // namespace

std::chrono::nanoseconds measure_takeover(const std::string& name, const std::string& folder,
                                          std::size_t resident_bytes) {
  const SharedValue<Grant> memory;
  Grant& grant = *memory;
  const pid_t holder = start_holder(name, folder, resident_bytes);
  Pipe about_to_wait = make_pipe();
  const pid_t waiter = start_child([&] {
    auto way = make_way(name, folder);
    send_byte(about_to_wait.write_end.get());
    way->take();
    grant.at = now();
    way->give();
  });
  about_to_wait.write_end.reset();
  if (!receive_byte(about_to_wait.read_end.get())) stop_here("the waiter did not start");
  wait_until_asleep(waiter);
  const std::int64_t killed = now();
  must(::kill(holder, SIGKILL), "kill");
  reap(holder);
  expect_success(waiter);
  if (grant.at < killed) stop_here("the waiter had it before the holder died");
  return std::chrono::nanoseconds(grant.at - killed);
}

}  // namespace tenure::bench
