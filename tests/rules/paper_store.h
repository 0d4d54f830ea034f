// A store on paper: one key, a clock that is set by hand, and the rules. Just enough of an engine to play the
// behaviours of a lease file through, without a disk and without processes.
#pragma once

#include "rules/worlds.h"

namespace tenure::rules::worlds {

struct Paper {
  std::string owner;
  std::string part;
  ProcessIdentity process;
  ClaimId claim;
  Epoch epoch;
  Duration renewed{0};
  std::optional<Duration> hard_ttl;
};

struct PaperHandle {
  ClaimId claim;
  Epoch epoch;
};

class PaperStore {
 public:
  explicit PaperStore(Expiry policy) : policy_(policy) {}

  Duration now{0};
  Liveness holder_is = Liveness::live;  // what judging the holder's process would answer
  std::optional<Paper> record;
  bool damaged = false;  // something lies there that cannot be read, untouched since `damaged_since`
  Duration damaged_since{0};
  EpochSource counter;
  EpochSource note;
  bool note_says_held = false;
  bool lock_file = false;
  int writes = 0;
  ClaimVerdict last;  // of the last claim

  std::optional<PaperHandle> claim(const std::string& owner, const std::string& part, std::int32_t pid) {
    const Occupant there = occupant();
    last = decide_claim(policy_, there, {owner, part, process(pid)});
    if (!last.granted()) return std::nullopt;
    Epoch epoch;
    if (last.answer == ClaimVerdict::Answer::reclaim && !record->epoch.none()) {
      epoch = record->epoch;
    } else {
      const auto next = next_epoch(sources());
      if (!next) return std::nullopt;
      epoch = next->epoch;
      counter = at(epoch.value());
    }
    lock_file = true;
    note = at(epoch.value());
    note_says_held = true;
    write({owner, part, process(pid), claim_id(++claims_), epoch, now, {}});
    return PaperHandle{record->claim, epoch};
  }

  CurrentVerdict verify(const PaperHandle& handle) const {
    CurrentFacts facts;
    facts.kind = kind();
    facts.counter = counter;
    facts.note = note;
    facts.note_says_held = note_says_held;
    if (facts.kind == Occupant::Kind::holder) {
      if (!record->claim.none()) facts.claim = record->claim;
      facts.record_epoch = record->epoch;
      facts.hard_ttl = record->hard_ttl;
      facts.since_extension = now - record->renewed;
    }
    return decide_current(facts, handle.claim, handle.epoch);
  }

  CurrentVerdict renew(const PaperHandle& handle) {
    const CurrentVerdict verdict = verify(handle);
    if (mine(verdict)) {
      Paper renewed = *record;
      renewed.renewed = now;
      write(renewed);
    }
    return verdict;
  }

  bool release(const PaperHandle& handle) {
    if (!mine(verify(handle))) return false;
    record.reset();
    note_says_held = false;
    ++writes;
    return true;
  }

  bool held_for_a_stranger() const { return !decide_for_stranger(policy_, occupant()).granted(); }

  // A record as an AgentMux wrote it.
  void write(Paper paper) {
    record = std::move(paper);
    damaged = false;
    ++writes;
  }

  static bool mine(const CurrentVerdict& verdict) {
    return verdict.answer == CurrentVerdict::Answer::current || verdict.answer == CurrentVerdict::Answer::late;
  }

  Occupant occupant() const {
    Occupant there;
    there.kind = kind();
    const Age::Basis basis = policy_ == Expiry::age ? Age::Basis::wall : Age::Basis::monotonic;
    if (damaged) {
      there.silence = {policy_ == Expiry::age ? Age::Basis::wall : Age::Basis::observed, now - damaged_since};
    } else if (record) {
      there.owner = record->owner;
      there.part = record->part;
      there.process = record->process;
      there.verdict = {holder_is, "as the test has it"};
      there.silence = there.since_extension = {basis, now - record->renewed};
      there.hard_ttl = record->hard_ttl;
    }
    return there;
  }

 private:
  Occupant::Kind kind() const {
    if (damaged) return Occupant::Kind::damaged;
    return record ? Occupant::Kind::holder : Occupant::Kind::nobody;
  }

  EpochSources sources() const {
    EpochSources sources;
    sources.counter = counter;
    sources.note = note;
    if (damaged) sources.record = unreadable();
    if (!damaged && record) sources.record = at(record->epoch.value());
    sources.first_use = !lock_file;
    sources.now = WallTime{std::chrono::seconds(1'770'000'000)};
    return sources;
  }

  Expiry policy_;
  std::uint8_t claims_ = 0;
};

}  // namespace tenure::rules::worlds
