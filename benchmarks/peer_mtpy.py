#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/mtpy/bin/python benchmarks/peer_mtpy.py FOLDER [--program PROGRAM] [--rounds N]

Reads all EDI files of a folder with mt_metadata, as mtpy does, and by `mt_invert convert FOLDER -o survey.h5`, which writes a survey file as well. Alternating
rounds, medians; mt_metadata reads files in one process, and in as many as the machine has cores. `scripts/peers.sh pictures` makes the environment.
"""
import argparse
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def read(path):
    """Returns whether mt_metadata reads the file."""
    warnings.filterwarnings("ignore")
    from loguru import logger
    logger.remove()
    from mt_metadata.transfer_functions.core import TF
    try:
        transfer_function = TF(fn=path)
        transfer_function.read()
        return transfer_function.has_impedance() or transfer_function.has_tipper()
    except Exception:  # whatever it fails by, the file is not read
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--program", default=str(SOURCE / "build/release/bin/mt_invert"))
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    files = sorted(str(path) for path in pathlib.Path(arguments.folder).glob("*.edi"))
    if not files:
        sys.exit(f"{arguments.folder}: expected EDI files, found none")
    ours, alone, shared, n_read = [], [], [], 0
    with multiprocessing.Pool(os.cpu_count()) as pool, tempfile.TemporaryDirectory() as folder:
        pool.map(read, files[:os.cpu_count()])  # imports are not measured
        read(files[0])
        for k in range(arguments.rounds):
            for times, work in ((ours, lambda: subprocess.run([arguments.program, "convert", arguments.folder, "-o", f"{folder}/{k}.h5"], check=True, capture_output=True)),
                                (alone, lambda: [read(path) for path in files]), (shared, lambda: pool.map(read, files, chunksize=8))):
                begin = time.monotonic()
                result = work()
                times.append(time.monotonic() - begin)
            n_read = sum(result)
    import mt_metadata
    mine, one, several = (statistics.median(times) for times in (ours, alone, shared))
    print(f"{len(files)} files; mt_invert, read and written to one survey file: {mine:.2f} s; mt_metadata {mt_metadata.__version__}, {n_read} of them read: {one:.1f} s in one process ({one / mine:.0f} times), "
          f"{several:.1f} s in {os.cpu_count()} ({several / mine:.0f} times)")


if __name__ == "__main__":
    main()
