// Ceiling: the durable bound of a local space's epoch counter. No epoch above it was ever given out, whatever becomes
// of the table: so epochs outlive reboots and lost power, and cost a sync of the disk only once in a block of them.
//
// It lies in two files of the folder, `ceiling` and `ceiling.copy`, which say the same: two files, not two halves of
// one, because a file is replaced whole by a rename (nothing is ever torn), and because two halves would share a block
// of the disk and be damaged together. They are written one after the other, each synced with its name before the other
// is touched, and only a bound that both hold is used. So either of them is enough to go on from.
//
// `ceiling.lock` excludes other writers, and says that there was a ceiling once, so that two missing files are told
// from a first use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/clock.h"
#include "env/local_folder.h"
#include "model/ceiling_record.h"
#include "rules/ceiling.h"
#include "tenure/epoch.h"
#include "tenure/error.h"

namespace tenure::local {

// Thread-safe, and safe between processes. Keeps no state of its own. Every call may sync the disk four times: not for
// a hot path.
class Ceiling {
 public:
  // Both must outlive it.
  Ceiling(env::LocalFolder& folder, const env::Clock& clock) : folder_(folder), clock_(clock) {}

  struct Start {
    Epoch start;  // above every epoch that was ever given out here: the first of the new table is the next one
    Epoch bound;  // durable; no higher one may be given out before raise()
    SpaceId space{};
    std::vector<std::string> notes;  // for people: sentences about what was not as it should be
  };

  // For a new table. Code::epoch_unreadable where nothing tells how far the epochs have come (the message says why, the
  // remedy how to go on), Code::epoch_exhausted, and the errors of the folder.
  Result<Start> start_new_table();

  // For a table in use: makes a bound durable that lies a block above `needed` and is at least as high as any that can
  // be read, and returns it. Where both files reach half a block above `needed` already (another was here first),
  // nothing is written, and the lower of the two is returned. `needed` is the highest epoch that the table knows: it is
  // right even where the files are older, damaged or gone, and so this mends them. Code::epoch_exhausted where `needed`
  // is the last epoch there is.
  Result<Epoch> raise(Epoch needed);

  // An operator's way out of Code::epoch_unreadable: goes on above whatever can be read and above the clock on the
  // wall, which the operator answers for. Code::epoch_unreadable when nothing can be read and the clock was never set.
  Result<Start> repair();

 private:
  struct Section;
  Result<Section> enter();
  Result<rules::CeilingCopy> read(const std::string& name);
  Result<void> write(Section& section, const CeilingRecord& record);
  Result<void> write_copy(const std::string& name, const std::string& bytes);
  Result<Start> begin(Section& section, const Result<rules::CeilingStart>& decided);
  FolderMark here() const;

  env::LocalFolder& folder_;
  const env::Clock& clock_;
};

}  // namespace tenure::local
