# SPDX-License-Identifier: Apache-2.0
"""Static shifts as unknowns: shifts put into synthetic data come back, and the section is nearer to the truth than without them."""
import csv
import math
import os

from support import Folder, check, expect, expect_error, expect_target, finish, run, synthetic

SHIFTS = {"s0": 0.25, "s1": -0.2, "s2": 0.0, "s3": 0.3, "s4": -0.3, "s5": 0.1, "s6": -0.15}  # decades, TE; TM has the opposite ones


MODEL = """[background]
resistivity_ohm_m = [100.0]

[[box]]
y_min_m = -900.0
y_max_m = 900.0
z_min_m = 500.0
z_max_m = 1400.0
resistivity_ohm_m = 10.0
"""


def shift_impedances(path):
    """Multiplies every impedance of a ModEM file by 10^(s/2) of its site and mode."""
    lines = []
    for line in open(path):
        words = line.split()
        if len(words) >= 10 and not line.startswith(("#", ">")):
            shift = SHIFTS[words[1]] * (1.0 if words[7] in ("TE", "ZXY") else -1.0)
            words[8:10] = [f"{float(w) * 10 ** (shift / 2):.9e}" for w in words[8:10]]
            line = " ".join(words) + "\n"
        lines.append(line)
    with open(path, "w") as file:
        file.writelines(lines)


def read(path):
    return list(csv.DictReader(open(path)))


def distance_from_truth(path):
    """Root mean square, in decades, over the cells of the section down to 2 km."""
    total = n = 0.0
    for row in read(path):
        y = (float(row["y_left_m"]) + float(row["y_right_m"])) / 2
        depth = float(row["depth_m"])
        if depth > 2000:
            continue
        truth = 10.0 if abs(y) < 900 and 500 < depth < 1400 else 100.0
        total += math.log10(float(row["resistivity_ohm_m"]) / truth) ** 2
        n += 1
    return math.sqrt(total / n)


with Folder() as folder:
    path = synthetic(folder, iterations=10)
    folder.write("model.toml", MODEL)
    expect(0, ["wrote"], "forward", "--model", folder / "model.toml", "--sites", folder / "sites.csv", "--periods",
           "0.001,0.003,0.01,0.03,0.1,0.3,1", "-o", folder / "data.dat")
    unshifted = run("invert", path, "--dry-run")
    check(unshifted.returncode == 0 and "the data have static shifts" not in unshifted.stdout, "data without shifts are not said to have any")
    shift_impedances(folder / "data.dat")
    expect(0, ["the data have static shifts", "static_shift.enabled"], "invert", path, "--dry-run")
    coarse = ["--set", "forward.iteration_accuracy=iteration", "--set", "forward.final_accuracy=iteration"]  # standard meshes of its rough section are large
    plain = run("invert", path, *coarse, "-o", folder / "plain")
    check(plain.returncode in (0, 10), f"the run without shifts ends (code {plain.returncode})")
    on = ["--set", "static_shift.enabled=true", "--set", "static_shift.sigma_decades=0.2"]
    expect_target(["static shifts: 14 unknowns", "static shifts, TE: mean", "static shifts, TM: mean"], path, *on, "-o", folder / "shifted")
    near, far = (distance_from_truth(folder / f"{name}/section.csv") for name in ("shifted", "plain"))
    check(near < 0.8 * far, f"with shifts the section is nearer to the truth: {near:.3f} against {far:.3f} decades")

    # The tipper feels no shift, and so tells body and shift apart.
    expect_target([], path, *on, "--set", "data.tipper=true", "-o", folder / "tipper")
    rows = read(folder / "tipper/static_shift.csv")
    check(len(rows) == 14, "one row per site and mode")
    expect(0, ["table static_shift", "14 rows"], "info", folder / "tipper/result.h5")
    errors = []
    for mode, sign in (("TE", 1.0), ("TM", -1.0)):
        pairs = [(float(r["shift_decades"]), sign * SHIFTS[r["site"]]) for r in rows if r["mode"] == mode]
        means = [sum(p[i] for p in pairs) / len(pairs) for i in (0, 1)]
        errors += [found - means[0] - (true - means[1]) for found, true in pairs]
    worst = max(abs(e) for e in errors)
    check(worst < 0.1, f"the shifts come back up to the mean of each mode within 0.1 decades (worst {worst:.3f})")

    # Stopped and resumed: the same shifts and the same section, to the last digit.
    expect(10, [], "invert", path, *on, "--set", "inversion.max_iterations=2", "--set", "inversion.target_rms=0.2", "-o", folder / "parts")
    os.remove(folder / "parts/result.h5")
    expect(10, [], "invert", path, *on, "--set", "inversion.max_iterations=3", "--set", "inversion.target_rms=0.2", "-o", folder / "parts", "--resume")
    expect(10, [], "invert", path, *on, "--set", "inversion.max_iterations=3", "--set", "inversion.target_rms=0.2", "-o", folder / "whole")
    for name in ("static_shift.csv", "section.csv"):
        check(open(folder / f"parts/{name}").read() == open(folder / f"whole/{name}").read(), f"resumed: the same {name}")

    expect(0, ["report.html"], "report", folder / "shifted")
    check("Static shifts" in open(folder / "shifted/report.html").read(), "the report has a table of the shifts")
    expect_error(2, "out_of_range", ["sigma_decades", "0"], "invert", path, *on, "--set", "static_shift.sigma_decades=0", "--dry-run")
    expect_error(2, "not_chosen", ["enabled = true"], "invert", path, "--set", "static_shift.sigma_decades=0.2", "--dry-run")
finish()
