# SPDX-License-Identifier: Apache-2.0
"""What the check of final responses finds on rough sections, and what it costs beside a run on the meshes of the rules.

    make bench BENCH=checked         # for the table of docs/results/accuracy.md
    python3 benchmarks/checked.py [--cases NAME ...] [--program build/release/bin/mt_invert] [-o out/checked]

Each section is computed by `mt_invert forward` without and with `--refine 240000`. Where that ends within the tolerance, `--mesh-report` measures the
change of its responses under cells of half the size. It prints a line each and writes OUT/checked.json.
"""
import argparse
import json
import math
import os
import pathlib
import re
import sys
import time

import defaults

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DEMO = SOURCE / "data/mare2dem_demo"
BLOCK2 = SOURCE / "data/modem_block2_2d"
NODES = 240000
CASES = ("block2", "commemi_2d4", "rough_4_decades", "mare2dem_demo")


def scaled(path, least, most):
    """Stretches the log10 ρ of a ModEM 2-D model of LOGE to an interval."""
    lines = path.read_text().splitlines()
    rows = [[float(v) / math.log(10) for v in row.split()] for row in lines[4:]]
    low, high = min(map(min, rows)), max(map(max, rows))
    text = [" ".join(f"{math.log(10) * (least + (most - least) * (v - low) / (high - low)):.6f}" for v in row) for row in rows]
    path.write_text("\n".join(lines[:4] + text) + "\n")


def words_of(name, folder):
    """Makes the files of a case; returns the arguments of `mt_invert forward`."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "block2":
        return ["--model", BLOCK2 / "m0.rho", "--sites", BLOCK2 / "d0_JT.dat"]
    if name == "mare2dem_demo":
        return ["--model", DEMO / "true_model.toml", "--sites", DEMO / "DemoSynthMT.emdata", "--drape"]
    case = defaults.SYNTHETIC["commemi_2d4" if name == "commemi_2d4" else "rough"]
    model, shift = folder / ("truth.toml" if case["model"] else "truth.rho"), 0.0
    if case["model"]:
        model.write_text(case["model"])
    else:
        defaults.rough_field(model)
        scaled(model, 0.3, 4.3)
        shift = defaults.ROUGH_MIDDLE
    (folder / "sites.csv").write_text("site,y_m\n" + "".join(f"s{k:02d},{y + shift}\n" for k, y in enumerate(case["y"])))
    return ["--model", model, "--sites", folder / "sites.csv", "--periods", ",".join(f"{p:.8g}" for p in case["periods"][::2])]


def case_of(program, name, out):
    folder = out / name
    arguments = words_of(name, folder)

    def forward(*more):
        begin = time.perf_counter()
        done = defaults.run(program, "forward", *arguments, *more)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return time.perf_counter() - begin, done.stdout + done.stderr

    plain_s, _ = forward("-o", folder / "rules.csv")
    refined_s, text = forward("--refine", NODES, "-o", folder / "refined.csv")
    rules = re.search(r"responses: ([\d.e+-]+) %", text).group(1)
    refined = re.search(r", ([\d.e+-]+) % and [\d.e+-]+ degrees \([^)]*\) with (\d+) of (\d+) meshes refined", text)
    stopped = re.search(r"(\d+) of (\d+) meshes need more", text)
    found = {"rules": float(rules), "estimate": float(refined.group(1) if refined else rules), "refined meshes": float(refined.group(2)) if refined else 0.0,
             "stopped meshes": float(stopped.group(1)) if stopped else 0.0, "runs": refined_s / plain_s}
    if not stopped:
        report = forward("--refine", NODES, "--mesh-report")[1]
        found["half the size"] = float(re.search(r"refinement \(half the cell size\) +([\d.]+)", report).group(1))
    return found


def measured(program, out, cases=()):
    """(header, rows) of all cases."""
    rows = []
    for name in cases or CASES:
        found = case_of(program, name, out)
        print(f"{name:16} " + ", ".join(f"{key} {value:.3g}" for key, value in found.items()), flush=True)
        rows += [{"case": name, "metric": key, "value": value, "unit": "", "peer": "", "peer_value": None, "ratio": None, "target": None, "met": None} for key, value in found.items()]
    commit = defaults.run("git", "-C", SOURCE, "rev-parse", "--short", "HEAD").stdout.strip()
    return {"ranks": 1, "threads": int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())), "commit": commit}, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=[])
    parser.add_argument("--program", default=SOURCE / "build/release/bin/mt_invert")
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("out/checked"))
    given = parser.parse_args()
    header, rows = measured(given.program, given.out, given.cases)
    (given.out / "checked.json").write_text(json.dumps({"header": header, "results": rows}, indent=1))


if __name__ == "__main__":
    main()
