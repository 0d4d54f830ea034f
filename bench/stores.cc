#include "stores.h"

#include <cstdlib>

#include "must.h"

namespace tenure::bench {

std::string missing(const std::string& way) {
  const auto unless = [](const char* variable) {
    return std::getenv(variable) == nullptr ? std::string(variable) + " names no server" : std::string();
  };
  if (way == "redis") return unless(kRedisVariable);
#ifndef TENURE_BENCH_POSTGRES
  if (way == "postgres") return "built without libpq";
#endif
#ifndef TENURE_BENCH_SQLITE
  if (way == "sqlite") return "built without SQLite";
#endif
  if (way == "postgres") return unless(kPostgresVariable);
  return {};
}

#ifndef TENURE_BENCH_POSTGRES
std::unique_ptr<Way> make_postgres() {
  stop_here(missing("postgres"));
}
#endif
#ifndef TENURE_BENCH_SQLITE
std::unique_ptr<Way> make_sqlite(const std::string&) {
  stop_here(missing("sqlite"));
}
#endif

}  // namespace tenure::bench
