// What operators do to a local space as a whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/local_folder.h"
#include "env/words.h"
#include "tenure/error.h"

namespace tenure {

// As long as this lives nobody is in the space, nor comes in.
class LocalAlone {
 public:
  // Code::holder_live, naming who is in, or which key is held by somebody who outlives a member (with `force`: only if
  // that is known to live).
  static Result<LocalAlone> enter(std::unique_ptr<env::LocalFolder> folder, std::shared_ptr<env::Words> words,
                                  env::Environment environment, bool force);
  LocalAlone(LocalAlone&&) noexcept = default;
  LocalAlone& operator=(LocalAlone&&) = delete;
  ~LocalAlone();

  env::LocalFolder& folder() const { return *folder_; }
  // Removes the files of the space, in an order that a crash leaves whole: the epochs last. Their number.
  Result<std::size_t> remove_files() const;

 private:
  explicit LocalAlone(std::shared_ptr<env::LocalFolder> folder) : folder_(std::move(folder)) {}
  std::shared_ptr<env::LocalFolder> folder_;
};

// Writes both copies of the ceiling anew: from the table where one of this boot is there, else above whatever can be
// read and above the clock (Ceiling::repair). The reason is kept in the log of the space. Returns remarks for people.
Result<std::vector<std::string>> repair_local(std::unique_ptr<env::LocalFolder> folder,
                                              std::shared_ptr<env::Words> words, env::Environment environment,
                                              const std::string& reason);

}  // namespace tenure
