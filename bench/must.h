// A benchmark whose operations fail measures nothing: it ends at once, in whichever process, with what went wrong.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "tenure/error.h"

namespace tenure::bench {

[[noreturn]] inline void stop_here(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  _exit(1);
}

// For system calls: -1 is failure.
template <class Number>
Number must(Number returned, const char* what) {
  if (returned == Number{-1}) stop_here(std::string(what) + ": " + std::strerror(errno));
  return returned;
}

template <class Value>
Value must(Result<Value> result, const char* what) {
  if (!result) stop_here(std::string(what) + ": " + result.error().message);
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

}  // namespace tenure::bench
