# SPDX-License-Identifier: Apache-2.0
"""Responses on ModEM's own grid beside those of ModEM, for the model "Oblique One" of ModEM-Examples: sign, units, operator, averages, receivers and boundary."""
import csv
import os

from support import SOURCE, Folder, check, expect, finish

DATA = os.path.join(SOURCE, "data/modem_oblique_3d")


with Folder() as folder:
    config = folder.write("oblique.toml", f"""
[data]
modem_file = "{DATA}/responses.dat"
kind = "full_impedance"
tipper = true
phase_min_deg = -180.0
phase_max_deg = 180.0
[data.floors]
impedance_relative = 0.001
tipper_absolute = 0.001
[grid]
from_start_model = true
[start]
model_file = "{DATA}/model.rho"
[inversion]
max_iterations = 0
target_rms = 100.0
[forward]
certificate = "none"
final_accuracy = "iteration"
iteration_meshes = "cells"
[output]
vtk = false
report = false
""")
    expect(0, ["rms"], "invert", config, "--dim", "3", "-o", folder / "out", timeout=280)
    with open(os.path.join(folder / "out", "iterations.csv")) as file:
        rms = float(next(csv.DictReader(file))["rms"])
    check(rms < 0.1, f"rms {rms:.4f} in errors of 0.001: within 1e-4 of ModEM in the mean")

finish()
