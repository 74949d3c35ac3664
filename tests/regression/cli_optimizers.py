# SPDX-License-Identifier: Apache-2.0
"""invert: every algorithm fits the synthetic block, writes the same files and goes on from a checkpoint to the identical result."""
import csv
import os
import subprocess

from support import PROGRAM, Folder, check, expect, expect_error, expect_target, finish, synthetic

METHODS = {
    "model_space": ["inversion.space=\"model\""],
    "cooling": ["inversion.lambda_strategy=\"cooling\""],
    "nlcg": ["inversion.algorithm=\"nlcg\""],
    "lbfgs": ["inversion.algorithm=\"lbfgs\""],
    "huber": ["misfit.huber_threshold=1.5", "inversion.target_rms=2.0"],
}


def settings(method, *more):
    return [word for assignment in [*METHODS[method], *more] for word in ("--set", assignment)]


def history(folder, run):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(open(folder / f"{run}/iterations.csv"))]


def section(folder, run):
    return [float(row["resistivity_ohm_m"]) for row in csv.DictReader(open(folder / f"{run}/section.csv"))]


def scale_errors(path, factor):
    """Multiplies the errors of a ModEM file, which stand last in each row."""
    rows = [line.rstrip("\n") for line in open(path)]
    rows = [row if row.startswith(("#", ">")) or len(row.split()) < 10 else " ".join([*row.split()[:-1], f"{float(row.split()[-1]) * factor:.6e}"]) for row in rows]
    with open(path, "w") as file:
        file.write("\n".join(rows) + "\n")


with Folder() as folder:
    path = synthetic(folder, iterations=60, target=3.0)
    expect_target([], path, "-o", folder / "data_space", "--set", "inversion.space=\"data\"")
    for method in METHODS:
        expect_target([], path, "-o", folder / method, *settings(method))
        for name in ("checkpoint.h5", "iterations.csv", "result.h5", "vtk/model.pvd"):
            check(os.path.exists(folder / f"{method}/{name}"), f"{method}: {name} is written")
        check(float(history(folder, method)[-1]["rms"]) <= 3.0, f"{method}: at the target")
        check(min(section(folder, method)) < 50.0, f"{method}: the conductor is there")

    # Data made on the meshes of iterations, with errors far below what these meshes are good for: the true model fits there at once, and not at the final accuracy.
    expect(0, ["wrote"], "forward", "--model", folder / "model.toml", "--sites", folder / "sites.csv", "--periods", "0.01,0.1,1", "--accuracy", "iteration",
           "-o", folder / "exact.dat")
    scale_errors(folder / "exact.dat", 0.01)
    exact = folder.write("exact.toml", '[data]\nmodem_file = "exact.dat"\nkind = "impedance"\n[grid]\nfrom_start_model = true\n[start]\nmodel_file = "model.toml"\n'
                         '[forward]\ncertificate = "none"\n[output]\nreport = false\nvtk = false\n')
    expect(10, ["is reached on the iterations' meshes", "the last steps are taken there", "not converged: rms", "in the last steps, at the final accuracy"],
           "invert", exact, "-o", folder / "coarse")
    expect_target([], exact, "-o", folder / "equal", "--set", "forward.final_accuracy=iteration", "--set", "forward.max_nodes=0")

    gap = max(abs(a / b - 1.0) for a, b in zip(section(folder, "model_space"), section(folder, "data_space")))
    check(gap < 1e-5, f"model and data space: the same section, {gap:.1e}")
    check(all(row["n_jacobian"] == "0" and row["kind"] in ("start", "descent") for row in history(folder, "lbfgs")), "lbfgs: no Jacobian")

    # Stopped after every iteration, then gone on: the identical run.
    for method in ("cooling", "nlcg", "lbfgs"):
        few = settings(method, "inversion.max_iterations=5", "inversion.target_rms=0.01", "forward.iteration_accuracy=iteration")
        expect(10, ["not converged"], "invert", path, "-o", folder / f"{method}_whole", *few)
        code, runs = 11, 0
        while code == 11 and runs < 9:
            arguments = [PROGRAM, "invert", path, "-o", folder / f"{method}_pieces", "--time-limit", "1e-6", *few]
            code = subprocess.run([*arguments, *(["--resume"] if runs else [])], capture_output=True, timeout=100).returncode
            runs += 1
        check(code == 10 and runs == 7, f"{method}: stopped after every iteration (code {code} after {runs} runs)")
        check(history(folder, f"{method}_pieces") == history(folder, f"{method}_whole"), f"{method}: resumed, the same history")
        check(section(folder, f"{method}_pieces") == section(folder, f"{method}_whole"), f"{method}: resumed, the same section")

    # A key the chosen method would ignore is refused; so is going on with another method.
    expect_error(2, "not_chosen", ["inversion.memory", "lbfgs"], "invert", path, "-o", folder / "bad", *settings("nlcg", "inversion.memory=5"))
    expect_error(2, "not_chosen", ["inversion.cooling_rate", "cooling"], "invert", path, "-o", folder / "bad", "--set", "inversion.cooling_rate=2")
    expect(2, ["inversion.algorithm"], "invert", path, "-o", folder / "cooling", "--resume", *settings("nlcg"))
    expect(0, ["time per iteration"], "invert", path, "-o", folder / "dry", "--dry-run", *settings("lbfgs"))
finish()
