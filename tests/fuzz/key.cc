// Keys and the names of their files.
#include "tenure/key.h"

#include "fuzz.h"
#include "model/file_names.h"

namespace {

using tenure::fuzz::require;

void require_sound_names(const tenure::Key& key) {
  const tenure::FileNames names = tenure::file_names(key);
  for (const std::string& name : {names.record, names.lock, names.epoch, names.life, names.temporary, names.seen,
                                  names.revoked, names.evidence(0), names.evidence(2'147'483'647)}) {
    require(name.size() <= 255, "a file name fits a folder");
    require(name.find_first_of(std::string_view("/\0", 2)) == std::string::npos, "a file name is one component");
    require(name != "." && name != "..", "a file name is not a folder's own");
    require(tenure::stem_of(name) == names.stem, "a name tells its stem");
  }
  require(tenure::stem_of_record(names.record) == names.stem, "the name of a record tells its stem");
  const auto back = tenure::key_of_stem(names.stem);
  require(names.stem.front() == '~' ? !back : back == key, "a plain stem tells its key");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tenure::fuzz::text_of(data, size);
  // Any text can be met as a file's name.
  if (const auto stem = tenure::stem_of(text)) require(text.starts_with(*stem), "a stem begins its name");
  const auto key = tenure::Key::parse(text);
  if (!key) {
    tenure::fuzz::require_refusal(key.error(), tenure::Code::bad_key);
    return 0;
  }
  require(key->text() == text, "a key is its text");
  require(text.size() <= tenure::Key::kMaxBytes && tenure::valid_utf8(text), "an accepted key keeps the rules");
  require_sound_names(*key);
  return 0;
}
