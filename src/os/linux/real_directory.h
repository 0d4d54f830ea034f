// A folder of the disk behind env::Directory, whose header is the contract.
#pragma once

#include "env/directory.h"
#include "os/linux/file_system.h"
#include "os/linux/open_folder.h"

namespace tenure::os {

class RealDirectory final : public env::Directory {
 public:
  // Errors as of open_folder().
  static Result<std::unique_ptr<RealDirectory>> open(const std::string& path, bool create, FolderChecks checks = {});
  // The folder itself, for what the port does not offer. Lives as long as this object.
  const Folder& folder() const { return folder_; }

  explicit RealDirectory(OpenedFolder opened) : opened_(std::move(opened)) {}
  RealDirectory(const RealDirectory&) = delete;
  RealDirectory& operator=(const RealDirectory&) = delete;

  // Where it lies: the caller decides about remote and volatile ones.
  const FileSystem& file_system() const { return opened_.file_system; }

  const std::string& path() const override { return folder_.path; }
  Result<std::optional<env::FileContent>> read(const std::string& name, std::size_t max_bytes) override;
  Result<void> replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                       bool durable) override;
  Result<void> overwrite(const std::string& name, FileIdentity expected, std::string_view bytes, bool durable) override;
  Result<bool> remove(const std::string& name) override;
  Result<void> move_aside(const std::string& from, const std::string& to) override;
  Result<void> sync() override;
  Result<std::vector<std::string>> list(std::size_t max_names) override;
  // A section lock must not outlive the directory.
  Result<std::unique_ptr<env::SectionLock>> lock(const std::string& name, Duration at_most, const Stop* stop) override;
  Result<std::unique_ptr<env::LifeLock>> take_life(const std::string& name, const std::string& temporary, bool fresh,
                                                   bool keep_descriptor) override;
  env::LifeProbe probe_life(const std::string& name, std::optional<FileIdentity> expected) override;
  Result<std::unique_ptr<env::Watch>> watch() override;
  Result<bool> in_place() override;
  // In real_folders.cc:
  Result<env::Entry> look(const std::string& name) override;
  Result<std::unique_ptr<env::Directory>> open_folder(const std::string& name) override;
  Result<FileIdentity> identity() override;
  Result<bool> make_folder(const std::string& name) override;
  Result<bool> remove_folder(const std::string& name) override;
  Result<bool> create(const std::string& name, std::string_view bytes, bool durable) override;
  Result<bool> link(const std::string& from, env::Directory& into, const std::string& to) override;
  Result<env::Moved> move(const std::string& from, env::Directory& into, const std::string& to) override;

 private:
  OpenedFolder opened_;
  const Folder& folder_ = opened_.folder;
};

}  // namespace tenure::os
