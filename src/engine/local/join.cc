// Joining a space: the table is found or made, a member number is taken, the keeper thread is started.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "engine/local/cells.h"
#include "engine/local/events.h"
#include "engine/local/inside.h"
#include "engine/local/join.h"
#include "engine/local/local_engine.h"
#include "engine/local/texts.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

constexpr Duration kEntryPatience = std::chrono::seconds(10);
constexpr Duration kBackOff = std::chrono::microseconds(500);
constexpr Duration kRemakePatience = std::chrono::seconds(1);  // with those who are just leaving

// What lies under the name `table`.
enum class Found : std::uint8_t { ours, missing, other_boot, other_format, noise, other_lock };

struct Inspection {
  Found found = Found::missing;
  Limits limits;
  std::uint32_t format = 0;
  std::unique_ptr<env::SharedMemory> memory;  // of what was found, mapped at least as far as its header goes
};

bool credible(const Limits& limits) {
  const bool powers = std::has_single_bit(limits.buckets) && std::has_single_bit(limits.events);
  return powers && limits.members > 0 && limits.members <= kMaxMembers && limits.buckets <= 1u << 24 &&
         limits.events >= 64 && limits.events <= 1u << 24 && limits.cells > 0 && limits.cells <= 1u << 28 &&
         limits.first_cells > 0 && limits.first_cells <= limits.cells;
}

Inspection inspect(const Header& header, const std::string& boot_id, FileIdentity lock) {
  Inspection seen;
  if (header.magic != kMagic) return {Found::noise, {}, 0, {}};
  seen.format = header.format;
  seen.limits = header.limits;
  if (header.format != kFormat || header.bytes != sizeof(Header)) return {Found::other_format, {}, header.format, {}};
  const auto* boot = reinterpret_cast<const char*>(header.boot_id.data());
  if (std::string_view(boot, strnlen(boot, header.boot_id.size())) != boot_id) {
    return {Found::other_boot, {}, kFormat, {}};
  }
  if (!credible(header.limits)) return {Found::noise, {}, kFormat, {}};
  if (FileIdentity{header.lock_device, header.lock_inode} != lock) return {Found::other_lock, {}, kFormat, {}};
  seen.found = Found::ours;
  return seen;
}

// Maps `bytes` of the table to look at its header: as much as tables usually have, so that it need not be mapped twice.
Result<Inspection> look_at_table(Core& core, std::size_t bytes) {
  auto memory = core.folder->map_table(sizeof(Header), bytes);
  if (!memory) return fail(memory.error());
  if (*memory == nullptr) return Inspection{};
  const auto& header = *reinterpret_cast<const Header*>((*memory)->data());
  // Who only looks is in through no lock, and takes the table's word for it.
  const FileIdentity entered = core.folder->lock_file();
  const FileIdentity lock = entered == FileIdentity{} ? FileIdentity{header.lock_device, header.lock_inode} : entered;
  Inspection seen = inspect(header, core.self().boot_id, lock);
  seen.memory = std::move(*memory);
  return seen;
}

// The same for who would make a table: what cannot be mapped gives way to it.
Result<Inspection> inspect(Core& core, std::size_t bytes) {
  auto seen = look_at_table(core, bytes);
  if (!seen && seen.error().code == Code::damaged) return Inspection{Found::noise, {}, 0, {}};
  return seen;
}

// The whole of a table that is ours; nullptr: it is gone by now.
Result<std::unique_ptr<env::SharedMemory>> whole(Core& core, Inspection seen) {
  const Places places = Places::of(seen.limits);
  const std::size_t made = places.up_to(seen.limits.first_cells);
  if (seen.memory->size() >= places.end && seen.memory->length() >= made) return std::move(seen.memory);
  return core.folder->map_table(made, places.end);
}

void settle_in(Core& core, std::unique_ptr<env::SharedMemory> memory) {
  core.memory = std::move(memory);
  core.table = Table(core.memory->data());
}

Error refused(const env::LocalFolder& folder, const Inspection& seen) {
  const std::string table = folder.path() + "/table";
  const std::string remedy =
      "end the processes that have the space open, then try again: fuser " + folder.path() + "/lock";
  switch (seen.found) {
    case Found::other_format:
      return {Code::unsuitable_folder,
              table + " has format " + std::to_string(seen.format) + ", this program knows " + std::to_string(kFormat) +
                  ", and members of it live",
              "use the version of tenure that made it, or " + remedy, nullptr};
    case Found::other_lock:
      return {Code::damaged, folder.path() + "/lock was replaced while members of the space live", remedy, nullptr};
    case Found::missing:
      return {Code::section_busy, table + " is gone, and members of it live (or others are just making it)", remedy,
              nullptr};
    default:
      return {Code::damaged, table + " is damaged, and members of it live", remedy, nullptr};
  }
}

struct Making {
  Core& core;
  const Limits& limits;
  const Ceiling::Start& start;
  FileIdentity lock;
  SpaceId id;
};

void fill(const Making& making, std::byte* memory) {
  Header& header = *reinterpret_cast<Header*>(memory);
  header.format = kFormat;
  header.bytes = sizeof(Header);
  const std::string& boot = making.core.self().boot_id;
  std::memcpy(header.boot_id.data(), boot.data(), std::min(boot.size(), header.boot_id.size()));
  std::memcpy(header.space_id.data(), making.id.data(), std::min(making.id.size(), header.space_id.size()));
  header.lock_device = making.lock.device;
  header.lock_inode = making.lock.inode;
  header.limits = making.limits;
  header.epoch.store(making.start.start.value(), std::memory_order_relaxed);
  header.ceiling.store(making.start.bound.value(), std::memory_order_relaxed);
  header.arrivals.store(1, std::memory_order_relaxed);
  header.ready_cells.store(making.limits.first_cells, std::memory_order_relaxed);
  header.magic = kMagic;
  const Table table(memory);
  for (CellIndex cell = 1; cell <= making.limits.first_cells; ++cell) {
    table.bitmap()[cell / 64].fetch_or(std::uint64_t{1} << (cell % 64), std::memory_order_relaxed);
  }
}

// Alone in the folder: a fresh table, above every epoch that was ever given out.
Result<void> make(Core& core, const Limits& usual) {
  env::Directory& directory = core.folder->directory();
  auto wanted = read_limits(directory);
  if (!wanted && wanted.error().code != Code::damaged) return fail(wanted.error());
  // A wish that cannot be read keeps nobody from working.
  if (!wanted) core.notes.push_back(wanted.error().message + "; the table was made with the usual ones");
  const Limits limits = fulfil(wanted ? *wanted : WantedLimits{}, usual);
  const Places places = Places::of(limits);
  auto start = core.ceiling.start_new_table();
  if (!start) return fail(start.error());
  const Making making{core, limits, *start, core.folder->lock_file(), start->space};
  auto made = core.folder->make_table(places.up_to(limits.first_cells), places.end,
                                      [&](std::byte* memory) { fill(making, memory); });
  if (!made) return fail(made.error());
  for (const std::string& note : start->notes) core.notes.push_back(note);
  return {};
}

bool fulfils(const Limits& limits, const LocalOptions& options) {
  if (!options.remake) return true;
  const WantedLimits& wanted = *options.remake;
  return limits.cells == wanted.cells.value_or(limits.cells) &&
         limits.members == wanted.members.value_or(limits.members);
}

// Alone in the folder: whatever is there gives way to a fresh table, if it has to.
Result<void> make_alone(Core& core, const LocalOptions& options) {
  auto seen = inspect(core, sizeof(Header));
  if (!seen) return fail(seen.error());
  if (seen->found == Found::ours) {
    if (fulfils(seen->limits, options)) return {};
    auto present = map_present(core);
    auto none = present && *present ? refuse_held_keys(core, false) : Result<void>{};
    core.memory.reset();
    if (!present) return fail(present.error());
    if (!none) return none;
  }
  if (options.remake) {
    if (auto kept = keep_limits(core.folder->directory(), *options.remake); !kept) return kept;
  }
  return make(core, options.limits);
}

// Others are in, and so the table cannot be made anew.
Error in_use(Core& core) {
  const auto present = map_present(core);
  const std::string who = words_of(present && *present ? living_members(core) : std::vector<LocalMember>{});
  core.memory.reset();
  return {Code::holder_live, "the table at " + core.folder->path() + " cannot be made anew while it is in use: " + who,
          "end them, then try again: fuser " + core.folder->path() + "/lock", nullptr};
}

// The table of this boot, mapped; made if there is none that anybody lives in.
Result<void> find_or_make(Core& core, const LocalOptions& options) {
  env::LocalFolder& folder = *core.folder;
  const MonotonicTime begun = core.environment.clock->monotonic();
  const std::size_t usual = Places::of(options.limits).end;
  Word32 nobody{0};
  for (int attempt = 0;; ++attempt) {
    if (auto entered = folder.enter(kEntryPatience); !entered) return entered;
    const auto lock_in_place = folder.lock_in_place();
    if (!lock_in_place) return fail(lock_in_place.error());
    auto seen = inspect(core, usual);
    if (!seen) return fail(seen.error());
    bool fit = seen->found == Found::ours && *lock_in_place;
    if (fit && !fulfils(seen->limits, options)) {
      fit = false;
      if (core.environment.clock->monotonic() - begun > kRemakePatience) return fail(in_use(core));
    }
    if (!fit && *lock_in_place) {
      const auto alone = folder.enter_alone();
      if (!alone) return fail(alone.error());
      if (*alone) {
        const auto made = make_alone(core, options);
        const auto shared = folder.let_others_in();
        if (!made) return made;
        if (!shared) return shared;
        seen = inspect(core, usual);
        if (!seen) return fail(seen.error());
        fit = seen->found == Found::ours && fulfils(seen->limits, options);
      }
    }
    if (fit) {
      auto memory = whole(core, std::move(*seen));
      if (!memory) return fail(memory.error());
      if (*memory != nullptr) {
        const auto in_place = folder.in_place(**memory);
        if (!in_place) return fail(in_place.error());
        if (*in_place) {
          settle_in(core, std::move(*memory));
          return options.remake ? keep_limits(folder.directory(), *options.remake) : Result<void>{};
        }
      }
    }
    folder.leave();
    // Two who found no table each keep the other from being alone: one of them comes back later.
    const Duration back_off = kBackOff * (1 + (core.self().pid + attempt * 7) % 16);
    const std::array watched{env::Watched{&nobody, 0}};
    core.words->wait(watched, back_off);
    if (core.environment.clock->monotonic() - begun > kEntryPatience || attempt > 20'000)
      return fail(refused(folder, *seen));
  }
}

void write_row(Core& core, MemberRow& row) {
  const Standpoint& self = core.environment.processes->self();
  const auto put = [](Word64& word, std::uint64_t value) { word.store(value, std::memory_order_relaxed); };
  put(row.pid, static_cast<std::uint64_t>(self.identity.pid));
  put(row.start_ticks, self.identity.start_ticks);
  put(row.pid_namespace, self.identity.pid_namespace);
  put(row.time_namespace, self.identity.time_namespace);
  put(row.user, self.identity.user);
  put(row.joined_wall, static_cast<std::uint64_t>(core.wall_ns()));
  put(row.nonce, core.nonce);
  std::string text;
  add_field(text, Tag::owner, core.owner_label);
  add_field(text, Tag::host, std::string_view(self.host).substr(0, 64));
  add_field(text, Tag::user_name, std::string_view(self.user_name).substr(0, 32));
  add_field(text, Tag::command, std::string_view(self.command).substr(0, 400));
  add_field(text, Tag::directory, std::string_view(self.directory).substr(0, kRowText - text.size() - 3));
  write_bytes(row.text.data(), text);
  put(row.text_bytes, text.size());
}

// Our byte is taken: whoever had the number is dead or gone. True: it is ours.
Result<bool> take_number(Core& core, std::uint16_t number) {
  Word64& state = core.table.state(number);
  const std::uint64_t before = state.load(std::memory_order_acquire);
  const MemberId former{number, generation_of(before)};
  // Until we are somebody, cells and sections that we clear are taken in the name of the new generation.
  core.me = {number, former.generation + 1};
  core.lock_as = lock_word(core.me);
  if (phase_of(before) != Phase::free) {
    free_sections(core, core.me);
    auto cleared = clear_member(core, former);
    if (!cleared) return cleared;
    if (!*cleared) return false;
  }
  state.store(state_word(core.me.generation, Phase::joining), std::memory_order_release);
  return true;
}

Result<void> take_any_number(Core& core) {
  Header& header = core.table.header();
  const std::uint32_t count = core.table.limits().members;
  const std::uint32_t begin = header.member_hint.load(std::memory_order_relaxed);
  // First those that were left in good order, then those whose members may be dead.
  for (const bool free_ones : {true, false}) {
    for (std::uint32_t step = 0; step < count; ++step) {
      const auto number = static_cast<std::uint16_t>((begin + step) % count);
      const std::uint64_t state = core.table.state(number).load(std::memory_order_acquire);
      if ((phase_of(state) == Phase::free) != free_ones) continue;
      if (!free_ones && !suspicious(core, {number, generation_of(state)})) continue;
      auto taken = core.folder->take_byte(number);
      if (!taken) return fail(taken.error());
      if (!*taken) continue;
      auto ours = take_number(core, number);
      if (ours && *ours) {
        header.member_hint.store(number, std::memory_order_relaxed);
        return {};
      }
      // What was taken in that name must go back before the number can be another's: it would be cleared from under us.
      while (const CellIndex cell = core.pockets.take()) drop_cell(core, cell);
      core.me = {};
      core.folder->drop_byte(number);
      if (!ours) return fail(ours.error());
    }
  }
  return fail(Code::limit_reached,
              "all " + std::to_string(count) + " places of the space at " + core.folder->path() +
                  " are taken by processes that have it open",
              "end some of them (fuser " + core.folder->path() +
                  "/lock); or all, and make room for more: tenure space init "
                  "--members " +
                  std::to_string(std::min(kMaxMembers, count * 2)) + " --space URL");
}

Result<void> join(Core& core, LocalEngine& engine) {
  std::array<std::uint8_t, 8> random{};
  if (auto filled = core.environment.random->fill(random); !filled) return filled;
  std::memcpy(&core.nonce, random.data(), 8);
  core.owner_label = to_hex(random);
  core.pid = static_cast<std::uint64_t>(core.self().pid);
  if (auto number = take_any_number(core); !number) return number;
  MemberRow& row = core.table.row(core.me.number);
  row.life.store(0, std::memory_order_relaxed);
  env::KeeperJob job{.life = &row.life,
                     .inbox = &row.inbox,
                     .round = [&engine] { engine.round(); },
                     .every = kRound,
                     .pause = &core.pause,
                     .meanwhile = [&core, &row] { write_row(core, row); }};
  auto kept = core.folder->start_keeper(job);
  if (!kept && kept.error().code == Code::unsupported) {
    // Without a robust list its byte alone proves its death.
    job.life = nullptr;
    kept = core.folder->start_keeper(job);
  }
  if (!kept) return kept;
  core.table.state(core.me.number).store(state_word(core.me.generation, Phase::live), std::memory_order_release);
  return {};
}

}  // namespace

Result<bool> map_present(Core& core) {
  auto seen = look_at_table(core, sizeof(Header));
  if (!seen) return fail(seen.error());
  if (seen->found == Found::missing || seen->found == Found::other_boot) return false;
  if (seen->found != Found::ours) return fail(refused(*core.folder, *seen));
  auto memory = whole(core, std::move(*seen));
  if (!memory) return fail(memory.error());
  if (*memory == nullptr) return false;
  settle_in(core, std::move(*memory));
  return true;
}

Result<std::unique_ptr<Core>> open_observer(std::unique_ptr<env::LocalFolder> folder, std::shared_ptr<env::Words> words,
                                            env::Environment environment) {
  auto core = std::make_unique<Core>(std::move(environment), std::move(folder), std::move(words));
  auto present = map_present(*core);
  if (!present) return fail(present.error());
  if (*present) return core;
  return fail(Code::unreachable, "nobody has used the space at " + core->folder->path() + " since the machine started");
}

Result<void> note_repair(std::unique_ptr<Core> core, const std::string& reason) {
  Core& shared = *core;
  if (auto found = find_or_make(shared, {}); !found) return found;
  LocalEngine engine(std::move(core));
  if (auto joined = join(shared, engine); !joined) return joined;
  record(shared, {.kind = EventKind::repaired,
                  .wall = shared.wall_ns(),
                  .pid = shared.pid,
                  .owner = shared.owner_label,
                  .why = reason});
  tell_watchers(shared);
  return {};
}

}  // namespace tenure::local

namespace tenure {

Result<std::shared_ptr<Engine>> open_local(std::unique_ptr<env::LocalFolder> folder, std::shared_ptr<env::Words> words,
                                           env::Environment environment, const LocalOptions& options) {
  if (options.observe_only) {
    auto observer = local::open_observer(std::move(folder), std::move(words), std::move(environment));
    if (!observer) return fail(observer.error());
    return std::make_shared<local::LocalEngine>(std::move(*observer));
  }
  auto core = std::make_unique<local::Core>(std::move(environment), std::move(folder), std::move(words));
  local::Core& shared = *core;
  if (auto found = local::find_or_make(shared, options); !found) return fail(found.error());
  auto engine = std::make_shared<local::LocalEngine>(std::move(core));
  if (auto joined = local::join(shared, *engine); !joined) return fail(joined.error());
  return engine;
}

}  // namespace tenure
