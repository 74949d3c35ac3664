#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The demo: resistivity sections of southern Africa from measured data (SAMTEX, KIM–ETO line). Results in out/demo, out/demo_te and out/demo_te_learned.
#
#   scripts/demo.sh                       TE and TM; then TE alone, without and with a learned prior, beside the published sections
#   scripts/demo.sh CONFIG [OUT [OPTION …]]   this configuration alone (OUT: default out/demo), with options of
#                                         `mt_invert invert` such as --dim 3
#
# MT_INVERT names the program (default: the release build).
set -eu
cd "$(dirname "$0")/.."
program=${MT_INVERT:-build/release/bin/mt_invert}
if [ ! -x "$program" ]; then
  echo "$program is not there; build it with: make" >&2
  exit 3
fi

# invert CONFIG OUT [OPTION …], on one rank and all processors (OMP_NUM_THREADS limits them). A former demo in this folder
# is replaced; anything else in it is left alone (mt_invert then says so). Code 10, target rms not reached, is a result as well: field data hold more than a 2-D section can explain.
invert() {
  if [ -e "$2/result.h5" ] || [ -e "$2/checkpoint.h5" ]; then
    rm -rf "$2"
  fi
  code=0
  "$program" invert "$1" -o "$2" "${@:3}" || code=$?
  if [ "$code" -ne 0 ] && [ "$code" -ne 10 ]; then
    exit "$code"
  fi
}

out=${2:-out/demo}
invert "${1:-examples/kim_eto/kim_eto.toml}" "$out" "${@:3}"

if [ $# -eq 0 ]; then
  invert examples/kim_eto/kim_eto_te.toml out/demo_te
  invert examples/kim_eto/kim_eto_learned.toml out/demo_te_learned
  echo
  echo "TE alone, without and with the learned prior, and the published sections (m1, m2: 25 to 80 km deep below the two conductors; m3, m4: the conductors):"
  "$program" compare out/demo_te out/demo_te_learned --reference data/samtex/reference_fig4_digitised.csv --range -1,5 --depth-km 84 -o out/demo/te_sections.png \
    --block-km 90,200,25,80 --block-km 300,420,25,80 --block-km 90,200,5,20 --block-km 300,420,5,20
fi

cat <<TEXT

report    $out/report.html (open it in a browser)
ParaView  $(find "$out/vtk" -type f ! -name '*_[0-9]*' | sort | paste -sd' ')
HDF5      $out/result.h5
TEXT
if [ $# -eq 0 ]; then
  echo "sections  out/demo/te_sections.png: TE without and with a learned prior above the published pair (reports in out/demo_te, out/demo_te_learned)"
fi
if [ -z "${MT_INVERT:-}" ]; then
  echo "program   $PWD/$program; to call it as mt_invert: export PATH=\"$PWD/build/release/bin:\$PATH\" (next: docs/getting-started.md)"
fi
