// Peers that keep a lock in a store: SQLite, Redis, PostgreSQL. Those that this build or this run does not have are
// told of by missing().
//
//   sqlite    BEGIN IMMEDIATE, an update of one row, COMMIT; and an update for giving back. Write-ahead log without a
//             sync at each commit; a waiter polls
//   redis     SET NX PX and a script that deletes what is still ours, over a Unix socket; a waiter polls
//   postgres  pg_advisory_lock and pg_advisory_unlock, prepared, over a Unix socket
#pragma once

#include <memory>
#include <string>

#include "way.h"

namespace tenure::bench {

// The servers of this run, by environment: the socket's path; libpq's words for a connection.
inline constexpr char kRedisVariable[] = "TENURE_BENCH_REDIS";
inline constexpr char kPostgresVariable[] = "TENURE_BENCH_POSTGRES";

std::unique_ptr<Way> make_sqlite(const std::string& folder);
std::unique_ptr<Way> make_redis();
std::unique_ptr<Way> make_postgres();

// Why a way cannot be measured here; empty: it can.
std::string missing(const std::string& way);

}  // namespace tenure::bench
