# SPDX-License-Identifier: Apache-2.0
"""The rows of out/bench/engine.json: bench_engine on one and two threads, PyTorch's figures beside them; run.py calls `measure`."""
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PYTHON = SOURCE / "build" / "peers" / "torch" / "bin" / "python"
THREADS = (1, 2)


def torch(threads):
    """(name and version, {case: {metric: seconds}}); (None, {}) where it is not installed."""
    if not PYTHON.exists():
        return None, {}
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    run = subprocess.run([PYTHON, "-W", "ignore", SOURCE / "benchmarks" / "peer_torch.py", "--threads", str(threads)], env=environment, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        print("engine: torch failed; its figures stay null")
        return None, {}
    answer = json.loads(run.stdout)
    return answer["peer"], answer["seconds"]


def beside(row, peer, seconds):
    """The row, and a second one with the peer's time where the first already has another peer."""
    theirs = seconds.get(row["case"], {}).get(row["metric"])
    if theirs is None or row["unit"] != "s":
        return [row]
    with_peer = {**row, "peer": peer, "peer_value": theirs, "ratio": theirs / row["value"]}
    return [row, with_peer] if row["peer"] else [with_peer]


def contention(program, rows):
    """Two threads while another process keeps one core busy, beside one thread on a quiet machine."""
    alone = {row["case"]: row["value"] for row in rows if row["metric"] == "loss, gradients, Adam"}
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        document = program(2, "training")
    finally:
        busy.kill()
        busy.wait()
    for row in document["results"]:
        if row["metric"] == "loss, gradients, Adam":
            limit = 1.3 * alone[row["case"]]
            yield {**row, "case": row["case"] + ", 2 threads beside a busy process", "target": limit, "met": row["value"] <= limit, "peer": "one thread, quiet machine",
                   "peer_value": alone[row["case"]], "ratio": alone[row["case"]] / row["value"]}


def measure(program):
    """(header, rows); program(threads, *arguments) gives the JSON of bench_engine."""
    header, rows = None, []
    for threads in THREADS:
        document = program(threads)
        header = header or document["header"]
        peer, seconds = torch(threads)
        for row in document["results"]:
            if threads > 1 and row["case"].startswith("chain"):
                continue  # one thread by nature
            if threads > 1 and row["peer"]:
                row = {**row, "peer": None, "peer_value": None, "ratio": None}  # BLAS itself stays on one thread: threads are ours
            suffix = f", {threads} threads" if threads > 1 else ""
            target = {"target": None, "met": None} if threads > 1 else {}
            rows += [{**each, "case": each["case"] + suffix, **target} for each in beside(row, peer, seconds)]
    return header, rows + list(contention(program, rows))
