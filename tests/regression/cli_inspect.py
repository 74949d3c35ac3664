# SPDX-License-Identifier: Apache-2.0
"""Looking into trainings: what is announced, pictures, numbers and their comparison, traces, the monitor."""
import json
import os
import socket
import subprocess
import time

from learned import PRIOR, train
from support import PROGRAM, Folder, check, expect, expect_error, finish


def ask(path, line):
    """Returns the answer of the monitor."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.sendall(line.encode() + b"\n")
    answer = b""
    while part := client.recv(65536):
        answer += part
    return answer.decode()


def events(trace, phase="X"):
    return [each for each in json.loads(trace)["traceEvents"] if each["ph"] == phase]


def monitor_of(folder, prior):
    """Asks a training that runs."""
    path = folder / "socket"
    command = [PROGRAM, "train", prior, "-o", folder / "long", "--set", "training.epochs=100000"]
    training = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "LODESTONE_MONITOR": path})
    try:
        deadline = time.time() + 60
        while "training step" not in (ask(path, "status") if os.path.exists(path) else "") and time.time() < deadline:
            time.sleep(0.1)
        check(os.stat(path).st_mode & 0o777 == 0o600, "the socket is its user's alone")
        steps = [each for each in events(ask(path, "trace 5")) if each["cat"] == "step"]
        check(len(steps) == 5, f"a running training gives five steps, got {len(steps)}")
        numbers = [each["args"]["number"] for each in steps]
        check(numbers == list(range(numbers[0], numbers[0] + 5)), f"one after the other: {numbers}")
        check("bytes in use" in ask(path, "memory"), "and its memory")
        taken = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, env={**os.environ, "LODESTONE_MONITOR": path})
        check(taken.returncode == 3 and "another process answers" in taken.stderr, "a second process with the same socket is refused")
    finally:
        training.terminate()
        training.wait(60)
    check(not os.path.exists(path), "the socket is gone at the end")


def machine_of(folder, prior):
    """Announces times by the rates of this machine, and by those of a file."""
    os.environ["XDG_CACHE_HOME"] = folder / "caches"
    kept, file = folder / "caches/lodestone/machine.json", folder / "node.json"
    expect_error(3, "no_folder", ["nowhere"], "machine", "-o", folder / "nowhere/node.json")
    check(not os.path.exists(kept), "nothing is measured for a file that cannot be written")
    rates = expect(0, ["2 thread(s)", "launch", "pass over", "product f32", "GB/s", "are measured once"], "machine", "--threads", "2", "-o", file).stdout
    check(json.load(open(file)) == json.load(open(kept)), "the file has what is kept")
    again = expect(0, ["2 thread(s)", "product f32"], "machine", "--threads", "2").stdout
    check("are measured" not in again and again.splitlines()[2:] == rates.splitlines()[3:-1], "rates are measured once")

    dry = ["train", prior, "--dry-run", "--threads"]
    of_file = expect(0, ["on 2 thread(s), all launches by the rates of"], *dry, "2", "--machine", file).stdout
    check(expect(0, ["by the rates of"], *dry, "2", "--times", "rates").stdout == of_file, "those of this machine are the same")
    check("time:" not in expect(0, ["peak memory"], *dry, "2", "--times", "none").stdout, "without times")
    expect(0, ["by the rates of"], "inspect", prior, "-o", folder / "by_rates", "--threads", "2", "--machine", file)
    expect_error(5, "not_one_machine", [file, "1 thread(s)", "2 thread(s)"], *dry, "1", "--machine", file)
    expect_error(3, "no_file", ["nothing.json"], *dry, "2", "--machine", folder / "nothing.json")
    broken = folder.write("broken.json", '{"machines": [{"version": 2}]}')
    expect_error(4, "damaged", ["broken.json"], *dry, "2", "--machine", broken)
    of_version_1 = folder.write("old.json", '{"machines": [{"version": 1}]}')
    expect_error(5, "not_one_machine", ["no record that this program reads"], *dry, "2", "--machine", of_version_1)
    expect(2, ["--machine", "--dry-run"], "train", prior, "--machine", file)
    del os.environ["XDG_CACHE_HOME"]


with Folder() as folder:
    prior = folder.write("prior.toml", PRIOR.format(low=0.3, high=2.7, codes=4, seed=1, columns=""))
    announced = expect(0, ["parameters", "384 of 25 draws each in 8 epochs", "peak memory", "GFLOP"], "train", prior, "--dry-run", "-o", folder / "none")
    check(not os.path.exists(folder / "none"), "a dry run writes nothing")
    expect(2, ["--dry-run"], "train", prior, "--dry-run", "--resume")

    machine_of(folder, prior)

    trace = folder / "trace.json"
    expect(0, ["all finite", "the same bits on O0 and O1", "peak memory"], "inspect", prior, "-o", folder / "step", "--trace", trace)
    page = open(folder / "step/step.html").read()
    for what in ["<summary>encoder", "<summary>decoder", ">Rewritten<", ">Running<", "<svg", "apart from"]:
        check(what in page, f"the page has {what}")
    check("elementwise.cpp" not in page, "no line is that of a rule")
    check(open(folder / "step/step.dot").read().startswith("digraph"), "and a graph stands beside it")
    text = open(trace).read()
    check({each["cat"] for each in events(text)} >= {"pass", "launch"}, "the trace has passes and launches")
    check(max(each["args"]["bytes in use"] for each in events(text, "C")) > 1e5, "and the memory")

    launcher = ("mpirun", "--oversubscribe", "-n", "2", "--bind-to", "none")
    expect(0, ["pass"], "selftest", "layered1d", "--trace", folder / "ranks.json", launcher=launcher)
    ranks = [{each["pid"] for each in json.load(open(folder / name))["traceEvents"]} for name in ["ranks.json", "ranks.json.1"]]
    check(ranks == [{0}, {1}], f"each rank writes its file, with the rank as process: {ranks}")

    values = folder / "step/values.h5"
    expect(0, ["values agree in every bit"], "inspect", prior, "-o", folder / "again", "--compare", values)
    differ = expect(0, ["the first is input of", "relative difference"], "inspect", prior, "-o", folder / "other", "--compare", values, "--set", "training.seed=2").stdout
    check(differ.splitlines()[-1].startswith("  "), "a table of what differs")
    expect(0, ["the first is input of"], "inspect", values, "--compare", folder / "other/values.h5")
    train(folder, "right", 0.3, 2.7)
    expect(0, ["the first is input of"], "inspect", prior, "--network", folder / "right/vae.h5", "-o", folder / "trained", "--arrays", "--compare", values)
    check(os.path.getsize(folder / "trained/values.h5") > 3 * os.path.getsize(values), "whole arrays take more")

    expect(0, [], "train", prior, "-o", folder / "state", "--set", "output.checkpoint=true", "--set", "training.epochs=1")
    state = folder / "state/checkpoint.safetensors"
    moments = expect(0, ["in adam.second_moment"], "inspect", prior, "--checkpoint", state, "-o", folder / "next", "--compare", values).stdout
    check("of adam.first_moment" in moments or "the first is input of" in moments, "weights and moments are those of the checkpoint")
    expect_error(4, "other_training", ["state/checkpoint.safetensors"], "inspect", prior, "--checkpoint", state, "-o", folder / "none", "--set", "network.codes=5")

    expect_error(5, "other_programs", [], "inspect", prior, "-o", folder / "codes", "--set", "network.codes=5", "--compare", values)
    expect_error(4, "no_dump", ["vae.h5"], "inspect", values, "--compare", folder / "right/vae.h5")
    expect(2, ["--compare"], "inspect", values)
    expect_error(3, "missing", ["nothing.h5"], "inspect", prior, "--network", folder / "nothing.h5", "-o", folder / "none")
    check(not os.path.exists(folder / "none"), "what is refused leaves nothing")
    monitor_of(folder, prior)
finish()
