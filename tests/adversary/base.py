# SPDX-License-Identifier: Apache-2.0
"""What is attacked: a survey of a block with its model, runs of seconds on it with every file that a run reads back, and a small trained network."""
import csv
import hashlib
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "regression"))
from block import BLOCK, SITES

CONFIG = """[run]
title = "synthetic block"
[data]
modem_file = "data.dat"
kind = "impedance"
[data.floors]
impedance_relative = 0.03
[grid]
n_columns = 14
margin = 0.2
n_layers = 10
first_layer_m = 80.0
layer_factor = 1.3
[bounds]
resistivity_min_ohm_m = 0.1
resistivity_max_ohm_m = 1e5
[inversion]
max_iterations = 3
target_rms = 0.01
[uncertainty]
posterior = true
samples = 3
[forward]
iteration_accuracy = "iteration"
certificate = "none"
[output]
report = false
vtk = false
"""
TRAIN = """[grid]
first_layer_m = 80.0
layer_factor = 1.3
n_layers = 10
first_cell = 1
last_cell = 8
[prior]
seed = 3
[[prior.generator]]
kind = "layers"
number = [2, 4]
thickness_m = [100.0, 1500.0]
log10_resistivity = [0.3, 2.7]
[network]
codes = 4
channels = [8, 8]
[training]
draws = 200
epochs = 2
batch_size = 25
learning_rate = 3e-3
[output]
report = false
"""
RESULTS = ("section.csv", "iterations.csv")


def digest(folder, names=RESULTS):
    """Of the results of a run, without the column of times."""
    state = hashlib.sha256()
    for name in names:
        with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                state.update(repr([value for key, value in row.items() if key != "seconds"]).encode())
    return state.hexdigest()


class Base:
    """The corpus, made once below `folder`."""

    def __init__(self, program, source, folder):
        self.program, self.source, self.folder = program, source, folder
        for name, text in (("model.toml", BLOCK), ("sites.csv", SITES), ("config.toml", CONFIG), ("train.toml", TRAIN)):
            self.write(name, text)
        self.must("forward", "--model", self / "model.toml", "--sites", self / "sites.csv", "--periods", "0.01,0.1,1", "-o", self / "data.dat")
        self.must("invert", self / "config.toml", "-o", self / "whole", code=10)
        self.reference = digest(self / "whole")
        self.must("invert", self / "config.toml", "-o", self / "half", "--set", "inversion.max_iterations=1", code=10)
        self.must("train", self / "train.toml", "-o", self / "network")

    def __truediv__(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self / name), exist_ok=True)
        with open(self / name, "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return self / name

    def read(self, name):
        with open(self / name, "rb") as file:
            return file.read()

    def command(self, *arguments):
        return [self.program, *[str(each) for each in arguments]]

    def must(self, *arguments, code=0):
        ended = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=300)
        if ended.returncode != code:
            raise RuntimeError(f"{arguments}: expected code {code}, got {ended.returncode}\n{ended.stdout}{ended.stderr}")

    def copy(self, name, as_name):
        shutil.rmtree(self / as_name, ignore_errors=True)
        shutil.copytree(self / name, self / as_name)
        return self / as_name

    def drop(self, name):
        shutil.rmtree(self / name, ignore_errors=True)
