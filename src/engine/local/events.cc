#include "engine/local/events.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

// The first line of an event: number + 1, written last; kind | lines << 8 | key bytes << 16 | owner bytes << 32 | why
// bytes << 48; wall; epoch; hash; pid; 16 bytes of text. The lines after it: number + 1 with the highest bit; 56 bytes
// of text. Text: key, owner, why.
enum Field : std::size_t { kNumber, kShape, kWall, kEventEpoch, kEventHash, kPid, kFirstText };
constexpr std::size_t kFirstBytes = 16;
constexpr std::size_t kMoreBytes = 56;
constexpr std::uint64_t kContinued = std::uint64_t{1} << 63;
constexpr std::size_t kMaxKey = Key::kMaxBytes;
constexpr std::size_t kMaxOwner = 64;
constexpr std::size_t kMaxWhy = 200;

// The text of an event, contiguous and followed by zeros up to the end of its last line.
class Text {
 public:
  Text(std::string_view key, std::string_view owner, std::string_view why) noexcept {
    char* at = bytes_.data();
    for (const std::string_view piece : {key, owner, why}) {
      if (!piece.empty()) std::memcpy(at, piece.data(), piece.size());
      at += piece.size();
    }
    std::memset(at, 0, kMoreBytes);
  }
  std::uint64_t word(std::size_t at) const noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + at, 8);
    return word;
  }

 private:
  std::array<char, kMaxKey + kMaxOwner + kMaxWhy + kMoreBytes> bytes_;
};

std::size_t lines_for(std::size_t bytes) noexcept {
  return bytes <= kFirstBytes ? 1 : 1 + (bytes - kFirstBytes + kMoreBytes - 1) / kMoreBytes;
}

void append(std::string& text, const EventLine& line, std::size_t first_word) {
  std::array<char, kMoreBytes> bytes{};
  text += copy_bytes(&line.words[first_word], (kEventWords - first_word) * 8, bytes);
}

// nullopt: overwritten, or not written yet.
std::optional<Event> read_event(const Table& table, std::uint64_t number, std::size_t& lines) {
  const EventLine& line = table.event(number);
  if (line.words[kNumber].load(std::memory_order_acquire) != number + 1) return std::nullopt;
  const std::uint64_t shape = line.words[kShape].load(std::memory_order_relaxed);
  Event event;
  event.number = number;
  event.kind = static_cast<EventKind>(shape & 0xff);
  event.at = WallTime{Duration{static_cast<std::int64_t>(line.words[kWall].load(std::memory_order_relaxed))}};
  event.epoch = Epoch{line.words[kEventEpoch].load(std::memory_order_relaxed)};
  event.pid = static_cast<std::int32_t>(line.words[kPid].load(std::memory_order_relaxed));
  const std::size_t count = std::clamp<std::size_t>(shape >> 8 & 0xff, 1, 16);
  std::string text;
  append(text, line, kFirstText);
  for (std::size_t i = 1; i < count; ++i) {
    const EventLine& more = table.event(number + i);
    if (more.words[kNumber].load(std::memory_order_acquire) != ((number + i + 1) | kContinued)) return std::nullopt;
    append(text, more, 1);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t expected = (number + i + 1) | (i == 0 ? 0 : kContinued);
    if (table.event(number + i).words[kNumber].load(std::memory_order_relaxed) != expected) return std::nullopt;
  }
  const std::size_t key = shape >> 16 & 0xffff, owner = shape >> 32 & 0xffff, why = shape >> 48;
  if (key + owner + why > text.size()) return std::nullopt;
  event.key = text.substr(0, key);
  event.owner = text.substr(key, owner);
  event.why = text.substr(key + owner, why);
  lines = count;
  return event;
}

}  // namespace

void record(const Core& core, const Record& event) noexcept {
  const std::string_view key = event.key.substr(0, kMaxKey);
  const std::string_view owner = event.owner.substr(0, kMaxOwner);
  const std::string_view why = event.why.substr(0, kMaxWhy);
  const std::size_t lines = lines_for(key.size() + owner.size() + why.size());
  const std::uint64_t number = core.table.header().events.fetch_add(lines, std::memory_order_relaxed);
  const Text text(key, owner, why);
  EventLine& first = core.table.event(number);
  for (std::size_t i = 0; i < lines; ++i)
    core.table.event(number + i).words[kNumber].store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  first.words[kShape].store(
      static_cast<std::uint64_t>(event.kind) | lines << 8 | key.size() << 16 | owner.size() << 32 | why.size() << 48,
      std::memory_order_relaxed);
  first.words[kWall].store(static_cast<std::uint64_t>(event.wall), std::memory_order_relaxed);
  first.words[kEventEpoch].store(event.epoch, std::memory_order_relaxed);
  first.words[kEventHash].store(event.hash, std::memory_order_relaxed);
  first.words[kPid].store(event.pid, std::memory_order_relaxed);
  first.words[kFirstText].store(text.word(0), std::memory_order_relaxed);
  first.words[kFirstText + 1].store(text.word(8), std::memory_order_relaxed);
  for (std::size_t i = 1; i < lines; ++i) {
    EventLine& line = core.table.event(number + i);
    const std::size_t begin = kFirstBytes + (i - 1) * kMoreBytes;
    for (std::size_t word = 1; word < kEventWords; ++word) {
      line.words[word].store(text.word(begin + (word - 1) * 8), std::memory_order_relaxed);
    }
    line.words[kNumber].store((number + i + 1) | kContinued, std::memory_order_release);
  }
  first.words[kNumber].store(number + 1, std::memory_order_release);
}

void bring_in_events(const Core& core) noexcept {
  core.memory->bring_in(core.table.places().events, core.table.limits().events * sizeof(EventLine));
}

void tell_watchers(const Core& core) noexcept {
  Header& header = core.table.header();
  if (header.watchers.load(std::memory_order_relaxed) == 0) return;
  header.watchers.store(0, std::memory_order_relaxed);
  header.event_futex.fetch_add(1, std::memory_order_release);
  core.words->wake(header.event_futex, std::numeric_limits<int>::max());
}

Read read_events(const Core& core, std::uint64_t from) {
  Read read;
  const std::uint64_t end = core.table.header().events.load(std::memory_order_acquire);
  const std::uint64_t kept = core.table.limits().events;
  read.next = end;
  if (end > kept && from < end - kept) {
    read.missed = from != 0;
    from = end - kept;
  }
  while (from < end) {
    std::size_t lines = 1;
    if (auto event = read_event(core.table, from, lines)) {
      read.events.push_back(std::move(*event));
    } else if (core.table.event(from).words[kNumber].load(std::memory_order_acquire) == 0) {
      // Being written: it is read next time, unless its writer died over it.
      if (end - from < 64) {
        read.next = from;
        return read;
      }
    }
    from += lines;
  }
  return read;
}

}  // namespace tenure::local
