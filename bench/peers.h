// The peers of way.h, as classes, for who also measures their verify and renew.
#pragma once

#include <chrono>
#include <string>

#include "base/descriptor.h"
#include "way.h"

namespace tenure::bench {

constexpr std::chrono::milliseconds kPollInterval{1};
// The size of a record of ours, nearly.
constexpr std::size_t kRecordBytes = 1200;

class Flock final : public Way {
 public:
  explicit Flock(const std::string& folder);
  void take() override;
  void give() override;

 private:
  base::Descriptor file_;
};

class FlockOpenClose final : public Way {
 public:
  explicit FlockOpenClose(const std::string& folder) : path_(folder + "/reopened.lock") {}
  void take() override;
  void give() override;

 private:
  const std::string path_;
  base::Descriptor file_;
};

class ExclusiveFile final : public Way {
 public:
  explicit ExclusiveFile(const std::string& folder) : path_(folder + "/exclusive") {}
  void take() override;
  void give() override;

 private:
  const std::string path_;
};

// The synced writes of a claim of ours, of the same sizes: a note and a counter in place, the record in a new file, and
// the directory.
class ClaimWrites {
 public:
  ClaimWrites(const std::string& folder, const std::string& stem);
  void write(int new_file) const;

 private:
  base::Descriptor directory_;
  base::Descriptor note_;
  base::Descriptor counter_;
};

class SyncedFlock final : public Way {
 public:
  explicit SyncedFlock(const std::string& folder);
  void take() override;
  void give() override;

 private:
  const std::string path_;
  base::Descriptor lock_;
  ClaimWrites writes_;
};

class SyncedExclusiveFile final : public Way {
 public:
  explicit SyncedExclusiveFile(const std::string& folder);
  void take() override;
  void give() override;

 private:
  const std::string path_;
  ClaimWrites writes_;
};

class AgentMux final : public Way {
 public:
  explicit AgentMux(const std::string& folder) : stem_(folder + "/agentmux") {}
  void take() override;
  void give() override;
  void verify();
  void renew();

 private:
  bool take_once();
  base::Descriptor lock() const;
  std::string lease() const;
  void write_atomically(const std::string& path, const std::string& bytes) const;

  const std::string stem_;
};

// The floor of any verify by file: open, read, close.
class SmallFile {
 public:
  explicit SmallFile(const std::string& folder);
  void read();
  void rewrite();

 private:
  const std::string path_;
  base::Descriptor file_;
};

}  // namespace tenure::bench
