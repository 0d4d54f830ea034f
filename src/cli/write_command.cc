// write: replaces a file under the current epoch of a key.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/data_input.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "tenure/fenced_file.h"

namespace tenure::cli {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62U;

struct Wish {
  Key key;
  Epoch epoch;
  std::string path;
  std::optional<std::uint64_t> size;
};

Result<Wish> wish_of(const Arguments& arguments) {
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  if (!arguments.path) return fail(Code::usage, "PATH is missing: the file to be replaced");
  auto epoch = epoch_of(arguments.epoch);
  if (!epoch) return fail(epoch.error());
  if (!*epoch) {
    return fail(Code::usage,
                "--epoch N is missing: the epoch that your lease was granted under, in TENURE_EPOCH of run");
  }
  Wish wish{*key, **epoch, *arguments.path, std::nullopt};
  if (!arguments.size) return wish;
  auto size = number_of(*arguments.size, kMostBytes, "--size");
  if (!size) return fail(size.error());
  wish.size = *size;
  return wish;
}

std::unexpected<Error> wrong_size(const Wish& wish, const std::string& came) {
  return fail(Code::input_output,
              came + " on standard input, and --size says " + std::to_string(*wish.size) + ": the file is as it was");
}

Result<void> fill(FencedWrite& draft, DataInput& input, const Wish& wish) {
  while (true) {
    auto part = input.next();
    if (!part) return fail(part.error());
    if (part->empty()) break;
    if (auto appended = draft.append(*part); !appended) return appended;
    if (wish.size && draft.bytes() > *wish.size) return wrong_size(wish, "more bytes came");
  }
  if (wish.size && draft.bytes() < *wish.size) {
    return wrong_size(wish, "only " + std::to_string(draft.bytes()) + " bytes came");
  }
  return {};
}

Result<FencedWritten> write(const Wish& wish, const std::string& url, DataInput& input) {
  auto file = FencedFile::open(wish.path, wish.key, url);
  if (!file) return fail(file.error());
  auto draft = file->begin(wish.epoch);
  if (!draft) return fail(draft.error());
  if (auto filled = fill(*draft, input, wish); !filled) return fail(filled.error());
  return draft->publish();
}

std::string shown(const Wish& wish, const FencedWritten& written, bool json) {
  if (json) {
    boost::json::object out{{"key", wish.key.text()},
                            {"epoch", written.epoch.value()},
                            {"path", wish.path},
                            {"bytes", written.bytes},
                            {"checked_by", written.space_gone.empty() ? "space" : "sidecar"}};
    if (!written.space_gone.empty()) out["space_gone"] = written.space_gone;
    return boost::json::serialize(out) + "\n";
  }
  std::string text = escape_controls(wish.path) + ": replaced, " + std::to_string(written.bytes) +
                     (written.bytes == 1 ? " byte" : " bytes") + ", epoch " + written.epoch.text() + " of " +
                     wish.key.text();
  if (!written.space_gone.empty()) {
    text += "; let in by the sidecar alone, as the space cannot be asked: " + escape_controls(written.space_gone);
  }
  std::string out;
  for (const std::string& line : wrap(text, kColumns)) out += line + "\n";
  return out;
}

}  // namespace

Result<int> write_command(const Arguments& arguments) {
  auto wish = wish_of(arguments);
  if (!wish) return fail(wish.error());
  auto input = DataInput::open();
  if (!input) return fail(input.error());
  auto written = write(*wish, chosen_url(arguments), *input);
  // Only now, so that nothing is left beside the file.
  if (!written && input->signal() != 0) die_of(input->signal());
  if (!written) return fail(written.error());
  if (auto printed = print(shown(*wish, *written, arguments.json)); !printed) return fail(printed.error());
  return 0;
}

}  // namespace tenure::cli
