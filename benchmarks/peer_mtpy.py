#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/mtpy/bin/python benchmarks/peer_mtpy.py FOLDER [--program PROGRAM] [--rounds N] [--json]

Reads all EDI files of a folder with mt_metadata, as mtpy does, in one process and in two; reads and writes them to one file (MTH5) with mtpy; and reads, checks and writes
them by `mt_invert` (surveys.py). Alternating rounds, medians. Imports of Python are not measured, starts of `mt_invert` are. `scripts/peers.sh pictures` makes the environment; `make bench BENCH=surveys` calls this.
"""
import argparse
import json
import logging
import multiprocessing
import pathlib
import statistics
import sys
import tempfile
import time
import warnings

import surveys

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


def write(paths):
    """Reads files with mtpy and writes them to one MTH5 file. returns: the number of stations in it."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.INFO)
    from loguru import logger
    from mtpy import MT, MTCollection
    logger.remove()
    with tempfile.TemporaryDirectory() as folder, MTCollection(pathlib.Path(folder)) as collection:
        collection.open_collection(pathlib.Path(folder) / "all.h5")
        stations = [MT(path) for path in paths]
        for station in stations:
            station.read()
        collection.add_tf(stations)
        return len(collection.dataframe)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--program", default=str(SOURCE / "build/release/bin/mt_invert"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="the last line is JSON for surveys.py")
    arguments = parser.parse_args()
    files = sorted(str(path) for path in pathlib.Path(arguments.folder).glob("*.edi"))
    if not files:
        sys.exit(f"{arguments.folder}: expected EDI files, found none")
    peer = {"seconds": {"1": [], "2": [], "written": []}, "n_read": 0}
    with multiprocessing.Pool(2) as pool:
        pool.map(read, files[:2] * 2, chunksize=1)  # imports are not measured
        read(files[0])
        write(files[:1])

        def theirs():
            for processes, work in (("1", lambda: [read(path) for path in files]), ("2", lambda: pool.map(read, files, chunksize=8))):
                begin = time.monotonic()
                peer["n_read"] = sum(work())
                peer["seconds"][processes].append(time.monotonic() - begin)
            begin = time.monotonic()
            peer["n_written"] = write(files)
            peer["seconds"]["written"].append(time.monotonic() - begin)

        own = surveys.own_rounds(arguments.program, arguments.folder, arguments.rounds, theirs)
    import mt_metadata
    import mtpy
    peer["peer"] = f"mtpy {mtpy.__version__}, mt_metadata {mt_metadata.__version__} ({peer['n_read']} read, {peer['n_written']} written)"
    if arguments.json:
        print(json.dumps({**peer, "own": [[list(key), times] for key, times in own.items()]}))
        return
    print(f"{len(files)} files, {peer['peer']}")
    for what, words in surveys.PEERS.items():
        print(f"{words.removeprefix('beside ')}: {statistics.median(peer['seconds'][what]):.2f} s")
    for (work, threads), times in own.items():
        mine = statistics.median(times)
        ratios = ", ".join(f"{statistics.median(peer['seconds'][what]) / mine:.1f}" for what in surveys.PEERS)
        print(f"mt_invert, {surveys.WORKS[work]}, {threads} threads: {mine:.2f} s; these take {ratios} times as long")


if __name__ == "__main__":
    main()
