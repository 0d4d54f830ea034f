// The small files of a local space: a RealDirectory for each call, since no descriptor of the folder is kept.
#pragma once

#include "env/directory.h"
#include "os/linux/local_place.h"
#include "os/linux/real_directory.h"

namespace tenure::os {

// Beyond the errors of env::Directory: Code::unreachable when the folder is not under its path any more.
class LocalDirectory final : public env::Directory {
 public:
  explicit LocalDirectory(std::shared_ptr<const LocalPlace> place) : place_(std::move(place)) {}

  const std::string& path() const override { return place_->path(); }
  Result<std::optional<env::FileContent>> read(const std::string& name, std::size_t max_bytes) override;
  Result<void> replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                       bool durable) override;
  Result<void> overwrite(const std::string& name, FileIdentity expected, std::string_view bytes, bool durable) override;
  Result<bool> remove(const std::string& name) override;
  Result<void> move_aside(const std::string& from, const std::string& to) override;
  Result<void> sync() override;
  Result<std::vector<std::string>> list(std::size_t max_names) override;
  Result<std::unique_ptr<env::SectionLock>> lock(const std::string& name, Duration at_most, const Stop* stop) override;
  Result<std::unique_ptr<env::LifeLock>> take_life(const std::string& name, const std::string& temporary, bool fresh,
                                                   bool keep_descriptor) override;
  env::LifeProbe probe_life(const std::string& name, std::optional<FileIdentity> expected) override;
  Result<std::unique_ptr<env::Watch>> watch() override;
  Result<bool> in_place() override { return place_->in_place(); }
  Result<env::Entry> look(const std::string& name) override;
  Result<std::unique_ptr<env::Directory>> open_folder(const std::string& name) override;
  Result<FileIdentity> identity() override { return place_->birth().identity; }
  Result<bool> make_folder(const std::string& name) override;
  Result<bool> remove_folder(const std::string& name) override;
  Result<bool> create(const std::string& name, std::string_view bytes, bool durable) override;
  Result<bool> link(const std::string& from, env::Directory& into, const std::string& to) override;
  Result<env::Moved> move(const std::string& from, env::Directory& into, const std::string& to) override;

  // The folder, open for one call.
  Result<std::unique_ptr<RealDirectory>> now() const;

 private:
  std::shared_ptr<const LocalPlace> place_;
};

}  // namespace tenure::os
