#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: dsm1.py FOLDER OUT [--every 2] [--floor 0.05]

Writes the data of the Dublin Secret Model 1 as a ModEM file, OUT/dsm1.dat, and a configuration beside it, OUT/dsm1.toml.
FOLDER holds the hundred tables of the MT 3D Inversion Workshop (Dublin 2008), A01.asc to J10.asc, as published: periods and
impedances in ohm for exp(+i omega t), x to the north and y to the east. They are free of noise; errors are a share of
sqrt(|Zxy Zyx|). The tables are not bundled, as they come without a licence.
"""
import argparse
import cmath
import pathlib
import re

CONFIGURATION = """[run]
title = "Dublin Secret Model 1"

[data]
modem_file = "dsm1.dat"
kind = "full_impedance"
phase_min_deg = -180.0
phase_max_deg = 180.0

[grid]
n_columns = 30
n_rows = 30

[start]
resistivity_ohm_m = 100.0

[inversion]
target_rms = 1.05
max_iterations = 10

[forward]
certificate = "none"
final_accuracy = "iteration"
"""
NAMES = ("ZXX", "ZXY", "ZYX", "ZYY")


def read_table(path):
    """(x in m, y in m, {period in s: four impedances in ohm}) of a table."""
    lines = path.read_text().splitlines()
    place = re.search(r"easting:\s*(\S+)\s*m\s*northing:\s*(\S+)\s*m", lines[0])
    if place is None:
        raise SystemExit(f"{path}:1: expected 'easting: … m northing: … m', got {lines[0]!r}")
    values = {}
    for number, line in enumerate(lines[2:], 3):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 9:
            raise SystemExit(f"{path}:{number}: expected a period and eight numbers, got {len(fields)} fields")
        period, *parts = map(float, fields)
        values[period] = [complex(re_, im) for re_, im in zip(parts[::2], parts[1::2])]
    return float(place[2]), float(place[1]), values


def rows(site, table, periods, floor):
    """The lines of one site in a ModEM file."""
    x, y, values = table
    for period in periods:
        impedances = values[period]
        error = floor * abs(cmath.sqrt(impedances[1] * impedances[2]))
        for name, z in zip(NAMES, impedances):
            yield f"{period:.6e} {site} 0.0 0.0 {x:.1f} {y:.1f} 0.0 {name} {z.real:.6e} {z.imag:.6e} {error:.6e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=2, help="one of so many periods is taken")
    parser.add_argument("--floor", type=float, default=0.05, help="error over sqrt(|Zxy Zyx|)")
    options = parser.parse_args()
    tables = {path.stem: read_table(path) for path in sorted(options.folder.glob("[A-J][0-9][0-9].asc"))}
    if not tables:
        raise SystemExit(f"expected tables A01.asc to J10.asc in {options.folder}, found none")
    periods = sorted(next(iter(tables.values()))[2])[::options.every]
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "dsm1.dat", "w") as file:
        file.write("# Dublin Secret Model 1\n# Period(s) Code GG_Lat GG_Lon X(m) Y(m) Z(m) Component Real Imag Error\n")
        file.write("> Full_Impedance\n> exp(+i\\omega t)\n> Ohm\n> 0.00\n> 0.000 0.000\n")
        file.write(f"> {len(periods)} {len(tables)}\n")
        for site, table in tables.items():
            file.writelines(row + "\n" for row in rows(site, table, periods, options.floor))
    (options.out / "dsm1.toml").write_text(CONFIGURATION)


if __name__ == "__main__":
    main()
