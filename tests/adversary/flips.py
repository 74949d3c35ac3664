# SPDX-License-Identifier: Apache-2.0
"""Flipped bits in every file that a run reads back: the damage is refused by the file's name, or the result has the same bits."""
import os

from base import digest
from trial import run

# File, and the command that reads it back; "{}" is the damaged copy of the folder.
READERS = {
    "half/checkpoint.h5": ["invert", "config.toml", "-o", "{}", "--resume"],
    "half/ensemble.h5": ["invert", "config.toml", "-o", "{}", "--resume", "--set", "inversion.max_iterations=1"],
    "whole/result.h5": ["compare", "{}", "--reference", "model.toml", "--block-km=-1,1,0,1"],
    "network/vae.h5": ["info", "{}/vae.h5", "--json"],
    "network/checkpoint.safetensors": ["train", "train.toml", "-o", "{}", "--resume", "--set", "training.epochs=3"],
}


def outcome(base, name, ended, folder):
    """What a reader made of a file: the digest of the results of a run, or else its words."""
    if name.startswith("half/"):
        return digest(folder) if ended.is_finished else ended.said
    if name.endswith(".safetensors"):
        return open(os.path.join(folder, "history.csv")).read() if ended.code == 0 else ended.said
    return ended.said.replace(os.path.basename(folder), "")


def read_back(base, name, folder):
    words = [word.replace("{}", os.path.relpath(folder, base.folder)) for word in READERS[name]]
    return run(base.command(*words), cwd=base.folder)


class Flips:
    def __init__(self, base):
        self.base, self.expected = base, {}
        for name in READERS:
            folder = base.copy(os.path.dirname(name), "flip_expected")
            ended = read_back(base, name, folder)
            self.expected[name] = outcome(base, name, ended, folder)
            if ended.code not in (0, 10):
                raise RuntimeError(f"{name}: the undamaged file is refused: {ended.said}")

    def attack(self, number, random, tally):
        name = random.choice(list(READERS))
        copy = f"flip_{number}"
        folder = self.base.copy(os.path.dirname(name), copy)
        damaged = f"{copy}/{os.path.basename(name)}"
        content = bytearray(self.base.read(damaged))
        bit = random.randrange(8 * len(content))
        content[bit // 8] ^= 1 << (bit % 8)
        self.base.write(damaged, bytes(content))
        ended = read_back(self.base, name, folder)
        what = f"bit {bit} of {name} flipped"
        if tally.judge("flips", what, ended, [os.path.basename(name)]) and not ended.is_refusal:
            if outcome(self.base, name, ended, folder) != self.expected[name]:
                tally.fault("silent", what, ended.said)
        self.base.drop(copy)
