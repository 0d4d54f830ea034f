// Looks at a space for `top`, on a thread of its own, so that a slow store or a hundred thousand keys never hold up the
// screen: what changed when the space says so, what is on the screen each second, everything now and then.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cli/files.h"
#include "cli/top_session.h"
#include "tenure/space.h"

namespace tenure::cli {

class TopGatherer {
 public:
  // `space` must outlive it. Code::no_descriptors, Code::limit_reached.
  static Result<std::unique_ptr<TopGatherer>> start(const Space& space, std::string prefix);
  TopGatherer(const TopGatherer&) = delete;
  TopGatherer& operator=(const TopGatherer&) = delete;
  ~TopGatherer();

  // Readable when there are news.
  int descriptor() const { return bell_.get(); }
  TopNews take();
  // What to look at each second.
  void attend(std::vector<Key> keys);

 private:
  TopGatherer(const Space& space, std::string prefix, Stop stop, Descriptor bell)
      : space_(space), prefix_(std::move(prefix)), stop_(std::move(stop)), bell_(std::move(bell)) {}
  void gather();
  void gather_until_fault(std::string& fault);
  Result<void> look_at_all();
  Result<void> look_at(const std::vector<Key>& keys);
  std::vector<Key> attended() const;
  void publish(TopNews news);
  void rest(Duration busy_for) const;

  const Space& space_;
  const std::string prefix_;
  const Stop stop_;
  const Descriptor bell_;
  mutable std::mutex mutex_;  // of the three below
  std::optional<std::vector<Observation>> all_;
  std::map<Key, Observation> changed_;
  std::string fault_;
  std::vector<Key> attended_;
  bool want_all_ = true;  // of the thread alone
  std::thread thread_;
};

}  // namespace tenure::cli
