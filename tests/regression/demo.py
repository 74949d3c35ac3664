# SPDX-License-Identifier: Apache-2.0
"""The demo: misfit, the conductors and the resistive block of the published sections, and the correlation of the TE section with the published one.

Usage: demo.py PROGRAM SOURCE [te]    inverts kim_eto.toml (or kim_eto_te.toml) and judges the section."""
import csv
import math
import os
import re
import subprocess
import sys

from support import PROGRAM, SOURCE, Folder, check, finish

DATA = os.path.join(SOURCE, "data", "samtex")


def read(path):
    return list(csv.DictReader(open(path)))


def cells_of(path):
    """(y centre km, top km, bottom km, log10 resistivity) of every cell."""
    return [((float(r["y_left_m"]) + float(r["y_right_m"])) / 2e3, float(r["z_top_m"]) / 1e3, float(r["z_bottom_m"]) / 1e3,
             math.log10(float(r["resistivity_ohm_m"]))) for r in read(path)]


def stations(column):
    """(coordinate in the section, running sum) of the stations, km."""
    return [(float(r[column]), float(r["distance_along_line_km"])) for r in read(os.path.join(DATA, "stations_kim_eto.csv"))]


def running_sum_at(y, places):
    return min(places, key=lambda place: abs(place[0] - y))[1]


def block_mean(cells, places, low, high):
    """Mean log10 resistivity at 5–20 km depth of the columns whose nearest station lies at low … high km of running sum, weighted by thickness."""
    total = weight = 0.0
    for y, top, bottom, value in cells:
        thickness = max(0.0, min(bottom, 20.0) - max(top, 5.0))
        if thickness > 0.0 and low <= running_sum_at(y, places) <= high:
            total += thickness * value
            weight += thickness
    return total / weight


def correlation(cells):
    """Pearson correlation of log10 resistivity with the digitized published conventional section, at its points."""
    pairs = []
    for r in read(os.path.join(DATA, "reference_fig4_digitised.csv")):
        if not r["log10_rho_published_conventional"]:
            continue
        x, depth = float(r["x_km"]), float(r["depth_km"])
        column = [c for c in cells if c[1] <= depth < c[2]]
        if column:
            pairs.append((float(r["log10_rho_published_conventional"]), min(column, key=lambda c: abs(c[0] - x))[3]))
    n = len(pairs)
    mx, my = (sum(p[i] for p in pairs) / n for i in (0, 1))
    sxy = sum((a - mx) * (b - my) for a, b in pairs)
    return sxy / math.sqrt(sum((a - mx) ** 2 for a, _ in pairs) * sum((b - my) ** 2 for _, b in pairs)), n


def invert(config, out):
    environment = {**os.environ, "MT_INVERT": PROGRAM}
    made = subprocess.run(["bash", os.path.join(SOURCE, "scripts", "demo.sh"), config, out], env=environment, capture_output=True, text=True, timeout=500)
    print(made.stdout[-4000:], made.stderr[-2000:])
    check(made.returncode == 0, f"the demo ends with code 0, got {made.returncode}")
    return made.stdout + made.stderr


with Folder() as folder:
    te_only = sys.argv[3:] == ["te"]
    said = invert(f"examples/kim_eto/kim_eto{'_te' if te_only else ''}.toml", folder / "demo")
    found = re.search(r"rms ([0-9.]+) on the iterations' meshes, ([0-9.]+) at the final accuracy; the responses differ by ([0-9.]+)", said)
    check(found is not None, "the rms is stated for both meshes")
    if found:
        iterations, final = float(found[1]), float(found[2])
        start = next(float(row["rms"]) for row in read(folder / "demo/iterations.csv"))
        print(f"rms: start {start:.2f}, iterations {iterations:.3f}, final {final:.3f}")
        check(final < 0.5 * start, "the rms falls to less than half of the start model's")
        check(abs(final / iterations - 1.0) < 0.02, "the meshes of the iterations are good enough: the rms at the final accuracy is within 2 %")
        check(float(found[3]) < 0.3, f"responses on the iterations' meshes are within 0.3 (aim 0.2) of the data's errors, got {found[3]}")
    for name in ("result.h5", "report.html", "vtk/section.vtu", "vtk/section_world.vtu", "vtk/stations.vtp", "vtk/model.pvd", "section.csv"):
        check(os.path.exists(folder / f"demo/{name}"), f"{name} is written")
    cells = cells_of(folder / "demo/section.csv")
    check(len(cells) == 6400, "100 × 64 cells")
    if te_only:
        r, n = correlation(cells)
        print(f"correlation with the published conventional section: {r:.3f} at {n} points")
        check(r >= 0.6, "TE: correlation with the published conventional section of at least 0.6")
    places = stations("distance_along_line_km" if te_only else "projected_distance_km")
    first, second, block = (block_mean(cells, places, *span) for span in ((90, 200), (300, 420), (440, 550)))
    print(f"mean log10 resistivity at 5–20 km: 90–200 km {first:.2f}, 300–420 km {second:.2f}, 440–550 km {block:.2f}")
    check(first <= block - 1.0, "the conductor at 90–200 km is at least one decade below the block")
    check(second <= block - 1.0, "the conductor at 300–420 km is at least one decade below the block")
finish()
