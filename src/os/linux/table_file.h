// The file `table` of a local space, mapped by all members: made whole under another name, allocated before it is used.
#pragma once

#include <functional>
#include <memory>

#include "os/linux/local_place.h"

namespace tenure::os {

inline constexpr char kTableName[] = "table";

// As env::LocalFolder::map_table and make_table.
Result<std::unique_ptr<env::SharedMemory>> map_table_file(const std::shared_ptr<const LocalPlace>& place,
                                                          std::size_t at_least, std::size_t bytes);
Result<std::unique_ptr<env::SharedMemory>> make_table_file(const std::shared_ptr<const LocalPlace>& place,
                                                           std::size_t allocated, std::size_t bytes,
                                                           const std::function<void(std::byte*)>& fill);

}  // namespace tenure::os
