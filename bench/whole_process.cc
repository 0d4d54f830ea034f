#include "whole_process.h"

#include <fcntl.h>
#include <spawn.h>

#include "children.h"
#include "must.h"

namespace tenure::bench {

void run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int problem = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) stop_here("cannot start " + words[0] + ": " + std::strerror(problem));
  expect_success(child);
}

}  // namespace tenure::bench
