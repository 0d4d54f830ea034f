// Our own way: the public API alone.
#pragma once

#include <memory>
#include <optional>

#include "must.h"
#include "tenure/space.h"
#include "way.h"

namespace tenure::bench {

class Ours final : public Way {
 public:
  explicit Ours(const std::string& url, std::string_view key = "bench")
      : space_(must(Space::open(url), "open the space")), key_(must(Key::parse(key), "key")) {
    options_.wait = std::nullopt;
  }
  void take() override { lease_.emplace(must(space_.claim(key_, options_), "claim")); }
  void give() override {
    if (!must(lease_->release(), "release")) stop_here("there was nothing to release");
    lease_.reset();
  }
  // While nothing is taken.
  void use_key(std::string_view key) { key_ = must(Key::parse(key), "key"); }
  // While it is taken.
  Lease& lease() { return *lease_; }

  static std::unique_ptr<Ours> receiver(const std::string& folder) {
    return std::make_unique<Ours>("receiver:" + folder + "/receiver", "receiver");
  }
  static std::string files(const std::string& folder) { return "files:" + folder + "/space"; }
  static std::string local(const std::string& folder) { return "local:" + folder + "/local"; }

 private:
  Space space_;
  Key key_;
  ClaimOptions options_;
  std::optional<Lease> lease_;
};

}  // namespace tenure::bench
