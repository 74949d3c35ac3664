#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/peers.sh [--remove]
# Makes build/peers, a throw-away Python environment with the programs that `make bench BENCH=peers` compares with: SimPEG with MKL's Pardiso.
# Needs the network and about 1.5 GB. Nothing but that benchmark uses it; does nothing when it is complete.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
environment=$PWD/build/peers/venv

case ${1:-} in
  "") ;;
  --remove) rm -rf build/peers; exit 0 ;;
  *) sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}"; [ "$1" = "--help" ] && exit 0 || exit 2 ;;
esac

complete() { "$environment/bin/python" -c "import simpeg; from pymatsolver import Pardiso" 2>/dev/null; }
if complete; then
  echo "peers: $environment is complete"
  exit 0
fi
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet simpeg
# Pardiso: pydiso is compiled against MKL, whose pkg-config files lie in the environment.
if ! { "$environment/bin/pip" install --quiet mkl mkl-devel &&
       PKG_CONFIG_PATH="$environment/lib/pkgconfig" LD_LIBRARY_PATH="$environment/lib" "$environment/bin/pip" install --quiet pydiso; }; then
  echo "peers: pydiso could not be built; SimPEG will run with SciPy's SuperLU" >&2
fi
"$environment/bin/python" -c "import simpeg; print('peers: SimPEG', simpeg.__version__, 'is ready')"
