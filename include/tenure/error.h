// Errors: what every fallible call of tenure returns beside its value.
//
// An Error says what was refused in words a person can act on (`message`), what to type or do next (`remedy`, may
// be empty), and carries a Code for programs. Codes are listed, with exit code, HTTP status and retry class, in
// errors.def. No exception crosses the edge of the library; running out of memory ends the process.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace tenure {

struct Observation;

enum class Code : std::uint8_t {
#define TENURE_ERROR(name, exit, http, retry, outcome, text) name,
#include "tenure/errors.def"
#undef TENURE_ERROR
};

// When the same call may succeed. See errors.def.
enum class Retry : std::uint8_t { never, after_change, later };

// What an error says about the world: nothing changed, the caller's lease is over, or it may have happened.
enum class Outcome : std::uint8_t { refused, lost, unknown };

struct CodeFacts {
  Code code;
  std::string_view name;
  int exit_code;
  int http_status;
  Retry retry;
  Outcome outcome;
  std::string_view meaning;
};

// The line of errors.def for a code. Never fails.
const CodeFacts& facts(Code code) noexcept;

struct [[nodiscard]] Error {
  Code code = Code::internal;
  std::string message;
  std::string remedy;
  // Who holds the key, where the refusal is about a holder. Shared so that copying an error is cheap.
  std::shared_ptr<const Observation> holder;
};

template <class T>
using Result = std::expected<T, Error>;

// Shorthand for `return fail(Code::held, "…")`.
inline std::unexpected<Error> fail(Code code, std::string message, std::string remedy = {}) {
  return std::unexpected<Error>(Error{code, std::move(message), std::move(remedy), nullptr});
}
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}

}  // namespace tenure
