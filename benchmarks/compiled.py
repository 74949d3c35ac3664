# SPDX-License-Identifier: Apache-2.0
"""The rows of out/bench/compile.json: compiled functions of bench_engine and bench_compile on one and two threads, in turn with torch.compile, jax.jit and ONNX Runtime;
run.py calls `measure`. A peer that is not installed (scripts/peers.sh) has no figures."""
import statistics

from engine import THREADS, measured

ROUNDS = 3
GPT = "GPT step, 6 layers of 384, 8 x 256 words, f32"
# Our case: the program and its argument, our metric: the peers' metric of it.
CASES = {
    **{f"MT-VAE training step, {dtype}": ("bench_engine", "training", {"compiled, O1": "loss, gradients, Adam"}) for dtype in ("f32", "f64")},
    **{f"MT decoder, 40 columns, {dtype}": ("bench_engine", "decoder", {"values, compiled, O1": "values", "Jacobian, compiled, O1": "Jacobian"}) for dtype in ("f32", "f64")},
    "chain of 8 ops on 16 M f32": ("bench_engine", "fusion", {"compiled, O1": "call", "compiled, O1 by text": "call"}),
    GPT: ("bench_compile", "gpt", {"O1": "step", "O1: memory of the process": "memory of the process"}),
}
# Ours is at most this share of a peer's figure.
SHARES = {("MT-VAE training step, f32", "compiled, O1", "jax"): 1 / 3, ("MT-VAE training step, f32", "compiled, O1", "torch"): 1 / 3,
          ("MT decoder, 40 columns, f32", "Jacobian, compiled, O1", "jax"): 1 / 2.5, (GPT, "O1: memory of the process", "torch"): 0.8, (GPT, "O1: memory of the process", "torch, eager"): 0.8}
# (who, script, further arguments): the language model has processes of its own, since its memory is that of a process.
PEERS = (("jax", "jax", ()), ("jax", "jax", ("--only", "gpt")), ("torch", "torch_compile", ()), ("torch", "torch_compile", ("--only", "gpt")),
         ("torch, eager", "torch_compile", ("--only", "gpt", "--eager")), ("onnxruntime", "onnxruntime", ()))


def one_round(run, threads, ours, theirs, names):
    for program, argument in dict.fromkeys((program, argument) for program, argument, _ in CASES.values()):
        for row in run(program, threads, argument)["results"]:
            ours.setdefault((row["case"], row["metric"]), []).append(row)
    for who, script, arguments in PEERS:
        name, cases = measured(who.split(",")[0], threads, *arguments, script=script)
        names[who] = name or names.get(who)
        for case, metrics in cases.items():
            for metric, value in metrics.items():
                theirs.setdefault((GPT if case == "GPT step" else case, metric, who), []).append(value)


def beside(row, theirs, names):
    """The row once per peer that has its figure, or alone."""
    wanted = CASES.get(row["case"], (None, None, {}))[2].get(row["metric"])
    rows = []
    for (case, metric, who), values in theirs.items():
        if (case, metric) != (row["case"], wanted):
            continue
        peer, share = statistics.median(values), SHARES.get((case, row["metric"], who))
        limit = None if share is None else share * peer
        rows.append({**row, "peer": names[who], "peer_value": peer, "ratio": peer / row["value"], "target": limit, "met": None if limit is None else row["value"] <= limit})
    return rows or [row]


def measure(run):
    """(header, rows); run(program, threads, argument) gives the JSON of a program."""
    plans = run("bench_compile", 1, "plans")
    rows = list(plans["results"])
    for threads in THREADS:
        ours, theirs, names = {}, {}, {}
        for _ in range(ROUNDS):
            one_round(run, threads, ours, theirs, names)
        suffix = f", {threads} threads" if threads > 1 else ""
        for each in ours.values():
            middle = sorted(each, key=lambda row: row["value"])[len(each) // 2]
            rows += [{**row, "case": row["case"] + suffix} for row in beside(middle, theirs, names)]
    return plans["header"], rows
