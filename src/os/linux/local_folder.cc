#include "os/linux/local_folder.h"

#include "os/linux/table_file.h"

namespace tenure::os {

Result<std::unique_ptr<RealLocalFolder>> RealLocalFolder::open(const std::string& path, bool create,
                                                               FolderChecks checks, bool volatile_ok) {
  auto place = LocalPlace::find(path, create, checks, volatile_ok);
  if (!place) return fail(place.error());
  return std::unique_ptr<RealLocalFolder>(new RealLocalFolder(std::move(*place)));
}

RealLocalFolder::RealLocalFolder(std::shared_ptr<const LocalPlace> place)
    : place_(std::move(place)), directory_(place_), entry_(place_), bytes_(place_) {}

// The word first, which tells of a death earliest; then what proves one.
RealLocalFolder::~RealLocalFolder() {
  keeper_.reset();
}

Result<bool> RealLocalFolder::enter_alone() {
  // The keeper has the folder locked for itself, and would keep us out.
  if (keeper_) return fail(Code::internal, "a member whose keeper runs cannot be alone");
  return entry_.enter_alone();
}

Result<std::unique_ptr<env::SharedMemory>> RealLocalFolder::map_table(std::size_t at_least, std::size_t bytes) {
  return map_table_file(place_, at_least, bytes);
}

Result<std::unique_ptr<env::SharedMemory>> RealLocalFolder::make_table(std::size_t allocated, std::size_t bytes,
                                                                       const std::function<void(std::byte*)>& fill) {
  return make_table_file(place_, allocated, bytes, fill);
}

Result<bool> RealLocalFolder::in_place(const env::SharedMemory& table) const {
  const auto folder = place_->in_place();
  if (!folder || !*folder) return folder;
  return place_->leads_to(kTableName, table.identity());
}

env::LocalFolder::ByteSight RealLocalFolder::probe_byte(std::uint64_t byte) const {
  const FileIdentity entered = entry_.lock_file();
  return bytes_.probe(byte, entered == FileIdentity{} ? std::nullopt : std::optional(entered));
}

Result<std::unique_ptr<env::PassedByte>> RealLocalFolder::pass_byte(std::uint64_t byte) {
  return bytes_.pass(byte, entry_.lock_file());
}

Result<void> RealLocalFolder::start_keeper(env::KeeperJob job) {
  if (keeper_) return fail(Code::internal, "there is a keeper already");
  auto keeper = KeeperThread::start(place_, std::move(job));
  if (!keeper) return fail(keeper.error());
  keeper_ = std::move(*keeper);
  // From here on it holds the folder, where it could have a descriptor table of its own; elsewhere nobody does.
  entry_.hand_over();
  return {};
}

}  // namespace tenure::os
