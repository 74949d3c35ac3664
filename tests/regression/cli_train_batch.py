# SPDX-License-Identifier: Apache-2.0
"""The job script of trainings: stopped by SIGTERM it puts itself back into the queue, and goes on with another number of ranks to the bytes of an uninterrupted training."""
import os
import signal
import subprocess

from ranks import PRIOR, end_of, start, wait_for_epoch, written
from support import PROGRAM, SOURCE, Folder, check, finish

SCRIPT = os.path.join(SOURCE, "examples", "slurm", "train.sbatch")


def job(folder, ranks):
    """Starts the script as Slurm would, with an `scontrol` that writes down what it is asked for."""
    environment = {**os.environ, "CONFIG": folder / "prior.toml", "OUT": folder / "job", "RANKS": str(ranks), "SHARDS": "4", "PROGRAM": PROGRAM, "SLURM_JOB_ID": "7",
                   "SLURM_CPUS_PER_TASK": "1", "PATH": os.path.dirname(folder / "bin/scontrol") + ":" + os.environ["PATH"], "LAUNCH": f"mpirun --oversubscribe -n {ranks} --bind-to none"}
    return subprocess.Popen(["bash", SCRIPT], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


with Folder() as folder:
    folder.write("prior.toml", PRIOR.format(epochs=40))
    os.chmod(folder.write("bin/scontrol", f'#!/bin/sh\necho "$@" >> "{folder / "queue"}"\n'), 0o755)
    code, said, _ = end_of(start(folder / "prior.toml", "--shards", "4", "-o", folder / "whole", ranks=1), 100)
    check(code == 0, f"the uninterrupted training ends (code {code})")

    first = job(folder, 2)
    check(wait_for_epoch(folder / "job", 1), "the job has trained an epoch")
    first.send_signal(signal.SIGTERM)
    code, said, seconds = end_of(first, 60)
    check(code == 11 and seconds < 5.0, f"SIGTERM: the job ends cleanly (code {code}, {seconds:.1f} s)\n{said[-1500:] if code != 11 else ''}")
    check(os.path.exists(folder / "queue") and open(folder / "queue").read() == "requeue 7\n", "SIGTERM: the job is put back into the queue")

    code, said, _ = end_of(job(folder, 3), 100)
    check(code == 0, f"the job goes on with three ranks and ends (code {code})\n{said[-1500:] if code != 0 else ''}")
    check(code == 0 and written(folder / "job") == written(folder / "whole"), "the bytes of the uninterrupted training")
    check(open(folder / "queue").read() == "requeue 7\n", "a training that has ended is not queued")
finish()
