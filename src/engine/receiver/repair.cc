// Repair: for an operator, who sees what a program must not decide.
//
// Mended without asking is what is provably nobody's. By force, and with a reason, also what nobody can be proven to
// hold; never what somebody holds who lives. All of it is kept in quarantine/.
#include <string>

#include "base/limits.h"
#include "engine/receiver/store.h"

namespace tenure {
namespace {

using namespace receiver;  // NOLINT(google-build-using-namespace): one function of that namespace's engine

constexpr std::size_t kMostIntents = 4'096;
constexpr char kNeedsForce[] =
    "nobody can be proven to be behind it, nor that nobody is: --force --reason TEXT moves it";

class Repair {
 public:
  Repair(std::shared_ptr<env::Directory> folder, env::Environment environment, ReceiverOptions options, bool mend,
         bool force, std::string reason)
      : store_(std::move(folder), std::move(environment), std::move(options), Traits{}),
        core_(store_.core()),
        mend_(mend),
        force_(force),
        reason_(std::move(reason)) {}

  Result<std::vector<ReceiverFault>> run() {
    for (const auto step : {&Repair::folders, &Repair::intents, &Repair::guard, &Repair::lease, &Repair::epochs}) {
      if (auto done = (this->*step)(); !done) {
        // What cannot be looked at is told of, and does not hide the rest.
        faults_.push_back(
            {done.error().message, "", done.error().remedy.empty() ? "see to it by hand" : done.error().remedy});
      }
    }
    return std::move(faults_);
  }

 private:
  // What is wrong, what is done about it, and whether it may be.
  Result<void> found(std::string what, std::string action, bool provable, const std::function<Result<void>()>& mend) {
    ReceiverFault fault{std::move(what), std::move(action), ""};
    if (!provable && !force_) fault.why_not = kNeedsForce;
    if (mend_ && fault.why_not.empty()) {
      if (auto done = mend(); !done) fault.why_not = done.error().message;
    }
    faults_.push_back(std::move(fault));
    return {};
  }

  Result<void> left_alone(std::string what, std::string why_not) {
    faults_.push_back({std::move(what), "", std::move(why_not)});
    return {};
  }

  // Of things that are no folders, where pi-amq and we want them to be.
  Result<void> folders() {
    for (const char* name : {kQuarantine, kReclaims}) {
      auto entry = core_.root->look(name);
      if (!entry) return fail(entry.error());
      if (entry->kind == env::EntryKind::absent || entry->kind == env::EntryKind::folder) continue;
      if (auto told = left_alone(core_.path_of(name) + " is no folder", "move it away by hand"); !told) return told;
    }
    return {};
  }

  Result<void> intents() {
    auto folder = core_.root->open_folder(kReclaims);
    if (!folder || *folder == nullptr) return {};
    for (;;) {
      auto way = intents_in_the_way(core_, !mend_);
      if (!way) return fail(way.error());
      if (way->kind == InTheWay::Kind::busy) return left_alone(way->error.message, "its maker lives");
      if (way->kind != InTheWay::Kind::unverifiable) return {};
      const std::size_t before = faults_.size();
      auto told = found(way->error.message, "moved to " + core_.path_of(kQuarantine), false,
                        [&] { return put_aside(**folder, way->name); });
      // One after the other, as long as they go.
      if (!told || !mend_ || !faults_[before].why_not.empty()) return told;
    }
  }

  Result<void> guard() {
    auto way = guard_in_the_way(core_);
    if (!way) return fail(way.error());
    switch (way->kind) {
      case InTheWay::Kind::nothing:
      case InTheWay::Kind::changed:
        return {};
      case InTheWay::Kind::busy:
        return left_alone(way->error.message, "its maker lives");
      case InTheWay::Kind::stale:
      case InTheWay::Kind::unverifiable:
        break;
    }
    const bool stale = way->kind == InTheWay::Kind::stale;
    return found(stale ? core_.path_of(kGuard) + " was left behind by a dead process" : way->error.message,
                 "moved to " + core_.path_of(kQuarantine), stale, [&]() -> Result<void> {
                   auto draft = Draft::make(core_);
                   if (!draft) return fail(draft.error());
                   return displace_guard(core_, draft->pass(), *way);
                 });
  }

  Result<void> lease() {
    auto now = look(core_);
    if (!now) return fail(now.error());
    if (now->nobody()) return {};
    const Liveness liveness = now->occupant.verdict.liveness;
    const std::string& evidence = now->occupant.verdict.evidence;
    if (!now->note.empty()) {
      const bool lives = liveness == Liveness::live;
      if (auto told = left_alone(core_.path_of(kLease) + ": " + now->note,
                                 lives ? "its holder lives and writes it again" : "the next claim puts it aside");
          !told) {
        return told;
      }
    }
    if (now->damage.empty()) {
      if (liveness != Liveness::unknown) return {};
      return left_alone(
          core_.path_of(kLease) + " is whole, but its holder cannot be judged: " + evidence + " (" + pi_word(*now) +
              ")",
          "if it is over for sure: tenure revoke --space " + core_.options.url + " --force --reason TEXT receiver");
    }
    if (liveness == Liveness::live) return left_alone(now->damage, "its holder lives: " + evidence);
    return found(now->damage + " (corrupt-owner)", "moved to " + core_.path_of(kQuarantine), liveness == Liveness::dead,
                 [&]() -> Result<void> {
                   const std::string why = reason_.empty() ? "repair: " + evidence : reason_;
                   auto revoked = store_.revoke({*Key::parse(kReceiverKey), why, true, std::nullopt});
                   if (!revoked) return fail(revoked.error());
                   return {};
                 });
  }

  Result<void> epochs() {
    auto counter = Epochs::read(core_, force_);
    if (!counter) return fail(counter.error());
    if (!counter->unreadable()) return {};
    return found(core_.path_of(kEpochs) + " is damaged: the highest epoch cannot be read",
                 "made anew, above every epoch that time allows", true, [&] { return new_epochs(); });
  }

  Result<void> new_epochs() {
    auto draft = Draft::make(core_);
    if (!draft) return fail(draft.error());
    auto guard = Guard::enter(core_, draft->pass(), Bound::of(core_, kGuardWait));
    if (!guard) return fail(guard.error());
    auto now = look(core_);
    if (!now) return fail(now.error());
    auto counter = Epochs::read(core_, force_);
    if (!counter) return fail(counter.error());
    if (!counter->unreadable()) return {};
    auto next = counter->repaired(now->epoch());
    if (!next) return fail(next.error());
    if (auto aside = put_aside(*core_.root, kEpochs); !aside) return aside;
    auto empty = Epochs::read(core_);
    if (!empty) return fail(empty.error());
    return empty->write(next->epoch);
  }

  Result<void> put_aside(env::Directory& from, const std::string& name) {
    auto random = fresh_random(core_);
    if (!random) return fail(random.error());
    auto quarantine = folder_of(core_, kQuarantine);
    if (!quarantine) return fail(quarantine.error());
    auto moved = from.move(name, **quarantine, quarantined_guard(name, core_.clock().wall(), uuid_of(*random)));
    if (!moved) return fail(moved.error());
    return {};
  }

  Store store_;
  const Core& core_;
  const bool mend_;
  const bool force_;
  const std::string reason_;
  std::vector<ReceiverFault> faults_;
};

}  // namespace

Result<std::vector<ReceiverFault>> repair_receiver(std::shared_ptr<env::Directory> folder, env::Environment environment,
                                                   ReceiverOptions options, bool mend, bool force,
                                                   const std::string& reason) {
  if (force && reason.empty()) return fail(Code::usage, "force needs a reason: it is kept with the evidence");
  return Repair(std::move(folder), std::move(environment), std::move(options), mend, force, reason).run();
}

}  // namespace tenure
