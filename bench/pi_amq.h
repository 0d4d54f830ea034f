// pi-amq: the steps of its receiver lease, written anew in their barest form, as a floor: it decodes nothing, judges
// nobody, and makes the same twelve syncs, in the same places, for a claim and a release.
#pragma once

#include <string>

#include "way.h"

namespace tenure::bench {

class PiAmq final : public Way {
 public:
  explicit PiAmq(const std::string& folder);
  void take() override;
  void give() override;

 private:
  bool take_once();
  void guard_on();
  void guard_off();
  void list_intents() const;
  bool is_there() const;
  std::string of(const std::string& name) const { return folder_ + "/" + name; }

  const std::string folder_;
};

}  // namespace tenure::bench
