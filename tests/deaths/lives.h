// Lives: a member in the test itself, and others as processes that claim, wait, hold and end.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "deaths/actors.h"
#include "engine/local/check.h"
#include "engine/local/snapshot.h"

namespace tenure::local_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline Wait up_to(Duration most) {
  return Wait{.at_most = most};
}

class Lives : public testing::Test {
 protected:
  Folder folder_;
  std::shared_ptr<Engine> engine_ = join(folder_.path());

  bool is_held(const std::string& key) {
    auto claimed = engine_->try_claim(request(key, "test", key));
    if (claimed) (void)engine_->release({*Key::parse(key), claimed->claim, claimed->epoch});
    return !claimed && claimed.error().code == Code::held;
  }
  // A claim that waits until it has the key, and keeps it.
  std::future<Result<Grant>> waits(const std::string& key, const std::string& part, Duration most = seconds(20)) {
    return std::async(std::launch::async,
                      [=, this] { return engine_->await(request(key, "test", part), up_to(most)); });
  }
  void release(const std::string& key, const Grant& grant) {
    EXPECT_TRUE(engine_->release({*Key::parse(key), grant.claim, grant.epoch}));
  }
  // True: `key` can be had within `most`.
  bool comes_free(const std::string& key, Duration most) {
    auto granted = engine_->await(request(key, "test", "comes free"), up_to(most));
    if (granted) release(key, *granted);
    return granted.has_value();
  }
  // Until so many stand in line.
  void until_in_line(const std::string& key, const std::string& count) {
    for (int i = 0; i < 100'000; ++i) {
      auto seen = engine_->holder(*Key::parse(key));
      if (seen && seen->note.find(count + " in line") != std::string::npos) return;
      std::this_thread::yield();
    }
    ADD_FAILURE() << "never " << count << " in line";
  }
  // Until the first in line, which was passed over, has looked at the key again.
  void until_it_stirs(const std::string& key) {
    for (int i = 0; i < 100'000; ++i) {
      auto seen = local::read_key(local::core_of(*engine_), key);
      if (seen && *seen && !(*seen)->line.empty() && ((*seen)->line.front().flags & local::kPassed) == 0) return;
      std::this_thread::yield();
    }
    ADD_FAILURE() << "it never stirs";
  }
  // A child that claims `key`, says so, and then does `then`.
  std::unique_ptr<Actor> holder(const std::string& key,
                                std::function<int(Engine&, const Grant&, const Actor::Line&)> then) {
    const std::string path = folder_.path();
    auto actor = std::make_unique<Actor>([=](const Actor::Line& line) {
      const auto engine = join(path);
      auto granted = engine->try_claim(request(key));
      line.say(granted ? 'h' : 'x');
      if (!granted) return 5;
      return then(*engine, *granted, line);
    });
    EXPECT_EQ(actor->hear(), 'h');
    return actor;
  }
  // A child that stands in line for `key`; 'g' when it is granted, and then it waits for a word.
  std::unique_ptr<Actor> waiter(const std::string& key) {
    const std::string path = folder_.path();
    return std::make_unique<Actor>([=](const Actor::Line& line) {
      const auto engine = join(path);
      auto granted = engine->await(request(key), up_to(seconds(30)));
      line.say(granted ? 'g' : 'x');
      (void)line.hear();
      if (granted) (void)engine->release({*Key::parse(key), granted->claim, granted->epoch});
      return 0;
    });
  }
};

inline int until_told(Engine&, const Grant&, const Actor::Line& line) {
  (void)line.hear();
  return 0;
}

}  // namespace tenure::local_test
