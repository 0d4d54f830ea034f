// The files engine in the suite over a real folder: the ports to the disk are the real ones, clocks and processes are
// not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "conformance/conformance.h"
#include "conformance/mortal_directory.h"
#include "engine/files/files_engine.h"
#include "model/file_names.h"
#include "os/linux/real_directory.h"

namespace tenure::conformance {
namespace {

// A folder of the test's own, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tenure-conformance-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class RealFilesFixture final : public Fixture {
 public:
  RealFilesFixture() {
    world_->on_death([this](Client client) { ended(client); });
  }
  bool damage(const Key& key) override {
    std::ofstream(folder_.path() / file_names(key).record, std::ios::trunc) << "{\"half\": ";
    return true;
  }

 protected:
  std::shared_ptr<Engine> open(Client client, const env::Environment& environment) override {
    auto real = os::RealDirectory::open(folder_.path().string(), false);
    EXPECT_TRUE(real) << real.error().message;
    auto directory = std::make_shared<MortalDirectory>(std::move(*real));
    std::lock_guard lock(mutex_);
    directories_[client] = directory;
    return open_files(directory, environment, FilesOptions{});
  }
  void ended(Client client) override {
    std::shared_ptr<MortalDirectory> directory;
    {
      std::lock_guard lock(mutex_);
      if (auto found = directories_.find(client); found != directories_.end()) directory = found->second;
    }
    if (directory) directory->kill();
  }
  // Sleepers lie in inotify on real time: an event makes them look at the fake clock.
  void nudge() override {
    const auto name = folder_.path() / "nudge";
    std::ofstream{name};
    std::filesystem::remove(name);
  }

 private:
  TemporaryFolder folder_;
  std::mutex mutex_;
  std::map<Client, std::shared_ptr<MortalDirectory>> directories_;
};

INSTANTIATE_TEST_SUITE_P(real_files, Conformance, testing::Values(make_fixture<RealFilesFixture>("folder")), name_of);

}  // namespace
}  // namespace tenure::conformance
