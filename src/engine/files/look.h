// Look: everything one glance at a key finds, judged. Reads only; needs no lock and only read permission.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "engine/files/files_engine.h"
#include "engine/files/sightings.h"
#include "env/directory.h"
#include "env/environment.h"
#include "model/file_names.h"
#include "model/lease_record.h"
#include "rules/ownership.h"
#include "tenure/error.h"
#include "tenure/holder.h"

namespace tenure::files {

struct Look {
  explicit Look(Key a_key) : key(std::move(a_key)) {}

  Key key;
  std::optional<LeaseRecord> record;
  std::string damage;    // why the record cannot be read; empty when it can, or is rightly not there
  bool missing = false;  // damage of that kind: the record should be there and is not
  std::optional<env::FileContent> content;
  std::string silence_digest;  // what is watched where no clock is shared with the holder
  std::string extension_digest;
  rules::Occupant occupant;
  Verdict verdict;
};

// Thread-safe.
class Viewer {
 public:
  Viewer(env::Directory& directory, const env::Environment& environment, const FilesOptions& options);

  // Code::not_permitted, Code::input_output …: it could not be seen. Damage is no error here.
  Result<Look> look(const Key& key, const FileNames& names);
  // The record alone, not judged.
  Result<Look> read(const Key& key, const FileNames& names);
  // For a key without a record, whose note says that it was granted and not given back: a holder whose life lock is
  // held is there, though a cleaner took its record. No record is unknown, never dead.
  void judge_missing(Look& look, const FileNames& names) const;
  Observation observe(const Look& look) const;
  // Whether the verdict hangs on how long we have been watching, and remembers that we are. True when the first sight
  // is not kept beside the lease yet.
  bool remember(const Look& look, const FileNames& names);
  void keep(const Look& look, const FileNames& names);
  // The key was granted: what was watched before is no measure for whatever comes to lie there.
  void forget(const Look& look, const FileNames& names);

 private:
  Result<void> read_record(Look& look, const FileNames& names);
  void judge_record(Look& look, const FileNames& names);
  void judge_damage(Look& look, const FileNames& names);
  Verdict judge_life(const LeaseRecord& record, const FileNames& names) const;
  Verdict judge_own(const LeaseRecord& record, const FileNames& names) const;
  ProcessSight sight_of(const ProcessIdentity& process) const;
  rules::Age age_by_watching(const FileNames& names, const std::string& digest);
  rules::Age silence_of(const Look& look, const FileNames& names);
  rules::Age age_by_wall(std::int64_t stamp_ms) const;
  bool shares_clock(const LeaseExtra& extra) const;
  bool one_kernel(const std::string& boot_id) const;

  env::Directory& directory_;
  const env::Environment& environment_;
  const rules::Expiry expiry_;
  const bool shared_folder_;
  const Standpoint self_;  // what holders are compared with
  Sightings sightings_;
};

}  // namespace tenure::files
