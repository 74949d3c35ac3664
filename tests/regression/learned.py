# SPDX-License-Identifier: Apache-2.0
"""What the tests of learned priors share: a small network, its region in the synthetic block, and what a run wrote."""
import csv

from support import expect

TRAINING = """[network]
codes = {codes}
channels = [8, 8]
[training]
draws = 1500
epochs = 8
batch_size = 25
learning_rate = 3e-3
"""

PRIOR = """[grid]
first_layer_m = 80.0
layer_factor = 1.3
n_layers = 10
first_cell = 1
last_cell = 8
{columns}
[prior]
seed = {seed}
[[prior.generator]]
kind = "layers"
number = [2, 4]
thickness_m = [100.0, 1500.0]
log10_resistivity = [{low}, {high}]
""" + TRAINING + """[output]
report = false
checkpoint = false
"""

REGION = """
[learned_prior]
polish = "{polish}"
[[learned_prior.region]]
name = "block"
network = "{network}"
y_m = [-900.0, 900.0]
"""


def train(folder, name, low, high, codes=4, seed=1, columns=""):
    folder.write(f"{name}.toml", PRIOR.format(low=low, high=high, codes=codes, seed=seed, columns=columns))
    expect(0, ["reconstruction error"], "train", folder / f"{name}.toml", "-o", folder / name)


def history(folder, name):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(open(folder / f"{name}/iterations.csv"))]


def stages(folder, name):
    return [row["stage"] for row in history(folder, name)]


def section(folder, name):
    return open(folder / f"{name}/section.csv").read()


def cells(folder, name):
    return [float(line.rsplit(",", 1)[1]) for line in section(folder, name).splitlines()[1:]]
