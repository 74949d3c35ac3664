# SPDX-License-Identifier: Apache-2.0
"""The rows of out/bench/engine.json: bench_engine on one and two threads, the figures of PyTorch and JAX beside them; run.py calls `measure`."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PEERS = ("torch", "jax")
THREADS = (1, 2)
# At most this share of torch's time: three times as fast, five times as fast.
SHARES = {("MT-VAE training step", "loss, gradients, Adam"): 1 / 3, ("MT decoder, 40 columns", "Jacobian"): 1 / 5, ("chain of 1000 products", "value and gradient, per op"): 1 / 3}
# Of oneDNN's rate, which torch's convolutions in f32 are.
SHARE_OF_CONVOLUTIONS = 1 / 0.9
# Their kernels run so many times in turn with torch's: the rate of shared cores changes within a run.
ROUNDS = 3


def measured(name, threads, *arguments, script=None):
    """Runs peer_<script>.py, or peer_<name>.py, in the environment of that name. Gives (name and version, {case: {metric: seconds}}) of a peer; (None, {}) where it is not installed."""
    python = SOURCE / "build" / "peers" / name / "bin" / "python"
    if not python.exists():
        return None, {}
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    run = subprocess.run([python, "-W", "ignore", SOURCE / "benchmarks" / f"peer_{script or name}.py", "--threads", str(threads), *arguments], env=environment, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        print(f"engine: {name} failed; its figures stay null")
        return None, {}
    answer = json.loads(run.stdout)
    return answer["peer"], answer["seconds"]


def share_of_torch(row):
    """The share of torch's time that a case may take; None: not judged."""
    if row["case"].startswith("convolution") and row["case"].endswith("f32"):
        return SHARE_OF_CONVOLUTIONS
    return next((share for (case, metric), share in SHARES.items() if row["case"].startswith(case) and row["metric"] == metric), None)


def beside(row, peers):
    """The row, with the first peer's time where it has none, and one more per other peer; with torch's also what share of it ours is."""
    rows = [row]
    for name, (peer, seconds) in peers.items():
        theirs = seconds.get(row["case"], {}).get(row["metric"])
        if theirs is None or row["unit"] != "s":
            continue
        with_peer = {**row, "peer": peer, "peer_value": theirs, "ratio": theirs / row["value"]}
        rows = [with_peer] if rows == [row] and not row["peer"] else [*rows, with_peer]
        share = share_of_torch(row) if name == "torch" else None
        if share:
            taken = row["value"] / theirs
            rows.append({**with_peer, "metric": row["metric"] + ", share of torch's time", "unit": "", "value": taken, "target": share, "met": taken <= share, "peer_value": None, "ratio": None})
    return rows


def in_turn(program, threads, document, peers):
    """Puts the medians of rounds, ours and torch's one after the other, in the place of the convolutions' rows."""
    ours, theirs = {}, {}
    for _ in range(ROUNDS if peers["torch"][0] else 0):
        for row in program(threads, "convolutions")["results"]:
            ours.setdefault((row["case"], row["metric"]), []).append(row)
        for case, seconds in measured("torch", threads, "--only", "convolutions")[1].items():
            for metric, value in seconds.items():
                theirs.setdefault((case, metric), []).append(value)
    middle = {key: sorted(rows, key=lambda row: row["value"])[len(rows) // 2] for key, rows in ours.items()}
    document["results"] = [middle.get((row["case"], row["metric"]), row) for row in document["results"]]
    for (case, metric), values in theirs.items():
        peers["torch"][1][case][metric] = statistics.median(values)


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
        peers = {name: measured(name, threads) for name in PEERS}
        in_turn(program, threads, document, peers)
        for row in document["results"]:
            if threads > 1 and row["case"].startswith("chain"):
                continue  # one thread by nature
            if threads > 1 and row["peer"]:
                row = {**row, "peer": None, "peer_value": None, "ratio": None}  # BLAS itself stays on one thread: threads are ours
            suffix = f", {threads} threads" if threads > 1 else ""
            if threads > 1:
                row = {**row, "target": None, "met": None}
            rows += [{**each, "case": each["case"] + suffix} for each in beside(row, peers)]
    return header, rows + list(contention(program, rows))
