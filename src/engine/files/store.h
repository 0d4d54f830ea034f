// Store: the folder, what this process holds in it, and the verbs that change it. Each verb has a file of its own.
//
// Every change to a key happens inside its section (flock on <id>.lock), read-decide-write. Order of a grant:
// life lock, the copy of the epoch where it lags, counter, record, note, folder synced: so a crash between any two
// skips an epoch at worst.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "engine/engine.h"
#include "engine/files/files_engine.h"
#include "engine/files/look.h"
#include "engine/guarding.h"
#include "env/directory.h"
#include "env/environment.h"
#include "model/side_files.h"

namespace tenure::files {

// What this process holds under one key.
struct Held {
  ClaimId claim;
  Epoch epoch;
  std::shared_ptr<env::LifeLock> life;
  LeaseRecord record;  // as last written, so that it can be written again if a cleaner removes it
};

// The section of a key, entered.
struct Section {
  std::unique_ptr<env::SectionLock> lock;
  rules::EpochSource note_epoch;
  SectionNote note;  // when note_epoch is readable
  rules::EpochSource counter;
  std::optional<env::FileContent> counter_file;
};

// What a read that failed stands for: nothing at all, or, for who repairs, damage.
enum class Unread : bool { is_unknown, is_damage };

class Store {
 public:
  Store(std::shared_ptr<env::Directory> directory, env::Environment environment, FilesOptions options, Traits traits);

  // claim.cc
  Result<Grant> claim(const ClaimRequest& request, const Stop* stop, Duration section_wait);
  // keep.cc
  Result<Renewal> beat(const ClaimRef& claim);
  Result<Renewal> renew(const ClaimRef& claim);
  Result<Standing> verify(const ClaimRef& claim);
  // give_back.cc
  Result<Released> release(const ClaimRef& claim);
  Result<Revoked> revoke(const RevokeRequest& request);
  // guard.cc
  Result<void> guard(const GuardRequest& request, const Guarded& operation);
  // look
  Result<Observation> holder(const Key& key);
  Result<std::vector<Observation>> list(const std::string& prefix);

  env::Directory& directory() const { return *directory_; }
  const env::Environment& environment() const { return environment_; }
  const Traits& traits() const { return traits_; }
  // The key of a stem, as this process knows it or as the record says.
  std::optional<Key> key_of(const std::string& stem);

  // Code::wrong_process in a forked child.
  Result<void> check_process() const;
  // Of whatever changes the key: also not from within an operation under its guard, which has its section.
  Result<void> check_change(const Key& key) const;
  // Code::lost when the folder was moved or replaced: nobody who opens its path sees our leases any more.
  // Code::unreachable while that may be a passing state, as when a purge looks for holders.
  Result<void> check_place(const ClaimRef& claim);

 private:
  guarding::Place place() const;

  struct Current {
    rules::CurrentVerdict verdict;
    Look look;
  };
  enum class Extend : bool { no, yes };

  // The look of somebody inside the section: also sees a holder whose record was taken by a cleaner.
  Result<Look> look_inside(const Section& section, const Key& key, const FileNames& names);
  // The copy of the epoch as it stands in the text of the lock file.
  static void read_note(const std::string& text, Section& section);
  Result<Section> enter(const FileNames& names, Duration at_most, const Stop* stop, Unread unread = Unread::is_unknown);
  // Counter and note without the lock: a glance.
  Result<Section> glance_at_counters(const FileNames& names);
  Result<rules::EpochSource> read_counter(const FileNames& names, std::optional<env::FileContent>& file, Unread unread);
  Result<void> write_note(Section& section, SectionNote note, bool durable);
  Result<void> raise_copy(Section& section);
  Result<void> write_counter(Section& section, const FileNames& names, Epoch epoch);
  Result<rules::NextEpoch> epoch_of_grant(const Section& section, const Look& look, bool keep) const;

  Result<Grant> grant(Section& section, const FileNames& names, const ClaimRequest& request, const Look& look,
                      const rules::ClaimVerdict& verdict, const ClaimId& claim);
  Result<std::shared_ptr<env::LifeLock>> take_life(const FileNames& names, const ClaimRequest& request, bool reclaim);
  void adopt_life(const Key& key, std::shared_ptr<env::LifeLock> life);
  LeaseRecord record_of(const ClaimRequest& request, const ClaimId& claim, Epoch epoch, const env::LifeLock& life,
                        BootTime before) const;
  Result<void> write_grant(Section& section, const FileNames& names, const LeaseRecord& record, const Look& look,
                           bool& record_touched);
  Result<void> put_record(const FileNames& names, const std::string& bytes, const Look& look);
  Error undo(const FileNames& names, const ClaimId& claim, const Look& look, bool reclaim, Error error);
  Result<void> put_aside(const FileNames& names, const std::string& name);
  std::unexpected<Error> refused(const Look& look, const rules::ClaimVerdict& verdict) const;

  Result<Current> current(const ClaimRef& claim, const FileNames& names, const Section* section);
  // The claim of the lease that is to be guarded; its id is none where only the counters vouch for it.
  Result<ClaimRef> guarded_claim(const GuardRequest& request, const FileNames& names);
  Result<void> check_current(const ClaimRef& claim, const FileNames& names, const Section& section);
  // Inside the section: the lease is over, and whoever has its handle is told so.
  Result<void> give_up_guarded(Section& section, const ClaimRef& claim, const FileNames& names);
  Duration sign_under_guard(const Section& section, const ClaimRef& claim, const FileNames& names);
  // Whether an operation of this process runs under the guard of the key.
  bool guards(const Key& key);
  class Guarding;
  Result<Renewal> sign(const ClaimRef& claim, Extend extend);
  Result<Renewal> sign_inside(const Section& section, const ClaimRef& claim, const FileNames& names, Extend extend);
  Result<void> rewrite(const FileNames& names, const LeaseRecord& record, const Look& look);
  std::unexpected<Error> lost(const ClaimRef& claim, const FileNames& names, const Current& current);
  std::string told_why(const ClaimRef& claim, const FileNames& names, const rules::CurrentVerdict& verdict);

  Error given_up(const ClaimRef& claim, Error error);
  Result<void> clear(Section& section, const FileNames& names, const SectionNote& note, const Look& look);
  Result<void> take_away(Section& section, const FileNames& names, const Look& look, bool stuck, Revoked& revoked);
  Result<void> write_revocation(const FileNames& names, const RevokeRequest& request, const Observation& was);
  Result<std::string> repair_epoch(Section& section, const FileNames& names, const Look& look);

  std::optional<Held> held(const ClaimRef& claim);
  void keep_held(const Key& key, Held held);
  // Lets go of the life lock of that claim, if it is the one held.
  void drop_held(const ClaimRef& claim);

  const std::shared_ptr<env::Directory> directory_;
  const env::Environment environment_;
  const FilesOptions options_;
  const Traits traits_;
  Viewer viewer_;
  std::mutex mutex_;
  std::map<Key, Held> held_;
  std::set<Key> guarded_;
  std::optional<MonotonicTime> away_since_;
};

}  // namespace tenure::files
