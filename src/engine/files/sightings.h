// First sights: when we first saw a record that can be judged only by watching it.
//
// A holder on another host, or one that an old program wrote, is judged by "unchanged for its TTL as seen on my own
// clock". What one process saw stays in its memory; claimants also keep it beside the lease (`<id>.seen`), so that many
// short tries come to an end as one long wait does.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "env/directory.h"
#include "env/environment.h"
#include "model/file_names.h"
#include "tenure/time.h"

namespace tenure::files {

class Sightings {
 public:
  Sightings(env::Directory& directory, const env::Environment& environment);

  // Since when `digest` has been seen, in memory or beside the lease; nullopt: never before.
  std::optional<MonotonicTime> first_seen(const FileNames& names, const std::string& digest);
  // Remembers that it was seen now (if it never was). True when it is not kept beside the lease yet.
  bool remember(const FileNames& names, const std::string& digest);
  // Keeps what is watched now beside the lease, in place of all that this kernel watched before: what has changed since
  // would only crowd out what others watch. Only inside the section of the key. Best effort: a full disk leaves it in
  // memory.
  void keep(const FileNames& names, const std::vector<std::string>& digests);
  // What was watched is over. Only inside the section of the key.
  void forget(const FileNames& names);

 private:
  std::optional<MonotonicTime> kept(const FileNames& names, const std::string& digest);

  env::Directory& directory_;
  const env::Clock& clock_;
  const std::string observer_;
  std::mutex mutex_;
  struct Seen {
    std::string digest;
    MonotonicTime first;
    bool kept;
  };
  std::map<std::string, Seen> seen_;  // by stem and kind of digest: at most kMaxRemembered
};

}  // namespace tenure::files
