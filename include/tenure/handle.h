// Handle: what lets another process of the same user renew, verify or release a lease: a secret.
//
// Whoever carries it speaks for the holder. It is passed by environment, file or standard input, never as an
// argument, and stands in no list, log or message. Text form (one line, no blanks):
//
//   tenure1:<claim id, 32 hex digits>:<epoch>:<key, percent-encoded>:<space URL, percent-encoded>:<CRC-32, 8 hex
//   digits>
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenure/epoch.h"
#include "tenure/key.h"

namespace tenure {

// 128 random bits, fresh for each successful claim.
class ClaimId {
 public:
  constexpr ClaimId() = default;
  constexpr explicit ClaimId(std::array<std::uint8_t, 16> bytes) : bytes_(bytes) {}
  // 32 hex digits, or the same as a UUID with dashes (as AgentMux writes it). nullopt for anything else.
  static std::optional<ClaimId> parse(std::string_view text);
  // 32 lower-case hex digits.
  std::string text() const;
  constexpr bool none() const { return bytes_ == std::array<std::uint8_t, 16>{}; }
  friend constexpr bool operator==(const ClaimId&, const ClaimId&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

struct Handle {
  Key key;
  ClaimId claim;
  Epoch epoch;
  std::string space;  // URL

  // Code::bad_handle; the message says what is wrong without repeating the text. At most 8,192 bytes.
  static Result<Handle> parse(std::string_view text);
  std::string text() const;
};

}  // namespace tenure
