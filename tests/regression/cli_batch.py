# SPDX-License-Identifier: Apache-2.0
"""The job script: stopped by SIGTERM in mid-run, started again, it reaches the result of an uninterrupted run."""
import os
import signal
import subprocess
import time

from support import PROGRAM, SOURCE, Folder, check, finish, run, synthetic

SCRIPT = os.path.join(SOURCE, "examples", "slurm", "mt_invert.sbatch")


def job(config, out, ranks, dim="2"):
    environment = {**os.environ, "CONFIG": config, "OUT": out, "RANKS": str(ranks), "PROGRAM": PROGRAM, "DIM": dim,
                   "LAUNCH": f"mpirun --oversubscribe -n {ranks} --bind-to none"}
    return subprocess.Popen(["bash", SCRIPT], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(path, seconds=60):
    end = time.time() + seconds
    while not os.path.exists(path) and time.time() < end:
        time.sleep(0.02)


def run_in_pieces(config, out, dim="2"):
    """Stops a job by SIGTERM once there is a checkpoint, and starts it again."""
    first = job(config, out, 2, dim)
    wait_for(os.path.join(out, "checkpoint.h5"))
    first.send_signal(signal.SIGTERM)
    said, _ = first.communicate(timeout=200)
    check(first.returncode in (10, 11), f"SIGTERM: the job ends cleanly (code {first.returncode})\n{said[-1500:]}")
    if first.returncode == 11:
        check(not os.path.exists(os.path.join(out, "result.h5")), "SIGTERM: no result yet")
        second = job(config, out, 2, dim)
        said, _ = second.communicate(timeout=200)
        check(second.returncode == 10, f"the job goes on and ends (code {second.returncode})\n{said[-1500:]}")


def compare(ours, whole, what):
    worst = max(abs(a / b - 1) for a, b in zip(ours, whole))
    check(len(ours) == len(whole) and worst < 1e-6, f"{what} of the uninterrupted run on one rank (worst difference {worst:.1e})")


def cells_of_section(path):
    return [float(line.rsplit(",", 1)[1]) for line in open(path).read().splitlines()[1:]]


def cells_of_volume(path):
    return [float(number) for line in open(path).read().splitlines()[5:-2] for number in line.split()]


with Folder() as folder:
    path = synthetic(folder, iterations=4, target=0.01, accuracy="iteration")
    check(run("invert", path, "-o", folder / "whole").returncode == 10, "the uninterrupted run ends")
    run_in_pieces(path, folder / "job")
    compare(cells_of_section(folder / "job/section.csv"), cells_of_section(folder / "whole/section.csv"), "the section")

    block = folder.write("block.toml", "dimension = 3\n[background]\nresistivity_ohm_m = [100.0]\n[[box]]\nx_min_m = -800\nx_max_m = 800\n"
                         "y_min_m = -800\ny_max_m = 800\nz_min_m = 200\nz_max_m = 900\nresistivity_ohm_m = 10.0\n")
    sites = folder.write("sites.csv", "site,x_m,y_m\na,-1500,0\nb,1000,-1500\nc,1000,1500\n")
    check(run("forward", "--model", block, "--sites", sites, "--periods", "0.3,3", "--accuracy", "iteration", "-o", folder / "data.dat").returncode == 0,
          "data of a volume")
    path = folder.write("volume.toml", """[data]
modem_file = "data.dat"
kind = "full_impedance"
[data.floors]
impedance_relative = 0.05
[grid]
n_columns = 6
n_rows = 6
n_layers = 6
[inversion]
max_iterations = 3
target_rms = 0.01
[forward]
final_accuracy = "iteration"
certificate = "none"
[output]
modem = true
""")
    check(run("invert", path, "--dim", "3", "-o", folder / "whole_volume").returncode == 10, "the uninterrupted inversion of a volume ends")
    run_in_pieces(path, folder / "volume_job", "3")
    compare(cells_of_volume(folder / "volume_job/modem/model.rho"), cells_of_volume(folder / "whole_volume/modem/model.rho"), "the volume")
finish()
