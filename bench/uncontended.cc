// Claims, releases and verify of a local: space in one process that nobody disturbs, in turns with their peers; and
// claims and releases of a receiver: space, in turns with those of the others.
#include <time.h>

#include <filesystem>
#include <memory>

#include "floors.h"
#include "local_groups.h"
#include "must.h"
#include "ours.h"
#include "stores.h"

namespace tenure::bench {
namespace {

using Found = std::map<std::string, Figures>;

constexpr std::size_t kDistinctKeys = 1'000'000;
constexpr std::size_t kKeysHeld = 100'000;
constexpr std::size_t kKeysAmongHeld = 4'096;

Key key_of(const std::string& text) {
  return must(Key::parse(text), "key");
}

std::vector<Key> keys_of(const std::string& stem, std::size_t count) {
  std::vector<Key> keys;
  keys.reserve(count);
  for (std::size_t each = 0; each < count; ++each) keys.push_back(key_of(stem + std::to_string(each)));
  return keys;
}

void once(const Space& space, const Key& key) {
  auto lease = space.claim(key);
  if (!lease) stop_here("claim: " + lease.error().message);
  if (const auto released = lease->release(); !released || !*released) stop_here("release");
}

Candidate one_key(const std::string& way, const Space& space, const std::string& key) {
  return {way, [&space, key = key_of(key)](long times) {
            for (long each = 0; each < times; ++each) once(space, key);
          }};
}

Candidate as_way(const std::string& name, const std::string& folder) {
  const std::shared_ptr<Way> way = make_way(name, folder);
  return {name, [way](long times) {
            for (long each = 0; each < times; ++each) {
              way->take();
              way->give();
            }
          }};
}

Found claim_release(const Settings& settings) {
  const Space space = must(Space::open(Ours::local(settings.folder)), "open");
  MutexFloor mutex(settings.folder);
  std::vector<Candidate> candidates{one_key("local", space, "bench/key"), {"mutex", [&mutex](long times) {
                                                                             for (long each = 0; each < times; ++each) {
                                                                               if (mutex.claim("bench/key") == 0)
                                                                                 stop_here("the floor is taken");
                                                                               mutex.release("bench/key");
                                                                             }
                                                                           }}};
  for (const char* name : {"ticket", "flock", "flock-open-close", "o_excl", "sqlite", "redis", "postgres"}) {
    if (missing(name).empty()) candidates.push_back(as_way(name, settings.folder));
  }
  candidates.push_back(as_way("tenure", settings.folder));
  return take_turns(candidates, settings.turns);
}

Found receiver(const Settings& settings) {
  std::vector<Candidate> candidates;
  for (const char* name : {"receiver", "tenure", "local", "pi-amq"}) {
    candidates.push_back(as_way(name, settings.folder));
  }
  return take_turns(candidates, settings.turns);
}

std::uintmax_t size_of(const std::string& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

// Each key once: a turn goes on where the last one ended.
class Walk {
 public:
  Walk(const Space& space, std::vector<Key> keys) : space_(space), keys_(std::move(keys)) {}
  void operator()(long times) {
    for (long each = 0; each < times; ++each) {
      once(space_, keys_[next_]);
      if (++next_ == keys_.size()) next_ = 0;
      ++walked_;
    }
  }
  std::size_t walked() const { return walked_; }
  std::size_t keys() const { return keys_.size(); }

 private:
  const Space& space_;
  std::vector<Key> keys_;
  std::size_t next_ = 0;
  std::size_t walked_ = 0;
};

// A million keys that were never claimed before, and one key, in turns.
Found distinct(const Settings& settings) {
  const Space space = must(Space::open(Ours::local(settings.folder)), "open");
  Walk walk(space, keys_of("d" + std::to_string(::getpid()) + "/", settings.keys(kDistinctKeys)));
  const std::string folder = settings.folder + "/local";
  const auto before = size_of(folder);
  const Candidate several{"distinct", [&walk](long times) { walk(times); }};
  Found found;
  while (walk.walked() < walk.keys()) {
    for (auto& [way, figures] : take_turns({one_key("one", space, "one"), several}, settings.turns)) {
      auto& all = found[way]["ns"];
      all.insert(all.end(), figures["ns"].begin(), figures["ns"].end());
    }
  }
  found["distinct"]["growth_bytes"] = {static_cast<double>(size_of(folder)) - static_cast<double>(before)};
  found["distinct"]["keys"] = {static_cast<double>(walk.walked())};
  return found;
}

// In a space in which 100,000 other keys are held, and in one where none is, in turns.
Found held(const Settings& settings) {
  const Space empty = must(Space::open(Ours::local(settings.folder)), "open");
  const Space full = must(Space::open(Ours::local(settings.folder) + "-full"), "open");
  std::vector<Lease> leases;
  for (const Key& key : keys_of("held/", settings.keys(kKeysHeld))) leases.push_back(must(full.claim(key), "claim"));
  Walk walk(full, keys_of("among/", kKeysAmongHeld));
  Found found = take_turns(
      {one_key("one", empty, "one"), one_key("held", full, "one"), {"held-many", [&walk](long times) { walk(times); }}},
      settings.turns);
  found["held"]["space_bytes"] = {static_cast<double>(size_of(settings.folder + "/local-full"))};
  return found;
}

Candidate verify_of(const std::string& way, Lease& lease) {
  return {way, [&lease](long times) {
            for (long each = 0; each < times; ++each) {
              if (!lease.verify()) stop_here("verify");
            }
          }};
}

Found verify(const Settings& settings) {
  const Space space = must(Space::open(Ours::local(settings.folder)), "open");
  Lease plain = must(space.claim(key_of("verify/plain")), "claim");
  ClaimOptions options;
  options.terms.ttl = std::chrono::hours(1);
  Lease limited = must(space.claim(key_of("verify/ttl"), options), "claim");
  return take_turns({verify_of("local", plain),
                     verify_of("local-ttl", limited),
                     {"clock",
                      [](long times) {
                        timespec now{};
                        for (long each = 0; each < times; ++each) ::clock_gettime(CLOCK_BOOTTIME, &now);
                      }}},
                    settings.turns);
}

}  // namespace

std::vector<Group> uncontended_groups() {
  return {{"claim_release", claim_release},
          {"receiver", receiver},
          {"distinct", distinct},
          {"held", held},
          {"verify", verify}};
}

}  // namespace tenure::bench
