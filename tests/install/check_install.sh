#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: check_install.sh install|example|custom_op|components|missing|version|pkgconfig     (see CMakeLists.txt for the environment it needs)
set -euo pipefail
prefix=$LODESTONE_WORK/prefix
step=$1
here=$PWD/tests/install
example=$PWD/examples/cmake_project

fail() { echo "FAILED: $*"; exit 1; }

# configure NAME SOURCE [-D…]: configures an outside project; its build folder is $LODESTONE_WORK/NAME
configure() {
  rm -rf "${LODESTONE_WORK:?}/$1"
  configure_again "$@"
}

# configure_again NAME SOURCE [-D…]: the same in a folder that knows the compiler already
configure_again() {
  local name=$1 source=$2
  shift 2
  "$CMAKE" -S "$source" -B "$LODESTONE_WORK/$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE="$BUILD_TYPE" \
    -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_COMPILER_LAUNCHER="$CXX_LAUNCHER" -DCMAKE_CXX_FLAGS="$CXX_FLAGS" "$@"
}

# probe EXPECTED [-D…]: of all components exactly those EXPECTED must be loaded
probe() {
  local expected=$1
  shift
  configure_again "probe_$step" "$here/probe" -DALL="$modules" -DEXPECTED="${expected// /;}" "$@"
}

# refuses TEXT [-D…]: configuring the probe must fail and say TEXT
refuses() {
  local text=$1 output
  shift
  if output=$(configure "probe_$step" "$here/probe" "$@" 2>&1); then fail "configuring with $* should have failed"; fi
  tr -s '\n ' ' ' <<<"$output" | grep -qF -- "$text" || { echo "$output"; fail "expected the text '$text'"; }
}

case $step in
  install)
    rm -rf "${LODESTONE_WORK:?}"
    "$CMAKE" --install "$LODESTONE_BUILD" --prefix "$prefix" >"$LODESTONE_BUILD/tests/install/install.log"
    for file in include/lodestone/engine/core/differentiable_map.hpp include/lodestone/physics/mt/d2/simulation.hpp; do
      [ -f "$prefix/$file" ] || fail "$file was not installed"
    done
    for file in FindPETSc.cmake FindHYPRE.cmake; do
      [ -n "$(find "$prefix" -name "$file")" ] || fail "$file was not installed"
    done
    ! grep -rqF "$LODESTONE_BUILD" "$(dirname "$(find "$prefix" -name lodestoneConfig.cmake)")" || fail "the package names the build folder"
    ;;
  example)
    configure example "$example"
    "$CMAKE" --build "$LODESTONE_WORK/example" -j 1
    "$(dirname "$CMAKE")/ctest" --test-dir "$LODESTONE_WORK/example" --verbose
    for name in dc mt joint; do
      for file in iterations.csv model.csv checkpoint.h5; do
        [ -s "$LODESTONE_WORK/example/out/${name}_$file" ] || fail "joint_sounding did not write ${name}_$file"
      done
    done
    ;;
  custom_op)
    configure custom_op "$PWD/examples/custom_op"
    "$CMAKE" --build "$LODESTONE_WORK/custom_op" -j 1
    "$LODESTONE_WORK/custom_op/custom_op"
    ;;
  components)
    modules=$(sed -n 's/^set(_lodestone_modules \([^)]*\)).*/\1/p' "$(find "$prefix" -name lodestoneConfig.cmake)")
    rm -rf "${LODESTONE_WORK:?}/probe_$step"
    tested=""
    while IFS=: read -r component expected; do
      probe "${expected# }" -DCOMPONENTS="$component" -DPROGRAM="$component"
      "$CMAKE" --build "$LODESTONE_WORK/probe_$step"
      (cd "$LODESTONE_WORK/probe_$step" && ./probe) || fail "the program of component $component"
      tested+="${tested:+;}$component"
    done < <(grep -v '^#' "$here/probe/components.txt")
    [ "$tested" = "$modules" ] || fail "tests/install/probe/components.txt has rows for $tested, the package has $modules"
    probe "${modules//;/ }" -DCOMPONENTS= -DPROGRAM=
    ;;
  missing) refuses "lodestone has no component 'nonsense'" -DCOMPONENTS=nonsense ;;
  version) refuses 'compatible with requested version "9.9"' -DVERSION=9.9 ;;
  pkgconfig)
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name lodestone.pc)")
    export PKG_CONFIG_PATH
    mkdir -p "$LODESTONE_WORK/pkgconfig"
    sed -n '/^```cpp$/,/^```$/p' README.md | sed '1d;$d' >"$LODESTONE_WORK/pkgconfig/readme.cpp"
    # shellcheck disable=SC2046,SC2086
    $CXX_LAUNCHER "$CXX" $CXX_FLAGS -c "$here/pkgconfig/main.cpp" -o "$LODESTONE_WORK/pkgconfig/main.o" $(pkg-config --cflags lodestone)
    # shellcheck disable=SC2046,SC2086
    "$CXX" $CXX_FLAGS "$LODESTONE_WORK/pkgconfig/main.o" -o "$LODESTONE_WORK/pkgconfig/main" $(pkg-config --libs lodestone)
    "$LODESTONE_WORK/pkgconfig/main"
    # shellcheck disable=SC2046,SC2086
    $CXX_LAUNCHER "$CXX" $CXX_FLAGS "$LODESTONE_WORK/pkgconfig/readme.cpp" -o "$LODESTONE_WORK/pkgconfig/readme" $(pkg-config --cflags --libs lodestone)
    "$LODESTONE_WORK/pkgconfig/readme" | grep -q "100 s: .* ohm m" || fail "the README's example does not print its table"
    ;;
  *) fail "unknown step '$step'" ;;
esac
