#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/mtpy/bin/python benchmarks/equivalent_conductors.py SECTION.h5 …

What magnetotelluric data leave open in the sections of `mt_invert selftest vae-synthetic` (DIR/sections/*.h5): each conductor is replaced, column by column, by one of
5 ohm m, the middle of the prior, with the same conductance and centre, and everything else stays the truth. Prints the relative error of log10 resistivity in the
region of interest that this alone makes, and the medians by family. Needs h5py and numpy, as `scripts/peers.sh pictures` installs them.
"""
import pathlib
import statistics
import sys

import h5py
import numpy as np

REGION_ROWS, REGION_M = slice(27, 59), (3000.0, 7000.0)  # models/study/domain.hpp
CONDUCTOR_LOG10, PRIOR_LOG10 = 1.3, 0.7  # below the one a cell belongs to a conductor; ohm m
ABOVE_LOG10, BELOW_LOG10 = 2.2, 2.6  # of the formations, where a conductor reaches the region's edge


def equivalent(column, edges_m):
    """A column of log10 resistivity with its conductor replaced; interfaces in m."""
    conductor = np.flatnonzero(column < CONDUCTOR_LOG10)
    if conductor.size == 0:
        return column
    thickness, middle = np.diff(edges_m), 0.5 * (edges_m[:-1] + edges_m[1:])
    conductance = thickness[conductor] / 10.0 ** column[conductor]
    centre = np.average(middle[conductor], weights=conductance)
    half = 0.5 * conductance.sum() * 10.0**PRIOR_LOG10
    first, last = conductor[0], conductor[-1]
    above = column[max(0, first - 2)] if first > 0 else ABOVE_LOG10
    below = column[last + 2] if last + 2 < column.size else BELOW_LOG10
    around = slice(max(0, first - 1), last + 2)  # cells that an edge of the conductor cuts hold a mean
    result = column.copy()
    result[around] = np.where(middle[around] < centre, above, below)
    share = np.clip((np.minimum(centre + half, edges_m[1:]) - np.maximum(centre - half, edges_m[:-1])) / thickness, 0.0, 1.0)
    return share * PRIOR_LOG10 + (1.0 - share) * result


def error(path):
    with h5py.File(path) as file:
        y, z = file["grid/y_edges_m"][:], file["grid/z_edges_m"][:]
        section = file["truth/log10_resistivity"][:].reshape(z.size - 1, y.size - 1)
    middle = 0.5 * (y[:-1] + y[1:])
    truth = section[REGION_ROWS, (middle > REGION_M[0]) & (middle < REGION_M[1])]
    edges_m = z[REGION_ROWS.start : REGION_ROWS.stop + 1]
    replaced = np.apply_along_axis(equivalent, 0, truth, edges_m)
    return np.linalg.norm(replaced - truth) / np.linalg.norm(truth)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    families = {}
    for name in map(pathlib.Path, sys.argv[1:]):
        made = error(name)
        families.setdefault(name.stem.rpartition("_")[0] or name.stem, []).append(made)
        print(f"{name.stem:<16} {made:.4f}")
    for family, errors in families.items():
        print(f"{family}: median of {len(errors)}: {statistics.median(errors):.3f}")
