#include "cli/handle_input.h"

#include <cstdlib>

#include "base/limits.h"
#include "base/text.h"
#include "cli/error_view.h"
#include "cli/files.h"

namespace tenure::cli {
namespace {

constexpr const char* kExample = "TENURE_HANDLE=\"$handle\" tenure verify";

Result<std::string> text_from_file(const std::string& path) {
  if (path == "-") return read_all(0, limits::kHandleBytes, "standard input");
  auto file = open_to_read(path);
  if (!file) return fail(file.error());
  return read_all(file->get(), limits::kHandleBytes, path);
}

Result<std::string> handle_text(const Arguments& arguments) {
  if (arguments.handle_source && *arguments.handle_source != "-") {
    // Not repeated: it may be half a secret.
    return fail(Code::usage,
                "an argument that is not an option: a key alone cannot renew or release, only the handle that "
                "claim printed can, and it never comes as an argument",
                kExample);
  }
  if (arguments.handle_source && arguments.handle_file) {
    return fail(Code::usage, "two handles at once: - and --handle-file");
  }
  if (arguments.handle_source) return text_from_file("-");
  if (arguments.handle_file) return text_from_file(*arguments.handle_file);
  const char* variable = std::getenv("TENURE_HANDLE");
  if (variable == nullptr || *variable == '\0')
    return fail(Code::usage,
                "no handle was given: it comes by TENURE_HANDLE, --handle-file FILE or - for standard input", kExample);
  return std::string(variable);
}

}  // namespace

Result<Handle> handle_of(const Arguments& arguments) {
  auto text = handle_text(arguments);
  if (!text) return fail(text.error());
  return Handle::parse(trim(*text));
}

Result<int> with_handle(const Arguments& arguments, Result<int> (*act)(const Space&, const Handle&, const Arguments&)) {
  auto handle = handle_of(arguments);
  if (!handle) return fail(handle.error());
  auto space = Space::open(handle->space, {.create = false, .observe_only = false});
  if (!space) return show_error(space.error(), arguments.json, handle->space);
  auto done = act(*space, *handle, arguments);
  if (!done) return show_error(done.error(), arguments.json, handle->space);
  return done;
}

}  // namespace tenure::cli
