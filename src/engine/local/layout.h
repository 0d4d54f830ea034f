// The table of a local space: what lies where in the shared memory. This header is the format.
//
// Everything is fixed-width, little-endian, and holds no type of libc; whatever more than one process may write is an
// atomic. Numbers of cells begin with 1, so that 0 means "none".
//
// One commit word says of each cell what it is. Everything else that could contradict it (the entries of a bucket, the
// order of a line) is derived: it can be made anew from the commit words, and is, when somebody died while changing it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tenure::local {

static_assert(std::endian::native == std::endian::little, "the table is little-endian");

using Word16 = std::atomic<std::uint16_t>;
using Word32 = std::atomic<std::uint32_t>;
using Word64 = std::atomic<std::uint64_t>;
static_assert(Word16::is_always_lock_free && Word32::is_always_lock_free && Word64::is_always_lock_free);
static_assert(sizeof(Word16) == 2 && sizeof(Word32) == 4 && sizeof(Word64) == 8);

inline constexpr std::uint64_t kMagic = 0x01'65'72'75'6e'65'74'89;  // 0x89 "tenure" 0x01
// 1: without those who hold a key together; 2: a guard named nobody
inline constexpr std::uint32_t kFormat = 3;

// ---- members ------------------------------------------------------------------------------------------------------

// A process that has joined: the number of its row, and how often that number was given out.
struct MemberId {
  std::uint16_t number = 0;
  std::uint32_t generation = 0;  // 0: nobody
  bool none() const { return generation == 0; }
  friend bool operator==(MemberId, MemberId) = default;
};

enum class Phase : std::uint8_t { free, joining, live };

// One word of `member_states`: generation << 8 | phase. The generation of a number only rises.
constexpr std::uint64_t state_word(std::uint32_t generation, Phase phase) {
  return std::uint64_t{generation} << 8 | static_cast<std::uint64_t>(phase);
}
constexpr Phase phase_of(std::uint64_t word) {
  return static_cast<Phase>(word & 0xff);
}
constexpr std::uint32_t generation_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 8);
}

inline constexpr std::size_t kRowText = 944;
struct alignas(64) MemberRow {
  Word32 life;   // see env::KeeperJob
  Word32 inbox;  // raised and woken by whoever took something from this member
  Word64 pid;    // in its own pid namespace
  Word64 start_ticks;
  Word64 pid_namespace;
  Word64 time_namespace;
  Word64 user;
  Word64 joined_wall;  // nanoseconds since 1970
  Word64 nonce;        // the first half of its claim ids
  Word64 text_bytes;
  std::array<Word64, 1> spare;
  std::array<Word64, kRowText / 8> text;  // fields, as in texts.h: owner, host, user name, command, directory
};
static_assert(sizeof(MemberRow) == 1024);

// ---- cells --------------------------------------------------------------------------------------------------------

enum class Kind : std::uint8_t {
  free,     // nobody's
  cached,   // a member took it and has not put it to use
  slot,     // a key that is held, or that somebody waits for
  node,     // a claim that waits
  text,     // words of a slot, a node, a holding: linked by `next`
  holding,  // one of several who hold a key together: a reader, or one in a slot of many
};

// held: the member of the word is the holder, alone. offered: nobody holds it alone; those who hold it together, if
// there are any, have a cell each; the line, or else the next comer, decides who comes next.
enum class SlotState : std::uint8_t { held = 1, offered = 2 };

// waiting: in line. granted: the key is offered to it. Only the waiter itself, in the section of the key, takes it up.
enum class NodeState : std::uint8_t { waiting = 1, granted = 2 };

// kind << 56 | state << 48 | member number << 32 | member generation
struct CommitWord {
  Kind kind = Kind::free;
  std::uint8_t state = 0;
  MemberId member;

  constexpr std::uint64_t packed() const {
    return static_cast<std::uint64_t>(kind) << 56 | std::uint64_t{state} << 48 | std::uint64_t{member.number} << 32 |
           member.generation;
  }
  static constexpr CommitWord unpacked(std::uint64_t word) {
    return {static_cast<Kind>(word >> 56),
            static_cast<std::uint8_t>(word >> 48),
            {static_cast<std::uint16_t>(word >> 32), static_cast<std::uint32_t>(word)}};
  }
  friend bool operator==(CommitWord, CommitWord) = default;
};

using CellIndex = std::uint32_t;

inline constexpr std::size_t kBodyWords = 21;
struct alignas(64) Cell {
  Word64 word;  // CommitWord
  Word32 next;  // cell: overflow of the bucket (slots), the line (nodes), the rest (texts), who holds it too (holdings)
  Word32 home;  // of a slot, a holding: its bucket; of a node: the node before it, 0 for the first
  Word32 futex;  // of a node: raised whenever its waiter should look again; of a slot: how many wait; of a text: bytes
  Word32 owner;  // of a node, a holding: its slot; of a slot: the last in line
  std::array<Word64, kBodyWords> body;
};
static_assert(sizeof(Cell) == 192);

inline constexpr std::size_t kInlineKey = 64;

// The body of a slot, by index.
namespace slot_field {
inline constexpr std::size_t kEpoch = 0;
inline constexpr std::size_t kNonce = 1;  // the claim id: nonce, then counter
inline constexpr std::size_t kCounter = 2;
inline constexpr std::size_t kSince = 3;      // wall, nanoseconds
inline constexpr std::size_t kTtl = 4;        // nanoseconds; 0: none
inline constexpr std::size_t kMonotonic = 5;  // of the claim or last renewal; set with a TTL
inline constexpr std::size_t kBoot = 6;
inline constexpr std::size_t kGuard = 7;   // an operation runs under guard: guard_word(). 0: none
inline constexpr std::size_t kLine = 8;    // first node | grantee << 32
inline constexpr std::size_t kText = 9;    // first text | flags << 32 | key bytes << 48
inline constexpr std::size_t kTerms = 10;  // Terms: mode | at loss << 8 | slots << 32
inline constexpr std::size_t kHash = 11;
inline constexpr std::size_t kKeyRest =
    12;  // first text of a longer key's rest, which belongs to the slot: nobody's member
inline constexpr std::size_t kKey = 13;  // kInlineKey bytes
// Of a slot that is offered, in place of kBoot: the first of those who hold it together | how many they are << 32.
inline constexpr std::size_t kTogether = kBoot;
}  // namespace slot_field
static_assert(slot_field::kKey * 8 + kInlineKey == kBodyWords * 8);

// The body of a holding: as of a slot, from kEpoch to kGuard, kText (without key bytes), kTerms and kHash; and this.
namespace holding_field {
inline constexpr std::size_t kPlace = 12;  // the holding before it, 0 for the first | number of its slot << 32
}  // namespace holding_field

// Flags of a slot and of a node.
inline constexpr std::uint16_t kHasProofs = 1;   // its text names further proofs of life: an owner process, a passed
                                                 // byte, (room for) a second member, a tree
inline constexpr std::uint16_t kTicket = 2;      // of a node: it outlives its poller
inline constexpr std::uint16_t kPassed = 4;      // of a node: was passed over and has not stirred since
inline constexpr std::uint16_t kAbsent = 8;      // of a node with a ticket: nobody polls it now
inline constexpr std::uint16_t kAbandoned = 16;  // of a node: its waiter left without being able to enter the section

// Of a slot and of a holding: its text begins with what is asked of the holder and offered by it: yielding.h.
inline constexpr std::uint16_t kYielding = 32;
inline constexpr std::uint16_t kOffers = 64;  // and an offer is among it

// The body of a node, by index.
namespace node_field {
inline constexpr std::size_t kArrival = 0;  // order in line: rises within a table
inline constexpr std::size_t kNonce = 1;
inline constexpr std::size_t kCounter = 2;
inline constexpr std::size_t kTtl = 3;
inline constexpr std::size_t kTicketLow = 4;
inline constexpr std::size_t kTicketHigh = 5;
inline constexpr std::size_t kGrace = 6;        // length of the grace of a ticket, nanoseconds
inline constexpr std::size_t kAbsentSince = 7;  // monotonic
inline constexpr std::size_t kOfferedAt = 8;    // monotonic
inline constexpr std::size_t kText = 9;         // as of a slot, without key bytes
inline constexpr std::size_t kTerms = 10;
inline constexpr std::size_t kAsleepUntil = 11;     // monotonic: its waiter looks again by then, whatever is missed;
                                                    // 0: it has not slept yet. For the watch for lost wake-ups
inline constexpr std::size_t kDisplacedEpoch = 12;  // of whom the grant displaced; 0: of nobody
inline constexpr std::size_t kDisplacedWord = 13;   // commit word of that slot before
inline constexpr std::size_t kDisplacedWhy = 14;    // EventKind: revoked, or taken over
inline constexpr std::size_t kSince = 15;           // wall, when it began to wait
// The holding that it gives up when it gets the key, of the same process and part, and its epoch; 0: none. It stands
// ahead of the line, with arrival 0.
inline constexpr std::size_t kGivesUp = 16;
inline constexpr std::size_t kGivesUpEpoch = 17;
}  // namespace node_field

inline constexpr std::size_t kTextBytes = kBodyWords * 8;

// ---- buckets ------------------------------------------------------------------------------------------------------

// The lock word of a bucket: number + 1 (14 bits) | low bits of the generation (17 bits) << 14 | sleepers << 31; 0:
// free.
inline constexpr std::uint32_t kSleepers = 0x8000'0000;
inline constexpr std::uint32_t kNumberBits = 14;
inline constexpr std::uint32_t kMaxMembers = (1u << kNumberBits) - 2;
inline constexpr std::uint32_t kGenerationMask = 0x1'ffff;
constexpr std::uint32_t lock_word(MemberId member) {
  return (std::uint32_t{member.number} + 1) | (member.generation & kGenerationMask) << kNumberBits;
}
constexpr std::uint16_t number_in_lock(std::uint32_t word) {
  return static_cast<std::uint16_t>((word & ((1u << kNumberBits) - 1)) - 1);
}
constexpr std::uint32_t generation_in_lock(std::uint32_t word) {
  return (word & ~kSleepers) >> kNumberBits;
}

inline constexpr std::size_t kEntries = 8;
struct alignas(64) Bucket {
  Word32 lock;
  Word32 sequence;  // odd while something changes
  Word32 overflow;  // first slot that found no entry
  Word32 spare;
  std::array<Word32, kEntries> entries;  // cells
  std::array<Word16, kEntries> tags;     // of their hashes
};
static_assert(sizeof(Bucket) == 64);

// ---- guards -------------------------------------------------------------------------------------------------------

// The guard of a lease: number + 1 of the member that runs the operation (14 bits) | low bits of its generation
// (10 bits) << 14 | its bound, monotonic, in units of 2^20 ns, rounded up << 24.
inline constexpr std::uint64_t kGuardGenerationMask = 0x3ff;
inline constexpr int kGuardUnitBits = 20;
constexpr std::uint64_t guard_by(MemberId member) {
  return (std::uint64_t{member.number} + 1) | (member.generation & kGuardGenerationMask) << kNumberBits;
}
constexpr std::uint64_t guard_word(MemberId member, std::int64_t until) {
  const std::uint64_t units = (static_cast<std::uint64_t>(until) >> kGuardUnitBits) + 1;
  return guard_by(member) | units << 24;
}
constexpr std::int64_t guard_until(std::uint64_t word) {
  return static_cast<std::int64_t>(word >> 24 << kGuardUnitBits);
}
constexpr bool is_guard_by(std::uint64_t word, MemberId member) {
  return (word & 0xff'ffff) == guard_by(member);
}

// ---- events -------------------------------------------------------------------------------------------------------

inline constexpr std::size_t kEventWords = 8;
struct alignas(64) EventLine {
  std::array<Word64, kEventWords> words;  // see events.h
};
static_assert(sizeof(EventLine) == 64);

// ---- the header and the whole -------------------------------------------------------------------------------------

struct Limits {
  std::uint32_t members = 2'048;
  std::uint32_t buckets = 32'768;     // a power of two
  std::uint32_t cells = 262'144;      // a key takes one, and one more for each 168 bytes of long names and labels
  std::uint32_t first_cells = 4'096;  // made at once; the rest when it is needed
  std::uint32_t events = 8'192;       // lines; a power of two
};

struct alignas(4096) Header {
  // Written before the table gets its name, never again.
  std::uint64_t magic;
  std::uint32_t format;
  std::uint32_t bytes;                    // sizeof(Header)
  std::array<std::uint8_t, 40> boot_id;   // text, NUL-padded
  std::array<std::uint8_t, 16> space_id;  // random, of this table
  std::uint64_t lock_device;              // the file `lock` in which its members have their bytes
  std::uint64_t lock_inode;
  Limits limits;

  alignas(64) Word64 epoch;   // the highest given out
  Word64 ceiling;             // the durable bound: no epoch above it is given out
  alignas(64) Word64 events;  // lines written, ever
  Word32 watchers;            // somebody sleeps on `event_futex`
  Word32 event_futex;
  alignas(64) Word64 arrivals;  // of nodes
  Word32 ready_cells;           // cells with room on the disk
  Word32 cell_hint;             // where a search for a free cell begins
  Word32 member_hint;
};
static_assert(sizeof(Header) == 4096);

// Where each part begins, in bytes.
struct Places {
  std::size_t states, rows, bitmap, buckets, events, cells, end;

  static constexpr Places of(const Limits& limits) {
    const auto page = [](std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; };
    Places p{};
    p.states = sizeof(Header);
    p.rows = p.states + page(limits.members * sizeof(Word64));
    p.bitmap = p.rows + page(limits.members * sizeof(MemberRow));
    p.buckets = p.bitmap + page((limits.cells + 1 + 63) / 64 * sizeof(Word64));
    p.events = p.buckets + page(limits.buckets * sizeof(Bucket));
    p.cells = p.events + page(limits.events * sizeof(EventLine));
    p.end = p.cells + page((std::size_t{limits.cells} + 1) * sizeof(Cell));
    return p;
  }
  // What must be allocated for the first `cells` cells.
  constexpr std::size_t up_to(std::uint32_t count) const {
    return (cells + (std::size_t{count} + 1) * sizeof(Cell) + 4095) / 4096 * 4096;
  }
};

}  // namespace tenure::local
