#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/format.sh [--check]
# Formats every tracked C++ file with clang-format; --check changes nothing and fails when a file would change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(-i)
[ "${1:-}" = "--check" ] && mode=(--dry-run --Werror)
git ls-files -z -- '*.cpp' '*.hpp' '*.cu' | xargs -0 "${CLANG_FORMAT:-clang-format}" "${mode[@]}"
