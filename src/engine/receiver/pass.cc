#include "engine/receiver/pass.h"

#include <utility>

namespace tenure::receiver {

Result<ReceiverProcess> own_process(const Core& core, const std::string& generation) {
  const Standpoint& self = core.environment.processes->self();
  ReceiverProcess process;
  process.generation = generation;
  process.pid = static_cast<std::uint64_t>(self.identity.pid);
  process.start_identity = std::to_string(self.identity.start_ticks);
  if (!self.identity.boot_id.empty()) process.boot_identity = self.identity.boot_id;
  process.executable = core.environment.processes->executable();
  process.hostname = self.host_name;
  process.created_at = receiver_date(core.clock().wall());
  if (self.identity.start_ticks != 0 && !process.executable.empty() && !process.hostname.empty()) return process;
  return fail(Code::unreachable,
              "a receiver lease names the start and the executable of its holder, and /proc does not show ours",
              "mount /proc in this sandbox");
}

Result<Pass> make_pass(const Core& core, std::shared_ptr<env::Directory> folder, const std::string& name,
                       const std::string& generation, bool keep_descriptor) {
  auto process = own_process(core, generation);
  if (!process) return fail(process.error());
  auto made = folder->create(name, encode(*process), true);
  if (!made) return fail(made.error());
  if (!*made) return fail(Code::input_output, folder->path() + "/" + name + " appeared while it was made");
  auto life = folder->take_life(name, name, false, keep_descriptor);
  if (!life) {
    (void)folder->remove(name);
    return fail(life.error());
  }
  return Pass{.folder = std::move(folder),
              .name = name,
              .generation = generation,
              .life = std::shared_ptr<env::LifeLock>(std::move(*life))};
}

Result<Draft> Draft::make(const Core& core) {
  auto random = fresh_random(core);
  if (!random) return fail(random.error());
  auto pass = make_pass(core, core.root, guard_draft(uuid_of(*random)), generation_of(*random), false);
  if (!pass) return fail(pass.error());
  return Draft(core, std::move(*pass));
}

Draft::Draft(Draft&& other) noexcept : core_(std::exchange(other.core_, nullptr)), pass_(std::move(other.pass_)) {}

Draft::~Draft() {
  if (core_ != nullptr) (void)core_->root->remove(pass_.name);
}

}  // namespace tenure::receiver
