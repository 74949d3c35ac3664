#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/fuzz.sh [READER…] [--runs N] [--seed N] [--jobs N] [--list]
# Tries each reader with N inputs (default 2000, the seeds included), which libFuzzer makes of the seeds under the address and undefined-behaviour sanitizers.
# Fails where an input ends in anything but core::Error, takes more than 1 s, or takes too much memory; such inputs are in out/fuzz. tests/fuzz/README.md says what then.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=2000 seed=1 jobs=2 list=false readers=()
while [ $# -gt 0 ]; do
  case $1 in
    --runs) runs=$2 && shift ;;
    --seed) seed=$2 && shift ;;
    --jobs) jobs=$2 && shift ;;
    --list) list=true ;;
    -*)
      sed -n '3,5s/^# //p' scripts/fuzz.sh
      [ "$1" = "--help" ] && exit 0 || exit 2
      ;;
    *) readers+=("$1") ;;
  esac
  shift
done

cmake --preset fuzz >/dev/null
# Where PATH has another clang first, CMake begins anew and forgets what the preset says.
grep -q '^LODESTONE_FUZZ:.*=ON' build/fuzz/CMakeCache.txt || cmake --fresh --preset fuzz >/dev/null
cmake --build --preset fuzz
program=build/fuzz/tests/fuzz/fuzz_inputs
if $list; then exec "$program" --list; fi
[ ${#readers[@]} -gt 0 ] || mapfile -t readers < <("$program" --list)

[ ! -d /dev/shm ] || export TMPDIR=/dev/shm  # inputs are files; these never reach a disk
mkdir -p out/fuzz
export program runs seed ASAN_OPTIONS="detect_leaks=1" UBSAN_OPTIONS=print_stacktrace=1
try_reader() {
  local reader=$1 seeds=build/fuzz/seeds/$1 log=out/fuzz/$1.log limit
  limit=$("$program" --reader="$reader" --seconds)
  rm -rf "$seeds"
  "$program" --reader="$reader" --seeds="$seeds" || return 1
  local begin=$SECONDS status=0
  "$program" --reader="$reader" -seed="$seed" -runs="$runs" -max_len=40000 -timeout="$limit" -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    -dict=tests/fuzz/words.dict -artifact_prefix="out/fuzz/$reader-" "$seeds" >"$log" 2>&1 || status=$?
  if [ $status -eq 0 ]; then
    printf '%-18s %6d inputs in %3d s\n' "$reader" "$(grep -ao '^Done [0-9]*' "$log" | grep -o '[0-9]*')" $((SECONDS - begin))
  else
    printf '%-18s FAILED; see %s\n' "$reader" "$log"
    grep -aE 'ERROR|fuzz_inputs:|runtime error|SUMMARY|Test unit written' "$log" || true
  fi
  return $status
}
export -f try_reader
printf '%s\n' "${readers[@]}" | xargs -P "$jobs" -I{} bash -c 'try_reader {}'
