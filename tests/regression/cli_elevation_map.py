# SPDX-License-Identifier: Apache-2.0
"""A volume under a map of elevations in degrees: surface and misfits are those of the same hill in metres; refusals."""
import csv
import math
import os
import re
import struct
import sys

from support import SOURCE, Folder, check, expect, expect_error, finish, run

sys.path.insert(0, os.path.join(SOURCE, "tests", "golden"))
from hdf5_arrays import read_hdf5  # noqa: E402

LATITUDE, LONGITUDE = 38.5, -117.9  # of x = y = 0
RADIUS, FLATTENING = 6378137.0, 1.0 / 298.257223563
SQUARE = FLATTENING * (2.0 - FLATTENING)


def hill_m(x, y):
    """Returns the elevation of a round hill on a plain."""
    return 150.0 + 400.0 * math.exp(-((x**2 + (y - 100.0)**2) / 900.0**2))


def metres(latitude, longitude):
    """Returns x and y of degrees near the origin: first terms of the transverse Mercator projection, exact to a centimetre."""
    middle, phi, turn = math.radians(0.5 * (latitude + LATITUDE)), math.radians(latitude), math.radians(longitude - LONGITUDE)
    meridian = RADIUS * (1.0 - SQUARE) / (1.0 - SQUARE * math.sin(middle)**2)**1.5
    normal = RADIUS / math.sqrt(1.0 - SQUARE * math.sin(phi)**2)
    north = meridian * math.radians(latitude - LATITUDE) + 0.5 * normal * math.sin(phi) * math.cos(phi) * turn**2
    return north, normal * math.cos(phi) * turn


def mean_m(x, y, width_x, width_y):
    """Returns the mean elevation around a place."""
    shares = [(i - 10) / 21 for i in range(21)]
    return sum(hill_m(x + s * width_x, y + t * width_y) for s in shares for t in shares) / 21**2


def rms_of(folder):
    with open(os.path.join(folder, "iterations.csv"), encoding="utf-8") as file:
        return [float(row["rms"]) for row in csv.DictReader(line for line in file if not line.startswith("#"))]


def write_geotiff(path, rows, west, north, step):
    """Writes numbers of 64 bits in degrees of WGS84 as a TIFF, whose unit is the foot by GDAL's own tag."""
    data = b"".join(struct.pack(f"<{len(row)}d", *row) for row in rows)
    unit = b'<GDALMetadata><Item name="UNITTYPE" sample="0" role="unittype">ft</Item></GDALMetadata>\0'
    doubles = struct.pack("<3d", step, step, 0.0), struct.pack("<6d", 0.0, 0.0, 0.0, west, north, 0.0)
    keys = struct.pack("<16H", 1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326)
    blocks = [data, *doubles, keys, unit]
    places = [8 + sum(len(block) for block in blocks[:k]) for k in range(len(blocks))]
    tags = [(256, 4, 1, len(rows[0])), (257, 4, 1, len(rows)), (258, 3, 1, 64), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, places[0]), (277, 3, 1, 1), (278, 4, 1, len(rows)), (279, 4, 1, len(data)),
            (339, 3, 1, 3), (33550, 12, 3, places[1]), (33922, 12, 6, places[2]), (34735, 3, 16, places[3]), (42112, 2, len(unit), places[4])]
    with open(path, "wb") as file:
        file.write(struct.pack("<2sHI", b"II", 42, 8 + sum(len(block) for block in blocks)))
        file.write(b"".join(blocks))
        file.write(struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + struct.pack("<I", 0))


STEP, ROWS, COLUMNS = 0.0004, 221, 281
LATITUDES = [LATITUDE + STEP * (ROWS // 2 - i) for i in range(ROWS)]
LONGITUDES = [LONGITUDE + STEP * (j - COLUMNS // 2) for j in range(COLUMNS)]
HEADER = "latitude_deg,longitude_deg,elevation_m\n"

with Folder() as folder:
    elevations = [[hill_m(*metres(latitude, longitude)) for longitude in LONGITUDES] for latitude in LATITUDES]
    corner = f"xllcenter {LONGITUDES[0] + 360.0:.6f}\nyllcenter {LATITUDES[-1]:.6f}\n"
    head = f"ncols {COLUMNS}\nnrows {ROWS}\n{corner}cellsize {STEP}\nNODATA_value -9999\n"
    lines = [" ".join(f"{value:.2f}" for value in row) for row in elevations]
    lines[0] = " ".join(["-9999"] * COLUMNS)
    folder.write("degrees.asc", head + "\n".join(lines) + "\n")
    rows = (f"{latitude:.6f},{longitude:.6f},{value:.2f}\n"
            for latitude, row in zip(LATITUDES, elevations) for longitude, value in zip(LONGITUDES, row))
    folder.write("degrees.csv", HEADER + "".join(rows))
    expect(0, ["Arc/Info ASCII Grid", "profile.surface_file"], "info", folder / "degrees.asc")

    # Data over a flat earth, whose sites lie on the globe and move onto the hill
    model = folder.write("flat.toml", """dimension = 3
[background]
resistivity_ohm_m = [100.0]
[[box]]
x_min_m = -300.0
x_max_m = 300.0
y_min_m = -300.0
y_max_m = 600.0
z_min_m = 200.0
z_max_m = 700.0
resistivity_ohm_m = 10.0
""")
    places = [(x, y) for x in (-600, 600) for y in (-500, 100, 700)]
    sites = folder.write("sites.csv", "site,x_m,y_m\n" + "".join(f"s{i},{x},{y}\n" for i, (x, y) in enumerate(places)))
    forward = ("forward", "--model", model, "--sites", sites, "--periods", "0.03", "--accuracy", "iteration")
    expect(0, ["wrote"], *forward, "-o", folder / "nowhere.dat")
    text = open(folder / "nowhere.dat").read()
    placed, n = re.subn(r"(?m)^> 0(\.0+)? 0(\.0+)?$", f"> {LATITUDE} {LONGITUDE}", text)
    check(n > 0, "the data state their origin")
    folder.write("placed.dat", placed)

    def config(name, surface, data="placed.dat"):
        return folder.write(name, f"""[data]
modem_file = "{data}"
kind = "full_impedance"
[data.floors]
impedance_relative = 0.05
[profile]
elevation = "file"
surface_file = "{surface}"
drape = true
[grid]
n_columns = 6
n_rows = 6
n_layers = 6
[inversion]
max_iterations = 1
target_rms = 0.2
[forward]
final_accuracy = "iteration"
certificate = "none"
[output]
report = false
""")

    def surface_of(name, surface):
        result = run("invert", config(name + ".toml", surface), "--dim", "3", "-o", folder / name, timeout=300)
        said = result.stdout + result.stderr
        check(result.returncode in (0, 10), f"the inversion {name} ends, code {result.returncode}: {said[-800:]}")
        arrays = read_hdf5(os.path.join(folder / name, "result.h5"))
        x, y, z = (list(arrays["model/surface_" + axis + "_m"][1]) for axis in "xyz")
        return said, x, y, z

    said, x, y, z = surface_of("grid", "degrees.asc")
    check(f"{COLUMNS} cells hold no data" in said, "cells without data are counted")
    _, x_csv, y_csv, z_csv = surface_of("table", "degrees.csv")
    # The same hill as SRTM's tile of three seconds of arc: 1201 x 1201 big-endian numbers of 16 bits from the north, whole metres
    tile = b"".join(struct.pack(">1201h", *(round(hill_m(*metres(39.0 - i / 1200, j / 1200 - 118.0))) if abs(39.0 - i / 1200 - LATITUDE) < 0.05 and abs(j / 1200 - 118.0 - LONGITUDE) < 0.06 else -32768
                                                  for j in range(1201))) for i in range(1201))
    with open(folder / "N38W118.hgt", "wb") as file:
        file.write(tile)
    expect(0, ["SRTMHGT"], "info", folder / "N38W118.hgt")
    said, x_hgt, y_hgt, z_hgt = surface_of("tile", "N38W118.hgt")
    off = max(abs(a - b) for a, b in zip(z, z_hgt))
    check((x, y) == (x_hgt, y_hgt) and off < 5.0, f"a tile of SRTM gives the same surface within {off:.2f} m")
    # And as a GeoTIFF in feet: 64-bit numbers in one strip, tags of place and of the system EPSG:4326
    write_geotiff(folder / "feet.tif", [[value / 0.3048 for value in row] for row in elevations], LONGITUDES[0] - 0.5 * STEP, LATITUDES[0] + 0.5 * STEP, STEP)
    expect(0, ["GeoTIFF"], "info", folder / "feet.tif")
    _, x_tif, y_tif, z_tif = surface_of("tiff", "feet.tif")
    off = max(abs(a - b) for a, b in zip(z_csv, z_tif))
    check((x, y) == (x_tif, y_tif) and off < 0.02, f"a GeoTIFF in feet gives the same surface, {off} m apart")
    apart = max(abs(a - b) for a, b in zip(z, z_csv))
    check((x, y) == (x_csv, y_csv) and apart < 0.02, f"a table and a grid in degrees give one surface, {apart} m apart")
    n_core, worst, sharpest = 0, 0.0, 0.0
    for i in range(1, len(x) - 1):
        for j in range(1, len(y) - 1):
            widths = x[i + 1] - x[i], y[j + 1] - y[j]
            if abs(x[i] - x[i - 1] - widths[0]) > 1.0 or abs(y[j] - y[j - 1] - widths[1]) > 1.0:
                continue  # only where cells are even the mean is that of the box around a line
            n_core += 1
            worst = max(worst, abs(z[i * len(y) + j] + mean_m(x[i], y[j], *widths)))
            sharpest = max(sharpest, abs(z[i * len(y) + j] + hill_m(x[i], y[j])))
    print(f"{n_core} points of the surface are means within {worst:.2f} m, samples within {sharpest:.2f} m")
    check(n_core == 25 and worst < 1.0 < 2.0 < sharpest, "the surface is the mean of the hill around each of its points")

    # The same surface as a map in metres gives the same misfits
    rows = (f"{a!r},{b!r},{z[i * len(y) + j]!r}\n" for i, a in enumerate(x) for j, b in enumerate(y))
    folder.write("metres.csv", "x_m,y_m,z_m\n" + "".join(rows))
    _, x_same, y_same, z_same = surface_of("metres", "metres.csv")
    check((x, y, z) == (x_same, y_same, z_same), "a map in metres with these points is the same surface")
    rms = [rms_of(folder / name) for name in ("grid", "table", "metres")]
    print("rms", rms)
    check(rms[0] == rms[2] and max(abs(a / b - 1.0) for a, b in zip(rms[0], rms[1])) < 1e-3, "all three have the same misfits")

    # Refusals name the key, or the line of the file
    def refused(code, id, parts, surface, *more, data="placed.dat"):
        expect_error(code, id, parts, "invert", config("refused.toml", surface, data), "--dry-run", *(more or ("--dim", "3")))

    refused(2, "no_place_on_globe", ["refused.toml:8", "degrees.asc", "x_m,y_m,z_m"], "degrees.asc", data="nowhere.dat")
    folder.write("far.csv", HEADER + "40,-118,0\n41,-117,0\n")
    refused(2, "sites_beside_map", ["refused.toml:8", "6 of 6", "s0 (latitude 38.49", "latitudes 40.0000 … 41.0000"], "far.csv")
    folder.write("swapped.csv", HEADER + "-117.9,38.5,0\n")
    refused(4, "not_on_globe", ["swapped.csv:2", "-117.9", "swapped"], "swapped.csv")
    folder.write("ragged.asc", head.replace(f"nrows {ROWS}", "nrows 2") + lines[1] + "\n" + lines[2][:-7] + "\n")
    refused(4, "wrong_count", ["ragged.asc", f"{2 * COLUMNS}", f"{2 * COLUMNS - 1}"], "ragged.asc")
    folder.write("short.asc", head + "\n".join(lines[:5]) + "\n")
    refused(4, "wrong_count", ["short.asc", f"{COLUMNS}", f"{ROWS}"], "short.asc")
    half_space = folder.write("section.toml", "[background]\nresistivity_ohm_m = [100.0]\n")
    line = folder.write("line.csv", "site,y_m\na,0\nb,500\n")
    expect(0, ["wrote"], "forward", "--model", half_space, "--sites", line, "--periods", "1", "-o", folder / "line.dat")
    profile = '[data]\nmodem_file = "line.dat"\n[profile]\nelevation = "file"\nsurface_file = "degrees.asc"\n'
    section = folder.write("line.toml", profile)
    expect_error(2, "no_place_on_globe", ["line.toml:5", "degrees.asc"], "invert", section, "--dry-run")

    # A section over the hill: the mean elevations along its line
    offsets = [-700.0 + 140.0 * k for k in range(11)]
    part = math.sqrt(2 * math.pi * 10.0 * 4e-7 * math.pi * 100.0 / 2.0)  # of the impedance of 100 ohm m at 10 Hz
    rows = []
    for k, y in enumerate(offsets):
        longitude = LONGITUDE + math.degrees((y + 100.0) / (metres(LATITUDE, LONGITUDE + 1e-3)[1] / math.radians(1e-3)))
        rows.append(f"p{k:02d},{LATITUDE},{longitude!r},{hill_m(0.0, y + 100.0):.1f},10,0,{part!r},{part!r},{0.05 * part!r},{-part!r},{-part!r},{0.05 * part!r}\n")
    folder.write("line_data.csv", "site,latitude_deg,longitude_deg,elevation_m,frequency_hz,azimuth_deg,"
                 "Zxy_re_ohm,Zxy_im_ohm,Zxy_error_ohm,Zyx_re_ohm,Zyx_im_ohm,Zyx_error_ohm\n" + "".join(rows))
    under = folder.write("under.toml", '[data]\nstation_files = ["line_data.csv"]\n[profile]\nazimuth_deg = 90\nelevation = "file"\nsurface_file = "degrees.csv"\n'
                         '[grid]\nn_columns = 14\n[inversion]\nmax_iterations = 1\n[forward]\nfinal_accuracy = "iteration"\n[output]\nreport = false\n')
    result = run("invert", under, "-o", folder / "under")
    check(result.returncode in (0, 10), f"a section under a map of elevations is inverted: {result.stderr[-300:]}")
    tops = {}
    for row in csv.DictReader(open(folder / "under/section.csv")):
        middle = 0.5 * (float(row["y_left_m"]) + float(row["y_right_m"]))
        tops[middle] = min(tops.get(middle, math.inf), float(row["z_top_m"]))
    off = max(abs(top + mean_m(0.0, y + offsets[0] + 100.0, 110.0, 110.0)) for y, top in tops.items())
    height = max(-top for top in tops.values()) - min(-top for top in tops.values())
    check(len(tops) == 14 and off < 20.0, f"its surface is the mean elevation of each column: {off:.1f} m off at most")
    check(height > 150.0, f"the hill stands in the section: {height:.0f} m high")
finish()
