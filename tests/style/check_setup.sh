#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The set-up script knows its options, names every package that docs/build.md names, and lists nothing when all is installed. peers.sh refuses unknown options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v dpkg-query >/dev/null || exit 77
for script in scripts/setup.sh scripts/peers.sh; do
  bash -n "$script"
  if "$script" --no-such-option >/dev/null 2>&1; then echo "FAILED: $script accepted an unknown option"; exit 1; fi
done
missing=$(scripts/setup.sh --tests --print)
for package in $(grep -oE '`[^`]*`' docs/build.md | tr -d '`' | tr ' ' '\n' | grep -E '^(lib[a-z0-9-]+-dev|openmpi-bin|proj-data|fonts-dejavu-core|catch2|paraview|python3-paraview|xvfb|xauth|clang|chromium-headless-shell)$'); do
  grep -qw -- "$package" scripts/setup.sh || { echo "FAILED: docs/build.md names $package, scripts/setup.sh does not install it"; exit 1; }
done
if [ -z "$missing" ]; then
  first=$(scripts/setup.sh --tests) second=$(scripts/setup.sh --tests)
  [ "$first" = "$second" ] || { echo "FAILED: the second run differs: $second"; exit 1; }
else
  echo "not installed here: $missing"
fi
echo "the set-up script is in order"
