#include "lease/labels.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/process_mark.h"
#include "base/text.h"

namespace tenure::lease {

Result<std::string> fresh_label(env::Random& random) {
  std::array<std::uint8_t, 8> bytes{};
  if (auto filled = random.fill(bytes); !filled) return fail(filled.error());
  return to_hex(bytes);
}

Result<std::string> process_label(env::Random& random) {
  static std::mutex mutex;
  static std::optional<std::pair<base::ProcessMark, std::string>> label;
  std::lock_guard lock(mutex);
  if (!label || !label->first.same()) {
    auto fresh = fresh_label(random);
    if (!fresh) return fresh;
    label.emplace(base::ProcessMark{}, *fresh);
  }
  return label->second;
}

}  // namespace tenure::lease
