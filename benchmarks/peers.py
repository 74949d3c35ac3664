# SPDX-License-Identifier: Apache-2.0
"""Sets our figures (bench_peers) beside those of other programs at equal accuracy; run.py calls `compare`.

Each program solves each mode and period of COMMEMI 2D-1 with cells of several sizes. A row sums, over the four problems, the CPU seconds of the cheapest run
whose apparent resistivities all lie within a limit of the reference. A program that is not installed is left null.
"""
import collections
import json
import os
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent
ENVIRONMENT = SOURCE / "build" / "peers" / "venv"
REFERENCE = SOURCE / "data" / "benchmarks" / "commemi2d1.csv"
LIMITS_PERCENT = (2.0, 1.0, 0.5)
SOLVERS = {"pardiso": "SimPEG, MKL Pardiso", "superlu": "SimPEG, SciPy SuperLU"}
METRICS = {"cpu_s": "model to impedances", "jacobian_cpu_s": "model to Jacobian, 600 cells"}


def ours(rows):
    """The runs of bench_peers, one per problem and size, keyed as those of the peers."""
    keys = {"largest deviation of apparent resistivity": "deviation_percent", "model to impedances": "cpu_s", "model to Jacobian": "jacobian_cpu_s",
            "norm of dZ/d ln rho": "jacobian_norm_ohm"}
    runs = collections.defaultdict(dict)
    for row in rows:
        runs[row["case"]][keys[row["metric"]]] = row["value"]
    return [{"problem": case.split(",")[0], **run} for case, run in runs.items()]


def simpeg(solver):
    """(runs, name and version) of SimPEG with a solver; ([], None) where it is not installed."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        return [], None
    libraries = os.pathsep.join(filter(None, [str(ENVIRONMENT / "lib"), os.environ.get("LD_LIBRARY_PATH")]))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "LD_LIBRARY_PATH": libraries}
    run = subprocess.run([python, SOURCE / "benchmarks" / "peer_simpeg.py", REFERENCE, "--solver", solver], env=environment, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        print(f"peers: SimPEG with {solver} failed; its rows stay null")
        return [], None
    answer = json.loads(run.stdout)
    return [{"problem": f"{r['mode']} {r['period_s']:g} s", **r} for r in answer["runs"]], answer["peer"]


def cheapest(runs, metric, limit_percent):
    """The cheapest run of each problem within the limit; None if a problem has none."""
    chosen = {}
    for run in runs:
        if run["deviation_percent"] <= limit_percent and (run["problem"] not in chosen or run[metric] < chosen[run["problem"]][metric]):
            chosen[run["problem"]] = run
    return list(chosen.values()) if chosen and len(chosen) == len({run["problem"] for run in runs}) else None


def seconds(runs, metric, limit_percent):
    chosen = cheapest(runs, metric, limit_percent)
    return sum(run[metric] for run in chosen) if chosen else None


def norm(runs, limit_percent):
    """Norm of the whole Jacobian of the runs that count."""
    chosen = cheapest(runs, "jacobian_cpu_s", limit_percent)
    return sum(run["jacobian_norm_ohm"] ** 2 for run in chosen) ** 0.5 if chosen else None


def compare(rows):
    """The rows of out/bench/peers.json from those of bench_peers."""
    mine = ours(rows)
    result = []
    for solver, title in SOLVERS.items():
        theirs, peer = simpeg(solver)
        for limit in LIMITS_PERCENT:
            for metric, words in METRICS.items():
                value, peer_value = seconds(mine, metric, limit), seconds(theirs, metric, limit)
                result.append({"case": f"COMMEMI 2D-1 to {limit:g} %, beside {title}", "metric": words, "unit": "s CPU", "value": value, "target": None, "met": None,
                               "peer": peer, "peer_value": peer_value, "ratio": peer_value / value if value and peer_value else None,
                               "command": "scripts/peers.sh && make bench BENCH=peers"})
            result.append({"case": f"COMMEMI 2D-1 to {limit:g} %, beside {title}", "metric": "norm of dZ/d ln rho", "unit": "ohm", "value": norm(mine, limit),
                           "target": None, "met": None, "peer": peer, "peer_value": norm(theirs, limit), "ratio": None,
                           "command": "scripts/peers.sh && make bench BENCH=peers"})
    return result
