#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: block2_accuracy.py [--dimension 2|3] [--program build/release/bin/mt_invert]

How far responses of BLOCK2's true model are from those of the finest meshes: ours on coarser ones, and ModEM's as shipped
(d0_JT.dat and d0.dat of data/modem_block2_2d and _3d). Prints quantiles, the largest with its impedance, site and period,
and the rms in errors of 3 % of |Z|, in three dimensions 5 %. The fine meshes of the section take about seven minutes on one
core. Zxy and Zyx of the volume are compared with default meshes, which take five.
"""
import argparse
import cmath
import csv
import math
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
MU0 = 4e-7 * math.pi


class Case:
    """The files of a dimension, its impedances by their names in both, our accuracies up to the finest, the data's error."""

    def __init__(self, dimension):
        is_section = dimension == 2
        folder = SOURCE / "data" / f"modem_block2_{dimension}d"
        self.model = folder / ("m0.rho" if is_section else "m0.ws")
        self.data = folder / ("d0_JT.dat" if is_section else "d0.dat")
        self.impedances = ("TE", "TM") if is_section else ("ZXY", "ZYX")
        self.accuracies = ("iteration", "default", "fine") if is_section else ("iteration", "default")
        self.relative_error = 0.03 if is_section else 0.05

    def rows(self, row):
        """{(impedance, site, period): Z in ohm} of a row of our file."""
        site, period_s = row["site"], row["period_s"]
        if "mode" in row:
            return {key(row["mode"], site, period_s): complex(float(row["Z_re_ohm"]), float(row["Z_im_ohm"]))}
        values = {}
        for name in self.impedances:
            part = name.capitalize()  # "Zxy"
            values[key(name, site, period_s)] = complex(float(row[f"{part}_re_ohm"]), float(row[f"{part}_im_ohm"]))
        return values


def key(impedance, site, period_s):
    return impedance, site, f"{float(period_s):.4g}"


def ours(program, case, accuracy, folder):
    """{(impedance, site, period): Z in ohm} of a forward run."""
    out = folder / f"{accuracy}.csv"
    command = [program, "forward", "--model", case.model, "--sites", case.data, "--accuracy", accuracy, "-o", out]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    values = {}
    with open(out) as file:
        for row in csv.DictReader(file):
            values |= case.rows(row)
    return values


def modem(case):
    """The same from ModEM's file: (V/m)/T and exp(-iωt), so conjugate and times μ0; the sign of TM is the file's own."""
    values = {}
    for line in open(case.data):
        words = line.split()
        if len(words) == 11 and words[7] in case.impedances:
            values[key(words[7], words[1], words[0])] = MU0 * complex(float(words[8]), -float(words[9]))
    return values


def report(case, name, values, reference):
    if set(values) != set(reference):
        raise SystemExit(f"block2_accuracy.py: {name} has {len(values)} impedances, the finest meshes {len(reference)}")
    ratios = {k: values[k] / z for k, z in reference.items()}
    ratios = {k: r if r.real > 0.0 else -r for k, r in ratios.items()}
    deviations = {k: 100.0 * abs(abs(r) ** 2 - 1.0) for k, r in ratios.items()}
    rho, largest = sorted(deviations.values()), max(deviations, key=deviations.get)
    phase = sorted(abs(math.degrees(cmath.phase(r))) for r in ratios.values())
    squares = sum((abs(r - 1.0) / case.relative_error) ** 2 for r in ratios.values())
    n = len(ratios)
    print(f"{name:<20} rho_a, %: median {rho[n // 2]:.3f}, 95 % {rho[int(0.95 * n)]:.2f}, "
          f"largest {rho[-1]:.2f} at {' '.join(largest)} s; "
          f"phase, deg: median {phase[n // 2]:.3f}, 95 % {phase[int(0.95 * n)]:.2f}, largest {phase[-1]:.2f}; "
          f"rms in errors of the data: {math.sqrt(squares / (2.0 * n)):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimension", type=int, choices=(2, 3), default=2)
    parser.add_argument("--program", type=pathlib.Path, default=SOURCE / "build" / "release" / "bin" / "mt_invert")
    arguments = parser.parse_args()
    program, case = arguments.program.resolve(), Case(arguments.dimension)
    with tempfile.TemporaryDirectory() as name:
        runs = {accuracy: ours(program, case, accuracy, pathlib.Path(name)) for accuracy in case.accuracies}
        *others, finest = case.accuracies
        for accuracy in others:
            report(case, f"ours, {accuracy}", runs[accuracy], runs[finest])
        report(case, "ModEM, as shipped", modem(case), runs[finest])


if __name__ == "__main__":
    main()
