#include "deaths/actors.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "engine/local/local.h"
#include "os/linux/local_folder.h"
#include "os/linux/real_clock.h"
#include "os/linux/real_processes.h"
#include "os/linux/real_random.h"
#include "os/linux/real_words.h"

namespace tenure::local_test {

Folder::Folder() {
  std::string pattern = std::filesystem::temp_directory_path() / "tenure-local-XXXXXX";
  path_ = mkdtemp(pattern.data());
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::shared_ptr<Engine> join(const std::string& path, std::uint32_t members) {
  auto folder = os::RealLocalFolder::open(path, true, {});
  if (!folder) {
    std::fprintf(stderr, "cannot open %s: %s\n", path.c_str(), folder.error().message.c_str());
    ::_exit(3);
  }
  env::Environment environment{std::make_shared<const os::RealClock>(), std::make_shared<os::RealRandom>(),
                               std::make_shared<const os::RealProcesses>()};
  LocalOptions options;
  options.limits = {.members = members, .buckets = 256, .cells = 8'192, .first_cells = 256, .events = 1'024};
  auto engine = open_local(std::move(*folder), std::make_shared<os::RealWords>(), std::move(environment), options);
  if (!engine) {
    std::fprintf(stderr, "cannot join %s: %s\n", path.c_str(), engine.error().message.c_str());
    ::_exit(3);
  }
  return std::move(*engine);
}

ClaimRequest request(const std::string& key, const std::string& owner, const std::string& part) {
  ClaimRequest request{.key = *Key::parse(key)};
  request.owner = owner;
  request.part = part;
  return request;
}

void Actor::Line::say(char word) const {
  while (write(out_, &word, 1) < 0 && errno == EINTR) {
  }
}

char Actor::Line::hear() const {
  char word = 0;
  ssize_t got = 0;
  while ((got = read(in_, &word, 1)) < 0 && errno == EINTR) {
  }
  return got == 1 ? word : '\0';
}

Actor::Actor(const std::function<int(const Line&)>& run) {
  int down[2];
  int up[2];
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0) ::abort();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(down[1]);
    close(up[0]);
    ::_exit(run(Line{down[0], up[1]}));
  }
  close(down[0]);
  close(up[1]);
  ends_[0] = up[0];
  ends_[1] = down[1];
  line_ = Line{up[0], down[1]};
}

Actor::~Actor() {
  if (!ended_) {
    kill(SIGKILL);
    wait();
  }
  close(ends_[0]);
  close(ends_[1]);
}

void Actor::kill(int signal) const {
  if (!ended_) ::kill(pid_, signal);
}

bool Actor::over() const {
  siginfo_t info{};
  if (ended_) return true;
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

bool Actor::wait_until_stopped() {
  while (waitpid(pid_, &status_, WUNTRACED) < 0 && errno == EINTR) {
  }
  ended_ = !WIFSTOPPED(status_);
  return !ended_;
}

int Actor::wait() {
  while (!ended_) {
    if (waitpid(pid_, &status_, 0) == pid_) ended_ = WIFEXITED(status_) || WIFSIGNALED(status_);
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

}  // namespace tenure::local_test
