# SPDX-License-Identifier: Apache-2.0
"""What run.py measures by whole programs: inversions from start to target, and forward runs on one rank beside several and beside several threads."""
import collections
import os
import re
import shutil
import statistics
import subprocess
import time

# Other programs on the same data, as published or logged; see docs/results/lines.md.
INVERSIONS = [
    {"case": "BLOCK2", "config": "examples/block2/block2.toml", "ranks": 1, "repeats": 3, "target_s": 4.0, "settings": ["inversion.smooth_at_target=false", "inversion.sufficient_drop=0.4", 'forward.final_accuracy="iteration"'],
     "peer": "ModEM 2-D, NLCG, one AMD EPYC core", "peer_s": 19.7},
    {"case": "MARE2DEM marine demo", "config": "examples/mare2dem/mare2dem.toml", "ranks": 1, "repeats": 1, "target_s": 350.0, "settings": [],
     "peer": "MARE2DEM's log, 12 processes", "peer_s": 395.0},
    {"case": "BLOCK2 in 3-D", "config": "examples/block2/block2_3d.toml", "arguments": ["--dim", "3"], "ranks": 1, "threads": 2, "repeats": 1, "target_s": 60.0, "settings": ["inversion.smooth_at_target=false"],
     "peer": "ModEM 3-D, NLCG, its log, stalls at rms 1.69", "peer_s": 198.0},
    {"case": "KIM-ETO demo", "config": "examples/kim_eto/kim_eto.toml", "ranks": 1, "threads": 2, "repeats": 3, "target_s": 90.0, "settings": [], "peer": None, "peer_s": None},
]
# Configurations, and what is set beside them. The two lines state the data alone: everything else is a default, the certificate included.
TWO_LINES = "two lines"
ESTIMATED = {"kim_eto/kim_eto": [], "kim_eto/kim_eto_te": [], "kim_eto/kim_eto_learned": [], "block2/block2": [], "coprod2/coprod2": [], "kap03/kap03": [], "mare2dem/mare2dem": [],
             "getting_started/smooth": [], "coprod2/coprod2 nlcg": ['inversion.algorithm="nlcg"', "inversion.max_iterations=60"], TWO_LINES: [], "block2/block2_3d": []}
NOT_CONVERGED = 10  # exit code: a result, above its target
RANKS = 2
ROUNDS = 3


def row(case, metric, unit, value, target=None, met=None, peer=None, peer_value=None):
    return {"case": case, "metric": metric, "unit": unit, "value": value, "target": target, "met": met, "peer": peer, "peer_value": peer_value,
            "ratio": peer_value / value if peer_value else None}


def inversion(task, launch, program, source, folder):
    """Seconds of the whole program, and the rms and iterations of its last line."""
    shutil.rmtree(folder, ignore_errors=True)
    begin = time.monotonic()
    text = launch([program, "invert", source / task["config"], "-o", folder, *task.get("arguments", []), *[word for pair in task["settings"] for word in ("--set", pair)]], task["ranks"], task.get("threads", 1))
    seconds = time.monotonic() - begin
    last = re.search(r"rms ([\d.]+)\D+\(target ([\d.]+)\) after (\d+) iterations", text)
    if last is None:
        raise OSError(f"{task['config']}: expected a last line with rms and target, got: {text.strip().splitlines()[-1]}")
    return seconds, float(last[1]), float(last[2]), int(last[3])


def inversions(launch, program, source, folder):
    rows = []
    for task in INVERSIONS:
        results = [inversion(task, launch, program, source, folder / "run") for _ in range(task["repeats"])]
        seconds = statistics.median(r[0] for r in results)
        _, rms, target_rms, iterations = results[0]
        rows += [row(task["case"], "whole program", "s", seconds, task["target_s"], seconds <= task["target_s"] and rms <= target_rms, task["peer"], task["peer_s"]),
                 row(task["case"], "ranks", "", task["ranks"]), row(task["case"], "threads", "", task.get("threads", 1)), row(task["case"], "rms", "", rms, target_rms, rms <= target_rms),
                 row(task["case"], "iterations", "", iterations)]
    return rows


def in_seconds(text):
    return float(text.split()[0]) * (60.0 if text.endswith("min") else 1.0)


def measured(command):
    """(largest memory in GB, seconds) of a program; errors: OSError."""
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, NOT_CONVERGED):
        raise OSError(f"{command[2]}: expected a run that ends with a result, got: {error.strip()}")
    return usage.ru_maxrss * 1024 / 1e9, time.monotonic() - begin


def estimates(launch, program, source, folder):
    """What --dry-run says of the examples beside what their runs take on all cores."""
    rows = []
    for name, settings in ESTIMATED.items():
        config, case = source / "examples" / f"{name.split(' ')[0]}.toml", name.split("/")[-1]
        if name == TWO_LINES:
            config = folder.with_name("two_lines.toml")
            config.write_text(f'[data]\nedi_folder = "{source}/data/samtex/edi_kim_eto"\n')
        command = [program, "invert", config, "-o", folder, *(["--dim", "3"] if name.endswith("_3d") else []), *[word for pair in settings for word in ("--set", pair)]]
        text = launch([*command, "--dry-run"], 1, os.cpu_count())
        gigabytes = re.search(r"memory per rank: +about ([\d.]+) GB(?:, ([\d.]+) GB in last steps)?", text)
        about, most = re.search(r"all together: +about ([\d.]+ \w+), at most ([\d.]+ \w+)", text).groups()
        shutil.rmtree(folder, ignore_errors=True)
        memory, seconds = measured(command)
        last_steps = "the last steps are taken there" in (folder / "log.jsonl").read_text()
        expected = float(gigabytes[2] if last_steps and gigabytes[2] else gigabytes[1])
        rows += [row(case, "memory", "GB", memory, peer="--dry-run", peer_value=expected), row(case, "time", "s", seconds, peer="--dry-run", peer_value=in_seconds(about)),
                 row(case, "most time", "s", in_seconds(most)), row(case, "last steps", "", int(last_steps))]
    return rows


def scaling(measure):
    """Rows of bench_scaling on RANKS ranks and on as many threads of one rank, with one thread of one rank as the peer, medians of alternating runs;
    `measure(ranks, threads)` gives one document."""
    ways = {"1 rank": (1, 1), f"{RANKS} ranks": (RANKS, 1), f"{RANKS} threads": (1, RANKS)}
    seconds = collections.defaultdict(list)
    documents = [(way, measure(*ways[way])) for _ in range(ROUNDS) for way in ways]
    for way, document in documents:
        for r in document["results"]:
            seconds[r["case"], r["metric"], r["unit"], way].append(r["value"])
    rows = []
    for r in documents[0][1]["results"]:
        if not r["unit"]:  # predicted, whatever runs
            rows.append(row(r["case"], r["metric"], "", r["value"]))
            continue
        one, *others = (statistics.median(seconds[r["case"], r["metric"], r["unit"], way]) for way in ways)
        rows.append(row(r["case"], f"{r['metric']}, 1 rank", r["unit"], one, r["target"], None if r["target"] is None else one <= r["target"]))
        rows += [row(r["case"], f"{r['metric']}, {way}", r["unit"], value, peer="1 rank", peer_value=one) for way, value in zip(list(ways)[1:], others)]
    return documents[0][1]["header"], rows
