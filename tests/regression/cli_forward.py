# SPDX-License-Identifier: Apache-2.0
"""forward: models, sites, formats and coordinates."""
import csv
import io
import math
import os

from support import BLOCK, SITES, Folder, check, expect, expect_error, finish

HEADER = "site,mode,period_s,y_m,z_m,rho_a_ohm_m,phase_deg,Z_re_ohm,Z_im_ohm,Tzy_re,Tzy_im,definition"
MU0 = 4e-7 * math.pi


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


with Folder() as folder:
    half = folder.write("half.toml", "[background]\nresistivity_ohm_m = [50.0]\n")
    block = folder.write("block.toml", BLOCK)
    sites = folder.write("sites.csv", "site,y_m,z_m\nwest,-1000,0\nmiddle,12.5,0\neast,1000,0\n")

    # A half-space: the resistivity itself, 45 degrees, no tipper.
    result = expect(0, [HEADER], "forward", "--model", half, "--sites", sites, "--periods", "0.1,10")
    rows = rows_of(result.stdout)
    check(result.stdout.splitlines()[0] == HEADER, "the first line is the header")
    check(len(rows) == 2 * 2 * 3, "one row per mode, period and site")
    check(all(abs(float(r["rho_a_ohm_m"]) / 50 - 1) < 0.005 for r in rows), "half-space: apparent resistivity within 0.5 %")
    check(all(abs(float(r["phase_deg"]) - (45 if r["mode"] == "TE" else -135)) < 0.2 for r in rows), "phases 45 (TE) and -135 (TM), not folded")
    check(all(r["Tzy_re"] == "" for r in rows if r["mode"] == "TM"), "no tipper for TM")
    check(sorted({float(r["y_m"]) for r in rows}) == [-1000.0, 12.5, 1000.0], "coordinates of the sites file")
    z = complex(float(rows[0]["Z_re_ohm"]), float(rows[0]["Z_im_ohm"]))
    rho = abs(z) ** 2 * float(rows[0]["period_s"]) / (2 * math.pi * MU0)
    check(abs(rho / float(rows[0]["rho_a_ohm_m"]) - 1) < 1e-9, "impedance in ohm agrees with the apparent resistivity")

    # A block: symmetric sites, antisymmetric tipper; file output says the same.
    out = folder / "block.csv"
    expect(0, ["wrote"], "forward", "--model", block, "--sites", sites, "--periods", "0.1", "-o", out)
    rows = rows_of(open(out).read())
    te = {r["site"]: r for r in rows if r["mode"] == "TE"}
    check(abs(float(te["west"]["rho_a_ohm_m"]) / float(te["east"]["rho_a_ohm_m"]) - 1) < 0.005, "symmetric model, symmetric response")
    check(float(te["west"]["Tzy_re"]) * float(te["east"]["Tzy_re"]) < 0, "the tipper changes sign across the block")

    # On a slope: E along it is longer than its level part, H along it shorter, by the cosine each.
    slope = folder.write("slope.toml", "[background]\nresistivity_ohm_m = [50.0]\n[surface]\ny_m = [-2000.0, 2000.0]\nz_m = [0.0, -1000.0]\n")
    phases = {}
    for definition in ("horizontal", "slope_parallel"):
        result = expect(0, [definition], "forward", "--model", slope, "--sites", folder.write("one.csv", "site,y_m\na,100\n"), "--periods", "0.1",
                        "--definition", definition)
        phases[definition] = {r["mode"]: float(r["rho_a_ohm_m"]) for r in rows_of(result.stdout)}
        check(all(r["definition"] == definition for r in rows_of(result.stdout)), f"the column definition says {definition}")
    cosine = 1 / math.hypot(1, 0.25)
    ratio = phases["slope_parallel"]["TM"] / phases["horizontal"]["TM"]
    check(abs(ratio * cosine**2 - 1) < 1e-6, "TM: apparent resistivity along the slope is the level one over the cosine squared")
    expect(2, ["horizontal"], "forward", "--model", slope, "--sites", sites, "--periods", "1", "--definition", "vertical")

    # ModEM data as output and as sites: the same numbers, units and sign.
    first, second = folder / "first.dat", folder / "second.dat"
    expect(0, ["wrote"], "forward", "--model", block, "--sites", sites, "--periods", "0.1,1", "-o", first)
    expect(0, ["wrote"], "forward", "--model", block, "--sites", first, "-o", second)
    numbers = [[w for line in open(p) if not line.startswith(("#", ">")) for w in line.split()] for p in (first, second)]
    check(len(numbers[0]) == len(numbers[1]) > 0, "the same rows")
    check([line for line in open(first) if line.startswith(">")] == [line for line in open(second) if line.startswith(">")], "the same units and sign")
    template = folder.write("template.dat", "".join(
        line if line.startswith(("#", ">")) else " ".join([*line.split()[:-1], "2e15"]) + "\n" for line in open(first)))
    expect(0, ["wrote"], "forward", "--model", block, "--sites", template, "-o", second)
    check(len([line for line in open(second) if not line.startswith(("#", ">"))]) == len([line for line in open(first) if not line.startswith(("#", ">"))]),
          "placeholder errors ask for a prediction all the same")
    expect(2, ["remove --periods"], "forward", "--model", block, "--sites", first, "--periods", "1")

    hdf5 = folder / "out.h5"
    expect(0, ["wrote"], "forward", "--model", block, "--sites", sites, "--periods", "0.1", "-o", hdf5)
    check(open(hdf5, "rb").read(8) == b"\x89HDF\r\n\x1a\n", "HDF5 output is HDF5")

    expect(0, ["half-space", "layered", "refinement", "tolerance"], "forward", "--model", block, "--sites", sites, "--periods", "0.1", "--mesh-report")
    expect(0, ["estimated errors of the final responses", "This took the work of"], "forward", "--model", block, "--sites", sites, "--periods", "0.1", "--refine", "20000", "--check-runs", "3", "-o", folder / "checked.csv")
    expect(2, ["--check-runs requires --refine"], "forward", "--model", block, "--sites", sites, "--periods", "0.1", "--check-runs", "3")
    expect(2, ["--periods"], "forward", "--model", block, "--sites", sites)
    deep = folder.write("deep.csv", "site,y_m,z_m\na,0,100\nb,500,-2.5\nc,900,0.5\n")
    expect(5, ["a (100.0 m below), b (2.5 m above);", "--drape"], "forward", "--model", half, "--sites", deep, "--periods", "1")
    expect(0, ["2 of 3 sites moved onto the surface, by up to 100.0 m"], "forward", "--model", half, "--sites", deep, "--periods", "1", "--drape", "-o", folder / "draped.csv")
    expect(4, ["same.csv:3", "a stands at y = 0 m"], "forward", "--model", half, "--sites", folder.write("same.csv", "site,y_m\na,0\nb,0\n"), "--periods", "1")
    expect(4, ["bad.csv:2"], "forward", "--model", half, "--sites", folder.write("bad.csv", "site,y_m\na,zero\n"), "--periods", "1")
    expect(3, ["missing.toml"], "forward", "--model", folder / "missing.toml", "--sites", sites, "--periods", "1")
    at_sites = ("forward", "--model", half, "--sites", sites, "--periods", "1", "-o")
    expect_error(3, "no_folder", ["nowhere/out.csv: expected", "nowhere does not exist"], *at_sites, folder / "nowhere/out.csv")
    expect_error(3, "no_folder", ["sites.csv is a file"], *at_sites, folder / "sites.csv/out.csv")
    os.mkdir(folder / "folder.csv")
    expect_error(3, "not_a_file", ["folder.csv", "got that of a folder"], *at_sites, folder / "folder.csv")
finish()
