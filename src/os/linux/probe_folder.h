// A private folder for probes, where the space lies. Gone again when its owner is; one that a killed probe left behind
// is removed by the next one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tenure/error.h"

namespace tenure::os {

class ProbeFolder {
 public:
  static Result<ProbeFolder> make(const std::string& parent);
  ProbeFolder(ProbeFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ProbeFolder& operator=(ProbeFolder&&) = delete;
  ~ProbeFolder();

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit ProbeFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

bool is_probe_folder_name(std::string_view name);
// Such a folder and the files in it; it holds no folders.
void remove_probe_folder(const std::string& path);

}  // namespace tenure::os
