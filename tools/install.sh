#!/usr/bin/env bash
# Installs what tenure is built and checked with, on Debian 12 and its like.
#
#   tools/install.sh --build   what the program needs (for ./tenure)
#   tools/install.sh --check   that, and what the tests need (for ./check)
#   tools/install.sh --bench   that, and what the benchmarks compare with (for bench/compare)
#
# Nothing is touched, and nothing is asked of the network, when all of it is there.
set -euo pipefail

build=(g++ cmake ninja-build ccache libboost1.81-dev libcli11-dev libfmt-dev libxxhash-dev)
check=("${build[@]}" libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev clang-19 clang-tidy-19 clang-format-19
  libclang-rt-19-dev python3 strace tmux pkg-config util-linux procps valgrind spin)
bench=("${check[@]}" redis-server postgresql libpq-dev libsqlite3-dev python3-filelock)

case ${1:-} in
  --build) wanted=("${build[@]}") ;;
  --check) wanted=("${check[@]}") ;;
  --bench) wanted=("${bench[@]}") ;;
  *)
    echo "usage: tools/install.sh --build | --check | --bench" >&2
    exit 64
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "no apt here: going on with what is installed. On Debian 12 these packages would be: ${wanted[*]}" >&2
  exit 0
fi

# A package counts as there when it is installed, or when an installed one provides it.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n${db:Status-Status} ${Provides}\n' 2>/dev/null |
  sed -n 's/^installed //p' | tr ',' '\n' | sed 's/^ *//; s/[ (:].*//')
missing=()
for package in "${wanted[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "not root, and there is no sudo. As root: apt-get install ${missing[*]}" >&2
    exit 77
  fi
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
