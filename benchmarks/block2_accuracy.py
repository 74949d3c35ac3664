#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: block2_accuracy.py [--program build/release/bin/mt_invert]

How far responses of BLOCK2's true model are from those of fine meshes: ours on the meshes of iterations and on default meshes, and ModEM's as shipped
(data/modem_block2_2d/d0_JT.dat). Prints quantiles and the rms in errors of 3 % of |Z|. The fine meshes take about seven minutes on one core.
"""
import argparse
import cmath
import csv
import math
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = SOURCE / "data" / "modem_block2_2d"
MU0 = 4e-7 * math.pi
RELATIVE_ERROR = 0.03


def key(mode, site, period_s):
    return mode, site, f"{period_s:.4g}"


def ours(program, accuracy, folder):
    """{(mode, site, period): Z in ohm} of a forward run."""
    out = folder / f"{accuracy}.csv"
    subprocess.run([program, "forward", "--model", DATA / "m0.rho", "--sites", DATA / "d0_JT.dat", "--accuracy", accuracy, "-o", out], check=True, stdout=subprocess.DEVNULL)
    with open(out) as file:
        return {key(r["mode"], r["site"], float(r["period_s"])): complex(float(r["Z_re_ohm"]), float(r["Z_im_ohm"])) for r in csv.DictReader(file)}


def modem():
    """The same from ModEM's file: (V/m)/T and exp(-iωt), so conjugate and times μ0; the sign of TM is the file's own."""
    values = {}
    for line in open(DATA / "d0_JT.dat"):
        words = line.split()
        if len(words) == 11 and words[7] in ("TE", "TM"):
            values[key(words[7], words[1], float(words[0]))] = MU0 * complex(float(words[8]), -float(words[9]))
    return values


def report(name, values, reference):
    if set(values) != set(reference):
        raise SystemExit(f"block2_accuracy.py: {name} has {len(values)} impedances, the fine meshes {len(reference)}")
    ratios = [values[k] / z for k, z in reference.items()]
    ratios = [r if r.real > 0.0 else -r for r in ratios]
    rho = sorted(100.0 * abs(abs(r) ** 2 - 1.0) for r in ratios)
    phase = sorted(abs(math.degrees(cmath.phase(r))) for r in ratios)
    errors = math.sqrt(sum((abs(r - 1.0) / RELATIVE_ERROR) ** 2 for r in ratios) / (2.0 * len(ratios)))
    n = len(ratios)
    print(f"{name:<20} rho_a, %: median {rho[n // 2]:.3f}, 95 % {rho[int(0.95 * n)]:.2f}, largest {rho[-1]:.2f}; phase, deg: median {phase[n // 2]:.3f}, "
          f"95 % {phase[int(0.95 * n)]:.2f}, largest {phase[-1]:.2f}; rms in errors of the data: {errors:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=SOURCE / "build" / "release" / "bin" / "mt_invert")
    program = parser.parse_args().program.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fine = ours(program, "fine", folder)
        report("ours, iteration", ours(program, "iteration", folder), fine)
        report("ours, default", ours(program, "default", folder), fine)
        report("ModEM, as shipped", modem(), fine)


if __name__ == "__main__":
    main()
