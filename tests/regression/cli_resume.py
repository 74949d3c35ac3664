# SPDX-License-Identifier: Apache-2.0
"""invert: results, stopping and going on to the identical result."""
import csv
import os
import re
import shlex
import signal
import subprocess
import time

from support import PROGRAM, Folder, check, expect, expect_error, expect_target, finish, synthetic


def history(folder, run):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(open(folder / f"{run}/iterations.csv"))]


def section(folder, run):
    return open(folder / f"{run}/section.csv").read()


def start(*arguments):
    return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(path, seconds=60):
    end = time.time() + seconds
    while not os.path.exists(path) and time.time() < end:
        time.sleep(0.02)
    return os.path.exists(path)


with Folder() as folder:
    path = synthetic(folder, iterations=4, target=0.01, accuracy="iteration")  # a target out of reach: every run ends with "not converged"

    dry = expect(0, ["unknowns", "data", "memory per rank", "time per iteration"], "invert", path, "-o", folder / "dry", "--dry-run").stdout
    check(re.search(r"\d iterations: +about \d+(\.\d)? s", dry), "a run of seconds is told in seconds")
    check(not os.path.exists(folder / "dry"), "a dry run writes nothing")

    expect(10, ["not converged"], "invert", path, "-o", folder / "whole")
    for name in ("config.toml", "checkpoint.h5", "iterations.csv", "result.h5", "section.csv", "log.jsonl", "vtk/model.pvd", "vtk/section.vtu"):
        check(os.path.exists(folder / f"whole/{name}"), f"{name} is written")
    expect(2, ["--resume"], "invert", path, "-o", folder / "whole")

    # Stopped after every iteration by a time limit, then gone on.
    code, runs = 11, 0
    arguments = ["invert", path, "-o", folder / "pieces", "--time-limit", "1e-6"]
    while code == 11 and runs < 8:
        run = subprocess.run([PROGRAM, *arguments, *(["--resume"] if runs else [])], capture_output=True, text=True, timeout=100)
        code, runs = run.returncode, runs + 1
    check(code == 10 and runs > 2, f"a time limit stops with code 11 until the last iteration is done (code {code} after {runs} runs)")
    check(section(folder, "pieces") == section(folder, "whole"), "resumed: the same section, digit by digit")
    check(history(folder, "pieces") == history(folder, "whole"), "resumed: the same history")

    # Stopped in mid-run by a batch system (SIGTERM) and by a person at the keyboard (SIGINT).
    for name in ("SIGTERM", "SIGINT"):
        run_folder = f"stopped_{name}"
        process = start("invert", path, "-o", folder / run_folder, "--set", "run.title=it's mine", "--set", "data.period_min_s=1e-9")
        check(wait_for(folder / f"{run_folder}/checkpoint.h5"), f"{name}: a checkpoint appears")
        process.send_signal(getattr(signal, name))
        said, _ = process.communicate(timeout=100)
        check(process.returncode == 11 and "--resume" in said, f"{name}: code 11, and how to go on")
        check(not os.path.exists(folder / f"{run_folder}/result.h5"), f"{name}: no result yet")
        expect_error(3, "unfinished_run", ["result.h5", "was stopped", "--resume"], "convert", folder / run_folder, "-o", folder / "stopped.rho")
        typed = shlex.split(next(line for line in said.splitlines() if "go on with: mt_invert " in line).split("go on with: mt_invert ")[1])
        expect(10, ["it's mine"], *typed)
        check(section(folder, run_folder) == section(folder, "whole"), f"{name} and resume: the same section")

    # A folder belongs to one run at a time; a killed one leaves no lock.
    process = start("invert", path, "-o", folder / "shared", "--set", "inversion.max_iterations=400", "--set", "inversion.min_rms_drop=0")
    check(wait_for(folder / "shared/checkpoint.h5"), "shared: a checkpoint appears")
    expect_error(2, "running", ["shared", "-o"], "invert", path, "-o", folder / "shared", "--resume")
    process.kill()
    process.communicate()
    expect(11, ["--resume"], "invert", path, "-o", folder / "shared", "--resume", "--set", "inversion.max_iterations=400", "--set", "inversion.min_rms_drop=0",
           "--time-limit", "1e-6")

    # Changed input is refused, more iterations are not.
    expect(2, ["inversion.target_rms", "0.01", "0.5"], "invert", path, "-o", folder / "whole", "--resume", "--set", "inversion.target_rms=0.5")
    expect(2, ["mask"], "invert", path, "-o", folder / "whole", "--resume", "--set", "data.tipper=true")
    data = open(folder / "data.dat").read().splitlines()
    os.rename(folder / "data.dat", folder / "old.dat")
    row = next(i for i, line in enumerate(data) if not line.startswith(("#", ">")) and len(line.split()) > 8)
    words = data[row].split()
    words[-2] = repr(float(words[-2]) * 1.01)
    folder.write("data.dat", "\n".join([*data[:row], " ".join(words), *data[row + 1:]]) + "\n")
    expect(2, ["data"], "invert", path, "-o", folder / "whole", "--resume")
    os.replace(folder / "old.dat", folder / "data.dat")
    expect(10, ["5"], "invert", path, "-o", folder / "whole", "--resume", "--set", "inversion.max_iterations=5")
    check(len(history(folder, "whole")) >= len(history(folder, "pieces")), "more iterations go on from the last")

    # A target within reach, and a bounded model.
    fine = ["--set", "forward.iteration_accuracy=standard"]
    expect_target([], path, "-o", folder / "easy", *fine, "--set", "inversion.target_rms=3.0", "--set", "output.report=true")
    first = open(folder / "easy/report.html", "rb").read()
    expect(0, ["report.html"], "report", folder / "easy")
    check(open(folder / "easy/report.html", "rb").read() == first, "a report written again is the same")
    check(os.path.getsize(folder / "easy/report.html") > 10000, "the report is there")
    expect_target([], path, "-o", folder / "bounded", *fine, "--set", "inversion.target_rms=4.0", "--set", "inversion.max_iterations=10",
           "--set", "bounds.resistivity_min_ohm_m=1.0", "--set", "bounds.resistivity_max_ohm_m=1000.0")
    values = [float(r["resistivity_ohm_m"]) for r in csv.DictReader(open(folder / "bounded/section.csv"))]
    check(1.0 < min(values) and max(values) < 1000.0, "bounds hold")
finish()
