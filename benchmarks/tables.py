#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tables.py [--results DIR] [--document PATH]

Rewrites the tables of docs/results/*.md that stand between `<!-- table NAME -->` and `<!-- end -->`, from
out/bench/*.json. A table whose figures or peers are missing stays as it is, the others are written all the same, and the
exit status is 1. PATH is a page or a folder of pages.
"""
import argparse
import json
import pathlib
import re
import statistics
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent


class Missing(Exception):
    """Figures that a table needs and that were not measured; says what to do."""


class Bench:
    """The figures of one JSON file."""

    def __init__(self, path):
        if not path.exists():
            raise Missing(f"{path} is not there; run: make bench BENCH={path.stem.split('_')[0]}")
        content = json.loads(path.read_text())
        self.content = content
        self.header, self.rows = content["header"], content["results"]

    def row(self, case, metric, unit=None):
        found = [r for r in self.rows if r["case"] == case and r["metric"] == metric and unit in (None, r["unit"])]
        if not found:
            raise Missing(f"no figure '{metric}' of '{case}'; it was measured by another program, run make bench again")
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
    case = "linearize and Jacobian, iteration accuracy"
    return [f"At iteration accuracy linearizing takes {number(bench.value(case, 'linearize', 's'))} s and the Jacobian (2880 × 6400) "
            f"{number(bench.value(case, 'Jacobian (2880 × 6400)', 's'))} s. Where it goes (best of five; one core gives "
            f"{number(bench.value('machine, one core', 'zgemm 512'))} GFLOP/s in zgemm of 512 × 512 and copies {number(bench.value('machine, one core', 'copy'))} GB/s):",
            ""] + profile_rows(bench, case)


def solver_table(bench):
    rows = []
    for case in bench.cases("line solver, "):
        factorize, solve, numbers = (bench.row(case, m) for m in ("factorize", "solve 36 right-hand sides", "numbers in the factors"))
        cells = [case.removeprefix("line solver, "), number(bench.value(case, "unknowns")), number(bench.value(case, "unknowns per line"))]
        if None in (factorize["peer_value"], solve["peer_value"], numbers["peer_value"]):
            raise Missing(f"no figures of the peer for '{case}'")
        for row in (factorize, solve):
            cells += [number(1e3 * row["value"]), number(1e3 * row["peer_value"]), f"{row['ratio']:.1f}"]
        rows.append(cells + [f"{numbers['ratio']:.1f}"])
    worst = max(bench.value(case, "relative difference of the solutions") for case in bench.cases("line solver, "))
    head = ["matrix", "unknowns", "per line", "factorize, ms", "PETSc", "ratio", "solve 36, ms", "PETSc", "ratio", "numbers in factors, PETSc/ours"]
    return table(head, rows) + ["", f"The two solutions differ by at most {worst:.0e} relative."]


def edge_solver_table(bench):
    sizes, others = [], []
    for case in bench.cases("edge solver, "):
        name = case.removeprefix("edge solver, ")
        iterations = number(bench.value(case, "iterations"))
        if name.endswith("k edges"):
            row = bench.row(case, "set-up and solve to 1e-8")
            target = number(row["target"]) if row["target"] is not None else ""
            relief = f", {name.split(',')[0]}" if "relief" in name else ""
            bytes_per_edge = number(bench.value(case, "factors and masses"))
            sizes.append([number(bench.value(case, "edges")) + relief, iterations, number(row["value"]), target, bytes_per_edge])
        elif "relief" not in name:
            others.append([name, iterations])
    return bench.machine() + table(["edges", "iterations", "set-up and solve to 1e-8, s", "target, s", "factors and masses, B/edge"], sizes) + [""] + table(["136 k edges, 10 s, air of 1e-10 S/m, but for", "iterations"], others)


def step_table(bench):
    case = "Gauss-Newton step, 6400 cells, 2600 data"
    return bench.machine() + [f"Best of three; dgemm of 512 × 512 gives {number(bench.value('machine, one core', 'dgemm 512'))} GFLOP/s.", ""] + profile_rows(bench, case)


def peers_table(bench):
    rows, missing = [], []
    for case in bench.cases("COMMEMI"):
        limit, peer = case.removeprefix("COMMEMI 2D-1 to ").split(", beside ")
        for metric in ("model to impedances", "model to Jacobian, 600 cells"):
            row = bench.row(case, metric)
            if row["ratio"] is None:
                missing.append("our own figures" if row["value"] is None else peer)
            else:
                rows.append([row["peer"], metric, limit, number(row["value"]), number(row["peer_value"]), f"{row['ratio']:.1f}"])
    if missing or not rows:
        raise Missing(f"no figures of {' and '.join(dict.fromkeys(missing)) or 'any peer'}; run scripts/peers.sh and make bench BENCH=peers")
    return bench.machine() + table(["peer", "what", "within", "ours, s CPU", "peer, s CPU", "ratio"], rows)


def largest(bench, benchmark, kind):
    """(deviation, where, limit, judged, passed) of one benchmark's rows whose name ends with `kind`."""
    rows = [r for r in bench.rows if r["benchmark"] == benchmark and r["judged"] and r["what"].endswith(kind)]
    if not rows:
        raise Missing(f"no comparisons of {kind} in {benchmark}; run: make bench BENCH=selftest")
    worst = max(rows, key=lambda r: float("inf") if r["difference"] is None else abs(r["difference"]))
    if worst["difference"] is None:
        raise Missing(f"{benchmark}, {worst['what']}: the difference is not finite")
    limits = sorted({r["limit"] for r in rows})
    units = worst["difference_units"].replace("%", " %")
    limit = f"{limits[0]:.2g}{units}" if len(limits) == 1 else f"{limits[0]:.2g} … {limits[-1]:.2g}{units}"
    return f"{abs(worst['difference']):.2g}{units}", worst["what"].removesuffix(kind).strip(), limit, f"{sum(r['passed'] for r in rows)} of {len(rows)}"


ACCURACY_ROWS = [(name, kind, title) for name in ("commemi2d0", "commemi2d1", "commemi2d2", "commemi2d4", "wannamaker_hill") for kind, title in (("rho_a", "ρₐ"), ("phase", "phase"))]
OTHER_ROWS = [("layered1d", "|Z|", "\\|Z\\| of four layered earths, relative"), ("sensitivity2d", "d ln rho_a", "d ln ρₐ/d ln σ of regions, 2D-1"), ("sensitivity2d", "d phase", "dφ/d ln σ"),
              ("derivatives2d", "Taylor order (missing to 2)", "Taylor order, hill included: missing to 2"), ("derivatives2d", "adjoint gap", "adjoint gap")]


def accuracy_table(default, fine):
    rows = []
    for name, kind, title in ACCURACY_ROWS:
        cells = []
        for bench in (default, fine):
            cells += largest(bench, name, kind)
        rows.append([f"`{name}`", title, *cells])
    names = {name for name, *_ in ACCURACY_ROWS}
    seconds = [sum(b["cpu_s"] for b in bench.content["benchmarks"] if b["benchmark"] in names) for bench in (default, fine)]
    h = default.header
    return [f"Measured on: {h['machine']}, {h['ranks']} rank, commit {h['commit']}. These five take {seconds[0]:.1f} s of processor time with default meshes, {seconds[1]:.1f} s with fine ones.", ""] + table(
        ["benchmark", "of", "default", "at", "limit", "pass", "fine", "at", "limit", "pass"], rows)


def selftests_table(default, fine):
    rows = []
    for name, kind, title in OTHER_ROWS:
        of_default, of_fine = largest(default, name, kind), largest(fine, name, kind)
        rows.append([f"`{name}`", title, of_default[3], of_default[0], of_fine[0], of_default[2]])
    return table(["benchmark", "what", "pass", "default", "fine", "limit"], rows)


def volumes_table(bench):
    rows = []
    for name in ("layered3d", "commemi3d1", "commemi3d2", "dtm1", "two_mountain_3d"):
        for kinds, title in ((("rho_xy", "rho_yx", "rho"), "ρₐ"), (("phase_xy", "phase_yx", "phase"), "phase"), (("Tzx_re", "Tzx_im", "Tzy_re", "Tzy_im"), "tipper")):
            of_kind = [r for r in bench.rows if r["benchmark"] == name and r["what"].split()[-1] in kinds]
            judged = [r for r in of_kind if r["judged"]]
            if not judged:
                continue
            worst = max(judged, key=lambda r: abs(r["difference"]))
            units = worst["difference_units"].replace("%", " %")
            rows.append([f"`{name}`", title, f"{statistics.median(abs(r['difference']) for r in of_kind):.2g}{units}", f"{abs(worst['difference']):.2g}{units}", f"{worst['limit']:.2g}{units}",
                         worst["what"].rsplit(" ", 1)[0], f"{sum(r['passed'] for r in judged)} of {len(judged)}", str(len(of_kind) - len(judged))])
    for kind in ("Taylor order (missing to 2)", "adjoint gap"):
        difference, _, limit, passed = largest(bench, "derivatives3d", kind)
        rows.append(["`derivatives3d`", kind, "", difference, limit, "", passed, "0"])
    h, seconds = bench.header, sum(b["cpu_s"] for b in bench.content["benchmarks"])
    return [f"Measured on: {h['machine']}, {h['ranks']} rank, commit {h['commit']}; {seconds:.0f} s of processor time.", ""] + table(
        ["benchmark", "of", "median", "worst judged", "its limit", "at", "pass", "not judged"], rows)


SELFTESTS = ("selftest_default", "selftest_fine")


def scaling_table(bench):
    rows = []
    for r in bench.rows:
        if not r["metric"].endswith(", 1 rank"):
            continue
        metric = r["metric"].removesuffix(", 1 rank")
        cells = [r["case"], metric, f"{number(r['value'])} {r['unit']}", "" if r["target"] is None else f"{number(r['target'])} {r['unit']}"]
        for way in ("2 ranks", "2 threads"):
            several = bench.row(r["case"], f"{metric}, {way}")
            cells += [f"{number(several['value'])} {several['unit']}", number(several["ratio"])]
        rows.append(cells)
    return bench.machine() + table(["accuracy", "what", "1 rank, 1 thread", "limit", "2 ranks", "ratio", "2 threads", "ratio"], rows)


def predicted_table(bench):
    predicted = [r for r in bench.rows if r["metric"].startswith("predicted gain of ")]
    ranks = [r["metric"].removeprefix("predicted gain of ").split(" ")[0] for r in predicted]
    return table(["ranks", *ranks], [["predicted gain", *[number(r["value"]) for r in predicted]]])


def runs_table(bench):
    rows = []
    for case in bench.cases(""):
        run, rms = bench.row(case, "whole program"), bench.row(case, "rms")
        peer = f"{run['peer']}: {run['peer_value']:g} s" if run["peer"] else ""
        rows.append([case, number(bench.value(case, "ranks")), number(bench.value(case, "threads")), f"{rms['value']:g} ({rms['target']:g})", number(bench.value(case, "iterations")), number(run["value"]),
                     number(run["target"]), peer, number(run["ratio"]) if run["peer"] else ""])
    return bench.machine() + table(["inversion", "ranks", "threads", "rms (target)", "iterations", "seconds, whole program", "limit", "beside", "ratio"], rows)


def defaults_table(bench):
    """Model error or correlation, and rms, of each case and variant; medians of the errors below."""
    variants = list(dict.fromkeys(r["metric"].split(": ")[0] for r in bench.rows))
    figures = {(r["case"], r["metric"]): r["value"] for r in bench.rows}

    def cell(case, variant):
        quality = figures.get((case, f"{variant}: error"), figures.get((case, f"{variant}: correlation")))
        rms = figures.get((case, f"{variant}: rms"))
        if rms is None:
            return "failed"
        return f"{quality:.3f} ({rms:.2f})" if quality is not None else f"({rms:.2f})"

    def median(variant):
        errors = [r["value"] for r in bench.rows if r["metric"] == f"{variant}: error"]
        return f"{statistics.median(errors):.3f}" if errors else ""

    rows = [[case, *[cell(case, variant) for variant in variants]] for case in bench.cases("")]
    return bench.machine() + table(["case", *[f"`{variant}`" for variant in variants]], [*rows, ["median of errors", *map(median, variants)]])


def checked_table(bench):
    """Errors before and after refinement, and the time beside a run on the meshes of the rules."""
    rows = []
    for case in bench.cases(""):
        def text(metric, form="{:.2g}"):
            value = {r["metric"]: r["value"] for r in bench.rows if r["case"] == case}.get(metric)
            return "" if value is None else form.format(value)
        stopped = text("stopped meshes", "{:.0f}")
        rows.append([case, text("rules"), text("refined meshes", "{:.0f}"), text("estimate"), text("half the size"), stopped, text("runs", "{:.1f}")])
    return bench.machine() + table(["case", "estimate, rules (%)", "meshes refined", "estimate (%)", "cells of half the size (%)", "stopped by nodes", "time / run"], rows)


def estimates_table(bench):
    rows = []
    for case in bench.cases(""):
        memory, time = bench.row(case, "memory"), bench.row(case, "time")
        rows.append([case, number(memory["peer_value"]), number(memory["value"]), number(memory["ratio"]), "yes" if bench.value(case, "last steps") else "no", number(time["peer_value"]), number(bench.value(case, "most time")),
                     number(time["value"])])
    return bench.machine() + table(["example", "announced, GB", "used, GB", "ratio", "last steps", "announced, s", "at most, s", "took, s"], rows)


def surveys_table(bench):
    """Seconds of ours by threads, and how many times as long mtpy takes."""
    rows = []
    for case in bench.cases(""):
        for threads in ("1 thread", "2 threads"):
            by = [row for row in bench.rows if row["case"] == case and row["metric"].startswith(f"{threads}, ")]
            if not by or any(row["ratio"] is None for row in by):
                raise Missing("no figures of mtpy; run scripts/peers.sh pictures and make bench BENCH=surveys SURVEY=FOLDER")
            limits = [number(row["target"]) for row in by if row["target"]]
            rows.append([case, threads, number(by[0]["value"]), *(limits or [""]), *[f"{number(row['peer_value'])} ({row['ratio']:.1f})" for row in by]])
    words = [row["metric"].split("beside ")[1] for row in bench.rows[:3]]
    return bench.machine() + [f"Beside: {bench.rows[0]['peer']}.", ""] + table(["`mt_invert`", "threads", "s", "limit, s", *[f"{each}, s (times as long)" for each in words]], rows)


def rows_beside_torch(bench, start):
    """Rows of the engine that torch was measured for; `start`: of their case."""
    rows = [r for r in bench.rows if r["case"].startswith(start) and (r["peer"] or "").startswith("torch") and r["ratio"]]
    if not rows:
        raise Missing("no figures of torch; run scripts/peers.sh torch and make bench BENCH=engine")
    return rows


def time_of(seconds):
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1.0:
            return f"{number(seconds * scale)} {unit}"
    return f"{number(seconds * 1e9)} ns"


def engine_table(bench):
    rows = []
    jax = {(r["case"], r["metric"]): r for r in bench.rows if (r["peer"] or "").startswith("jax")}
    for r in rows_beside_torch(bench, ("chain", "MT")):
        other = jax.get((r["case"], r["metric"]))
        beside = [time_of(other["peer_value"]), f"{other['ratio']:.1f}"] if other else ["", ""]
        rows.append([r["case"], r["metric"], time_of(r["value"]), time_of(r["target"]) if r["target"] else "", time_of(r["peer_value"]), f"{r['ratio']:.1f}", *beside])
    step = "MT-VAE training step, f32"
    work = (f"A step of the MT-VAE is {bench.value(step, 'ops'):.0f} ops with {number(bench.value(step, 'work'))} GFLOP and {number(bench.value(step, 'operands'))} MB of operands in f32.")
    busy = [r for r in bench.rows if r["case"].endswith("beside a busy process")]
    work += "".join(f" Two threads beside a busy process take {time_of(r['value'])} in {r['case'].split(', ')[1]} ({time_of(r['peer_value'])} on one thread alone, limit {time_of(r['target'])})." for r in busy)
    return bench.machine() + [f"Peers: {', '.join([rows_beside_torch(bench, 'MT')[0]['peer'] + ', eager', *sorted({r['peer'] + ', compiled' for r in jax.values()})])}. {work}", ""] + table(["case", "what", "ours", "limit", "torch", "ratio", "jax", "ratio"], rows)


def products_table(bench):
    rows = []
    for r in rows_beside_torch(bench, "product"):
        library = next((b for b in bench.rows if b["case"] == r["case"] and b["peer"] not in (None, r["peer"]) and b["metric"] == "product"), None)
        beside = [time_of(library["peer_value"]), f"{library['ratio']:.2f}"] if library else ["", ""]
        rows.append([r["case"].removeprefix("product of "), time_of(r["value"]), *beside, time_of(r["peer_value"]), f"{r['ratio']:.2f}"])
    return table(["matrices", "ours", "BLAS, called directly", "ratio", "torch", "ratio"], rows)


def convolutions_table(bench):
    rows = []
    beside = {(r["case"], r["metric"]): r for r in rows_beside_torch(bench, "convolution")}
    for case in dict.fromkeys(case for case, _ in beside):
        cells = [case.removeprefix("convolution ")]
        for metric in ("forward", "slope in x", "slope in w"):
            row = beside[case, metric]
            cells += [time_of(row["value"]), number(bench.value(case, f"{metric}, rate")), f"{row['ratio']:.1f}"]
        rows.append(cells)
    head = [word for metric in ("forward", "slope in x", "slope in w") for word in (metric, "GFLOP/s", "torch / ours")]
    return table(["convolution", *head], rows)


def latent_table(bench):
    rows = []
    for r in bench.rows:
        value, limit = (time_of(v) if r["unit"] == "s" and v else number(v) if v else "" for v in (r["value"], r["target"]))
        rows.append([r["case"], r["metric"], value, limit, f"{r['peer']}: {time_of(r['peer_value'])}" if r["peer"] else ""])
    return bench.machine() + table(["case", "what", "", "limit", "beside"], rows)


TABLES = {"latent": (("latent",), latent_table), "engine": (("engine",), engine_table), "products": (("engine",), products_table), "convolutions": (("engine",), convolutions_table), "accuracy": (SELFTESTS, accuracy_table), "selftests": (SELFTESTS, selftests_table), "volumes": (("selftest3d_default",), volumes_table), "volumes_fine": (("selftest3d_fine",), volumes_table), "forward": (("physics",), forward_table), "edge_solver": (("physics3d",), edge_solver_table), "scaling": (("scaling",), scaling_table), "predicted_scaling": (("scaling",), predicted_table), "runs": (("runs",), runs_table), "jacobian": (("physics",), jacobian_table),
          "solver": (("physics",), solver_table), "step": (("inversion",), step_table), "peers": (("peers",), peers_table), "estimates": (("estimates",), estimates_table), "defaults": (("defaults",), defaults_table), "checked": (("checked",), checked_table), "surveys": (("surveys",), surveys_table)}


def rewritten(text, results):
    """(text with the tables that could be made, what is missing of the others)."""
    missing = []
    for name in re.findall(r"<!-- table (\w+) -->", text):
        if name not in TABLES:
            missing.append(f"table {name}: not known; tables are {', '.join(TABLES)}")
            continue
        files, make = TABLES[name]
        try:
            lines = make(*(Bench(results / f"{file}.json") for file in files))
        except Missing as reason:
            missing.append(f"table {name} stays as it is: {reason}")
            continue
        text = re.sub(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + "\n".join(lines) + "\n" + m[2], text, flags=re.S)
    return text, missing


def rewrite(page, results):
    """Rewrites one page; returns what is missing of its tables."""
    text = page.read_text()
    new_text, missing = rewritten(text, results)
    if new_text != text:
        temporary = page.with_suffix(".tmp")
        temporary.write_text(new_text)
        temporary.replace(page)
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=SOURCE / "out" / "bench")
    parser.add_argument("--document", type=pathlib.Path, default=SOURCE / "docs" / "results", help="a page or a folder of pages")
    arguments = parser.parse_args()
    pages = sorted(arguments.document.glob("*.md")) if arguments.document.is_dir() else [arguments.document]
    missing = [f"{page.name}: {line}" for page in pages for line in rewrite(page, arguments.results)]
    if missing:
        sys.exit("\n".join(f"tables.py: {line}" for line in missing))


if __name__ == "__main__":
    try:
        main()
    except (OSError, KeyError, ValueError) as failure:
        sys.exit(f"tables.py: {failure}")
