#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/pvpython.sh SCRIPT [ARGUMENT…]
# Runs a script by ParaView's Python without a window: that of build/paraview (scripts/setup.sh --tests), else the pvpython of the machine. Exit code 77: there is none.
set -euo pipefail
[ $# -gt 0 ] || { sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}"; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/paraview/usr

screen=()
# Without -noreset the server restarts once a first client has left, and a second one may find none.
command -v xvfb-run >/dev/null && screen=(xvfb-run -a -s "-screen 0 1280x1024x24 -noreset")
if [ -x "$root/bin/pvpython" ]; then
  exec "${screen[@]}" env LD_LIBRARY_PATH="$root/lib/$(uname -m)-linux-gnu" PYTHONPATH="$root/lib/python3/dist-packages" "$root/bin/pvpython" --force-offscreen-rendering "$@"
elif command -v pvpython >/dev/null; then
  exec "${screen[@]}" pvpython --force-offscreen-rendering "$@"
fi
echo "pvpython: ParaView is not here; scripts/setup.sh --tests unpacks it in build/paraview" >&2
exit 77
