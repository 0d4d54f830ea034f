#include "engine/local/ceiling.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "model/sha256.h"

namespace tenure::local {
namespace {

constexpr const char* kFirst = "ceiling";
constexpr const char* kSecond = "ceiling.copy";
constexpr const char* kNew = "ceiling.new";  // belongs to whoever is inside the section
constexpr const char* kLock = "ceiling.lock";
constexpr const char* kTable = "table";
constexpr std::size_t kMostNames = 100'000;  // in a folder that holds a few files of ours
// In the lock file, once a ceiling is durable.
constexpr std::string_view kMark = "a ceiling was written here\n";

// For people and logs: no secret, and never compared to decide who holds what.
SpaceId new_space_id(const FolderMark& here, const env::Clock& clock) {
  std::string seed;
  for (const std::uint64_t number : {here.identity.device, here.identity.inode, here.born}) {
    seed += std::to_string(number) + " ";
  }
  for (const Duration at : {clock.wall().since_origin, clock.boottime().since_origin, clock.monotonic().since_origin}) {
    seed += std::to_string(at.count()) + " ";
  }
  Sha256 hash;
  hash.update(seed);
  const auto digest = hash.finish();
  SpaceId id{};
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

}  // namespace

// What is known while nobody else writes.
struct Ceiling::Section {
  std::unique_ptr<env::SectionLock> lock;
  bool marked = false;
  rules::CeilingSight sight;
};

FolderMark Ceiling::here() const {
  const env::LocalFolder::Birth birth = folder_.birth();
  return {.identity = birth.identity, .born = birth.born};
}

Result<rules::CeilingCopy> Ceiling::read(const std::string& name) {
  using Reading = rules::CeilingCopy::Reading;
  auto content = folder_.directory().read(name, kMaxCeilingBytes);
  if (!content) {
    // A bad sector under one copy is what the other is for. Anything else passes, and is no damage.
    const Code code = content.error().code;
    if (code != Code::damaged && code != Code::input_output) return fail(content.error());
    return rules::CeilingCopy{.reading = Reading::unreadable, .record = {}};
  }
  if (!*content) return rules::CeilingCopy{};
  auto record = decode_ceiling_record((*content)->bytes);
  if (!record) return rules::CeilingCopy{.reading = Reading::unreadable, .record = {}};
  return rules::CeilingCopy{.reading = Reading::value, .record = *record};
}

Result<Ceiling::Section> Ceiling::enter() {
  auto lock = folder_.directory().lock(kLock, limits::kSectionWait, nullptr);
  if (!lock) return fail(lock.error());
  Section section{.lock = std::move(*lock)};
  auto mark = section.lock->read();
  if (!mark) return fail(mark.error());
  section.marked = !trim(*mark).empty();
  auto first = read(kFirst);
  if (!first) return fail(first.error());
  auto second = read(kSecond);
  if (!second) return fail(second.error());
  auto names = folder_.directory().list(kMostNames);
  if (!names) return fail(names.error());
  const bool table = std::find(names->begin(), names->end(), kTable) != names->end();
  section.sight = {
      .first = *first, .second = *second, .used_before = section.marked || table, .here = here(), .now = clock_.wall()};
  return section;
}

Result<void> Ceiling::write_copy(const std::string& name, const std::string& bytes) {
  if (auto done = folder_.directory().replace(name, kNew, bytes, true); !done) return done;
  return folder_.directory().sync();
}

// One copy is whole, durable and under its name at every moment.
Result<void> Ceiling::write(Section& section, const CeilingRecord& record) {
  const std::string bytes = encode(record);
  if (auto done = write_copy(kFirst, bytes); !done) return done;
  if (auto done = write_copy(kSecond, bytes); !done) return done;
  if (section.marked) return {};
  if (auto done = section.lock->write(kMark, true); !done) return done;
  return folder_.directory().sync();
}

Result<Ceiling::Start> Ceiling::begin(Section& section, const Result<rules::CeilingStart>& decided) {
  if (!decided) return fail(decided.error());
  const CeilingRecord record{.bound = decided->bound,
                             .wall_seconds = decided->wall_seconds,
                             .folder = section.sight.here,
                             .space = decided->new_space ? new_space_id(section.sight.here, clock_) : decided->space};
  if (auto written = write(section, record); !written) return fail(written.error());
  return Start{.start = decided->start, .bound = decided->bound, .space = record.space, .notes = decided->notes};
}

Result<Ceiling::Start> Ceiling::start_new_table() {
  auto section = enter();
  if (!section) return fail(section.error());
  return begin(*section, rules::start_above(section->sight));
}

Result<Ceiling::Start> Ceiling::repair() {
  auto section = enter();
  if (!section) return fail(section.error());
  return begin(*section, rules::repaired_start(section->sight));
}

Result<Epoch> Ceiling::raise(Epoch needed) {
  auto section = enter();
  if (!section) return fail(section.error());
  auto raised = rules::raised_bound(section->sight, needed);
  if (!raised) return fail(raised.error());
  if (raised->stands) {
    // Whoever wrote it may have died before the names were synced.
    if (auto synced = folder_.directory().sync(); !synced) return fail(synced.error());
    return raised->bound;
  }
  const CeilingRecord record{.bound = raised->bound,
                             .wall_seconds = raised->wall_seconds,
                             .folder = section->sight.here,
                             .space = raised->new_space ? new_space_id(section->sight.here, clock_) : raised->space};
  if (auto written = write(*section, record); !written) return fail(written.error());
  return raised->bound;
}

}  // namespace tenure::local
