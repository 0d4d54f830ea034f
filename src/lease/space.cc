#include "tenure/space.h"

#include <algorithm>

#include "lease/guarded.h"
#include "lease/labels.h"
#include "lease/lease_state.h"
#include "lease/over.h"
#include "lease/space_state.h"

namespace tenure {
namespace {

using detail::LeaseState;
using detail::SpaceState;

// What the short way does: everything by default, and no waiting before the first try.
bool is_plain(const ClaimOptions& options) {
  const Terms& terms = options.terms;
  return terms.mode == Mode::exclusive && terms.slots == 1 && !terms.ttl && terms.reason.empty() &&
         terms.at_loss == AtLoss::terminate && options.owner.empty() && options.part.empty() &&
         options.channel.empty() && options.version.empty() && options.session.empty() && options.command.empty() &&
         options.directory.empty() && !options.owner_process && !options.keep_life_descriptor &&
         options.control_group.empty() && options.session_file.empty() && options.ticket.empty();
}

Result<ClaimRequest> request_of(const Key& key, const ClaimOptions& options, const Traits& traits,
                                env::Random& random) {
  ClaimRequest request{key,
                       options.owner,
                       options.part,
                       options.terms,
                       options.channel,
                       options.version,
                       options.session,
                       options.owner_process,
                       options.command,
                       options.directory,
                       options.keep_life_descriptor,
                       options.control_group,
                       options.session_file};
  if (traits.own_labels) return request;
  if (request.owner.empty()) {
    auto label = lease::process_label(random);
    if (!label) return fail(label.error());
    request.owner = *label;
  }
  if (request.part.empty()) {
    auto label = lease::fresh_label(random);
    if (!label) return fail(label.error());
    request.part = *label;
  }
  return request;
}

Result<Grant> granted(Engine& engine, const ClaimRequest& request, const ClaimOptions& options) {
  if (options.wait && *options.wait <= Duration{0} && options.ticket.empty()) return engine.try_claim(request);
  return engine.await(request, Wait{.at_most = options.wait,
                                    .stop = options.stop,
                                    .ticket = options.ticket,
                                    .grace = options.grace,
                                    .on_wait = options.on_wait});
}

// nullptr: the long way.
std::shared_ptr<LeaseState> claim_short(SpaceState& space, const Key& key) {
  ShortWay* const short_way = space.short_way();
  if (short_way == nullptr) return nullptr;
  auto state = space.pool().take();
  if (state->begin_short(space, *short_way, key)) return state;
  space.pool().put(std::move(state));
  return nullptr;
}

ClaimRef ref_of(const Handle& handle) {
  return {handle.key, handle.claim, handle.epoch};
}

}  // namespace

namespace detail {
Space make_space(std::shared_ptr<SpaceState> state) {
  // The copies of a Space count apart from what its leases keep alive.
  auto handle = std::make_shared<SpaceHandle>(std::move(state));
  SpaceState* raw = handle->state();
  return Space(std::shared_ptr<SpaceState>(std::move(handle), raw));
}
}  // namespace detail

Space lease::over(std::shared_ptr<Engine> engine, env::Environment environment, std::string url) {
  return detail::make_space(std::make_shared<SpaceState>(std::move(engine), std::move(environment), std::move(url)));
}

Space::Space(std::shared_ptr<SpaceState> state) : state_(std::move(state)) {}

const Traits& Space::traits() const {
  return state_->engine().traits();
}
const std::string& Space::url() const {
  return state_->url();
}
std::string Space::location() const {
  return state_->engine().location();
}
Engine& Space::engine() const {
  return state_->engine();
}

Result<Lease> Space::claim(const Key& key) const {
  if (auto state = claim_short(*state_, key)) return Lease(std::move(state));
  return claim(key, ClaimOptions{});
}

Result<Lease> Space::claim(const Key& key, const ClaimOptions& options) const {
  if (is_plain(options)) {
    if (auto state = claim_short(*state_, key)) return Lease(std::move(state));
  }
  const Traits& traits = state_->engine().traits();
  if (!options.ticket.empty() && !traits.tickets) {
    return fail(Code::unsupported, "the engine '" + traits.name + "' does not offer tickets", "wait without one");
  }
  auto request = request_of(key, options, traits, *state_->environment().random);
  if (!request) return fail(request.error());
  return lease_of([&] { return granted(state_->engine(), *request, options); });
}

Result<Lease> Space::adopt(const Key& key, const ClaimOptions& options) const {
  const Traits& traits = state_->engine().traits();
  // Not by a label of our own making: nobody can have offered it to that.
  if (options.owner.empty()) return fail(Code::usage, "an offer is made to an owner: name the one that you are");
  auto request = request_of(key, options, traits, *state_->environment().random);
  if (!request) return fail(request.error());
  return lease_of([&] { return state_->engine().adopt(*request); });
}

Result<Asked> Space::ask(const Key& key, const AskOptions& options) const {
  AskRequest request{key, options.owner, options.reason, options.deadline, options.stop};
  if (request.by.empty() && !state_->engine().traits().own_labels) {
    auto label = lease::process_label(*state_->environment().random);
    if (!label) return fail(label.error());
    request.by = *label;
  }
  return state_->engine().ask(request);
}

Result<Lease> Space::lease_of(const std::function<Result<Grant>()>& claim) const {
  const Traits& traits = state_->engine().traits();
  // What the handle needs is taken first: a grant that could not be kept would have to be given back.
  std::optional<Stop> lost_signal;
  if (!traits.pushes_loss) {
    auto made = Stop::create();
    if (!made) return fail(made.error());
    lost_signal = std::move(*made);
  }
  auto grant = claim();
  if (!grant) return fail(grant.error());
  auto state = traits.pushes_loss ? state_->pool().take() : std::make_shared<LeaseState>();
  state->begin(state_->shared_from_this(), std::move(*grant), std::move(lost_signal));
  Lease lease(state);
  if (traits.pushes_loss) {
    // What happened between the grant and this line was told to nobody.
    if (!state->is_current()) state->look(state_->engine());
    return lease;
  }
  if (auto kept = state_->keeper().add(state); !kept) return fail(kept.error());
  return lease;
}

Result<std::optional<Duration>> Space::renew(const Handle& handle) const {
  auto renewal = state_->engine().renew(ref_of(handle));
  if (!renewal) return fail(renewal.error());
  return renewal->late_by;
}

Result<std::optional<Duration>> Space::verify(const Handle& handle) const {
  auto standing = state_->engine().verify(ref_of(handle));
  if (!standing) return fail(standing.error());
  return standing->remaining;
}

Result<bool> Space::release(const Handle& handle) const {
  auto released = state_->engine().release(ref_of(handle));
  if (!released) return fail(released.error());
  return released->released;
}

Result<void> Space::hand_off(const Handle& handle, const HandOff& offer) const {
  return state_->engine().hand_off(ref_of(handle), offer);
}

Result<bool> Space::withdraw_hand_off(const Handle& handle) const {
  return state_->engine().withdraw_hand_off(ref_of(handle));
}

Result<void> Space::guard(const Key& key, Epoch epoch, Duration at_most,
                          const std::function<Result<void>()>& operation) const {
  return lease::run_guarded(state_->engine(), {key, epoch, std::nullopt, at_most}, operation).answer();
}

Result<Observation> Space::revoke(const Key& key, const RevokeOptions& options) const {
  auto revoked = state_->engine().revoke({key, options.reason, options.force, options.only_epoch});
  if (!revoked) return fail(revoked.error());
  for (const std::string& note : revoked->notes) {
    if (!revoked->was.note.empty()) revoked->was.note += "; ";
    revoked->was.note += note;
  }
  return std::move(revoked->was);
}

Result<Observation> Space::holder(const Key& key) const {
  return state_->engine().holder(key);
}

Result<std::vector<Observation>> Space::list(const std::string& prefix) const {
  return state_->engine().list(prefix);
}

// ---- Lease --------------------------------------------------------------------------------------------------------

Lease::Lease(std::shared_ptr<LeaseState> state) : state_(std::move(state)) {}
Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    Lease former(std::move(state_));
    state_ = std::move(other.state_);
  }
  return *this;
}

Lease::~Lease() {
  if (!state_) return;
  // A refusal here says that there is nothing to give back: lost, released before, or another process's.
  if (state_->held()) (void)state_->release();
  LeaseState::drop(std::move(state_));
}

const Key& Lease::key() const noexcept {
  return state_->grant().key;
}
Epoch Lease::epoch() const noexcept {
  return state_->grant().epoch;
}
std::optional<std::uint32_t> Lease::slot() const noexcept {
  return state_->grant().slot;
}
Result<void> Lease::verify() {
  return state_->verify();
}
Result<std::optional<Duration>> Lease::renew() {
  return state_->renew();
}
Result<bool> Lease::release() {
  return state_->release();
}
bool Lease::lost() const noexcept {
  return state_->lost();
}
std::optional<Loss> Lease::loss() const {
  return state_->loss();
}
int Lease::lost_fd() const noexcept {
  return state_->lost_descriptor();
}
void Lease::on_lost(std::function<void(const Loss&)> callback) {
  state_->on_lost(std::move(callback));
}

std::optional<Duration> Lease::remaining() const {
  const auto until = state_->valid_until();
  if (!until) return std::nullopt;
  return std::max(*until - state_->space().environment().clock->boottime(), Duration{0});
}

Handle Lease::handle() const {
  const Grant& grant = state_->grant();
  return Handle{grant.key, grant.claim, grant.epoch, state_->space().url()};
}

const std::optional<Observation>& Lease::displaced() const noexcept {
  return state_->grant().displaced;
}
const std::vector<std::string>& Lease::notes() const noexcept {
  return state_->grant().notes;
}
bool Lease::reclaimed() const noexcept {
  return state_->grant().reclaimed;
}
int Lease::life_descriptor() const noexcept {
  return state_->grant().life_descriptor;
}

Result<void> Lease::guard(Duration at_most, const std::function<Result<void>()>& operation) {
  return state_->guard(at_most, operation);
}

}  // namespace tenure
