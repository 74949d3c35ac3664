# SPDX-License-Identifier: Apache-2.0
"""Crafted checkpoints: arrays removed, of other shapes, with other numbers. They are refused by name, or change nothing.

A finite number in the place of another, with the right checksum, is an edit by hand: a run may go on from it to another result, but not crash or hang."""
import os
import subprocess

from base import digest
from trial import run


class States:
    """`crafter` is the program `craft_state`, which changes one object of an HDF5 file by a seed and prints what it did."""

    def __init__(self, base, crafter):
        self.base, self.crafter = base, crafter
        folder = base.copy("half", "state_expected")
        self._resume(folder)
        self.expected = digest(folder)

    def _resume(self, folder):
        return run(self.base.command("invert", "config.toml", "-o", folder, "--resume"), cwd=self.base.folder)

    def attack(self, number, random, tally):
        copy = f"state_{number}"
        folder = self.base.copy("half", copy)
        path = os.path.join(folder, "checkpoint.h5")
        if random.randrange(20) == 0:
            self._no_file(copy, path, random, tally)
            return
        made = subprocess.run([self.crafter, path, str(random.randrange(1 << 31))], capture_output=True, text=True, timeout=60)
        if made.returncode != 0:
            raise RuntimeError(f"{self.crafter}: {made.stderr}")
        ended = self._resume(folder)
        what = f"checkpoint.h5: {made.stdout.strip()}"
        if tally.judge("states", what, ended, ["checkpoint.h5"]) and not ended.is_refusal:
            if not ended.is_finished or digest(folder) != self.expected and "another number" not in made.stdout:
                tally.fault("silent", what, ended.said)
        self.base.drop(copy)

    def _no_file(self, copy, path, random, tally):
        what = random.choice(["a FIFO", "/dev/zero", "a folder"])
        os.remove(path)
        if what == "a FIFO":
            os.mkfifo(path)
        elif what == "/dev/zero":
            os.symlink("/dev/zero", path)
        else:
            os.mkdir(path)
        ended = self._resume(os.path.dirname(path))
        if tally.judge("states", f"checkpoint.h5: {what}", ended, ["checkpoint.h5"]) and not ended.is_refusal:
            tally.fault("silent", f"checkpoint.h5: {what}", ended.said)
        self.base.drop(copy)
