#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/venv/bin/python benchmarks/peer_simpeg.py REFERENCE.csv [--solver pardiso|superlu] [--no-jacobian]

SimPEG's 2-D natural-source simulations on COMMEMI 2D-1, on tensor meshes made for each mode and period by hand: fine at the edges of the body, at the sites and
at the surface, growing from there. Prints, as JSON, CPU seconds from model to impedances, the largest deviation of apparent resistivity from the
reference, and CPU seconds of the Jacobian, for meshes of several sizes. One core (set OMP_NUM_THREADS=MKL_NUM_THREADS=1).
"""
import argparse
import csv
import json
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")  # deprecations inside the peer

import discretize  # noqa: E402
import simpeg  # noqa: E402
from simpeg import maps  # noqa: E402
from simpeg.electromagnetics import natural_source as ns  # noqa: E402

HOST, BODY, AIR = 100.0, 0.5, 1e8  # ohm m
HALF_WIDTH, TOP, BOTTOM = 500.0, 250.0, 2250.0  # m, of the body
CONTACT = 10.0 * 2  # m: sites this near to an edge of the body are not judged, as in mt_invert selftest
SIZES = [60.0, 40.0, 25.0, 16.0, 11.0, 7.5, 5.0]  # m, cells at the edges of the body
GROWTH = 1.2
REPEATS = 3


def read_reference(path):
    """{(mode, period): (y, rho_a)} of the judged sites."""
    table = {}
    for row in csv.DictReader(open(path)):
        y = float(row["y_m"])
        if abs(abs(y) - HALF_WIDTH) > CONTACT:
            table.setdefault((row["mode"], float(row["period_s"])), []).append((y, float(row["rho_a_ohm_m"])))
    return {key: tuple(np.array(column) for column in zip(*sorted(rows))) for key, rows in table.items()}


def graded(points, ends):
    """Nodes through all points; cells have the size given at a point and grow away from it."""
    places, sizes = np.array(list(points)), np.array(list(points.values()))
    stops = sorted({*points, *ends})
    nodes = [stops[0]]
    for left, right in zip(stops[:-1], stops[1:]):
        x = np.linspace(left, right, 2001)
        size = np.min(sizes[:, None] + (GROWTH - 1.0) * np.abs(x - places[:, None]), axis=0)
        count = np.concatenate([[0.0], np.cumsum(0.5 * (1.0 / size[1:] + 1.0 / size[:-1]) * np.diff(x))])
        nodes += list(np.interp(np.linspace(0.0, count[-1], max(1, int(np.ceil(count[-1] - 1e-9))) + 1)[1:], count, x))
    return np.array(nodes)


def make_mesh(mode, period, y_sites, size):
    skin_depth = 503.0 * np.sqrt(HOST * period)
    reach = 8.0 * skin_depth + BOTTOM
    y_points = {float(y): size * max(1.0, 0.0075 * abs(abs(y) - HALF_WIDTH)) for y in y_sites}
    y_points |= {-HALF_WIDTH: size, HALF_WIDTH: size}
    # TM sees no air but needs a layer of it, and small cells at the surface, where its electric field is one-sided.
    z_points = {0.0: 2.0 * size if mode == "TE" else 0.5 * size, -TOP: size, -BOTTOM: 2.0 * size}
    y = graded(y_points, [-reach, reach + max(y_sites)])
    z = graded(z_points, [-reach, reach if mode == "TE" else HOST])
    return discretize.TensorMesh([np.diff(y), np.diff(z)], origin=[y[0], z[0]])


def make_simulation(mode, period, y_sites, mesh, resistivity_map, solver):
    surface = np.c_[y_sites, np.zeros(len(y_sites))]
    # The magnetic field of TM is constant in air: taken at the first centre above the surface it has no error of interpolation.
    above = np.c_[y_sites, np.full(len(y_sites), mesh.cell_centers_y[mesh.cell_centers_y > 0.0][0])]
    receivers = [ns.receivers.Impedance(surface, surface if mode == "TE" else above, orientation="yx" if mode == "TE" else "xy", component=part)
                 for part in ("real", "imag")]
    survey = ns.Survey([ns.sources.Planewave(receivers, 1.0 / period)])
    if mode == "TE":
        return ns.Simulation2DMagneticField(mesh, survey=survey, rhoMap=resistivity_map, solver=solver)
    return ns.Simulation2DElectricField(mesh, survey=survey, sigmaMap=maps.ReciprocalMap(mesh) * resistivity_map, solver=solver)


def resistivity_of(mesh):
    y, z = mesh.cell_centers[:, 0], -mesh.cell_centers[:, 1]
    body = (np.abs(y) < HALF_WIDTH) & (z > TOP) & (z < BOTTOM)
    return np.where(z < 0.0, AIR, np.where(body, BODY, HOST))


def best_cpu_seconds(work):
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return min(times), result


def forward(mode, period, y_sites, size, solver):
    mesh = make_mesh(mode, period, y_sites, size)
    data = make_simulation(mode, period, y_sites, mesh, maps.IdentityMap(mesh), solver).dpred(resistivity_of(mesh))
    return mesh.n_cells, data[: len(y_sites)] + 1j * data[len(y_sites):]


def jacobian(mode, period, y_sites, size, solver):
    """d Re Z, d Im Z over d ln rho of the 30 × 20 cells of bench_peers."""
    mesh = make_mesh(mode, period, y_sites, size)
    y, z = mesh.cell_centers[:, 0], -mesh.cell_centers[:, 1]
    column = np.clip(((y + 3100.0) // 200.0).astype(int), 0, 29)
    row = np.clip((z // 125.0).astype(int), 0, 19)
    earth = z > 0.0
    in_cells = maps.InjectActiveCells(mesh, earth, np.log(AIR)) * maps.SurjectUnits([(row[earth] == i) & (column[earth] == j) for i in range(20) for j in range(30)])
    cell_y, cell_z = np.meshgrid(-3000.0 + 200.0 * np.arange(30), 62.5 + 125.0 * np.arange(20))
    body = (np.abs(cell_y) < HALF_WIDTH) & (cell_z > TOP) & (cell_z < BOTTOM)
    model = np.where(body, np.log(BODY), np.log(HOST)).ravel()
    simulation = make_simulation(mode, period, y_sites, mesh, maps.ExpMap(mesh) * in_cells, solver)
    fields = simulation.fields(model)
    # Row by row with one factorization: getJ() of SimPEG 0.25 fails for these simulations (shapes do not broadcast).
    return np.array([simulation.Jtvec(model, unit, fields) for unit in np.eye(simulation.survey.nD)])


def solver_class(name):
    import pymatsolver
    if name == "pardiso":
        return pymatsolver.Pardiso, "Pardiso"
    return pymatsolver.SolverLU, "SuperLU"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference")
    parser.add_argument("--solver", choices=["pardiso", "superlu"], default="pardiso")
    parser.add_argument("--no-jacobian", action="store_true")
    arguments = parser.parse_args()
    try:
        solver, solver_name = solver_class(arguments.solver)
    except (ImportError, AttributeError):
        solver, solver_name = solver_class("superlu")
    runs = []
    for (mode, period), (y_sites, rho) in read_reference(arguments.reference).items():
        for size in SIZES:
            seconds, (n_cells, z) = best_cpu_seconds(lambda: forward(mode, period, y_sites, size, solver))
            rho_a = np.abs(z) ** 2 * period / (2.0 * np.pi) / (4e-7 * np.pi)
            run = {"mode": mode, "period_s": period, "size_m": size, "cells": n_cells, "cpu_s": seconds, "deviation_percent": 100.0 * np.max(np.abs(rho_a / rho - 1.0))}
            if not arguments.no_jacobian:
                run["jacobian_cpu_s"], matrix = best_cpu_seconds(lambda: jacobian(mode, period, y_sites, size, solver))
                run["jacobian_norm_ohm"] = float(np.linalg.norm(matrix))
            runs.append(run)
    print(json.dumps({"peer": f"SimPEG {simpeg.__version__}, {solver_name}", "runs": runs}))


if __name__ == "__main__":
    main()
