#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: check_commit.sh CMAKE GENERATOR SOURCE CXX: a small checkout with lodestone_add_commit, configured once and built again and again.
set -euo pipefail
cmake=$1 generator=$2 source=$3 cxx=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
command -v git >/dev/null || { echo "no git"; exit 77; }

mkdir "$work/tree" && cd "$work/tree"
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES CXX)
include("$source/cmake/LodestoneBuildInfo.cmake")
add_executable(probe main.cpp)
lodestone_add_commit(probe commit.cpp.in "\${CMAKE_CURRENT_BINARY_DIR}/commit.cpp")
END
cp "$source/engine/core/build_commit.cpp.in" commit.cpp.in
cat >main.cpp <<'END'
#include <cstdio>
#include <string>
namespace lodestone::core { std::string build_commit(); }
int main() { std::puts(lodestone::core::build_commit().c_str()); }
END
commit() { git add -A && git -c user.name=n -c user.email=e commit -q -m "$1"; }
failures=0
# expect WHAT COMMIT: builds and compares what the program says
expect() {
  "$cmake" --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  local said
  said=$("$work/build/probe")
  [ "$said" = "$2" ] || { echo "FAILED: $1: expected $2, got $said"; failures=1; }
}
git init -q . && commit first
"$cmake" -S . -B "$work/build" -G "$generator" -DCMAKE_CXX_COMPILER="$cxx" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
expect "the first build" "$(git rev-parse --short=12 HEAD)"
echo "// changed" >>main.cpp
expect "a changed file" "$(git rev-parse --short=12 HEAD)-dirty"
commit second
expect "a new commit, not configured again" "$(git rev-parse --short=12 HEAD)"
before=$(stat -c %y "$work/build/probe")
expect "nothing changed" "$(git rev-parse --short=12 HEAD)"
[ "$(stat -c %y "$work/build/probe")" = "$before" ] || { echo "FAILED: linked again although nothing changed"; failures=1; }
mv .git ../.git
expect "a tarball inside another checkout" unknown
exit $failures
