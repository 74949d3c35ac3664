#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/setup.sh [--tests] [--print]
# Installs what Lodestone builds with, on Debian 12 and relatives; with --tests also what only tests use, of which ParaView (75 MB to load, 550 MB on disk) lies in build/paraview, and Chromium without a window (98 MB to load, 303 MB on disk).
# Does nothing when all is there; --print only lists what is missing. docs/build.md says what each package is for and how to build elsewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  # tools
  g++ cmake ninja-build ccache mold pkg-config make git ca-certificates python3 xz-utils clang-format clang-tidy
  # solvers and linear algebra
  libpetsc-complex-dev libopenmpi-dev openmpi-bin libopenblas-dev libhypre-dev libeigen3-dev
  # files and pictures
  libhdf5-openmpi-dev libvtk9-dev libcairo2-dev fonts-dejavu-core libpugixml-dev libproj-dev proj-data libgdal-dev
  # the engine
  libdnnl-dev ocl-icd-opencl-dev
  # command line, configuration, messages, tests
  libcli11-dev libtomlplusplus-dev libfmt-dev libspdlog-dev nlohmann-json3-dev catch2 librandom123-dev
)

# Only tests use these: a screen without a monitor, on which ParaView draws, a browser that opens reports, and a compiler with libFuzzer.
test_packages=(xvfb xauth chromium-headless-shell clang libclang-rt-dev)
# These are unpacked, not installed: python3-paraview conflicts with python3-vtk9, which libvtk9-dev needs. What they load comes with libvtk9-dev.
unpacked=(paraview python3-paraview)
unpacked_in=build/paraview

tests=false print=false
for option in "$@"; do
  case $option in
    --tests) tests=true ;;
    --print) print=true ;;
    *)
      sed -n '3,5s/^# //p' scripts/setup.sh
      [ "$option" = "--help" ] && exit 0 || exit 2
      ;;
  esac
done
! $tests || packages+=("${test_packages[@]}")

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: no apt-get here; nothing installed. Install by hand what docs/build.md lists, then go on." >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = "installed" ] || missing+=("$package")
done

to_unpack=()
if $tests; then
  for package in "${unpacked[@]}"; do
    [ -e "$unpacked_in/$package.done" ] || to_unpack+=("$package")
  done
fi

if $print; then
  [ $((${#missing[@]} + ${#to_unpack[@]})) -eq 0 ] || printf '%s\n' "${missing[@]}" "${to_unpack[@]}"
  exit 0
fi
if [ $((${#missing[@]} + ${#to_unpack[@]})) -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ] && [ ${#missing[@]} -gt 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: ${#missing[@]} packages are missing and neither root nor sudo is available. Ask an administrator for:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
fi

# Each package is marked once it is whole.
for package in "${to_unpack[@]}"; do
  echo "setup: unpacking $package in $unpacked_in"
  mkdir -p "$unpacked_in"
  (cd "$unpacked_in" && rm -f "$package"_*.deb && { apt-get download "$package" || { apt-get update && apt-get download "$package"; }; })
  dpkg -x "$unpacked_in/$package"_*.deb "$unpacked_in"
  rm "$unpacked_in/$package"_*.deb
  touch "$unpacked_in/$package.done"
done
