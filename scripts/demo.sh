#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The demo: a resistivity section of southern Africa from measured data (SAMTEX, KIM–ETO line). Results in out/demo.
#
#   scripts/demo.sh [CONFIG] [OUT]        MT_INVERT names the program (default: the release build)
set -eu
cd "$(dirname "$0")/.."
config=${1:-examples/kim_eto/kim_eto.toml}
out=${2:-out/demo}
program=${MT_INVERT:-build/release/bin/mt_invert}
if [ ! -x "$program" ]; then
  echo "$program is not there; build it with: make" >&2
  exit 3
fi

# A former demo in this folder is replaced; anything else in it is left alone (mt_invert then says so).
if [ -e "$out/result.h5" ] || [ -e "$out/checkpoint.h5" ]; then
  rm -rf "$out"
fi

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 # ranks, not threads, share the work
launch=()
if [ "$(env -u OMP_NUM_THREADS nproc)" -ge 2 ] && command -v mpirun >/dev/null; then # plain nproc answers OMP_NUM_THREADS
  launch=(mpirun -n 2 --bind-to none)
  if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
fi

# Code 10, target rms not reached, is a result as well: field data hold more than a 2-D section can explain.
code=0
"${launch[@]}" "$program" invert "$config" -o "$out" || code=$?
if [ "$code" -ne 0 ] && [ "$code" -ne 10 ]; then
  exit "$code"
fi

cat <<TEXT

report    $out/report.html (open it in a browser)
ParaView  $out/vtk/section.vtu, $out/vtk/section_world.vtu, $out/vtk/stations.vtp, $out/vtk/model.pvd
HDF5      $out/result.h5
TEXT
