// What a keeper process and the `claim` that started it say to each other, over a socket that tells each when the other
// is gone. The handle goes this way and no other.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "cli/files.h"

namespace tenure::cli {

struct Word {
  enum class Kind : char {
    wait = 'W',     // keeper: text for standard error
    refused = 'E',  // keeper: the claim failed; `code` is the exit code, the text is for standard error
    granted = 'G',  // keeper: the text is for whoever asked
    kept = 'K',     // claim: the grant has been handed over; go on without me
  };
  Kind kind = Kind::wait;
  int code = 0;
  std::string text;
};

class KeeperLine {
 public:
  // Both ends, close-on-exec.
  static Result<std::pair<KeeperLine, KeeperLine>> open();
  explicit KeeperLine(Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  // False: the other side is gone.
  bool say(const Word& word) const;
  // Waits. nullopt: the other side is gone.
  std::optional<Word> hear() const;
  // The other side hears that we are gone, and can still be heard.
  void fall_silent() const;

 private:
  Descriptor socket_;
};

}  // namespace tenure::cli
