# SPDX-License-Identifier: Apache-2.0
"""The job script: stopped by SIGTERM in mid-run, started again, it reaches the result of an uninterrupted run."""
import os
import signal
import subprocess
import time

from support import PROGRAM, SOURCE, Folder, check, finish, run, synthetic

SCRIPT = os.path.join(SOURCE, "examples", "slurm", "mt_invert.sbatch")


def job(folder, out, ranks):
    environment = {**os.environ, "CONFIG": folder / "config.toml", "OUT": folder / out, "RANKS": str(ranks), "PROGRAM": PROGRAM,
                   "LAUNCH": f"mpirun --oversubscribe -n {ranks} --bind-to none"}
    return subprocess.Popen(["bash", SCRIPT], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(path, seconds=60):
    end = time.time() + seconds
    while not os.path.exists(path) and time.time() < end:
        time.sleep(0.02)


def cells(path):
    return [float(line.rsplit(",", 1)[1]) for line in open(path).read().splitlines()[1:]]


with Folder() as folder:
    path = synthetic(folder, iterations=4, target=0.01, accuracy="iteration")
    check(run("invert", path, "-o", folder / "whole").returncode == 10, "the uninterrupted run ends")

    first = job(folder, "job", 2)
    wait_for(folder / "job/checkpoint.h5")
    first.send_signal(signal.SIGTERM)
    said, _ = first.communicate(timeout=100)
    check(first.returncode in (10, 11), f"SIGTERM: the job ends cleanly (code {first.returncode})\n{said[-1500:]}")
    if first.returncode == 11:
        check(not os.path.exists(folder / "job/result.h5"), "SIGTERM: no result yet")
        second = job(folder, "job", 2)
        said, _ = second.communicate(timeout=100)
        check(second.returncode == 10, f"the job goes on and ends (code {second.returncode})\n{said[-1500:]}")
    ours, whole = cells(folder / "job/section.csv"), cells(folder / "whole/section.csv")
    worst = max(abs(a / b - 1) for a, b in zip(ours, whole))
    check(len(ours) == len(whole) and worst < 1e-6, f"the section of the uninterrupted run on one rank (worst difference {worst:.1e})")
finish()
