# SPDX-License-Identifier: Apache-2.0
"""Volumes under a relief and a sea: forward and inversion, sites on the ground and the floor, ranks, files, continuation, refusals."""
import csv
import math
import os

from support import Folder, check, expect, finish, run

LAUNCHER = ("mpirun", "--oversubscribe", "-n", "2")
POINTS = [-4000, -2000, -1400, -900, -500, -200, 0, 200, 500, 900, 1400, 2000, 4000]


def hill_m(x, y):
    """Returns z of a round hill, 400 m high with slopes up to 25 degrees."""
    return -400.0 * math.exp(-((x**2 + y**2) / 900.0**2))


def rms_of(folder):
    with open(os.path.join(folder, "iterations.csv"), encoding="utf-8") as file:
        return [float(row["rms"]) for row in csv.DictReader(line for line in file if not line.startswith("#"))]


with Folder() as folder:
    rows = ", ".join("[" + ", ".join(f"{hill_m(x, y):.3f}" for y in POINTS) + "]" for x in POINTS)
    model = folder.write("hill.toml", f"""dimension = 3
[background]
thickness_m = [1500.0]
resistivity_ohm_m = [100.0, 30.0]
[[box]]
x_min_m = -700.0
x_max_m = 300.0
y_min_m = -300.0
y_max_m = 900.0
z_min_m = 200.0
z_max_m = 700.0
resistivity_ohm_m = 10.0
[surface]
x_m = {POINTS}
y_m = {POINTS}
z_m = [{rows}]
""")
    surface = folder.write("surface.csv", "x_m,y_m,z_m\n" + "".join(f"{x},{y},{hill_m(x, y):.3f}\n" for y in reversed(POINTS) for x in POINTS))
    places = [(x, y) for x in (-700, 50, 800) for y in (-750, 0, 700)]
    sites = folder.write("sites.csv", "site,x_m,y_m\n" + "".join(f"s{i:02},{x},{y}\n" for i, (x, y) in enumerate(places)))
    expect(0, ["x_m,y_m,z_m", "profile.surface_file"], "info", surface)

    # Forward on the hill: ranks agree, the relief is felt, the certificate knows it
    data = folder / "hill.dat"
    coarse = ("--accuracy", "iteration")
    expect(0, ["wrote"], "forward", "--model", model, "--sites", sites, "--periods", "0.01,0.1", *coarse, "-o", data)
    expect(0, ["wrote"], "forward", "--model", model, "--sites", sites, "--periods", "0.01,0.1", *coarse, "-o", folder / "shared.dat", launcher=LAUNCHER)
    check(open(data).read().splitlines()[:40] == open(folder / "shared.dat").read().splitlines()[:40], "two ranks write the same data")
    expect(0, ["half-space", "layered earth, levelled", "twice as far"], "forward", "--model", model, "--sites", sites, "--periods", "0.1", *coarse, "--mesh-report")

    # Inversions of these data with the relief and without it
    def config(name, profile, certificate="none"):
        return folder.write(name, f"""[data]
modem_file = "hill.dat"
kind = "full_impedance"
tipper = true
[data.floors]
impedance_relative = 0.03
tipper_absolute = 0.02
[profile]
{profile}
[grid]
n_columns = 6
n_rows = 6
n_layers = 8
[inversion]
max_iterations = 2
target_rms = 0.2
[forward]
final_accuracy = "iteration"
certificate = "{certificate}"
""")

    relief = config("relief.toml", 'elevation = "file"\nsurface_file = "surface.csv"', "final")
    flat = config("flat.toml", "drape = true")
    expect(0, ["unknowns:"], "invert", relief, "--dim", "3", "--dry-run")
    rms = {}
    for name, path in (("relief", relief), ("flat", flat)):
        result = run("invert", path, "--dim", "3", "-o", folder / name, timeout=300)
        check(result.returncode in (0, 10), f"the inversion {name} ends, code {result.returncode}: {(result.stdout + result.stderr)[-800:]}")
        rms[name] = rms_of(folder / name)
    print("rms with relief", rms["relief"], "without", rms["flat"])
    check(rms["relief"][-1] < 0.75 * rms["flat"][-1], f"the relief lowers the misfit: {rms['relief'][-1]} against {rms['flat'][-1]}")
    result = run("invert", relief, "--dim", "3", "-o", folder / "two", launcher=LAUNCHER, timeout=300)
    check(result.returncode in (0, 10), "two ranks invert")
    check(abs(rms_of(folder / "two")[-1] / rms["relief"][-1] - 1) < 0.01, "two ranks end at the same rms")

    # The files of the run: the surface in the model, the cells of ParaView at its z
    out = folder / "relief"
    for name in ("result.h5", "report.html", "vtk/model.vtu", "pictures/slices_horizontal.png", "pictures/slices_vertical.png"):
        check(os.path.exists(os.path.join(out, name)), f"the run wrote {name}")
    expect(0, ["surface at z = -400 to"], "info", os.path.join(out, "result.h5"))
    expect(0, ["wrote"], "forward", "--model", os.path.join(out, "result.h5"), "--sites", sites, "--periods", "0.1", *coarse, "-o", folder / "of_result.csv")

    # A run that was cut short goes on and ends where the whole one does
    part = folder / "part"
    result = run("invert", config("part.toml", 'elevation = "file"\nsurface_file = "surface.csv"', "final"), "--dim", "3", "-o", part, "--set", "inversion.max_iterations=1", timeout=300)
    check(result.returncode in (0, 10), "a short run ends")
    result = run("invert", relief, "--dim", "3", "-o", part, "--resume", timeout=300)
    check(result.returncode in (0, 10), f"a run on a relief goes on: {(result.stdout + result.stderr)[-500:]}")
    check(abs(rms_of(part)[-1] / rms["relief"][-1] - 1) < 1e-3, "and ends at the same rms")

    # Refusals
    level = config("level.toml", "")
    result = run("invert", level, "--dim", "3", "-o", folder / "no")
    said = result.stdout + result.stderr
    check(result.returncode != 0 and "m above)" in said and "profile.drape" in said, f"sites above a level ground are named: {said[-500:]}")
    result = run("invert", level, "--dim", "3", "-o", folder / "no", "--set", 'profile.elevation="stations"')
    check(result.returncode != 0 and 'use "flat_mean" or "file"' in result.stdout + result.stderr, "stations on a map make no surface")
    folder.write("ragged.csv", "x_m,y_m,z_m\n0,0,0\n0,1,0\n1,0,0\n")
    result = run("invert", relief, "--dim", "3", "-o", folder / "no", "--set", 'profile.surface_file="ragged.csv"')
    check(result.returncode != 0 and "1 of 4 points are absent" in result.stdout + result.stderr, "a gap in a map of the surface is named")

    # A sea: forward and inversion at sites on its floor and on land; water is no unknown
    coast = folder.write("coast.csv", "x_m,y_m,z_m\n" + "".join(f"{x},{y},{z}\n" for x in (-5000, 5000) for y, z in ((-3000, -100), (-500, -50), (0, 0), (1500, 300), (4000, 300))))
    marine = folder.write("marine.toml", """dimension = 3
[background]
resistivity_ohm_m = [10.0]
[[box]]
x_min_m = -800.0
x_max_m = 800.0
y_min_m = 1200.0
y_max_m = 2600.0
z_min_m = 400.0
z_max_m = 1200.0
resistivity_ohm_m = 100.0
[surface]
points = [[-3000.0, -100.0], [-500.0, -50.0], [0.0, 0.0], [1500.0, 300.0], [4000.0, 300.0]]
[sea]
resistivity_ohm_m = 0.3
""")
    seafloor = folder.write("seafloor.csv", "site,x_m,y_m\n" + "".join(f"m{i},{x},{y}\n" for i, (x, y) in enumerate((x, y) for x in (-600, 600) for y in (-900, 1900))))
    result = expect(0, ["rho_xy_ohm_m"], "forward", "--model", marine, "--sites", seafloor, "--periods", "3", *coarse)
    expect(0, ["wrote"], "forward", "--model", marine, "--sites", seafloor, "--periods", "3", *coarse, "-o", folder / "marine.dat")
    result = run("forward", "--model", marine, "--sites", folder.write("column.csv", "site,x_m,y_m,z_m\nbuoy,0,2000,100\n"), "--periods", "3")
    check(result.returncode != 0 and "buoy (200.0 m above)" in result.stdout + result.stderr, "a site in the water is named")

    def marine_config(name, sea):
        text = open(config(name, 'elevation = "file"\nsurface_file = "coast.csv"')).read().replace("hill.dat", "marine.dat").replace("max_iterations = 2", "max_iterations = 1")
        return folder.write(name, text + "[start]\nresistivity_ohm_m = 10.0\n" + sea)

    sea = marine_config("marine_run.toml", "[sea]\nresistivity_ohm_m = 0.3\n")
    for name, path in (("wet", sea), ("dry", marine_config("dry_run.toml", ""))):
        result = run("invert", path, "--dim", "3", "-o", folder / name, timeout=300)
        check(result.returncode in (0, 10), f"the run {name} ends: {(result.stdout + result.stderr)[-500:]}")
        rms[name] = rms_of(folder / name)
    print("rms with the sea", rms["wet"], "without", rms["dry"])
    check(rms["wet"][0] < 0.5 * rms["dry"][0], "without its sea the start model fits worse")
    check(b'"sea"' in open(os.path.join(folder / "wet", "vtk", "model.vtu"), "rb").read(), "ParaView has the water")
    expect(2, ["resistivity"], "invert", marine_config("brackish.toml", "[sea]\nlevel_m = 0.0\n"), "--dim", "3", "-o", folder / "no")
finish()
