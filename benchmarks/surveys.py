# SPDX-License-Identifier: Apache-2.0
"""Reads, checks and writes folders of EDI files by `mt_invert`, beside mtpy and mt_metadata, by which it reads; run.py calls `measured`.

    make bench BENCH=surveys SURVEY=FOLDER        # without SURVEY: the bundled lines, 121 stations

The rounds of `mt_invert` and of mtpy alternate (peer_mtpy.py); figures are medians. A peer that is not installed is left null (`scripts/peers.sh pictures`).
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PYTHON = SOURCE / "build" / "peers" / "mtpy" / "bin" / "python"
BUNDLED = ("data/samtex/edi_kim_eto", "data/gabbs_valley/edi", "data/kap03/edi")
TARGET_S, TARGET_RATIO, ALL_OF_SAMTEX = 2.0, 20.0, 724  # the limit in seconds is that of so many files on two cores
FINDINGS = (0, 13, 14)  # exit codes of `check`: none, warnings, errors
PEERS = {"1": "beside reading in one process", "2": "beside reading in two processes", "written": "beside reading and writing"}
WORKS = {"convert": "read and written", "check": "read, checked and written"}


def command(program, work, folder, out):
    return [str(program), "convert", str(folder), "-o", str(out)] if work == "convert" else [str(program), "check", str(folder), "--fix", str(out)]


def seconds(program, work, folder, out, threads):
    """Wall seconds of one run of `mt_invert`. errors: RuntimeError."""
    begin = time.monotonic()
    done = subprocess.run(command(program, work, folder, out), env={**os.environ, "OMP_NUM_THREADS": str(threads)}, capture_output=True, text=True)
    took = time.monotonic() - begin
    if done.returncode not in (FINDINGS if work == "check" else (0,)) or not pathlib.Path(out).exists():
        raise RuntimeError(f"mt_invert {work} ended with {done.returncode} and no survey file: {done.stderr[-300:]}")
    return took


def own_rounds(program, folder, rounds, between=lambda: None):
    """Seconds of each work and number of threads; `between` runs after each round of ours."""
    times = {(work, threads): [] for work in WORKS for threads in (1, 2)}
    with tempfile.TemporaryDirectory() as out:
        for k in range(rounds):
            for (work, threads), list_of in times.items():
                list_of.append(seconds(program, work, folder, f"{out}/{work}_{threads}_{k}.h5", threads))
            between()
    return times


def judged(value, peer_value, limit):
    """Whether both the limit in seconds, if there is one, and the ratio, if there is a peer, are met; None where there is neither."""
    verdicts = ([value <= limit] if limit else []) + ([peer_value / value >= TARGET_RATIO] if peer_value else [])
    return all(verdicts) if verdicts else None


def rows_of(n_files, own, peer):
    """Rows of out/bench/surveys.json. `own`: seconds by work and threads; `peer`: of peer_mtpy.py, or None."""
    rows = []
    for (work, threads), times in own.items():
        for what, words in PEERS.items():
            value, theirs = statistics.median(times), statistics.median(peer["seconds"][what]) if peer else None
            limit = TARGET_S if work == "check" and threads == 2 and n_files >= ALL_OF_SAMTEX else None
            # The aim of the ratio is that of reading, one process each, and that of a checked survey file with both cores.
            aimed = (work, threads, what) in (("convert", 1, "1"), ("check", 2, "written"))
            rows.append({"case": f"{n_files} EDI files, {WORKS[work]}", "metric": f"{threads} thread{'s' if threads > 1 else ''}, {words}", "unit": "s", "value": value,
                         "target": limit if aimed else None, "met": judged(value, theirs, limit) if aimed else None, "peer": peer["peer"] if peer else None, "peer_value": theirs,
                         "ratio": theirs / value if theirs else None, "command": "scripts/peers.sh pictures && make bench BENCH=surveys SURVEY=FOLDER"})
    return rows


def folder_of_bundled(into):
    """Copies the bundled EDI files into one folder."""
    for name in BUNDLED:
        for path in sorted((SOURCE / name).glob("*.edi")):
            shutil.copy(path, pathlib.Path(into) / path.name)
    return into


def measured(program, folder=None, rounds=3):
    """(header, rows) of a folder of EDI files, or of the bundled ones."""
    with tempfile.TemporaryDirectory() as own_folder:
        folder = folder or folder_of_bundled(own_folder)
        files = sorted(pathlib.Path(folder).glob("*.edi"))
        if not files:
            raise OSError(f"{folder}: expected EDI files, found none")
        if PYTHON.exists():
            done = subprocess.run([PYTHON, SOURCE / "benchmarks" / "peer_mtpy.py", folder, "--program", program, "--rounds", str(rounds), "--json"], check=True, stdout=subprocess.PIPE, text=True)
            peer = json.loads(done.stdout.splitlines()[-1])
            own = {tuple(key): times for key, times in peer["own"]}
        else:
            print("surveys: mtpy is not installed, its figures stay null; run scripts/peers.sh pictures")
            peer, own = None, own_rounds(program, folder, rounds)
    commit = subprocess.run(["git", "-C", SOURCE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    return {"ranks": 1, "threads": 2, "commit": commit}, rows_of(len(files), own, peer)
