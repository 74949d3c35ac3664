# SPDX-License-Identifier: Apache-2.0
"""Runs the golden cases of one program, each with one thread, with two threads and on two ranks, into OUT/<case>/<variant>/.

usage: run.py PROGRAM OUT [--only CASE,...] [--variants NAME,...] [--list]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "cases")
DATA = os.path.join(HERE, "..", "..", "data")

VARIANTS = {  # words before the program, words behind it
    "threads1": ([], ["--threads", "1"]),
    "threads2": ([], ["--threads", "2"]),
    "ranks2": (["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"], ["--threads", "1"]),
}
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_ess_singleton_isolated": "1"}
ENDED = (0, 10)  # at the target, or all iterations used: every other code is a failure of the case


def case(name):
    return os.path.join(CASES, name)


def data(*names):
    return os.path.normpath(os.path.join(DATA, *names))


def invert(name, out, *more):
    return [f"invert {out}", ["invert", case(f"{name}.toml"), "-o", out, *more]]


def settings(*assignments):
    return [word for assignment in assignments for word in ("--set", assignment)]


def forward(ending, *more, sites="sites.csv", periods=("--periods", "0.01,0.1,1")):
    return [f"forward {ending}", ["forward", "--model", case("forward.toml"), "--sites", case(sites), "--drape", *periods, "-o", f"responses.{ending}", *more]]


def forward_steps():
    """Every ending, standard output, fields along the slope, sites of a ModEM file, all three accuracies, a result as the model, the report on meshes."""
    slope = forward("slope.h5", "--definition", "slope_parallel", "--accuracy", "iteration")
    printed = ["forward printed", ["forward", "--model", case("forward.toml"), "--sites", case("sites.csv"), "--drape", "--periods", "0.03"], "printed.csv"]
    report = ["forward mesh report", [*printed[1], "--mesh-report"], "mesh_report.txt"]
    modem = forward("modem.dat", sites="block.dat", periods=())
    return [forward("csv"), forward("h5", "--accuracy", "fine"), forward("dat"), slope, printed, report, modem]


def train_steps():
    info = ["info", "--json", "prior/vae.h5", "prior/checkpoint.safetensors", "other/vae.safetensors", data("samtex", "edi_kim_eto"), case("block.dat"),
            data("mare2dem_demo", "DemoSynthMT.emdata"), data("coprod2", "coprod2data.dat"), data("modem_block2_2d", "pr.rho")]
    return [["train", ["train", case("train.toml"), "-o", "prior"]],
            ["train patches", ["train", case("train.toml"), "-o", "other", *settings("grid.n_columns=4", "grid.width_m=1200.0", "network.centre=true",
                                                                                     'output.format="safetensors"', "training.epochs=1")]],
            ["info", info, "info.json"]]


# {case: steps}, a step being [name, arguments] or [name, arguments, file for standard output].
STEPS = {
    "kim_eto": lambda: [invert("kim_eto", "run")],
    "block2": lambda: [invert("block2", "run")],
    "marine": lambda: [invert("marine", "run")],
    "mt2d": lambda: [invert("mt2d", "run")],
    "static_shift": lambda: [invert("static_shift", "run")],
    "tears": lambda: [invert("tears", "run")],
    "nlcg": lambda: [invert("nlcg", "run"), invert("nlcg", "lbfgs", *settings('inversion.algorithm="lbfgs"'))],
    "cooling": lambda: [invert("cooling", "run")],
    "features": lambda: [invert("features", "run"), invert("features", "gaussian", *settings('learned_prior.region[0].decoder="gaussian"', 'learned_prior.polish="never"'))],
    "pairs": lambda: [invert("pairs", "run")],
    "posterior": lambda: [invert("posterior", "run"), invert("posterior", "stopped", *settings("inversion.max_iterations=1")),
                          ["resumed", ["invert", case("posterior.toml"), "-o", "stopped", "--resume"]]],
    "soundings": lambda: [invert("soundings", "run", "--dim", "1")],
    "forward": forward_steps,
    "train": train_steps,
    "selftest": lambda: [["selftest", ["selftest", "--json", "selftest.json"], "said.log"]],
}
WITHOUT = {"train": ("ranks2",)}  # rank 0 trains alone


def run_case(program, name, variant, folder):
    """Runs the steps of a case; returns what went wrong, or an empty text."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    launcher, more = VARIANTS[variant]
    codes, wrong = {}, ""
    with open(os.path.join(folder, "said.log"), "w") as log:
        for step, arguments, *kept in STEPS[name]():
            said = subprocess.run([*launcher, program, *more, *arguments], cwd=folder, capture_output=True, text=True, env={**os.environ, **ENVIRONMENT}, timeout=600)
            log.write(f"== {step}\n{said.stdout}{said.stderr}")
            codes[step] = said.returncode
            if kept and not kept[0].endswith(".log"):
                with open(os.path.join(folder, kept[0]), "w") as file:
                    file.write(said.stdout)
            if said.returncode not in ENDED:
                wrong += f"{name}, {variant}, {step}: exit code {said.returncode}\n{said.stdout[-800:]}{said.stderr[-800:]}\n"
    with open(os.path.join(folder, "codes.json"), "w") as file:
        json.dump(codes, file, indent=1)
    return wrong


def chosen(text, known, what):
    names = text.split(",") if text else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"run.py: no {what} {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--only", help="cases, separated by commas")
    parser.add_argument("--variants", help="of " + ", ".join(VARIANTS))
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(STEPS))
        return 0
    if not arguments.program or not arguments.out:
        parser.error("PROGRAM and OUT are required")
    program, failed, begun = os.path.abspath(arguments.program), "", time.time()
    variants = chosen(arguments.variants, VARIANTS, "variant")
    for name in chosen(arguments.only, STEPS, "case"):
        seconds = []
        for variant in (v for v in variants if v not in WITHOUT.get(name, ())):
            start = time.time()
            failed += run_case(program, name, variant, os.path.join(os.path.abspath(arguments.out), name, variant))
            seconds.append(f"{variant} {time.time() - start:.1f} s")
        print(f"{name:14} {', '.join(seconds)}", flush=True)
    print(f"{time.time() - begun:.0f} s in all")
    if failed:
        print(failed, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
