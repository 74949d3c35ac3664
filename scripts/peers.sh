#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/peers.sh [torch | jax | onnxruntime | pictures | --remove]
# Makes throw-away Python environments with the programs that benchmarks compare with; does nothing where one is complete. Needs the network.
#   (nothing)  build/peers/venv, 1.5 GB: SimPEG with MKL's Pardiso, for `make bench BENCH=peers`
#   torch      build/peers/torch, 5 GB: PyTorch, for `make bench BENCH=engine` and `BENCH=compile`
#   jax        build/peers/jax, 0.5 GB: JAX for the processor, for `make bench BENCH=engine` and `BENCH=compile`
#   onnxruntime  build/peers/onnxruntime, 0.2 GB: ONNX Runtime, for `make bench BENCH=compile`
#   pictures   build/peers/mtpy, 1.3 GB more, hence only on request: mtpy, for benchmarks/mtpy_pictures.py and `make bench BENCH=surveys`
#   --remove   removes all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Makes an empty environment, or goes on with one that was left half-way. A link whose target is gone is replaced: nothing can be installed through it.
prepare() {
  local path
  for path in build/peers "$1"; do
    if [ -L "$path" ] && [ ! -e "$path" ]; then
      echo "peers: $path is a link to $(readlink "$path"), which is not there; it is replaced" >&2
      rm "$path"
    fi
  done
  if ! python3 -m venv "$1"; then
    echo "peers: expected python3 -m venv to make $1, it failed; install python3-venv, or remove what lies there: scripts/peers.sh --remove" >&2
    exit 3
  fi
}

make_simpeg() {
  local environment=$PWD/build/peers/venv
  if "$environment/bin/python" -c "import simpeg; from pymatsolver import Pardiso" 2>/dev/null; then
    echo "peers: $environment is complete"
    return
  fi
  prepare "$environment"
  "$environment/bin/pip" install --quiet simpeg
  # Pardiso: pydiso is compiled against MKL, whose pkg-config files lie in the environment.
  if ! { "$environment/bin/pip" install --quiet mkl mkl-devel &&
         PKG_CONFIG_PATH="$environment/lib/pkgconfig" LD_LIBRARY_PATH="$environment/lib" "$environment/bin/pip" install --quiet pydiso; }; then
    echo "peers: pydiso could not be built; SimPEG will run with SciPy's SuperLU" >&2
  fi
  "$environment/bin/python" -c "import simpeg; print('peers: SimPEG', simpeg.__version__, 'is ready')"
}

# Of the engine: torch, jax or onnxruntime; what follows is installed beside it.
make_engine_peer() {
  local package=$1 environment=$PWD/build/peers/$1
  shift
  if "$environment/bin/python" -c "import $package" 2>/dev/null; then
    echo "peers: $environment is complete"
    return
  fi
  prepare "$environment"
  "$environment/bin/pip" install --quiet "$package" numpy "$@"
  "$environment/bin/python" -c "import $package; print('peers: $package', $package.__version__, 'is ready')"
}

make_mtpy() {
  local environment=$PWD/build/peers/mtpy
  if "$environment/bin/python" -c "import h5py, PIL; from mtpy.imaging import PlotResPhasePseudoSection" 2>/dev/null; then
    echo "peers: $environment is complete"
    return
  fi
  prepare "$environment"
  "$environment/bin/pip" install --quiet "mtpy-v2>=2.1"
  "$environment/bin/python" -c "import mtpy; print('peers: mtpy', mtpy.__version__, 'is ready')"
}

[ $# -le 1 ] || set -- --too-many
case ${1:-} in
  "") make_simpeg ;;
  torch) make_engine_peer torch ;;
  jax) make_engine_peer jax ;;
  onnxruntime) make_engine_peer onnxruntime onnx ;;
  pictures) make_mtpy ;;
  --remove) rm -rf build/peers ;;
  *) sed -n '3,10s/^# //p' "${BASH_SOURCE[0]}"; [ "$1" = "--help" ] && exit 0 || exit 2 ;;
esac
