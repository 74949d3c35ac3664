#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py [selftest] [selftest3d] [physics] [physics3d] [scaling] [inversion] [engine] [compile] [latent] [ranks] [runs] [estimates] [defaults] [checked] [surveys] [peers] [--build-dir DIR] [--ranks N] [--survey FOLDER] [--no-build]

Builds the benchmark programs, runs them one after the other and writes out/bench/<name>.json. Without names: all of them.
`selftest` is `mt_invert selftest` with default and fine meshes: out/bench/selftest_default.json, selftest_fine.json.
`selftest3d` is the same of volumes (about 20 minutes of two cores). `ranks` starts two of them. `scaling`, `runs` and `estimates`: runs.py; `defaults`: defaults.py (about an hour of one core); `checked`: checked.py (ten minutes); `surveys`: surveys.py, with --survey of the EDI files of a folder, else of the bundled ones.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys

import compiled
import checked
import defaults
import engine
import peers
import runs
import surveys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
RESULTS = SOURCE / "out" / "bench"
PROGRAMS = {"selftest": ["mt_invert"], "selftest3d": ["mt_invert"], "physics": ["bench_physics_mt2d"], "physics3d": ["bench_physics_mt3d"], "scaling": ["bench_scaling"],
            "inversion": ["bench_inversion"], "engine": ["bench_engine"], "compile": ["bench_engine", "bench_compile"], "latent": ["bench_latent"], "ranks": ["bench_ranks"], "runs": ["mt_invert", "bench_inversion"], "estimates": ["mt_invert", "bench_inversion"], "defaults": ["mt_invert"], "checked": ["mt_invert"], "surveys": ["mt_invert"], "peers": ["bench_peers"]}
ACCURACIES = ("default", "fine")
SELFTESTS = {"selftest": [], "selftest3d": ["layered3d", "derivatives3d", "commemi3d1", "commemi3d2", "dtm1", "two_mountain_3d"]}  # none: those that take seconds
SELFTEST_FAILED = 12  # exit code: comparisons failed, the file is written


def machine():
    """Processor, cores, system, and how busy the machine is: figures from a loaded machine are worth less."""
    model = platform.processor() or "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, load average {os.getloadavg()[0]:.1f}"


def build(folder, programs):
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, "-DLODESTONE_BUILD_BENCHMARKS=ON"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", *programs], check=True)


def launch(command, ranks, threads=1):
    """What the program prints; errors: CalledProcessError."""
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **os.environ, "OMP_NUM_THREADS": str(threads)}
    before = ["mpirun", "-n", str(ranks), "--bind-to", "none"] if ranks > 1 else []
    return subprocess.run([*before, *command], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def measure(program, ranks, folder, threads=1, arguments=()):
    """The JSON that one program prints."""
    return json.loads(launch([folder / "bin" / program, *arguments], ranks, threads))


def measure_accuracy(name, ranks, folder, on):
    """mt_invert writes these files itself, failed comparisons included; their machine gets the load average."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    failed = []
    for accuracy in ACCURACIES:
        path = RESULTS / f"{name}_{accuracy}.json"
        path.unlink(missing_ok=True)
        try:
            launch([folder / "bin" / "mt_invert", "selftest", *SELFTESTS[name], "--accuracy", accuracy, "--json", path], ranks, threads=os.cpu_count() if name == "selftest3d" else 1)
        except subprocess.CalledProcessError as failure:
            if failure.returncode != SELFTEST_FAILED or not path.exists():
                raise
            failed.append(f"{name} {accuracy}")
        document = json.loads(path.read_text())
        document["header"]["machine"] = on
        replace(path, document)
        judged = [row["passed"] for row in document["results"] if row["judged"]]
        print(f"{path}\n  {sum(judged)} of {len(judged)} comparisons pass")
    return failed


def replace(path, document):
    """Writes the file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(document, indent=1) + "\n")
    temporary.replace(path)


def results_of(name, ranks, folder, survey=None):
    """(header, rows) of what is measured under a name."""
    if name == "scaling":
        return runs.scaling(lambda ranks, threads: measure("bench_scaling", ranks, folder, threads))
    if name == "engine":
        return engine.measure(lambda threads, *arguments: measure("bench_engine", ranks, folder, threads, arguments))
    if name == "compile":
        return compiled.measure(lambda program, threads, argument: measure(program, ranks, folder, threads, (argument,)))
    if name == "checked":
        return checked.measured(folder / "bin" / "mt_invert", RESULTS / "run" / "checked")
    if name == "surveys":
        return surveys.measured(folder / "bin" / "mt_invert", survey)
    if name == "defaults":
        return defaults.measured(folder / "bin" / "mt_invert", RESULTS / "run" / "defaults")
    if name == "ranks":
        ranks = max(ranks, 2)
    documents = [measure(program, ranks, folder) for program in PROGRAMS[name] if program != "mt_invert"]
    header, rows = documents[0]["header"], [row for document in documents for row in document["results"]]
    if name == "runs":
        rows = runs.inversions(launch, folder / "bin" / "mt_invert", SOURCE, RESULTS)
    if name == "estimates":
        rows = runs.estimates(launch, folder / "bin" / "mt_invert", SOURCE, RESULTS / "run")
    return header, peers.compare(rows) if name == "peers" else rows


def write(name, header, rows, on):
    path = RESULTS / f"{name}.json"
    replace(path, {"header": {**header, "machine": on}, "results": rows})
    return path, rows


def show(path, rows):
    print(path)
    for row in rows:
        value = f"{row['value']:.4g}" if row["value"] is not None else "not finite"
        peer = f"   {row['peer_value']:.4g} {row['peer']} (ratio {row['ratio']:.2f})" if row["ratio"] is not None else ""
        missed = "   MISSED" if row["met"] is False else ""
        print(f"  {row['case']:<46} {row['metric']:<40} {value:>12} {row['unit']}{peer}{missed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(PROGRAMS)}")
    parser.add_argument("--build-dir", type=pathlib.Path, default=SOURCE / "build" / "release")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--survey", type=pathlib.Path, help="folder of EDI files that `surveys` reads")
    parser.add_argument("--no-build", action="store_true")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in PROGRAMS]
    if unknown:
        parser.error(f"expected any of {', '.join(PROGRAMS)}, got {', '.join(unknown)}")
    names = arguments.names or list(PROGRAMS)
    if not arguments.no_build:
        build(arguments.build_dir, [program for name in names for program in PROGRAMS[name]])
    failed = []
    for name in names:
        on = machine()
        if name in SELFTESTS:
            failed += measure_accuracy(name, arguments.ranks, arguments.build_dir, on)
            continue
        show(*write(name, *results_of(name, arguments.ranks, arguments.build_dir, arguments.survey), on))
    if failed:
        sys.exit(f"run.py: {', '.join(failed)} failed; build/release/bin/mt_invert selftest shows which comparisons")


if __name__ == "__main__":
    try:
        main()
    except (subprocess.CalledProcessError, OSError, RuntimeError) as failure:
        sys.exit(f"run.py: {failure}")
