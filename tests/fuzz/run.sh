#!/bin/sh
# Runs every fuzzer from its corpus, one after the other, and fails on the first finding.
#
#   tests/fuzz/run.sh [executions of each] [build folder] [target…]
#
# Default: 1,000,000 executions each (the long campaign; the quick check gives 20000), in build/fuzz, all targets. New
# inputs go to a scratch folder, so the corpus in the repository changes only by hand. A finding is left in the build
# folder under findings/, with the command that repeats it.
set -eu

executions=${1:-1000000}
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$source/build/fuzz}
[ $# -lt 1 ] || shift
[ $# -lt 1 ] || shift

if [ $# -eq 0 ]; then
  set -- "$build"/fuzz/fuzz_*
else
  for name; do
    shift
    set -- "$@" "$build/fuzz/fuzz_$name"
  done
fi
[ -x "$1" ] || { echo "no fuzzers in $build: cmake --preset fuzz && cmake --build --preset fuzz" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$build/findings"
for fuzzer; do
  name=${fuzzer##*/fuzz_}
  seeds=$source/tests/fuzz/corpus/$name
  [ -d "$seeds" ] || { echo "fuzz $name: no corpus in $seeds" >&2; exit 1; }
  mkdir -p "$scratch/$name"
  if ! nice "$fuzzer" -runs="$executions" -seed=1 -max_len=4096 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" "$scratch/$name" "$seeds" >"$scratch/log" 2>&1; then
    tail -n 40 "$scratch/log" >&2
    echo "fuzz $name: a finding; repeat it with: $fuzzer $build/findings/$name-<what>" >&2
    exit 1
  fi
  done_runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/log")
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$scratch/log")
  echo "fuzz $name: $done_runs executions, $rate a second, no finding"
done
