# SPDX-License-Identifier: Apache-2.0
"""Views of runs and surveys in ParaView: its Python opens the files and draws; arrays, places and pictures are checked. Skipped where ParaView is missing."""
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import zlib

from block import BOX
from support import EDI, SOURCE, Folder, check, expect, expect_error, finish, run

PVPYTHON = os.path.join(SOURCE, "scripts", "pvpython.sh")
INSPECT = """import json, sys
from paraview import simple
said = {}
for path in sys.argv[1:]:
    source = simple.OpenDataFile(path)
    times = [float(t) for t in getattr(source, "TimestepValues", None) or []]
    if times:
        simple.GetAnimationScene().AnimationTime = times[-1]
    source.UpdatePipeline(times[-1] if times else 0.0)
    info = source.GetDataInformation()
    arrays = {}
    for data in (source.PointData, source.CellData):
        for k in range(len(data)):
            array = data.GetArray(k)
            n = array.GetNumberOfComponents()
            arrays[array.GetName()] = [list(array.GetRange(c)) for c in range(n)]
    arrows = []
    if "induction_real" in arrays:
        data = simple.servermanager.Fetch(source)
        vectors = data.GetPointData().GetArray("induction_real")
        arrows = [list(data.GetPoint(k)[:2]) + list(vectors.GetTuple(k)[:2]) for k in range(data.GetNumberOfPoints())]
    said[path] = {"arrows": arrows, "bounds": list(info.GetBounds()), "cells": info.GetNumberOfCells(), "points": info.GetNumberOfPoints(), "arrays": arrays, "times": times}
print("SAID " + json.dumps(said))
"""


def pvpython(script, *arguments):
    return subprocess.run([PVPYTHON, script, *arguments], capture_output=True, text=True, timeout=150)


def pixels(path):
    """Returns the width and the pixels of a PNG file of 8 bits a channel as (red, green, blue)."""
    data = open(path, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + size])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    assert depth == 8 and colour in (2, 6) and not interlaced, (depth, colour, interlaced)
    n = 3 if colour == 2 else 4
    raw, before, out = zlib.decompress(packed), bytearray(width * n), []
    for row in range(height):
        start = row * (width * n + 1)
        rule, line = raw[start], bytearray(raw[start + 1:start + 1 + width * n])
        for k in range(width * n):
            left, up, corner = line[k - n] if k >= n else 0, before[k], before[k - n] if k >= n else 0
            if rule == 1:
                line[k] = (line[k] + left) & 255
            elif rule == 2:
                line[k] = (line[k] + up) & 255
            elif rule == 3:
                line[k] = (line[k] + (left + up) // 2) & 255
            elif rule == 4:
                near = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
                line[k] = (line[k] + near) & 255
        out += [tuple(line[k:k + 3]) for k in range(0, width * n, n)]
        before = line
    return width, out


def check_picture(path, what):
    """The middle of the picture has a share of coloured pixels, red ones and blue ones, and dark marks; its border is white."""
    width, all_pixels = pixels(path)
    coloured = [p for p in all_pixels if max(p) - min(p) > 40]
    share = len(coloured) / len(all_pixels)
    check(0.1 < share < 0.9, f"{what}: {share:.2f} of the picture is coloured")
    check(sum(r > b + 60 for r, _, b in coloured) > 0.003 * len(all_pixels), f"{what}: conductors are red")
    check(sum(b > r + 60 for r, _, b in coloured) > 0.003 * len(all_pixels), f"{what}: resistors are blue")
    check(len(set(coloured)) > 15, f"{what}: {len(set(coloured))} colours")
    check(sum(max(p) < 60 for p in all_pixels) > 200, f"{what}: marks of sites and axes are dark")
    check(all(min(p) > 250 for p in all_pixels[:width]), f"{what}: the background is white")


def check_title_of_axis(path, what):
    """Left of a section the title of its elevations and the numbers are groups of dark columns with white ones between them."""
    width, all_pixels = pixels(path)
    rows = [all_pixels[k:k + width] for k in range(0, len(all_pixels), width)]
    coloured = [[max(p) - min(p) > 40 for p in row[:width * 4 // 5]] for row in rows]
    shown = [k for k, row in enumerate(coloured) if sum(row) > width // 10]
    left = min(row.index(True) for row in (coloured[k] for k in shown) if any(row))
    dark = [k for k in range(left - 12) if any(max(rows[y][k]) < 150 for y in range(shown[0], shown[-1]))]
    gaps = [b - a - 1 for a, b in zip(dark, dark[1:])]
    check(dark and dark[0] > 20 and max(gaps) >= 6, f"{what}: the title stands beside the numbers: columns {dark[0]} to {dark[-1]}, gaps up to {max(gaps)}")


def read_back(folder, *paths):
    """Returns what ParaView finds in each file: bounds, numbers of cells and points, ranges of arrays, times."""
    result = pvpython(folder.write("inspect.py", INSPECT), *paths)
    lines = [line for line in result.stdout.splitlines() if line.startswith("SAID ")]
    check(result.returncode == 0 and len(lines) == 1, f"ParaView opens {[os.path.basename(p) for p in paths]}: {result.stderr[-600:]}")
    return [json.loads(lines[0][5:])[path] for path in paths] if lines else sys.exit(1)


def draw(script, picture, what):
    result = pvpython(script, picture)
    check(result.returncode == 0 and os.path.exists(picture), f"{what}: the script draws a picture: {(result.stdout + result.stderr)[-600:]}")
    if os.path.exists(picture):
        check_picture(picture, what)


def within(inner, outer, slack_m):
    """True where the bounds in plan of the first lie in those of the second."""
    return all(outer[2 * k] - slack_m <= inner[2 * k] and inner[2 * k + 1] <= outer[2 * k + 1] + slack_m for k in range(2))


if subprocess.run([PVPYTHON, os.path.devnull], capture_output=True, check=False).returncode == 77:
    print("ParaView is not here: scripts/setup.sh --tests")
    sys.exit(77)

SECTION = """[run]
title = "Five stations of \\"ETO\\""
[data]
edi_folder = "edi"
kind = "log10_rho_phase"
frequencies_hz = [11.2, 0.176]
[profile]
elevation = "stations"
[grid]
n_columns = 16
n_layers = 14
first_layer_m = 400.0
layer_factor = 1.35
[inversion]
max_iterations = 2
[uncertainty]
posterior = true
[forward]
final_accuracy = "iteration"
certificate = "none"
[output]
report = false
"""
HILL = BOX + """[surface]
x_m = {points}
y_m = {points}
z_m = [{rows}]
"""
VOLUME = """[data]
modem_file = "hill.dat"
kind = "full_impedance"
tipper = true
[data.floors]
impedance_relative = 0.05
tipper_absolute = 0.02
[profile]
elevation = "file"
surface_file = "surface.csv"
[grid]
n_columns = 8
n_rows = 8
n_layers = 8
[inversion]
max_iterations = 2
[forward]
final_accuracy = "iteration"
certificate = "none"
[output]
report = false
vtk = {vtk}
"""
POINTS = [-4000, -2000, -1000, -500, 0, 500, 1000, 2000, 4000]


def hill_m(x, y):
    return -300.0 * math.exp(-((x**2 + y**2) / 1200.0**2))


def check_section(folder):
    os.makedirs(folder / "edi")
    for name in ("ETO001A", "ETO004A", "ETO007C", "ETO010A", "ETO013A"):
        shutil.copy(os.path.join(EDI, f"SAMTEX.{name}.2008.edi"), folder / "edi")
    ended = run("invert", folder.write("section.toml", SECTION), "-o", folder / "section")
    check(ended.returncode in (0, 10), f"a section is inverted: {(ended.stdout + ended.stderr)[-600:]}")
    expect(0, ["view.py"], "paraview", folder / "section")
    draw(folder / "section/view.py", folder / "section.png", "section")
    check_title_of_axis(folder / "section.png", "section")

    # The run and its survey fall into one place
    expect(0, ["sites.pvd", "sites_ellipses.pvd"], "convert", folder / "edi", "-o", folder / "sites.pvd", "--periods", "0.01,10")
    model, stations, sites, ellipses = read_back(
        folder, folder / "section/vtk/section_world.vtu", folder / "section/vtk/stations_world.vtp", folder / "sites.pvd", folder / "sites_ellipses.pvd")
    check({"log10_resistivity", "posterior/investigated"} <= set(model["arrays"]), f"arrays of the section: {sorted(model['arrays'])}")
    check(model["cells"] == 16 * 14, f"cells of the section: {model['cells']}")
    check(abs(model["bounds"][5] - stations["bounds"][5]) < 300, f"the ground of the model is that of the stations: {model['bounds']}, {stations['bounds']}")
    check(within(stations["bounds"], model["bounds"], 1), f"stations lie on the model: {stations['bounds']}, {model['bounds']}")
    check(within(sites["bounds"], stations["bounds"], 20e3), f"the survey lies where the run lies, beside the line: {sites['bounds']}, {stations['bounds']}")
    check(len(sites["times"]) >= 15 and sites["times"] == sorted(sites["times"]) and sites["points"] == 5, f"a step per period: {sites['times']}")
    check(ellipses["times"] == sites["times"] and ellipses["cells"] == 5, f"an ellipse at each site: {ellipses['cells']}")
    known = {"period_s", "rho_xy_ohm_m", "phase_yx_deg", "phi_max_deg", "phi_min_deg", "skew_beta_deg", "ellipse_azimuth_deg"}
    check(known <= set(sites["arrays"]) and known <= set(ellipses["arrays"]), f"arrays of the survey: {sorted(sites['arrays'])}")
    least, most = sites["arrays"]["phi_min_deg"][0], sites["arrays"]["phi_max_deg"][0]
    check(-90 <= least[0] and least[1] <= most[1] <= 90, f"angles of the phase tensors: {least}, {most}")

    # Another projection
    expect(0, ["utm.vtp"], "convert", folder / "edi", "-o", folder / "utm.vtp", "--epsg", "32733", "--periods", "1,10")
    (utm,) = read_back(folder, folder / "utm.vtp")
    check(166e3 < utm["bounds"][0] < utm["bounds"][1] < 1000e3 and 7e6 < utm["bounds"][2] < 8.1e6, f"UTM 33S: {utm['bounds']}")
    check(1 <= utm["arrays"]["period_s"][0][0] and utm["arrays"]["period_s"][0][1] <= 10, "the periods that were chosen")


def check_volume(folder):
    rows = ", ".join("[" + ", ".join(f"{hill_m(x, y):.3f}" for y in POINTS) + "]" for x in POINTS)
    model = folder.write("hill.toml", HILL.format(points=POINTS, rows=rows))
    folder.write("surface.csv", "x_m,y_m,z_m\n" + "".join(f"{x},{y},{hill_m(x, y):.3f}\n" for y in POINTS for x in POINTS))
    places = [(x, y) for x in (-1200, -200, 800) for y in (-900, 300, 1500)]
    sites = folder.write("sites.csv", "site,x_m,y_m\n" + "".join(f"s{i:02},{x},{y}\n" for i, (x, y) in enumerate(places)))
    expect(0, ["wrote"], "forward", "--model", model, "--sites", sites, "--periods", "0.03,0.3", "--accuracy", "iteration", "-o", folder / "hill.dat")
    ended = run("invert", folder.write("volume.toml", VOLUME.format(vtk="true")), "--dim", "3", "-o", folder / "volume")
    check(ended.returncode in (0, 10), f"a volume is inverted: {(ended.stdout + ended.stderr)[-600:]}")

    # The script may lie elsewhere; files that are missing are written
    os.makedirs(folder / "views")
    expect(0, ["hill.py"], "paraview", folder / "volume", "-o", folder / "views/hill.py")
    draw(folder / "views/hill.py", folder / "volume.png", "volume")
    shutil.rmtree(folder / "volume/vtk")
    expect(0, ["view.py"], "paraview", folder / "volume")
    files = [name for name in os.listdir(folder / "volume/vtk") if name.startswith("model")]
    check(files, "files for ParaView are written where the run has none")
    world = "_world" if "model_world.vtu" in files else ""

    expect(0, ["hill.vtp"], "convert", folder / "hill.dat", "-o", folder / "hill.vtp")
    model, stations, survey = read_back(folder, folder / f"volume/vtk/model{world}.vtu", folder / f"volume/vtk/stations{world}.vtp", folder / "hill.vtp")
    check(model["cells"] >= 512 and 150 < model["bounds"][5] < 310, f"the hill is in the model: {model['bounds']}")
    check(all(abs(a - b) < 1 for a, b in zip(survey["bounds"][:4], stations["bounds"][:4])), f"survey and run lie in one place: {survey['bounds']}, {stations['bounds']}")
    check(survey["points"] == 18, f"a point per site and period: {survey['points']}")
    # The conductor lies 200 m south and 300 m east of the middle; its own site has next to no arrow
    middle = [0.5 * (survey["bounds"][0] + survey["bounds"][1]), 0.5 * (survey["bounds"][2] + survey["bounds"][3])]
    towards = [(middle[0] - e) * a + (middle[1] - n) * b for e, n, a, b in survey["arrows"] if math.hypot(middle[0] - e, middle[1] - n) > 100]
    check(len(towards) == 16 and sum(each > 0 for each in towards) >= 14, f"arrows point towards the conductor: {towards}")


def check_refusals(folder):
    expect_error(3, "no_result", ["result.h5"], "paraview", folder / "edi")
    check(not os.path.exists(folder / "edi/view.py"), "a folder that is no run gets no script")
    expect_error(3, "no_folder", ["nowhere"], "paraview", folder / "section", "-o", folder / "nowhere/view.py")
    expect(2, ["ends in .py"], "paraview", folder / "section", "-o", folder / "view.txt")
    expect(2, ["ends in .pvd or .vtp"], "convert", folder / "edi", "-o", folder / "sites", "--to", "vtk")
    shutil.rmtree(folder / "section/vtk")
    result = pvpython(folder / "section/view.py", folder / "none.png")
    check(result.returncode != 0 and "mt_invert paraview" in result.stdout + result.stderr and not os.path.exists(folder / "none.png"),
          f"a script without its files says what to do: {(result.stdout + result.stderr)[-300:]}")


with Folder() as folder:
    check_section(folder)
    check_volume(folder)
    check_refusals(folder)
finish()
