# SPDX-License-Identifier: Apache-2.0
"""What the tests of trainings on several ranks share: a small prior, starting ranks, and what a training wrote."""
import os
import signal
import subprocess
import time

from support import PROGRAM

PRIOR = """[grid]
first_layer_m = 80.0
layer_factor = 1.3
n_layers = 10
first_cell = 1
last_cell = 8
n_columns = 6
width_m = 300.0
[prior]
seed = 1
[[prior.generator]]
kind = "layers"
number = [2, 4]
thickness_m = [100.0, 1500.0]
log10_resistivity = [0.5, 3.0]
[network]
codes = 4
channels = [8, 8]
[training]
draws = 250
epochs = {epochs}
batch_size = 26
learning_rate = 3e-3
shards = 8
[output]
report = false
"""


def launcher(ranks):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []


def start(*arguments, ranks, program=(PROGRAM,)):
    """Starts a training in the background."""
    command = [*launcher(ranks), *program, "train", *[str(a) for a in arguments]]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def rank_processes(mpirun):
    """The processes of the ranks, in their order; they are children of mpirun."""
    found = []
    for name in os.listdir("/proc"):
        try:
            fields = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()
            environment = open(f"/proc/{name}/environ").read()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == mpirun.pid and "OMPI_COMM_WORLD_RANK=" in environment:
            found.append((int(environment.split("OMPI_COMM_WORLD_RANK=")[1].split("\0")[0]), int(name)))
    return [process for _, process in sorted(found)]


def wait_for_epoch(folder, epoch, seconds=60):
    """Waits for a row of the table of a training."""
    path, end = os.path.join(folder, "history.csv"), time.time() + seconds
    while time.time() < end:
        if os.path.exists(path) and len(open(path).read().splitlines()) > epoch:
            return True
        time.sleep(0.01)
    return False


def end_of(process, seconds):
    """(exit code, what it said, seconds it took); a training that does not end is killed, and its code is None."""
    begin = time.time()
    try:
        said, _ = process.communicate(timeout=seconds)
        return process.returncode, said, time.time() - begin
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        said, _ = process.communicate()
        return None, said, time.time() - begin


def written(folder, names=("vae.h5", "checkpoint.safetensors", "history.csv", "card.json")):
    """The bytes of the files of a training."""
    return {name: open(os.path.join(folder, name), "rb").read() for name in names}
