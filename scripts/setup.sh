#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/setup.sh [--print]
# Installs what Lodestone builds with, on Debian 12 and relatives. Does nothing when all is there; --print only lists what is missing.
# docs/build.md says what each package is for and how to build elsewhere.
set -euo pipefail

packages=(
  # tools
  g++ cmake ninja-build ccache mold pkg-config make git ca-certificates python3 xz-utils clang-format clang-tidy
  # solvers and linear algebra
  libpetsc-complex-dev libopenmpi-dev openmpi-bin libopenblas-dev libhypre-dev libeigen3-dev
  # files and pictures
  libhdf5-openmpi-dev libvtk9-dev libcairo2-dev fonts-dejavu-core libpugixml-dev libproj-dev proj-data
  # the engine
  libdnnl-dev ocl-icd-opencl-dev
  # command line, configuration, messages, tests
  libcli11-dev libtomlplusplus-dev libfmt-dev libspdlog-dev nlohmann-json3-dev catch2 librandom123-dev
)

if [ "${1:-}" = "--help" ] || { [ $# -gt 0 ] && [ "$1" != "--print" ]; }; then
  sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}"
  [ "$1" = "--help" ] && exit 0 || exit 2
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: no apt-get here; nothing installed. Install by hand what docs/build.md lists, then go on." >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = "installed" ] || missing+=("$package")
done

if [ "${1:-}" = "--print" ]; then
  [ ${#missing[@]} -eq 0 ] || printf '%s\n' "${missing[@]}"
  exit 0
fi
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: ${#missing[@]} packages are missing and neither root nor sudo is available. Ask an administrator for:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
