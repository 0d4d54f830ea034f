// Actors: processes of a test that share a local space, each with an engine of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/engine.h"

namespace tenure::local_test {

// A folder that is removed with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Joins with the real ports. Fails the test, and ends a forked child, where that does not work.
std::shared_ptr<Engine> join(const std::string& path, std::uint32_t members = 256);

ClaimRequest request(const std::string& key, const std::string& owner = "", const std::string& part = "");

// A forked child. It is killed, and waited for, at the end of its scope.
class Actor {
 public:
  // What it runs; it ends with what that returns. `line` speaks to the test and listens.
  class Line {
   public:
    Line(int in, int out) : in_(in), out_(out) {}
    void say(char word) const;
    char hear() const;  // 0: the other is gone
    int in() const { return in_; }
    int out() const { return out_; }

   private:
    int in_, out_;
  };
  explicit Actor(const std::function<int(const Line&)>& run);
  ~Actor();
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  void say(char word) const { line_.say(word); }
  char hear() const { return line_.hear(); }
  pid_t pid() const { return pid_; }
  void kill(int signal) const;
  // It has ended, whether or not it was waited for.
  bool over() const;
  // Until it is stopped by a signal. False: it ended.
  bool wait_until_stopped();
  // Until it ends: its exit code, or 128 + the signal that killed it.
  int wait();

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  bool ended_ = false;
  Line line_{-1, -1};
  int ends_[2] = {-1, -1};
};

}  // namespace tenure::local_test
