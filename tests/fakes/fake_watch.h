// FakeWatch: inotify on a FakeDisk, or the poll that stands in for it.
#pragma once

#include "fakes/fake_disk.h"

namespace tenure::fakes {

class FakeWatch final : public env::Watch {
 public:
  // Without an `id` it is a poll.
  FakeWatch(std::shared_ptr<FakeDisk> disk, ProcessNumber process, std::optional<std::uint64_t> id)
      : disk_(std::move(disk)), process_(process), id_(id) {}
  ~FakeWatch() override;
  FakeWatch(const FakeWatch&) = delete;
  FakeWatch& operator=(const FakeWatch&) = delete;

  Result<Changes> wait(Duration at_most, const Stop* stop, int other_descriptor) override;

 private:
  std::shared_ptr<FakeDisk> disk_;
  ProcessNumber process_;
  std::optional<std::uint64_t> id_;
};

}  // namespace tenure::fakes
