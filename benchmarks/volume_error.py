# SPDX-License-Identifier: Apache-2.0
"""Synthetic volumes: noise on ModEM data, and the distance of an inverted model from the boxes that the data were made of.

    python3 benchmarks/volume_error.py noise data.dat noisy.dat --relative 0.03 --seed 1
    python3 benchmarks/volume_error.py error model.toml out/run/modem/model.rho --within -2000 2000 -2000 2000 60 2000
"""
import argparse
import bisect
import math
import random
import tomllib


def add_noise(source, target, relative, seed):
    """Adds normal noise to impedances: of each real and imaginary part `relative` times the root of |Zxy Zyx| at its site and period."""
    lines = open(source).read().splitlines()
    rows = [(k, line.split()) for k, line in enumerate(lines) if line[:1] not in "#>" and line.strip()]
    size = {}
    for _, words in rows:
        if words[7] in ("ZXY", "ZYX"):
            size.setdefault((words[0], words[1]), []).append(math.hypot(float(words[8]), float(words[9])))
    numbers = random.Random(seed)
    for k, words in rows:
        if not words[7].startswith("Z"):
            continue
        sigma = relative * math.prod(size[words[0], words[1]]) ** 0.5
        noisy = [float(word) + numbers.gauss(0.0, sigma) for word in words[8:10]]
        lines[k] = " ".join(words[:8] + [f"{value:.8e}" for value in noisy + [sigma]])
    with open(target, "w") as file:
        file.write("\n".join(lines) + "\n")


def read_modem(path):
    """Returns the edges along x, y and z and a function (ix, iy, iz) → log10 of ohm m."""
    words = " ".join(line for line in open(path).read().splitlines() if not line.startswith("#")).split()
    nx, ny, nz = map(int, words[:3])
    scale = words[4].upper()
    numbers = [float(word) for word in words[5:]]
    widths = [numbers[:nx], numbers[nx:nx + ny], numbers[nx + ny:nx + ny + nz]]
    values = numbers[nx + ny + nz:nx + ny + nz + nx * ny * nz]
    origin = numbers[nx + ny + nz + nx * ny * nz:][:3]
    edges = []
    for first, sizes in zip(origin, widths):
        edges.append([first])
        for size in sizes:
            edges[-1].append(edges[-1][-1] + size)
    to_log10 = {"LOGE": lambda v: v / math.log(10), "LOG10": lambda v: v, "LINEAR": math.log10}[scale]
    return edges, lambda ix, iy, iz: to_log10(values[(iz * ny + iy) * nx + nx - 1 - ix])  # rows run from north to south


def truth_of(path):
    """Returns a function (x, y, z) → log10 of ohm m of a model with one background and boxes, or of a ModEM file."""
    if not str(path).endswith(".toml"):
        edges, value = read_modem(path)
        return lambda *point: value(*(bisect.bisect_right(lines, p) - 1 for lines, p in zip(edges, point)))
    model = tomllib.load(open(path, "rb"))
    boxes = model.get("box", [])

    def at(*point):
        value = model["background"]["resistivity_ohm_m"][0]
        for box in boxes:
            if all(box[f"{axis}_min_m"] <= p <= box[f"{axis}_max_m"] for axis, p in zip("xyz", point)):
                value = box["resistivity_ohm_m"]
        return math.log10(value)
    return at


def error(truth, model, within):
    """Returns the root mean square of log10 over the volume between the limits (x from, to, y from, to, z from, to), and that of a half-space of the truth's mean."""
    edges, value = read_modem(model)
    at, limits = truth_of(truth), list(zip(within[::2], within[1::2]))
    n_parts = 4  # of a cell along each axis
    total = squares = sum_true = squares_true = 0.0

    def parts(axis, i):
        low, high = edges[axis][i], edges[axis][i + 1]
        places = [low + (high - low) * (k + 0.5) / n_parts for k in range(n_parts)]
        return [p for p in places if limits[axis][0] <= p <= limits[axis][1]], (high - low) / n_parts
    along = [[parts(axis, i) for i in range(len(edges[axis]) - 1)] for axis in range(3)]
    for ix, (xs, dx) in enumerate(along[0]):
        for iy, (ys, dy) in enumerate(along[1]):
            for iz, (zs, dz) in enumerate(along[2]):
                for x in xs:
                    for y in ys:
                        for z in zs:
                            true, weight = at(x, y, z), dx * dy * dz
                            total += weight
                            squares += weight * (value(ix, iy, iz) - true) ** 2
                            sum_true += weight * true
                            squares_true += weight * true * true
    return math.sqrt(squares / total), math.sqrt(max(0.0, squares_true / total - (sum_true / total) ** 2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    noise = commands.add_parser("noise")
    noise.add_argument("source")
    noise.add_argument("target")
    noise.add_argument("--relative", type=float, default=0.03)
    noise.add_argument("--seed", type=int, default=1)
    of_model = commands.add_parser("error")
    of_model.add_argument("truth")
    of_model.add_argument("model", nargs="+")
    of_model.add_argument("--within", type=float, nargs=6, required=True)
    given = parser.parse_args()
    if given.command == "noise":
        add_noise(given.source, given.target, given.relative, given.seed)
    else:
        for model in given.model:
            print("{}: {:.3f} decades rms, {:.3f} of the mean of the truth".format(model, *error(given.truth, model, given.within)))
