#include "cli/output.h"

#include "cli/files.h"

namespace tenure::cli {

Result<void> print(std::string_view text) {
  return write_all(1, text, "standard output");
}

void complain(std::string_view text) noexcept {
  (void)write_all(2, text, "standard error");
}

}  // namespace tenure::cli
