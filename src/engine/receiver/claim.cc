// Claiming the receiver.
#include <array>
#include <utility>

#include "base/limits.h"
#include "engine/receiver/store.h"
#include "rules/liveness.h"

namespace tenure::receiver {
namespace {

// Where the claimant names no file of its session: pi-amq wants a path.
constexpr char kNoSessionFile[] = "/dev/null";

constexpr std::uint64_t kSweepEach = 16;
constexpr int kSweptAway = 3;  // times in one claim

using Answer = rules::ClaimVerdict::Answer;

Result<ClaimId> fresh_claim(const Core& core) {
  std::array<std::uint8_t, 16> bytes{};
  if (auto filled = core.environment.random->fill(bytes); !filled) return fail(filled.error());
  return ClaimId(bytes);
}

}  // namespace

// A lease in the making, in a folder of its own, with the pass of its holder-to-be. Goes again unless it is put in
// place.
class Store::Prepared {
 public:
  static Result<std::unique_ptr<Prepared>> make(const Core& core) {
    auto random = fresh_random(core);
    if (!random) return fail(random.error());
    const std::string name = prepared(uuid_of(*random));
    auto made = core.root->make_folder(name);
    if (!made) return fail(made.error());
    if (!*made) return fail(Code::input_output, core.path_of(name) + " is there already");
    return std::make_unique<Prepared>(core, name, generation_of(*random));
  }
  Prepared(const Core& core, std::string name, std::string generation)
      : core_(core), name_(std::move(name)), generation_(std::move(generation)) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    if (!placed_) (void)remove_folder(*core_.root, name_);
  }

  // True: it is the lease now. False: somebody has put his own there.
  Result<bool> put_in_place() {
    auto moved = core_.root->move(name_, *core_.root, kLease);
    if (moved && *moved == env::Moved::taken) return false;
    if (moved && *moved == env::Moved::missing) {
      return fail(Code::input_output, core_.path_of(name_) + " was removed while the claim was made", "try again");
    }
    if (!moved) {
      // An answer that was lost is asked for again.
      auto there = core_.root->look(kLease);
      auto own = folder->identity();
      unknown_ = !there || !own;
      if (unknown_) {
        return fail(Code::unknown_outcome,
                    core_.path_of(kLease) + " may be ours or not (" + moved.error().message +
                        "); its life lock was let go, so it counts as over, but not to pi-amq while this process lives",
                    "nothing needs to be done for tenure: the next claimant takes it over");
      }
      if (there->identity != *own) return fail(moved.error());
    }
    placed_ = true;
    return true;
  }

  // Somebody swept it away as a leftover: this process was stopped for long before it had locked it.
  bool swept() const {
    auto there = core_.root->look(name_);
    return !placed_ && !unknown_ && there && there->kind == env::EntryKind::absent;
  }

  const std::string& name() const { return name_; }
  const std::string& generation() const { return generation_; }
  std::shared_ptr<env::Directory> folder;
  Pass pass;

 private:
  const Core& core_;
  const std::string name_;
  const std::string generation_;
  bool placed_ = false;
  bool unknown_ = false;  // whether it was put in place
};

Result<void> Store::fill(const ClaimRequest& request, Prepared& prepared) const {
  auto folder = core_.root->open_folder(prepared.name());
  if (!folder) return fail(folder.error());
  if (*folder == nullptr) return fail(Code::input_output, core_.path_of(prepared.name()) + " was removed", "try again");
  prepared.folder = std::move(*folder);
  auto pass = make_pass(core_, prepared.folder, kLife, prepared.generation(), request.keep_life_descriptor);
  if (!pass) return fail(pass.error());
  prepared.pass = std::move(*pass);
  ReceiverOwner owner;
  auto process = own_process(core_, prepared.generation());
  if (!process) return fail(process.error());
  owner.process = std::move(*process);
  owner.session_id = request.session.empty() ? request.owner : request.session;
  owner.session_file = request.session_file.empty() ? kNoSessionFile : request.session_file;
  owner.root_id = core_.options.root_id;
  auto written = prepared.folder->create(kOwner, encode(owner), true);
  if (!written) return fail(written.error());
  return {};
}

ReceiverSidecar Store::sidecar_of(const ClaimRequest& request, const std::string& generation, const ClaimId& claim,
                                  Epoch epoch, FileIdentity life) const {
  const Standpoint& self = core_.environment.processes->self();
  ReceiverSidecar sidecar;
  sidecar.generation = generation;
  sidecar.epoch = epoch;
  sidecar.claim = claim;
  sidecar.process = self.identity;
  sidecar.owner_process = request.owner_process;
  sidecar.life = life;
  sidecar.owner = request.owner;
  sidecar.part = request.part;
  sidecar.reason = request.terms.reason;
  sidecar.at_loss = request.terms.at_loss;
  sidecar.host = self.host;
  sidecar.user_name = self.user_name;
  sidecar.command = request.command.empty() ? self.command : request.command;
  sidecar.directory = request.directory.empty() ? self.directory : request.directory;
  sidecar.channel = request.channel;
  sidecar.version = request.version;
  sidecar.since_ms = core_.clock().wall().milliseconds();
  return sidecar;
}

std::unexpected<Error> Store::refused(const Look& look, const rules::ClaimVerdict& verdict) const {
  Observation seen = observe(core_, look);
  const bool part = verdict.answer == Answer::held_by_part;
  Error error{part ? Code::held_by_part : Code::held, "", "", nullptr};
  const bool live = look.occupant.verdict.liveness == Liveness::live;
  const std::string word = live && look.damage.empty() ? "" : " (" + pi_word(look) + ")";
  if (seen.state == State::damaged) {
    error.message = core_.path_of(kLease) + " counts as held: " + verdict.why + word;
    error.remedy = core_.repair_command();
  } else {
    error.message = std::string(kReceiverKey) + " is held by " + look.occupant.owner + ": " + verdict.why + word;
    error.remedy = live ? "wait for it" : "make sure that it is over, then take it away by force and with a reason";
  }
  seen.claimable = false;
  seen.why = verdict.why;
  error.holder = std::make_shared<const Observation>(std::move(seen));
  return fail(std::move(error));
}

rules::ClaimVerdict Store::decide(const ClaimRequest& request, const Look& look) const {
  const rules::Claimant claimant{request.owner, request.part, core_.environment.processes->self().identity};
  return rules::decide_claim(rules::Expiry::proof, look.occupant, claimant);
}

Result<Grant> Store::claim(const ClaimRequest& request, const Stop* stop, Duration at_most) {
  if (auto own = check_change(request.key); !own) return fail(own.error());
  const Bound bound = Bound::of(core_, at_most, stop);
  // A glance without the guard first: who only waits must not stand in the way of who releases.
  auto glance = look(core_);
  if (!glance) return fail(glance.error());
  const auto likely = decide(request, *glance);
  if (!likely.granted()) return refused(*glance, likely);
  if (likely.answer == Answer::reclaim) return claim_again(request, bound);
  for (int attempt = 1;; ++attempt) {
    auto prepared = Prepared::make(core_);
    if (!prepared) return fail(prepared.error());
    auto granted = claim_with(request, **prepared, bound);
    if (granted || attempt == kSweptAway || !(*prepared)->swept()) return granted;
  }
}

Result<Grant> Store::claim_with(const ClaimRequest& request, Prepared& prepared, const Bound& bound) {
  if (auto filled = fill(request, prepared); !filled) return fail(filled.error());
  for (;;) {
    auto guard = Guard::enter(core_, prepared.pass, bound);
    if (!guard) return fail(guard.error());
    auto now = look(core_);
    if (!now) return fail(now.error());
    const auto verdict = decide(request, *now);
    if (!verdict.granted()) return refused(*now, verdict);
    if (verdict.answer == Answer::reclaim) return fail(Code::held, "this process claimed it at the same moment");
    auto granted = grant(request, prepared, *now, verdict);
    auto left = guard->leave();
    if (granted && !left) granted->notes.push_back("the guard could not be removed yet: " + left.error().message);
    if (granted && left && !*left) granted->notes.push_back("somebody took this process for dead, and moved its guard");
    if (granted || granted.error().code != Code::section_busy || bound.over(core_)) return granted;
  }
}

// Inside the guard. The epoch first: whatever comes then, it is never given again.
Result<Grant> Store::grant(const ClaimRequest& request, Prepared& prepared, const Look& look,
                           const rules::ClaimVerdict& verdict) {
  auto claim = fresh_claim(core_);
  if (!claim) return fail(claim.error());
  auto epochs = Epochs::read(core_);
  if (!epochs) return fail(epochs.error());
  auto next = epochs->next(look.epoch());
  if (!next) return fail(next.error());
  if (auto written = epochs->write(next->epoch); !written) return fail(written.error());

  const Pass& pass = prepared.pass;
  const ReceiverSidecar sidecar = sidecar_of(request, pass.generation, *claim, next->epoch, pass.identity());
  auto beside = prepared.folder->create(kSidecar, encode(sidecar), false);
  if (!beside) return fail(beside.error());
  if (!*beside) {
    // Of a former round of this claim, which somebody outside the guard got ahead of.
    auto replaced = prepared.folder->replace(kSidecar, kSidecarNew, encode(sidecar), false);
    if (!replaced) return fail(replaced.error());
  }
  Grant grant{.key = request.key, .claim = *claim, .epoch = next->epoch};
  if (!look.nobody()) {
    grant.displaced = observe(core_, look);
    grant.displaced->why = verdict.why;
    auto evidence = quarantine(look);
    if (!evidence) return fail(evidence.error());
    grant.notes.push_back("the former lease is kept as " + *evidence);
  }
  auto placed = prepared.put_in_place();
  if (!placed) return fail(placed.error());
  if (!*placed) return fail(Code::section_busy, core_.path_of(kLease) + " was taken without the guard", "try again");
  if (auto place = check_place(request.key); !place) {
    (void)remove_folder(*core_.root, std::string(kLease));
    return fail(Code::unreachable, core_.root->path() + " was moved or removed while it was claimed",
                "open the space again");
  }
  if (!next->note.empty()) grant.notes.push_back(next->note);
  grant.life_descriptor = pass.life->descriptor();
  keep_held({*claim, next->epoch, pass, sidecar});
  // Leftovers come of deaths, and most deaths end in a takeover.
  if (grant.displaced || next->epoch.value() % kSweepEach == 0) sweep(core_);
  return grant;
}

// The same process and part once more: the lease stays where it is, and a new sidecar fences the former handle.
Result<Grant> Store::claim_again(const ClaimRequest& request, const Bound& bound) {
  auto claim = fresh_claim(core_);
  if (!claim) return fail(claim.error());
  std::optional<Held> mine;
  {
    std::lock_guard lock(mutex_);
    mine = held_;
  }
  if (!mine) return fail(Code::held, "another handle of this process holds it", "release it there first");
  auto guard = Guard::enter(core_, mine->pass, bound);
  if (!guard) return fail(guard.error());
  auto now = look(core_);
  if (!now) return fail(now.error());
  if (!now->sidecar || now->sidecar->claim != mine->claim) {
    return fail(Code::section_busy, "it changed hands while it was claimed again", "try again");
  }
  auto epochs = Epochs::read(core_);
  if (!epochs) return fail(epochs.error());
  auto next = epochs->next(now->epoch());
  if (!next) return fail(next.error());
  if (auto written = epochs->write(next->epoch); !written) return fail(written.error());
  const Pass& pass = mine->pass;
  const ReceiverSidecar sidecar = sidecar_of(request, pass.generation, *claim, next->epoch, pass.identity());
  auto replaced = now->folder->replace(kSidecar, kSidecarNew, encode(sidecar), false);
  if (!replaced) return fail(replaced.error());
  Grant grant{.key = request.key, .claim = *claim, .epoch = next->epoch, .reclaimed = true};
  grant.life_descriptor = pass.life->descriptor();
  if (!next->note.empty()) grant.notes.push_back(next->note);
  keep_held({*claim, next->epoch, pass, sidecar});
  return grant;
}

// The lease of a dead holder, or a damaged one, is evidence: moved, never deleted.
Result<std::string> Store::quarantine(const Look& look) {
  auto random = fresh_random(core_);
  if (!random) return fail(random.error());
  auto folder = folder_of(core_, kQuarantine);
  if (!folder) return fail(folder.error());
  const std::string name = quarantined_lease(look.generation(), core_.clock().wall(), uuid_of(*random));
  if (auto moved = move_lease(look, **folder, name); !moved) return fail(moved.error());
  return (*folder)->path() + "/" + name;
}

}  // namespace tenure::receiver
