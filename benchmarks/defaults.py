# SPDX-License-Identifier: Apache-2.0
"""What defaults of an inversion are worth: synthetic lines with noise, static shift and gaps, and field lines.

    make bench BENCH=defaults        # all of it, for the tables of docs/results/defaults.md
    python3 benchmarks/defaults.py [--cases NAME ...] [--variants NAME ...] [--occam2d FOLDER] [--program build/release/bin/mt_invert] [-o out/defaults]

Each case is inverted with nothing but its data (and the sea, where there is one), once for each variant, which changes some keys. A synthetic
model's error is the root mean square of log10 ρ between the stations, over points uniform in y and ln z, from the depth that the shortest period
reaches to that of the longest (Niblett and Bostick, of the true responses), in decades. Of field lines the correlation with another program's section
stands in its place: KIM–ETO's published one, and that of ITER17.iter in FOLDER, the Occam2D example of pycsamt (data/occam2D of its repository, LGPL-3,
not bundled here), down to 3 km. It prints a line each and writes OUT/defaults.json.
"""
import argparse
import bisect
import csv
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time
import tomllib

SOURCE = pathlib.Path(__file__).resolve().parent.parent
MU0 = 4e-7 * math.pi

# Models of sections (docs/model-files.md), stations in m along the line, periods in s, and what a configuration needs beside its data.
BLOCKS = """[background]
resistivity_ohm_m = [100.0]
[[box]]
y_min_m = -6000.0
y_max_m = -2000.0
z_min_m = 500.0
z_max_m = 4000.0
resistivity_ohm_m = 5.0
[[box]]
y_min_m = 2000.0
y_max_m = 7000.0
z_min_m = 1000.0
z_max_m = 6000.0
resistivity_ohm_m = 2000.0
"""
BASIN = """[background]
thickness_m = [12000.0]
resistivity_ohm_m = [800.0, 50.0]
[[polygon]]
points = [[-9000.0, 0.0], [-4000.0, 2500.0], [3000.0, 1800.0], [8000.0, 0.0]]
resistivity_ohm_m = 8.0
"""
FAULT = """[background]
thickness_m = [600.0, 2500.0]
resistivity_ohm_m = [30.0, 300.0, 1500.0]
[[polygon]]
points = [[1000.0, 0.0], [100e3, 0.0], [100e3, 2200.0], [2300.0, 2200.0]]
resistivity_ohm_m = 30.0
[[polygon]]
points = [[2300.0, 2200.0], [100e3, 2200.0], [100e3, 5000.0], [4000.0, 5000.0]]
resistivity_ohm_m = 300.0
"""
MARINE = """depth_reference = "datum"
[background]
thickness_m = [4500.0, 4000.0]
resistivity_ohm_m = [2.0, 20.0, 200.0]
[[box]]
y_min_m = -4000.0
y_max_m = 3000.0
z_min_m = 3000.0
z_max_m = 4000.0
resistivity_ohm_m = 100.0
[surface]
points = [[-40000.0, 2000.0], [-10000.0, 2000.0], [10000.0, 1500.0], [40000.0, 1500.0]]
[sea]
level_m = 0.0
resistivity_ohm_m = 0.3
"""
MARINE_EXTRA = """[profile]
elevation = "file"
surface_file = "floor.csv"
drape = true
[sea]
level_m = 0.0
resistivity_ohm_m = 0.3
"""
HILLS = """[background]
thickness_m = [1500.0, 6000.0]
resistivity_ohm_m = [200.0, 20.0, 500.0]
[[box]]
y_min_m = -2500.0
y_max_m = 500.0
z_min_m = 300.0
z_max_m = 1200.0
resistivity_ohm_m = 10.0
"""


def line(first, last, n):
    return [first + (last - first) * k / (n - 1) for k in range(n)]


def log_periods(first, last, per_decade):
    n = round(per_decade * math.log10(last / first)) + 1
    return [first * 10 ** (k / per_decade) for k in range(n)]


ROUGH_MIDDLE = 144e3 + 12.5e3  # of the random field, from its left edge, m


def inside(points, y, z):
    crossed = False
    for (y0, z0), (y1, z1) in zip(points, points[1:] + points[:1]):
        if (z0 > z) != (z1 > z) and y < y0 + (z - z0) / (z1 - z0) * (y1 - y0):
            crossed = not crossed
    return crossed


def shapes(text):
    """Returns log10 ρ at (y, z) of layers, boxes and polygons."""
    model = tomllib.loads(text)
    layers = model["background"]

    def at(y, z):
        bottom, value = 0.0, layers["resistivity_ohm_m"][-1]
        for thickness, resistivity in zip(layers.get("thickness_m", []), layers["resistivity_ohm_m"]):
            bottom += thickness
            if z < bottom:
                value = resistivity
                break
        for box in model.get("box", []):
            if box["y_min_m"] <= y <= box["y_max_m"] and box["z_min_m"] <= z <= box["z_max_m"]:
                value = box["resistivity_ohm_m"]
        for polygon in model.get("polygon", []):
            if inside(polygon["points"], y, z):
                value = polygon["resistivity_ohm_m"]
        return math.log10(value)
    return at


def rough_field(path):
    """Writes a ModEM 2-D model of a random field with exponential correlation, lengths of 4 km and 1 in ln z, 0.6 decades; returns log10 ρ of (y, z), y from the middle."""
    numbers = random.Random(11)
    n_core, width = 100, 250.0
    dy = [100e3, 30e3, 10e3, 3e3, 1e3] + [width] * n_core + [1e3, 3e3, 10e3, 30e3, 100e3]
    dz = [50.0 * 1.15 ** k for k in range(40)]
    along, down = math.exp(-width / 4000.0), math.exp(-math.log(1.15) / 1.0)
    rows, above = [], None
    for _ in dz:
        row = []
        for column in range(n_core):
            fresh = numbers.gauss(0.0, 1.0)
            row.append(fresh if column == 0 else along * row[-1] + math.sqrt(1 - along ** 2) * fresh)
        above = row if above is None else [down * a + math.sqrt(1 - down ** 2) * r for a, r in zip(above, row)]
        rows.append([above[0]] * 5 + above + [above[-1]] * 5)
    with open(path, "w") as file:
        file.write(f"{len(dy)} {len(dz)} LOGE\n" + " ".join(f"{v:g}" for v in dy) + "\n" + " ".join(f"{v:.6g}" for v in dz) + "\n0\n")
        for row in rows:
            file.write(" ".join(f"{math.log(10) * (2.0 + 0.6 * v):.6f}" for v in row) + "\n")
    edges_y, edges_z = [sum(dy[:k]) - ROUGH_MIDDLE for k in range(len(dy) + 1)], [sum(dz[:k]) for k in range(len(dz) + 1)]
    return lambda y, z: 2.0 + 0.6 * rows[min(bisect.bisect(edges_z, z), len(dz)) - 1][bisect.bisect(edges_y, y) - 1]


SYNTHETIC = {
    "commemi_2d4": {"model": (SOURCE / "data/benchmarks/commemi2d4.toml").read_text(), "y": line(-14e3, 14e3, 20), "periods": log_periods(0.01, 1000.0, 5)},
    "blocks": {"model": BLOCKS, "y": line(-10e3, 10e3, 20), "periods": log_periods(0.003, 100.0, 5)},
    "basin": {"model": BASIN, "y": line(-12e3, 12e3, 18), "periods": log_periods(0.01, 1000.0, 5)},
    "fault": {"model": FAULT, "y": line(-8e3, 8e3, 16), "periods": log_periods(0.003, 300.0, 5)},
    "rough": {"model": None, "y": line(-9960.0, 10040.0, 25), "periods": log_periods(0.003, 100.0, 5)},
    "marine": {"model": MARINE, "y": line(-9e3, 9e3, 15), "periods": log_periods(1.0, 3000.0, 5), "extra": MARINE_EXTRA, "sea": True},
    "layers_and_body": {"model": HILLS, "y": line(-6e3, 6e3, 12), "periods": log_periods(0.001, 100.0, 6)},
}
# Keys that change one choice each; "before" has those before decision 042 in all of them. The table has the first two.
VARIANTS = {
    "defaults": [],
    "before": ['data.frequencies="shared"', 'start.from="half_space"', "inversion.target_rms=1", "data.floors.log10_rho_te=0.0434",
               "regularization.edges_reach=0"],
    "te_as_tm": ["data.floors.log10_rho_te=0.0434"],
    "shifts": ["static_shift.enabled=true"],
    "half_space": ['start.from="half_space"'],
    "rms_1": ["inversion.target_rms=1"],
    "rho_floor": ["data.floors.log10_rho=0.1"],
    "huber": ["misfit.huber_threshold=1.5"],
    "ln_z": ["regularization.depth_weight_exponent=1", "regularization.horizontal_depth_exponent=-1", "regularization.horizontal_weight=0.1"],
    "inner_edges": ["regularization.edges_reach=0"],
    "wide": ["regularization.horizontal_weight=3"],
}
IN_TABLE = list(VARIANTS)[:2]


def run(program, *words, quiet=True):
    return subprocess.run([str(program), *map(str, words)], check=False, capture_output=quiet, text=True)


def floor_of(y, points=((-10000.0, 2000.0), (10000.0, 1500.0))):
    (y0, z0), (y1, z1) = points
    return z0 + (z1 - z0) * min(max((y - y0) / (y1 - y0), 0.0), 1.0)


def responses(program, case, folder):
    """Returns log10 ρ of the truth at (y, z), and rows of its responses."""
    name = "truth.toml"
    shift = 0.0
    if case["model"] is None:
        name, shift = "truth.rho", ROUGH_MIDDLE
        truth = rough_field(folder / name)
    else:
        (folder / name).write_text(case["model"])
        truth = shapes(case["model"])
    with open(folder / "sites.csv", "w") as file:
        file.write("site,y_m\n" + "".join(f"s{k:02d},{y + shift}\n" for k, y in enumerate(case["y"])))
    done = run(program, "forward", "--model", folder / name, "--sites", folder / "sites.csv", "--periods", ",".join(f"{p:.8g}" for p in case["periods"]),
               "-o", folder / "truth.csv")
    if done.returncode != 0:
        sys.exit(done.stderr)
    return truth, list(csv.DictReader(open(folder / "truth.csv")))


def noisy(rows, case, folder, seed):
    """Writes data.csv: 3 % of noise stated as 2 %, five times as much in one of thirty, static shifts of 0.15 decades, and a band that a third of the stations lack."""
    numbers = random.Random(seed)
    n = len(case["y"])
    shifts = {(k, mode): 10 ** (0.5 * numbers.gauss(0.0, 0.15)) for k in range(n) for mode in ("te", "tm")}
    dead = {k: case["periods"][numbers.randrange(len(case["periods"]) - 4)] for k in range(n) if numbers.random() < 1 / 3}
    table = {}
    for row in rows:
        k, period = int(row["site"][1:]), float(row["period_s"])
        if k in dead and dead[k] * 0.99 <= period <= dead[k] * 10 ** 0.61:
            continue
        z = complex(float(row["Z_re_ohm"]), float(row["Z_im_ohm"])) * shifts[k, row["mode"].lower()]
        sigma = 0.03 * abs(z) * (5.0 if numbers.random() < 1 / 30 else 1.0)
        z += complex(numbers.gauss(0.0, sigma), numbers.gauss(0.0, sigma))
        table.setdefault((k, period), {})[row["mode"].lower()] = (z, 0.02 * abs(z))
    with open(folder / "data.csv", "w") as file:
        file.write("site,latitude_deg,longitude_deg,elevation_m,frequency_hz,azimuth_deg," +
                   "Zxy_re_ohm,Zxy_im_ohm,Zxy_error_ohm,Zyx_re_ohm,Zyx_im_ohm,Zyx_error_ohm,Zxx_re_ohm,Zxx_im_ohm,Zyy_re_ohm,Zyy_im_ohm\n")
        for (k, period), modes in sorted(table.items()):
            east_deg = case["y"][k] / 111319.4908
            elevation = -floor_of(case["y"][k]) if case.get("sea") else 0.0
            parts = [f"{v!r}" if v is not None else "" for mode in ("te", "tm")
                     for v in ((modes[mode][0].real, modes[mode][0].imag, modes[mode][1]) if mode in modes else (None, None, None))]
            file.write(f"s{k:02d},0.0,{east_deg!r},{elevation},{1 / period!r},0.0," + ",".join(parts) + ",0,0,0,0\n")


def investigated(rows, case):
    """Returns for each station the depths that its shortest and longest period reach: √(ρa T/(2π μ0)), mean of the modes."""
    depths = {}
    for row in rows:
        rho, period = float(row["rho_a_ohm_m"]), float(row["period_s"])
        depths.setdefault(int(row["site"][1:]), {}).setdefault(period, []).append(math.sqrt(rho * period / (2 * math.pi * MU0)))
    return [tuple(math.exp(statistics.fmean(math.log(v) for v in depths[k][p])) for p in (min(depths[k]), max(depths[k])))
            for k in range(len(case["y"]))]


def cells_of(path):
    """Returns the cells of section.csv by columns: edges along y, and of each column its edges and log10 ρ."""
    columns = {}
    for row in csv.DictReader(open(path)):
        columns.setdefault((float(row["y_left_m"]), float(row["y_right_m"])), []).append(
            (float(row["z_top_m"]), float(row["z_bottom_m"]), math.log10(float(row["resistivity_ohm_m"]))))
    return columns


def value_at(columns, y, z):
    for (left, right), cells in columns.items():
        if left <= y < right:
            for top, bottom, value in cells:
                if top <= z < bottom:
                    return value
            return cells[-1][2]  # the lowest cell goes on
    return None


def model_error(columns, truth, case, depths):
    n_along, n_down, squares, n = 60, 25, 0.0, 0
    first, last = case["y"][0], case["y"][-1]
    for i in range(n_along):
        y = first + (last - first) * (i + 0.5) / n_along
        shallow, deep = depths[min(range(len(case["y"])), key=lambda k: abs(case["y"][k] - y))]
        for j in range(n_down):
            z = shallow * (deep / shallow) ** ((j + 0.5) / n_down)
            floor = floor_of(y) if case.get("sea") else 0.0
            found = value_at(columns, y - first, z + floor if case.get("sea") else z)
            if found is not None:
                squares += (found - truth(y, z + floor)) ** 2
                n += 1
    return math.sqrt(squares / n)


def kim_eto_pairs(columns, program, out):
    """Returns log10 ρ of cells and of the published section of KIM–ETO at its points. Its line begins in the south-east, that of the run may begin at the other end."""
    places = [(float(r["projected_distance_km"]), float(r["distance_along_line_km"])) for r in csv.DictReader(open(SOURCE / "data/samtex/stations_kim_eto.csv"))]
    azimuth, last = map(float, re.search(r"y along azimuth ([\d.]+) degrees, [\d.-]+ … ([\d.]+) km", (out / "run/log.jsonl").read_text()).groups())
    if math.cos(math.radians(azimuth - 329.5)) < 0.0:
        places = [(last - along, distance) for along, distance in places]
    pairs = []
    for row in csv.DictReader(open(SOURCE / "data/samtex/reference_fig4_digitised.csv")):
        distance, depth = float(row["x_km"]), float(row["depth_km"])
        y = min(places, key=lambda place: abs(place[1] - distance))[0]
        found = value_at(columns, 1e3 * y, 1e3 * depth)
        if found is not None and row["log10_rho_published_conventional"]:
            pairs.append((found, float(row["log10_rho_published_conventional"])))
    return pairs


def occam2d_pairs(columns, program, out, folder):
    """Returns log10 ρ of cells and of the model ITER17.iter, over points uniform between the stations and in the logarithm of depth from 20 m to 3 km."""
    done = run(program, "convert", folder / "ITER17.iter", "-o", out / "ITER17.xyz")
    if done.returncode != 0:
        sys.exit(done.stderr)
    values = {}
    for words in map(str.split, open(out / "ITER17.xyz")):
        if words[0] not in ("#", "y_m"):
            values.setdefault(float(words[0]), []).append((float(words[1]), float(words[2])))
    lines = (folder / "OccamDataFile.dat").read_text().splitlines()
    begin = next(k for k, text in enumerate(lines) if text.startswith("OFFSETS"))
    last = float(lines[next(k for k, text in enumerate(lines) if text.startswith("FREQUENCIES")) - 1])
    first, pairs = float(lines[begin + 1]), []
    for i in range(60):
        y = first + (last - first) * (i + 0.5) / 60
        column = values[min(values, key=lambda at: abs(at - y))]
        for j in range(25):
            z = 20.0 * 150.0 ** ((j + 0.5) / 25)
            pairs.append((value_at(columns, y - first, z), min(column, key=lambda row: abs(row[0] - z))[1]))
    return pairs


FIELD = {
    "kim_eto": {"data": f'edi_folder = "{SOURCE}/data/samtex/edi_kim_eto"', "pairs": kim_eto_pairs},
    "kap03": {"data": f'edi_folder = "{SOURCE}/data/kap03/edi"\n[[data.mask]]\nstation = "kap151"'},
    "coprod2": {"data": f'mt2d_file = "{SOURCE}/data/coprod2/coprod2data.dat"', "has_one_list": True},  # of frequencies for all stations
}


def invert(program, folder, config, settings):
    (folder / "run.toml").write_text(config)
    begin = time.perf_counter()
    done = run(program, "invert", folder / "run.toml", "-o", folder / "run", *[word for each in settings for word in ("--set", each)])
    if done.returncode not in (0, 10):
        return None, done.stderr.strip()[-300:]
    history = list(csv.DictReader(open(folder / "run/iterations.csv")))
    return {"rms": float(history[-1]["rms"]), "roughness": float(history[-1]["roughness"]), "iterations": len(history) - 1,
            "seconds": round(time.perf_counter() - begin, 1), "reached": done.returncode == 0}, cells_of(folder / "run/section.csv")


def case_of(program, name, variant, out, seed):
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / variant
    subprocess.run(["rm", "-rf", own], check=True)
    own.mkdir()
    if name in FIELD:
        settings = [each for each in VARIANTS[variant] if not (FIELD[name].get("has_one_list") and each.startswith("data.frequencies="))]
        result, cells = invert(program, own, "[data]\n" + FIELD[name]["data"] + "\n", settings)
        if result and "pairs" in FIELD[name]:
            pairs = FIELD[name]["pairs"](cells, program, own)
            result["correlation"] = statistics.correlation(*zip(*pairs))
            result["apart"] = math.sqrt(statistics.fmean((a - b) ** 2 for a, b in pairs))
        return result or {"failed": cells}
    case = SYNTHETIC[name]
    truth, rows = responses(program, case, folder)
    noisy(rows, case, folder, seed)
    if case.get("sea"):
        first = case["y"][0]
        (own / "floor.csv").write_text("y_m,z_m\n" + "".join(f"{y - first},{floor_of(y)}\n" for y in (-40e3, -10e3, 10e3, 40e3)))
    result, cells = invert(program, own, f'[data]\nstation_files = ["../data.csv"]\n' + case.get("extra", ""), VARIANTS[variant])
    if result is None:
        return {"failed": cells}
    result["error"] = model_error(cells, truth, case, investigated(rows, case))
    return result


def rows_of(name, variant, found):
    """Rows of one inversion as other benchmarks have them."""
    units = {"error": "decades", "apart": "decades", "seconds": "s"}
    return [{"case": name, "metric": f"{variant}: {key}", "value": float(value), "unit": units.get(key, ""), "peer": "", "peer_value": None, "ratio": None, "target": None, "met": None}
            for key, value in found.items() if key != "failed"]


def measured(program, out, cases=(), variants=(), seed=1):
    """(header, rows) of all cases and variants."""
    rows = []
    for name in cases or [*SYNTHETIC, *FIELD]:
        for variant in variants or IN_TABLE:
            found = case_of(program, name, variant, out, seed)
            words = ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in found.items())
            print(f"{name:16} {variant:10} {words}", flush=True)
            rows += rows_of(name, variant, found)
    commit = run("git", "-C", SOURCE, "rev-parse", "--short", "HEAD").stdout.strip()
    return {"ranks": 1, "threads": int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())), "commit": commit}, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=[*SYNTHETIC, *FIELD, "occam2d"], default=[])
    parser.add_argument("--variants", nargs="+", choices=[*VARIANTS], default=[])
    parser.add_argument("--set", action="append", default=[], help="key=value of one more variant, \"tried\", in place of the others")
    parser.add_argument("--program", default=SOURCE / "build/release/bin/mt_invert")
    parser.add_argument("--occam2d", type=lambda folder: pathlib.Path(folder).resolve(), help="folder of pycsamt's Occam2D example: a field line more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("out/defaults"))
    given = parser.parse_args()
    if given.set:
        VARIANTS["tried"] = given.set
        given.variants = ["tried"]
    if given.occam2d:
        FIELD["occam2d"] = {"data": f'station_files = ["{given.occam2d}/OccamDataFile.dat"]',
                            "pairs": lambda cells, program, out: occam2d_pairs(cells, program, out, given.occam2d)}
    header, rows = measured(given.program, given.out, given.cases, given.variants, given.seed)
    (given.out / "defaults.json").write_text(json.dumps({"header": header, "results": rows}, indent=1))


if __name__ == "__main__":
    main()
