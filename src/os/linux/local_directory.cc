#include "os/linux/local_directory.h"

namespace tenure::os {
namespace {

// A section lock must not outlive its directory, so this one brings it along.
class SectionOfItsOwn final : public env::SectionLock {
 public:
  SectionOfItsOwn(std::unique_ptr<env::Directory> directory, std::unique_ptr<env::SectionLock> lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}

  bool created() const override { return lock_->created(); }
  Result<std::string> read() override { return lock_->read(); }
  Result<void> write(std::string_view bytes, bool durable) override { return lock_->write(bytes, durable); }

 private:
  std::unique_ptr<env::Directory> directory_;
  std::unique_ptr<env::SectionLock> lock_;
};

}  // namespace

Result<std::unique_ptr<RealDirectory>> LocalDirectory::now() const {
  auto folder = place_->open();
  if (!folder) return fail(folder.error());
  return std::make_unique<RealDirectory>(OpenedFolder{std::move(*folder), place_->file_system(), place_->checks()});
}

Result<std::optional<env::FileContent>> LocalDirectory::read(const std::string& name, std::size_t max_bytes) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->read(name, max_bytes);
}

Result<void> LocalDirectory::replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                                     bool durable) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->replace(name, temporary, bytes, durable);
}

Result<void> LocalDirectory::overwrite(const std::string& name, FileIdentity expected, std::string_view bytes,
                                       bool durable) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->overwrite(name, expected, bytes, durable);
}

Result<bool> LocalDirectory::remove(const std::string& name) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->remove(name);
}

Result<void> LocalDirectory::move_aside(const std::string& from, const std::string& to) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->move_aside(from, to);
}

Result<void> LocalDirectory::sync() {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->sync();
}

Result<std::vector<std::string>> LocalDirectory::list(std::size_t max_names) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->list(max_names);
}

Result<std::unique_ptr<env::SectionLock>> LocalDirectory::lock(const std::string& name, Duration at_most,
                                                               const Stop* stop) {
  auto directory = now();
  if (!directory) return fail(directory.error());
  auto lock = (*directory)->lock(name, at_most, stop);
  if (!lock) return lock;
  return std::make_unique<SectionOfItsOwn>(std::move(*directory), std::move(*lock));
}

Result<std::unique_ptr<env::LifeLock>> LocalDirectory::take_life(const std::string& name, const std::string& temporary,
                                                                 bool fresh, bool keep_descriptor) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->take_life(name, temporary, fresh, keep_descriptor);
}

env::LifeProbe LocalDirectory::probe_life(const std::string& name, std::optional<FileIdentity> expected) {
  const auto directory = now();
  if (!directory) return {LifeSight::unreadable, {}};
  return (*directory)->probe_life(name, expected);
}

Result<std::unique_ptr<env::Watch>> LocalDirectory::watch() {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->watch();
}

Result<env::Entry> LocalDirectory::look(const std::string& name) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->look(name);
}

Result<std::unique_ptr<env::Directory>> LocalDirectory::open_folder(const std::string& name) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->open_folder(name);
}

Result<bool> LocalDirectory::make_folder(const std::string& name) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->make_folder(name);
}

Result<bool> LocalDirectory::remove_folder(const std::string& name) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->remove_folder(name);
}

Result<bool> LocalDirectory::create(const std::string& name, std::string_view bytes, bool durable) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->create(name, bytes, durable);
}

Result<bool> LocalDirectory::link(const std::string& from, env::Directory& into, const std::string& to) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->link(from, into, to);
}

Result<env::Moved> LocalDirectory::move(const std::string& from, env::Directory& into, const std::string& to) {
  const auto directory = now();
  if (!directory) return fail(directory.error());
  return (*directory)->move(from, into, to);
}

}  // namespace tenure::os
