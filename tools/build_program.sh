#!/usr/bin/env bash
# Builds the release program for ./tenure: build_program.sh STAMP. Several may be started at once: one builds, the
# others wait until it is done, do nothing, and leave it to the caller to look again. Ends with 70 when the build fails.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
stamp=$1
cd "$root"

fail() {
  echo "tenure: $1" >&2
  exit 70
}

mkdir -p build/release || fail "cannot write to $root/build, where the program is built"
exec 9>build/release/.lock
if ! flock --nonblock 9; then
  echo "tenure: another ./tenure is building; waiting for it"
  flock 9
  exit 0
fi

# The stamp takes the time before the build looked at the sources, so that a change made meanwhile is seen next time.
touch "$stamp.next"
echo "tenure: building the program (first run, or the sources changed)"
tools/install.sh --build 9>&- || fail "the packages of the build could not be installed"
cmake --preset release 9>&- >build/release/configure.log 2>&1 || {
  cat build/release/configure.log
  fail "cmake found something missing; see above"
}
cmake --build --preset release --target tenure 9>&- || fail "the build failed; see above"
mv "$stamp.next" "$stamp"
