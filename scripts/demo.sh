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

# One rank on all processors (OMP_NUM_THREADS limits them). Code 10, target rms not reached, is a result as well: field data hold more than a 2-D section can explain.
code=0
"$program" invert "$config" -o "$out" || code=$?
if [ "$code" -ne 0 ] && [ "$code" -ne 10 ]; then
  exit "$code"
fi

cat <<TEXT

report    $out/report.html (open it in a browser)
ParaView  $out/vtk/section.vtu, $out/vtk/section_world.vtu, $out/vtk/stations.vtp, $out/vtk/model.pvd
HDF5      $out/result.h5
TEXT
