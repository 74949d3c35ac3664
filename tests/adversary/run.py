# SPDX-License-Identifier: Apache-2.0
"""Attacks a program of this project: bad input, flipped bits, crafted state, mutated configurations, processes side by side, kills.

usage: run.py PROGRAM CRAFT_STATE SOURCE [--count N] [--seed S] [--only KIND,...] [--jobs J] [--verbose]

The last line counts what was tried, and what crashed, hung, gave another result in silence, was refused without a name, or failed in a way that the program does
not expect. Anything but zero is a failure. The same seed and count attack in the same way.
"""
import argparse
import concurrent.futures
import os
import random
import sys
import tempfile
import time

from base import Base
from configurations import Configurations
from flips import Flips
from inputs import Inputs
from processes import Kills, SideBySide
from states import States
from trial import Tally

SHARES = {"inputs": 0.25, "flips": 0.2, "states": 0.1, "configurations": 0.34, "side by side": 0.1, "kills": 0.01}


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("program", "craft_state", "source"):
        parser.add_argument(name)
    parser.add_argument("--count", type=int, default=200, help="attacks in all")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: of the clock")
    parser.add_argument("--only", default="", help=f"kinds, of {', '.join(SHARES)}")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main():
    given = parsed()
    tally = Tally(given.verbose)
    kinds = [kind for kind in SHARES if not given.only or kind in given.only.split(",")]
    print(f"seed {given.seed}, {given.count} attacks", flush=True)
    with tempfile.TemporaryDirectory(prefix="lodestone_adversary_") as folder:
        base = Base(os.path.abspath(given.program), os.path.abspath(given.source), folder)
        makers = {"inputs": lambda: Inputs(base), "flips": lambda: Flips(base), "states": lambda: States(base, os.path.abspath(given.craft_state)),
                  "configurations": lambda: Configurations(base), "side by side": lambda: SideBySide(base), "kills": lambda: Kills(base)}
        total = sum(SHARES[kind] for kind in kinds)
        for kind in kinds:
            attacker, begin = makers[kind](), time.time()
            n = max(1, round(given.count * SHARES[kind] / total))
            with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
                list(pool.map(lambda i: attacker.attack(i, random.Random(f"{given.seed} {kind} {i}"), tally), range(n)))
            print(f"{kind}: {n} in {time.time() - begin:.0f} s", flush=True)
    print(tally.summary())
    return 0 if tally.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
