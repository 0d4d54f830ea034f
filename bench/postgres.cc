#include <libpq-fe.h>

#include <cstdlib>

#include "must.h"
#include "stores.h"

namespace tenure::bench {
namespace {

class Postgres final : public Way {
 public:
  Postgres() : connection_(PQconnectdb(std::getenv(kPostgresVariable))) {
    if (PQstatus(connection_) != CONNECTION_OK) fail("connect");
    prepare("take", "SELECT pg_advisory_lock(42)");
    prepare("give", "SELECT pg_advisory_unlock(42)");
  }
  ~Postgres() override { PQfinish(connection_); }
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  void take() override { run("take"); }
  void give() override { run("give"); }

 private:
  [[noreturn]] void fail(const std::string& what) {
    stop_here("postgres: " + what + ": " + PQerrorMessage(connection_));
  }
  void prepare(const char* name, const char* words) {
    PGresult* result = PQprepare(connection_, name, words, 0, nullptr);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(words);
    PQclear(result);
  }
  void run(const char* name) {
    PGresult* result = PQexecPrepared(connection_, name, 0, nullptr, nullptr, nullptr, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(name);
    PQclear(result);
  }

  PGconn* connection_;
};

}  // namespace

std::unique_ptr<Way> make_postgres() {
  return std::make_unique<Postgres>();
}

}  // namespace tenure::bench
