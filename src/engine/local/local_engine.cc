// The member that an engine is: its traits, its end, and what its keeper thread does now and then.
#include "engine/local/local_engine.h"

#include "engine/local/cells.h"
#include "engine/local/teller.h"

namespace tenure::local {
namespace {

Traits traits_of(const env::LocalFolder& folder) {
  Traits traits;
  traits.name = "local";
  traits.shared = true;
  traits.slots = true;
  traits.ttl = true;
  traits.first_in_first_out = true;
  traits.durable_epochs = true;
  traits.between_processes = true;
  traits.life_descriptor = true;
  traits.control_groups = true;
  traits.tickets = true;
  traits.shows_line = true;
  traits.log = true;
  traits.asks = true;
  traits.handoff = true;
  traits.own_labels = true;
  traits.pushes_loss = true;
  traits.exclusion = "strict among all processes of this machine that open " + folder.path();
  return traits;
}

}  // namespace

LocalEngine::LocalEngine(std::unique_ptr<Core> core) : core_(std::move(core)), traits_(traits_of(*core_->folder)) {}

LocalEngine::~LocalEngine() {
  if (core_->me.none() || !core_->mark.same()) return;
  core_->folder->stop_keeper();
  if (!core_->over.load(std::memory_order_acquire)) {
    while (const CellIndex cell = core_->pockets.take()) drop_cell(*core_, cell);
    // With a lease that was not given back the number stays taken, until somebody clears up after a dead member.
    if (!core_->unclean.load(std::memory_order_relaxed)) {
      core_->table.state(core_->me.number)
          .store(state_word(core_->me.generation, Phase::free), std::memory_order_release);
    }
  }
  core_->folder->drop_byte(core_->me.number);
  core_->folder->leave();
}

Result<void> LocalEngine::check_process() const {
  if (core_->mark.same()) return {};
  return fail(Code::wrong_process,
              "this space was opened by the parent of this process; a forked child has no part in it",
              "open it in this process");
}

guarding::Place LocalEngine::place() const {
  const auto& id = core_->table.header().space_id;
  return {std::string(id.begin(), id.end()), core_->self()};
}

Result<void> LocalEngine::check_change(const Key& key) const {
  if (auto member = check_member(); !member || !guarding::inside_any()) return member;
  return guarding::check_outside(place(), key);
}

Result<void> LocalEngine::check_member() const {
  if (auto own = check_process(); !own) return own;
  if (core_->me.none()) {
    return fail(Code::not_permitted, "the space at " + core_->folder->path() + " was opened for looking only");
  }
  if (core_->over.load(std::memory_order_acquire)) {
    return fail(Code::lost, "this process is no longer a member of the space: " + core_->over_why, "open it again");
  }
  if ((core_->table.row(core_->me.number).life.load(std::memory_order_acquire) & env::kFlaggedBit) != 0) {
    return fail(Code::lost, "the keeper thread of this process was killed, and others may take its keys",
                "open the space again");
  }
  return {};
}

Result<void> LocalEngine::raise_ceiling(bool now) {
  Header& header = core_->table.header();
  const std::uint64_t epoch = header.epoch.load(std::memory_order_relaxed);
  const std::uint64_t bound = header.ceiling.load(std::memory_order_acquire);
  if (!now && (bound > epoch && bound - epoch > rules::kCeilingBlock / 2)) return {};
  auto raised = core_->ceiling.raise(Epoch{std::min(epoch, bound)});
  if (!raised) return fail(raised.error());
  std::uint64_t seen = bound;
  while (seen < raised->value() &&
         !header.ceiling.compare_exchange_weak(seen, raised->value(), std::memory_order_acq_rel)) {
  }
  return {};
}

void LocalEngine::round() {
  Core& core = *core_;
  if (core.me.none() || core.over.load(std::memory_order_relaxed)) return;
  const auto in_place = core.folder->in_place(*core.memory);
  const auto lock_in_place = core.folder->lock_in_place();
  const bool whole = core.table.header().magic == kMagic;
  if ((in_place && !*in_place) || (lock_in_place && !*lock_in_place) || !whole) {
    core.over_why = !whole ? "its table was overwritten" : "its folder, table or lock was moved, replaced or removed";
    core.over.store(true, std::memory_order_release);
  } else {
    (void)raise_ceiling(false);
  }
  // Waking the other thread for nothing is what a hundred sleeping waiters would pay for.
  const std::uint32_t knocks = core.table.row(core.me.number).inbox.load(std::memory_order_acquire);
  if (knocks == std::exchange(knocks_, knocks) && !core.over.load(std::memory_order_relaxed)) return;
  tell();
}

// A thread is made only for who has descriptors or callbacks that tell of a loss: most have neither.
void LocalEngine::tell() {
  std::unique_lock telling(telling_);
  std::shared_ptr<Teller> teller;
  std::function<void()> look;
  {
    const std::lock_guard lock(mutex_);
    teller = teller_;
    look = disturbed_;
  }
  if (!teller) {
    if (look) look();
    return;
  }
  telling.unlock();
  teller->ring();
}

bool LocalEngine::call_with_descriptors() {
  const std::lock_guard telling(telling_);
  const std::lock_guard lock(mutex_);
  if (teller_ || !disturbed_) return true;
  auto teller = std::make_shared<Teller>(disturbed_);
  if (!teller->runs()) return false;
  teller_ = std::move(teller);
  return true;
}

void LocalEngine::on_disturbance(const std::function<void()>& look) {
  std::shared_ptr<Teller> former;
  {
    const std::lock_guard telling(telling_);
    const std::lock_guard lock(mutex_);
    // Who only looks has no keeper, and nothing to lose.
    disturbed_ = core_->me.none() ? nullptr : look;
    former.swap(teller_);
  }
  if (former) former->stop();
}

}  // namespace tenure::local
