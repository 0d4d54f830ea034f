// The section of a key and the two places where its highest epoch stands.
#include "engine/files/store.h"

#include "base/limits.h"

namespace tenure::files {

using Reading = rules::EpochSource::Reading;

namespace {

// Granted under the highest epoch there is, and not given back.
bool says_held(const Section& section) {
  return section.note_epoch.reading == Reading::value && section.note.state == SectionNote::State::held &&
         section.counter.reading == Reading::value && section.counter.epoch == section.note.epoch;
}

// A read that failed says nothing about what lies there: want of descriptors, of rights and a bad moment of the disk
// pass, and must not be taken for damage. Who repairs may take what cannot be read for what it is.
bool means_damage(Code code, Unread unread) {
  if (code == Code::input_output || code == Code::not_permitted) return unread == Unread::is_damage;
  return code == Code::damaged;
}

}  // namespace

Result<Section> Store::enter(const FileNames& names, Duration at_most, const Stop* stop, Unread unread) {
  auto lock = directory_->lock(names.lock, at_most, stop);
  if (!lock) return fail(lock.error());
  Section section;
  section.lock = std::move(*lock);
  auto text = section.lock->read();
  if (!text) return fail(text.error());
  read_note(*text, section);
  auto counter = read_counter(names, section.counter_file, unread);
  if (!counter) return fail(counter.error());
  section.counter = *counter;
  return section;
}

void Store::read_note(const std::string& text, Section& section) {
  if (text.empty()) return;
  auto note = decode_section_note(text);
  section.note_epoch.reading = note ? Reading::value : Reading::unreadable;
  if (!note) return;
  section.note = *note;
  section.note_epoch.epoch = note->epoch;
}

Result<Section> Store::glance_at_counters(const FileNames& names) {
  Section section;
  auto counter = read_counter(names, section.counter_file, Unread::is_unknown);
  if (!counter) return fail(counter.error());
  section.counter = *counter;
  auto text = directory_->read(names.lock, limits::kSectionFileBytes);
  if (!text && !means_damage(text.error().code, Unread::is_unknown)) return fail(text.error());
  if (text && *text) read_note((*text)->bytes, section);
  return section;
}

Result<Look> Store::look_inside(const Section& section, const Key& key, const FileNames& names) {
  auto look = viewer_.look(key, names);
  if (look && look->occupant.kind == rules::Occupant::Kind::nobody && says_held(section)) {
    viewer_.judge_missing(*look, names);
  }
  return look;
}

Result<rules::EpochSource> Store::read_counter(const FileNames& names, std::optional<env::FileContent>& file,
                                               Unread unread) {
  auto content = directory_->read(names.epoch, limits::kSectionFileBytes);
  if (!content && !means_damage(content.error().code, unread)) return fail(content.error());
  if (!content) return rules::EpochSource{Reading::unreadable, Epoch{}};
  if (!*content) return rules::EpochSource{Reading::missing, Epoch{}};
  file = std::move(**content);
  auto epoch = decode_epoch_file(file->bytes);
  if (!epoch) return rules::EpochSource{Reading::unreadable, Epoch{}};
  return rules::EpochSource{Reading::value, *epoch};
}

Result<void> Store::write_note(Section& section, SectionNote note, bool durable) {
  auto written = section.lock->write(encode(note), durable);
  if (!written) return written;
  section.note = note;
  section.note_epoch = {Reading::value, note.epoch};
  return {};
}

// The counter is rewritten where it lies, and a loss of power may leave half of it: a number, and far too low. So its
// copy must stand as high before; where only AgentMux counted, it does not.
Result<void> Store::raise_copy(Section& section) {
  if (section.counter.reading != Reading::value) return {};
  if (section.note_epoch.reading == Reading::value && section.note_epoch.epoch >= section.counter.epoch) return {};
  return write_note(section, {section.counter.epoch, SectionNote::State::free}, true);
}

Result<void> Store::write_counter(Section& section, const FileNames& names, Epoch epoch) {
  const std::string text = encode_epoch_file(epoch);
  if (section.counter.reading == Reading::value) {
    auto written = directory_->overwrite(names.epoch, section.counter_file->identity, text, true);
    if (written) {
      section.counter.epoch = epoch;
      return {};
    }
    if (written.error().code != Code::damaged) return written;
  }
  // A thing under the name that is no readable file is kept as evidence.
  if (section.counter.reading == Reading::unreadable) {
    if (auto aside = put_aside(names, names.epoch); !aside) return aside;
  }
  auto replaced = directory_->replace(names.epoch, names.temporary, text, true);
  if (!replaced) return replaced;
  section.counter = {Reading::value, epoch};
  section.counter_file.reset();
  return {};
}

Result<rules::NextEpoch> Store::epoch_of_grant(const Section& section, const Look& look, bool keep) const {
  rules::EpochSources sources;
  sources.counter = section.counter;
  sources.note = section.note_epoch;
  // A damaged record is as good as none here: alone it never was where the highest epoch stands.
  if (look.record && look.record->epoch != 0) sources.record = {Reading::value, Epoch(look.record->epoch)};
  sources.first_use = section.lock->created() && !look.record && look.damage.empty();
  sources.now = environment_.clock->wall();
  if (keep && look.record && look.record->epoch != 0) {
    // AgentMux's rule for the same process and part: the epoch stays. It must still be the highest known.
    const Epoch same(look.record->epoch);
    const bool highest = (section.counter.reading != Reading::value || section.counter.epoch <= same) &&
                         (section.note_epoch.reading != Reading::value || section.note_epoch.epoch <= same);
    if (highest) return rules::NextEpoch{same, ""};
  }
  auto next = rules::next_epoch(sources);
  if (!next) {
    Error error = next.error();
    error.message = look.key.text() + " in " + directory_->path() + ": " + error.message;
    if (error.code == Code::epoch_unreadable) {
      error.remedy = "look at " + directory_->path() + "/" + file_names(look.key).epoch +
                     "; a revocation by force goes on above every epoch that time allows";
    } else if (error.code == Code::epoch_exhausted) {
      error.remedy = "if " + directory_->path() + "/" + file_names(look.key).epoch +
                     " was changed by hand, put the true number back, there and nowhere else, and remove " +
                     file_names(look.key).lock + " beside it; otherwise use another key";
    }
    return fail(error);
  }
  return next;
}

}  // namespace tenure::files
