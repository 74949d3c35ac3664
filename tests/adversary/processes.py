# SPDX-License-Identifier: Apache-2.0
"""Processes side by side, and kills at random times with the resume that follows."""
import subprocess
import threading
import time

from base import digest
from trial import STOPPED, run

SIDE_BY_SIDE = 3


class SideBySide:
    def __init__(self, base):
        self.base = base

    def attack(self, number, random, tally):
        ends = [None] * SIDE_BY_SIDE

        def one(k):
            ends[k] = run(self.base.command("info", self.base / "data.dat"))

        threads = [threading.Thread(target=one, args=(k,)) for k in range(SIDE_BY_SIDE)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for k, ended in enumerate(ends):
            if tally.judge("side by side", f"process {k} of {SIDE_BY_SIDE}", ended) and ended.code != 0:
                tally.fault("unexpected", f"process {k} of {SIDE_BY_SIDE} ended with {ended.code}", ended.said)


class Kills:
    def __init__(self, base):
        self.base = base
        begin = time.time()
        run(base.command("invert", "config.toml", "-o", "kill_timed"), cwd=base.folder)
        self.seconds = time.time() - begin

    def attack(self, number, random, tally):
        folder = f"kill_{number}"
        resume = []
        for _ in range(random.randrange(1, 4)):
            process = subprocess.Popen(self.base.command("invert", "config.toml", "-o", folder, *resume), cwd=self.base.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)
            time.sleep(random.uniform(0.0, 1.1 * self.seconds))
            process.kill()
            process.communicate()
            resume = ["--resume"] if self._has(folder, "checkpoint.h5") else []  # a run killed before that starts again in its folder
        ended = run(self.base.command("invert", "config.toml", "-o", folder, *resume), cwd=self.base.folder)
        what = f"kills of run {number}"
        if tally.judge("kills", what, ended):
            if ended.code == STOPPED or not ended.is_finished:
                tally.fault("unexpected", f"{what}: code {ended.code}", ended.said)
            elif digest(self.base / folder) != self.base.reference:
                tally.fault("silent", f"{what}: other bits", ended.said)
        self.base.drop(folder)

    def _has(self, folder, name):
        try:
            self.base.read(f"{folder}/{name}")
            return True
        except OSError:
            return False
