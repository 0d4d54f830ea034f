#include "engine/receiver/epochs.h"

#include <algorithm>

#include "base/limits.h"
#include "model/side_files.h"

namespace tenure::receiver {
namespace {

using Reading = rules::EpochSource::Reading;

constexpr std::uint64_t kFarBeyond = 1'000'000'000;  // a quarter of an hour of the clock, a thousand repairs
constexpr std::size_t kMostEvidence = 10'000;

rules::EpochSource source_of(const std::optional<EpochSlot>& slot) {
  if (!slot) return {Reading::unreadable, Epoch{}};
  return {Reading::value, slot->epoch};
}

}  // namespace

Result<Epochs> Epochs::read(const Core& core, bool by_force) {
  Epochs epochs(core);
  auto identity = core.root->identity();
  if (!identity) return fail(identity.error());
  epochs.folder_ = identity->inode;
  auto content = core.root->read(kEpochs, limits::kSectionFileBytes);
  if (!content && content.error().code != Code::damaged && !by_force) return fail(content.error());
  if (!content) {
    epochs.damaged_ = true;
  } else if (*content) {
    epochs.file_ = std::move(**content);
    const EpochSlots slots = decode_epoch_slots(epochs.file_->bytes);
    epochs.first_ = slots.first;
    epochs.second_ = slots.second;
  }
  return epochs;
}

Epoch Epochs::highest() const {
  Epoch highest;
  if (first_) highest = std::max(highest, first_->epoch);
  if (second_) highest = std::max(highest, second_->epoch);
  return highest;
}

// A copy of the folder, or one that was restored elsewhere: its former place may have given higher epochs since.
bool Epochs::copied() const {
  return (first_ && first_->folder != folder_) || (second_ && second_->folder != folder_);
}

// The higher slot is the counter, the other its copy: of two that can be read the higher counts, and of one alone it is
// not known whether the other was higher.
rules::EpochSources Epochs::sources(Epoch of_lease) const {
  rules::EpochSources sources;
  if (unreadable()) {
    sources.counter.reading = sources.note.reading = Reading::unreadable;
  } else if (file_) {
    const bool both = first_ && second_;
    sources.counter = both ? rules::EpochSource{Reading::value, highest()} : source_of(std::nullopt);
    sources.note = both ? rules::EpochSource{} : source_of(first_ ? first_ : second_);
  }
  Epoch elsewhere = credible(of_lease) ? of_lease : Epoch{};
  if (missing() || unreadable()) elsewhere = std::max(elsewhere, in_evidence());
  if (!elsewhere.none()) sources.record = {Reading::value, elsewhere};
  sources.now = core_->clock().wall();
  return sources;
}

bool Epochs::credible(Epoch of_lease) const {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(core_->clock().wall().since_origin).count();
  const auto by_clock = static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0));
  return of_lease.value() <= std::max(highest().value(), by_clock) + kFarBeyond;
}

Epoch Epochs::in_evidence() const {
  Epoch highest;
  auto revoked = core_->root->read(kRevoked, limits::kRecordBytes);
  if (revoked && *revoked) {
    if (auto revocation = decode_revocation((*revoked)->bytes)) highest = revocation->epoch;
  }
  auto folder = core_->root->open_folder(kQuarantine);
  if (!folder || *folder == nullptr) return highest;
  auto names = (*folder)->list(kMostEvidence);
  if (!names) return highest;
  for (const std::string& name : *names) {
    if (!is_quarantined(name)) continue;
    auto lease = (*folder)->open_folder(name);
    if (!lease || *lease == nullptr) continue;
    auto content = (*lease)->read(kSidecar, limits::kRecordBytes);
    if (!content || !*content) continue;
    auto sidecar = decode_receiver_sidecar((*content)->bytes);
    if (sidecar && credible(sidecar->epoch)) highest = std::max(highest, sidecar->epoch);
  }
  return highest;
}

Result<rules::NextEpoch> Epochs::next(Epoch of_lease) const {
  const rules::EpochSources known = sources(of_lease);
  const bool by_clock = copied() || missing();
  auto next = by_clock ? rules::repaired_epoch(known) : rules::next_epoch(known);
  if (next) {
    if (missing()) next->note.clear();
    if (copied()) next->note = "the folder was copied or moved; its epochs go on at " + next->epoch.text();
    return next;
  }
  Error error = next.error();
  error.message = core_->path_of(kEpochs) + ": " + error.message;
  if (error.code == Code::epoch_unreadable) {
    error.remedy = core_->repair_command() + " goes on above every epoch that time allows";
  }
  return fail(std::move(error));
}

Result<rules::NextEpoch> Epochs::repaired(Epoch of_lease) const {
  return rules::repaired_epoch(sources(of_lease));
}

// One slot at a time: the one that cannot be read, else the lower one.
Result<void> Epochs::write(Epoch epoch) {
  const EpochSlot slot{epoch, folder_};
  const bool first = !first_ || (second_ && first_->epoch <= second_->epoch);
  (first ? first_ : second_) = slot;
  const std::string bytes = encode_epoch_slots(first_.value_or(slot), second_.value_or(slot));
  if (file_ && file_->bytes.size() == bytes.size()) {
    return core_->root->overwrite(kEpochs, file_->identity, bytes, true);
  }
  if (auto replaced = core_->root->replace(kEpochs, kEpochsNew, bytes, true); !replaced) return replaced;
  return core_->root->sync();
}

}  // namespace tenure::receiver
