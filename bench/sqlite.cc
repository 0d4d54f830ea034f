#include <sqlite3.h>

#include <thread>

#include "must.h"
#include "peers.h"
#include "stores.h"

namespace tenure::bench {
namespace {

class Sqlite final : public Way {
 public:
  explicit Sqlite(const std::string& folder) {
    if (sqlite3_open((folder + "/locks.sqlite").c_str(), &database_) != SQLITE_OK) fail("open");
    sqlite3_busy_timeout(database_, 60'000);
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=NORMAL");
    run("CREATE TABLE IF NOT EXISTS locks (key TEXT PRIMARY KEY, owner TEXT, epoch INTEGER)");
    run("INSERT OR IGNORE INTO locks VALUES ('bench', NULL, 0)");
    begin_ = prepared("BEGIN IMMEDIATE");
    take_ = prepared("UPDATE locks SET owner = 'me', epoch = epoch + 1 WHERE key = 'bench' AND owner IS NULL");
    give_ = prepared("UPDATE locks SET owner = NULL WHERE key = 'bench' AND owner = 'me'");
    commit_ = prepared("COMMIT");
  }
  ~Sqlite() override {
    for (sqlite3_stmt* each : {begin_, take_, give_, commit_}) sqlite3_finalize(each);
    sqlite3_close(database_);
  }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  void take() override {
    while (!update(take_)) std::this_thread::sleep_for(kPollInterval);
  }
  void give() override {
    if (!update(give_)) stop_here("sqlite: the lock is gone");
  }

 private:
  [[noreturn]] void fail(const std::string& what) { stop_here("sqlite: " + what + ": " + sqlite3_errmsg(database_)); }
  void run(const char* words) {
    if (sqlite3_exec(database_, words, nullptr, nullptr, nullptr) != SQLITE_OK) fail(words);
  }
  sqlite3_stmt* prepared(const char* words) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, words, -1, &statement, nullptr) != SQLITE_OK) fail(words);
    return statement;
  }
  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail("step");
    sqlite3_reset(statement);
  }
  bool update(sqlite3_stmt* statement) {
    step(begin_);
    step(statement);
    const bool changed = sqlite3_changes(database_) == 1;
    step(commit_);
    return changed;
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* take_ = nullptr;
  sqlite3_stmt* give_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
};

}  // namespace

std::unique_ptr<Way> make_sqlite(const std::string& folder) {
  return std::make_unique<Sqlite>(folder);
}

}  // namespace tenure::bench
