#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: check_session.sh MPIEXEC PROGRAM
set -uo pipefail
mpiexec=$1 program=$2
failures=0

# run RANKS HOW: leaves the text in $text and the exit code in $code
run() {
  if [ "$1" = 1 ]; then text=$("$program" "$2" 2>&1); else text=$("$mpiexec" --bind-to none --oversubscribe -n "$1" "$program" "$2" 2>&1); fi
  code=$?
}
expect_code() { [ "$code" = "$1" ] || { echo "FAILED: $2: expected exit code $1, got $code"; echo "$text"; failures=1; }; }
expect_count() {
  local found
  found=$(grep -c -F -- "$1" <<<"$text")
  [ "$found" = "$2" ] || { echo "FAILED: $3: expected \"$1\" $2 times, got $found"; echo "$text"; failures=1; }
}

run 1 well;     expect_code 0 "one rank, no error";  expect_count "level multiple" 1 "MPI grants all threads"
run 1 together; expect_code 2 "one rank fails";      expect_count "error: [configuration] unknown key" 1 "one rank fails"
run 3 well;     expect_code 0 "three ranks, no error"; expect_count "level multiple" 1 "only rank 0 logs"
run 3 together; expect_code 2 "all ranks fail";      expect_count "[configuration] unknown key" 1 "the shared message is printed once"
                expect_count "MPI_ABORT" 0 "ranks that fail together end in the normal way"
run 3 differently; expect_code 4 "each rank its own error"
for rank in 0 1 2; do expect_count "[reader] problem $rank" 1 "different messages are all printed"; done
run 3 alone;    expect_code 6 "one rank of three fails"; expect_count "rank 2 of 3: [solver] singular matrix" 1 "a lone failure names its rank"
run 3 told;     expect_code 6 "two ranks have the error of a third"
                expect_count "error: rank 2 of 3: [solver] singular matrix" 1 "what others were told is printed once, with its rank"
                expect_count "singular matrix" 1 "and in no other way"
                expect_count "MPI_ABORT" 0 "ranks that fail together end in the normal way"
run 3 "told first"; expect_code 6 "two ranks have the error of the first"
                expect_count "error: rank 0 of 3: [solver] singular matrix" 1 "the rank that failed names itself where others have it"
                expect_count "singular matrix" 1 "and all print it once"
run 3 "told but one"; expect_code 6 "a rank hangs while the others fail"
                expect_count "error: rank 2 of 3: [solver] singular matrix" 1 "those that fail print one message"
                expect_count "singular matrix" 1 "and no other"
exit $failures
