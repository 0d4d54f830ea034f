#include "cli/sentinel.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "base/quiet_thread.h"

namespace tenure::cli {
namespace {

void stand_watch(const Stop& stop, const Stop& end, const std::vector<int>& descriptors, const Sentinel::Judge& judge,
                 std::optional<Duration> at_most) {
  std::vector<::pollfd> polled;
  for (const int each : descriptors) polled.push_back({each, POLLIN, 0});
  polled.push_back({end.descriptor(), POLLIN, 0});
  while (!end.requested()) {
    ::timespec span{};
    if (at_most) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*at_most);
      span = {static_cast<::time_t>(seconds.count()), static_cast<long>((*at_most - seconds).count())};
    }
    const int ready = ::ppoll(polled.data(), polled.size(), at_most ? &span : nullptr, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return stop.request();
    for (std::size_t index = 0; index < descriptors.size(); ++index) {
      if (polled[index].revents != 0 && judge(index)) return stop.request();
    }
  }
}

}  // namespace

Result<Sentinel> Sentinel::post(const Stop& stop, std::vector<int> descriptors, Judge judge,
                                std::optional<Duration> at_most) {
  auto end = Stop::create();
  if (!end) return fail(end.error());
  Sentinel sentinel(std::move(*end));
  auto thread =
      base::quiet_thread([&stop, &ended = *sentinel.end_, posts = std::move(descriptors), asked = std::move(judge),
                          at_most] { stand_watch(stop, ended, posts, asked, at_most); });
  if (!thread) return fail(thread.error());
  sentinel.thread_ = std::move(*thread);
  return sentinel;
}

void Sentinel::dismiss() {
  if (!thread_.joinable()) return;
  end_->request();
  thread_.join();
}

}  // namespace tenure::cli
