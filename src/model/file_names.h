// The names of files in a `files:` space: made here and nowhere else.
//
// A key of 1 to 200 bytes of [A-Za-z0-9._-] is its own stem; any other is '~' and the 64 lower-case hex digits of its
// SHA-256. '~' is not in the set, so no two keys share a stem unless SHA-256 collides; the whole key stands in the
// record and is compared on every read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tenure/key.h"

namespace tenure {

struct FileNames {
  std::string stem;
  std::string record;                      // <stem>.lease.json
  std::string lock;                        // <stem>.lock
  std::string epoch;                       // <stem>.epoch
  std::string life;                        // <stem>.life
  std::string temporary;                   // <stem>.tmp       owned by whoever is inside the section of the key
  std::string seen;                        // <stem>.seen
  std::string revoked;                     // <stem>.revoked.json
  std::string evidence(int number) const;  // <stem>.evidence-<number>: damaged things that were moved aside
};

FileNames file_names(const Key& key);
// The stem of the name of a lease record; nullopt for other names.
std::optional<std::string> stem_of_record(std::string_view file_name);
// The stem of any name that file_names() can make, whatever its kind; nullopt for foreign names.
std::optional<std::string> stem_of(std::string_view file_name);
// The key of a plain stem; nullopt for a hashed one (the record has it) and for what is no stem of ours.
std::optional<Key> key_of_stem(std::string_view stem);

}  // namespace tenure
