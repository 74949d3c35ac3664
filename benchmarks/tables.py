#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tables.py [--results DIR] [--document FILE]

Rewrites the tables of docs/results.md that stand between `<!-- table NAME -->` and `<!-- end -->`, from out/bench/*.json; those not measured stay.
"""
import argparse
import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent


class Bench:
    """The figures of one JSON file."""

    def __init__(self, path):
        content = json.loads(path.read_text())
        self.header, self.rows = content["header"], content["results"]

    def row(self, case, metric, unit=None):
        found = [r for r in self.rows if r["case"] == case and r["metric"] == metric and unit in (None, r["unit"])]
        if not found:
            raise KeyError(f"no figure '{metric}' of '{case}'; was it measured by an older program?")
        return found[0]

    def value(self, *key):
        return self.row(*key)["value"]

    def cases(self, start):
        return list(dict.fromkeys(r["case"] for r in self.rows if r["case"].startswith(start)))

    def machine(self):
        h = self.header
        return [f"Measured on: {h['machine']}, {h['ranks']} rank, {h['threads']} thread, commit {h['commit']}.", ""]


def number(value, digits=3):
    return f"{value:.{digits}g}" if abs(value) < 1e3 else f"{value:.0f}"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(row) + " |" for row in rows]


def forward_table(bench):
    rows = []
    for case in bench.cases("forward, "):
        rows.append([case.removeprefix("forward, ").removesuffix(" accuracy"), number(bench.value(case, "unknowns of the largest problem")),
                     number(bench.value(case, "unknowns, all frequencies and modes")), number(bench.value(case, "mesh design", "s")),
                     number(bench.value(case, "forward", "s"))])
    return bench.machine() + table(["accuracy", "unknowns of the largest problem", "of all 40 problems", "mesh design, s", "forward, s"], rows)


def profile_rows(bench, case):
    rows = []
    for row in bench.rows:
        if row["case"] != case or "/" not in row["metric"] or row["unit"] != "s":
            continue
        rate = [r["value"] for r in bench.rows if r["case"] == case and r["metric"] == row["metric"] + " rate"]
        floor = row["peer_value"]
        rows.append([f"`{row['metric']}`", number(row["value"]), number(rate[0]) if rate else "", number(floor) if floor else "",
                     f"{100 * row['ratio']:.0f} %" if floor else ""])
    return table(["region", "s", "GFLOP/s", "least time at the machine's rates, s", "share reached"], rows)


def jacobian_table(bench):
    case = "linearise and Jacobian, iteration accuracy"
    return [f"At iteration accuracy linearising takes {number(bench.value(case, 'linearise', 's'))} s and the Jacobian (2880 × 6400) "
            f"{number(bench.value(case, 'Jacobian (2880 × 6400)', 's'))} s. Where it goes (best of five; one core gives "
            f"{number(bench.value('machine, one core', 'zgemm 512'))} GFLOP/s in zgemm of 512 × 512 and copies {number(bench.value('machine, one core', 'copy'))} GB/s):",
            ""] + profile_rows(bench, case)


def solver_table(bench):
    rows = []
    for case in bench.cases("line solver, "):
        factorise, solve, numbers = (bench.row(case, m) for m in ("factorise", "solve 36 right-hand sides", "numbers in the factors"))
        cells = [case.removeprefix("line solver, "), number(bench.value(case, "unknowns")), number(bench.value(case, "unknowns per line"))]
        for row in (factorise, solve):
            cells += [number(1e3 * row["value"]), number(1e3 * row["peer_value"]), f"{row['ratio']:.1f}"]
        rows.append(cells + [f"{numbers['ratio']:.1f}"])
    worst = max(bench.value(case, "relative difference of the solutions") for case in bench.cases("line solver, "))
    head = ["matrix", "unknowns", "per line", "factorise, ms", "PETSc", "ratio", "solve 36, ms", "PETSc", "ratio", "numbers in factors, PETSc/ours"]
    return table(head, rows) + ["", f"The two solutions differ by at most {worst:.0e} relative."]


def step_table(bench):
    case = "Gauss-Newton step, 6400 cells, 2600 data"
    return bench.machine() + [f"Best of three; dgemm of 512 × 512 gives {number(bench.value('machine, one core', 'dgemm 512'))} GFLOP/s.", ""] + profile_rows(bench, case)


def peers_table(bench):
    rows = []
    for case in bench.cases("COMMEMI"):
        for metric in ("model to impedances", "model to Jacobian, 600 cells"):
            row = bench.row(case, metric)
            if row["ratio"] is not None:
                limit = case.split(",")[0].removeprefix("COMMEMI 2D-1 to ")
                rows.append([row["peer"], metric, limit, number(row["value"]), number(row["peer_value"]), f"{row['ratio']:.1f}"])
    if not rows:
        raise FileNotFoundError("no peer is installed; scripts/peers.sh does it")
    return bench.machine() + table(["peer", "what", "within", "ours, s CPU", "peer, s CPU", "ratio"], rows)


TABLES = {"forward": ("physics", forward_table), "jacobian": ("physics", jacobian_table), "solver": ("physics", solver_table), "step": ("inversion", step_table),
          "peers": ("peers", peers_table)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=SOURCE / "out" / "bench")
    parser.add_argument("--document", type=pathlib.Path, default=SOURCE / "docs" / "results.md")
    arguments = parser.parse_args()
    text = arguments.document.read_text()
    for name in re.findall(r"<!-- table (\w+) -->", text):
        file, make = TABLES[name]
        try:
            lines = make(Bench(arguments.results / f"{file}.json"))
        except FileNotFoundError as missing:
            print(f"tables.py: table {name} stays as it is: {missing}")
            continue
        text = re.sub(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + "\n".join(lines) + "\n" + m[2], text, flags=re.S)
    temporary = arguments.document.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.replace(arguments.document)


if __name__ == "__main__":
    try:
        main()
    except (OSError, KeyError, ValueError) as failure:
        sys.exit(f"tables.py: {failure}")
