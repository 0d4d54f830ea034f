#!/usr/bin/env bash
# Checks the model of the local engine with spin: that it holds, and that each seeded mistake is found.
#
#   spec/check.sh           what ./check runs: about a minute of one core, below 2 GB
#   spec/check.sh --long    that, and larger runs: some ten minutes, up to 8 GB
#
# Ends with 0 when every run came out as it should; a search that was cut short counts as a failure.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

long=false
case ${1:-} in
  '') ;;
  --long) long=true ;;
  *)
    echo "usage: spec/check.sh [--long]" >&2
    exit 64
    ;;
esac
for tool in spin cc; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: tools/install.sh --check" >&2; exit 1; }
done

model=$PWD/local.pml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# run NAME EXPECTED MEGABYTES -D…: EXPECTED is "holds", or what pan says of the mistake, as an extended expression. The
# states are stored whole (COLLAPSE), so that what holds was looked at completely. A mistake's run is kept on request.
run() {
  local name=$1 expected=$2 megabytes=$3 verdict=FAILED seen states start=$SECONDS optimise=-O0
  shift 3
  [ "$expected" = holds ] && optimise=-O1  # a mistake is found soon: its program takes longer to build than to run
  mkdir -p "$scratch/$name"
  (cd "$scratch/$name" && spin -a "$@" "$model" && cc $optimise -w -DSAFETY -DCOLLAPSE -DMEMLIM="$megabytes" -o pan pan.c &&
    ./pan -m1000000 -w22) >"$scratch/$name/out" 2>&1
  seen=$(sed -n 's/^pan:[0-9]*: \(.*\) (at depth.*/\1/p' "$scratch/$name/out" | head -n 1)
  states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$scratch/$name/out")
  if grep -qE 'max search depth too small|MEMLIM|out of memory|Search not completed' "$scratch/$name/out" &&
    [ -z "$seen" ]; then
    seen='the search was cut short'
  elif [ -z "$seen" ]; then
    if grep -q 'errors: 0$' "$scratch/$name/out"; then seen=holds; else seen='the run failed'; fi
  fi
  if [ "$expected" = holds ]; then
    [ "$seen" = holds ] && verdict=ok
  elif grep -qE -- "$expected" <<<"$seen"; then
    verdict=ok
  fi
  printf '%-7s%-18s %10s states %4d s  %s\n' "$verdict" "$name" "${states:-?}" $((SECONDS - start)) "$seen"
  if [ "$verdict" != ok ]; then
    failed=$((failed + 1))
    echo "       expected: $expected; run: spin -a $* local.pml" >&2
    tail -n 5 "$scratch/$name/out" >&2
  fi
  rm -rf "${scratch:?}/$name"
}

# The model holds.
run pair holds 1500 -DMEMBERS=2 -DCLAIMS=2 -DCANCELS=0
run restart holds 1500 -DMEMBERS=2 -DCLAIMS=2 -DBLOCK=1 -DRESTARTS=1 -DSTOPS=0 -DCANCELS=0
run death holds 1500 -DSTOPS=0
run stop holds 1500 -DDEATHS=0

# And it can fail: each of these mistakes breaks its property, which alone is looked at.
exclusion=(-DPROPERTY=1) epochs=(-DPROPERTY=2) wakes=(-DPROPERTY=3) deadlock=(-DPROPERTY=4)
run break_in 'believes' 1500 "${exclusion[@]}" -DMISTAKE_BREAK_IN -DDEATHS=0 -DCANCELS=0
run stale_proof 'slot_word.*slot_member' 1500 "${exclusion[@]}" -DMISTAKE_STALE_PROOF -DSTOPS=0 -DCANCELS=0
run old_epoch 'slot_epoch.*last_epoch' 1500 "${epochs[@]}" -DMISTAKE_OLD_EPOCH -DMEMBERS=2
run memory_first 'slot_epoch.*last_epoch' 1500 "${epochs[@]}" -DMISTAKE_MEMORY_FIRST \
  -DMEMBERS=2 -DCLAIMS=2 -DBLOCK=1 -DRESTARTS=1 -DSTOPS=0 -DCANCELS=0
run stranded 'assertion violated' 1500 "${wakes[@]}" -DMISTAKE_STRANDED -DSTOPS=0
run no_bit 'assertion violated' 1500 "${wakes[@]}" -DMISTAKE_NO_BIT -DSTOPS=0
run watch_nobody 'assertion violated' 1500 "${wakes[@]}" -DMISTAKE_WATCH_NOBODY \
  -DMEMBERS=2 -DCLAIMS=2 -DCANCELS=0
run no_take_over 'invalid end state' 1500 "${deadlock[@]}" -DMISTAKE_NO_TAKE_OVER -DSTOPS=0

if $long; then
  run pair_gives_up holds 8000 -DMEMBERS=2 -DCLAIMS=2
  run death_and_stop holds 8000 -DCANCELS=0
  run two_deaths holds 8000 -DDEATHS=2 -DSTOPS=0
  run two_stops holds 8000 -DDEATHS=0 -DSTOPS=2 -DCANCELS=0
  run late_and_early holds 8000 -DMEMBERS=2 -DCLAIMS=2 -DSTOPS=2 -DEARLY=1 -DTARDY=1
  run restart_of_three holds 8000 -DBLOCK=1 -DRESTARTS=1 -DSTOPS=0 -DDEATHS=0 -DCANCELS=0
fi

[ "$failed" -eq 0 ] || echo "$failed runs did not come out as they should" >&2
[ "$failed" -eq 0 ]
