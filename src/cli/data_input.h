// Standard input as data, part by part, until its end or a signal that ends the program.
#pragma once

#include <string_view>
#include <vector>

#include "cli/signals.h"
#include "tenure/error.h"

namespace tenure::cli {

class DataInput {
 public:
  // To be called before anything else is opened: a standard stream that the caller closed would be the next descriptor,
  // and be taken for the stream. Code::usage: it is closed, a terminal, or a folder.
  static Result<DataInput> open();

  // The next bytes; empty at the end. Valid until the next call. Code::cancelled: a signal came, see signal().
  Result<std::string_view> next();
  int signal() const { return signal_; }

 private:
  explicit DataInput(SignalGate gate);
  Result<bool> readable();

  SignalGate gate_;
  std::vector<char> part_;
  int signal_ = 0;
};

}  // namespace tenure::cli
