#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/coverage.sh [--no-run] [FOLDER…]
# Builds with the coverage preset, runs the tests and prints, per file, how many lines they run (with gcovr where it is installed, else with gcov).
# --no-run: only print what the last runs counted. FOLDER: only these (default: engine physics inversion io apps).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
run=true
if [ "${1:-}" = "--no-run" ]; then run=false; shift; fi
if [ "${1:-}" = "--help" ]; then sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}"; exit 0; fi
folders=("$@")
[ $# -gt 0 ] || folders=(engine physics inversion io apps)

if $run; then
  cmake --preset coverage
  cmake --build --preset coverage
  find build/coverage -name '*.gcda' -delete
  ctest --preset coverage -j "${CTEST_JOBS:-2}"
fi

if command -v gcovr >/dev/null; then
  filters=()
  for folder in "${folders[@]}"; do filters+=(--filter "$folder/"); done
  exec gcovr --root . "${filters[@]}" --gcov-ignore-errors=no_working_dir_found build/coverage
fi
python3 - "${folders[@]}" <<'PY'
import collections, gzip, json, pathlib, subprocess, sys, tempfile
root = pathlib.Path.cwd()
lines = collections.defaultdict(dict)
counts = [str(path) for path in (root / "build/coverage").rglob("*.gcda")]
if not counts:
    sys.exit("coverage: nothing was counted yet; run scripts/coverage.sh without --no-run")
with tempfile.TemporaryDirectory() as folder:
    for first in range(0, len(counts), 50):
        subprocess.run(["gcov", "--json-format", "--hash-filenames", *counts[first:first + 50]], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for path in pathlib.Path(folder).glob("*.gcov.json.gz"):
        content = json.load(gzip.open(path))
        for file in content["files"]:
            name = (pathlib.Path(content["current_working_directory"]) / file["file"]).resolve()
            if name.is_relative_to(root) and str(name.relative_to(root)).startswith(tuple(f + "/" for f in sys.argv[1:])):
                for line in file["lines"]:
                    of_file = lines[str(name.relative_to(root))]
                    of_file[line["line_number"]] = of_file.get(line["line_number"], 0) + line["count"]
print(f"{'file':<60} {'lines':>6} {'run':>6} {'share':>6}")
total = ran = 0
for name, counted in sorted(lines.items()):
    here = sum(count > 0 for count in counted.values())
    total, ran = total + len(counted), ran + here
    print(f"{name:<60} {len(counted):>6} {here:>6} {100 * here / len(counted):>5.0f}%")
print(f"{'all':<60} {total:>6} {ran:>6} {100 * ran / max(1, total):>5.0f}%")
PY
