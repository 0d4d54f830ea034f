// Who is in a space, asked of its folder wherever that lies right now.
#pragma once

#include <string>
#include <vector>

#include "compose/space_url.h"
#include "tenure/error.h"
#include "tenure/holder.h"

namespace tenure::compose {

struct SpaceContents {
  std::string file_system;
  // Keys with a record; and keys whose life lock is held though their record is gone (a cleaner took it).
  std::vector<Observation> keys;
};
// `leases`: the folder of the records. Read permission is enough.
Result<SpaceContents> look_into(const std::string& leases, const SpaceUrl& url);

// Code::holder_live while a holder lives or may live. With `force` only for those that are known to live.
Result<void> refuse_holders(const std::string& leases, const SpaceUrl& url, bool force);

}  // namespace tenure::compose
