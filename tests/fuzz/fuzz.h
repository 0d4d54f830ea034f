// What every fuzzer needs: the input as text, and a way to fail that NDEBUG does not take away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "tenure/error.h"

namespace tenure::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A refusal has the code that the header promises, a message, and no byte in it that is not text.
inline void require_refusal(const Error& error, Code code) {
  require(error.code == code, "the refusal has the promised code");
  require(!error.message.empty(), "the refusal says why");
  require(!fault_in_text(error.message), "the refusal is one line of plain text");
}

}  // namespace tenure::fuzz
