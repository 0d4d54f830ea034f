// The files engine in the suite: on the disk that forgets, by both rules of expiry.
#include "engine/files/files_engine.h"

#include <gtest/gtest.h>

#include "conformance/conformance.h"
#include "fakes/fake_disk.h"
#include "model/file_names.h"

namespace tenure::conformance {
namespace {

class FilesFixture : public Fixture {
 public:
  explicit FilesFixture(rules::Expiry expiry = rules::Expiry::proof) : expiry_(expiry) {}

  bool damage(const Key& key) override {
    disk_->place(file_names(key).record, fakes::Placed::file, "{\"half\": ");
    return true;
  }
  std::shared_ptr<fakes::FaultPlan> faults(Client client) override { return disk_->faults(client); }

 protected:
  std::shared_ptr<Engine> open(Client client, const env::Environment& environment) override {
    return open_files(disk_->open(client), environment, FilesOptions{expiry_});
  }
  bool forget() override {
    disk_->lose_power();
    return true;
  }

 private:
  const rules::Expiry expiry_;
  std::shared_ptr<fakes::FakeDisk> disk_ = fakes::FakeDisk::create(world_, clock_);
};

class FilesByAgeFixture final : public FilesFixture {
 public:
  FilesByAgeFixture() : FilesFixture(rules::Expiry::age) {}
  bool judges_by_age() const override { return true; }
};

INSTANTIATE_TEST_SUITE_P(files, Conformance,
                         testing::Values(make_fixture<FilesFixture>("proof_on_fake_disk"),
                                         make_fixture<FilesByAgeFixture>("age_on_fake_disk")),
                         name_of);

}  // namespace
}  // namespace tenure::conformance
