# SPDX-License-Identifier: Apache-2.0
"""Norms, tears, fixed regions and the soundings as start: what they do to a section, and what is refused."""
import csv
import math
import os

from support import CONFIG, SITES, Folder, check, expect, expect_error, expect_target, finish, run, synthetic


def read(path):
    return list(csv.DictReader(open(path)))


def cells(path):
    """(y centre, top, bottom, log10 resistivity) of every cell, m."""
    return [((float(r["y_left_m"]) + float(r["y_right_m"])) / 2, float(r["z_top_m"]), float(r["z_bottom_m"]), math.log10(float(r["resistivity_ohm_m"])))
            for r in read(path)]


def config(folder, name, more):
    """Six iterations on coarse meshes: what they do to the section matters, not whether they reach the target."""
    return folder.write(name, CONFIG.format(iterations=6, target=1.0, accuracy="iteration") + more)


def invert(folder, name, more, *arguments):
    path = config(folder, name + ".toml", more)
    made = run("invert", path, "-o", folder / name, *arguments)
    check(made.returncode in (0, 10), f"{name}: the run ends (code {made.returncode})")
    if made.returncode not in (0, 10):
        print(made.stdout[-1500:], made.stderr[-1500:])
    return cells(folder / f"{name}/section.csv")


def n_between(section):
    """Cells that are neither of the block (5 ohm m) nor of its surroundings (100 ohm m)."""
    return sum(1.0 < c[3] < 1.8 for c in section)


with Folder() as folder:
    synthetic(folder)
    plain = invert(folder, "plain", "")

    # The edges count beyond the grid where roughness is of distance alone.
    def reach(name, keys, other):
        return invert(folder, name, f"[regularization]\n{keys}") == invert(folder, name + "_other", f"[regularization]\n{keys}{other}")
    check(reach("usual", "", "edges_reach = 0.3\n"), "edges reach 0.3 of the depth where nothing is said")
    check(not reach("inner", "", "edges_reach = 0.0\n"), "without reach the section is another")
    check(reach("depth_weight", "depth_weight_exponent = 1.0\n", "edges_reach = 0.0\n"), "with an exponent edges do not reach beyond the grid")
    check(reach("second_order", "order = 2\n", "edges_reach = 0.0\n"), "nor with second derivatives")

    # Norms: boundaries are sharper.
    for norm in ("l1", "mgs"):
        sharp = invert(folder, norm, f'[regularization]\nnorm = "{norm}"\n')
        check(2 * n_between(sharp) <= n_between(plain), f"{norm}: fewer cells between block and surroundings, {n_between(sharp)} against {n_between(plain)} with l2")

    # A tear along the block's side: the jump is there.
    torn = invert(folder, "torn", "[[regularization.tear]]\ny_m = [400.0, 400.0]\nz_m = [0.0, 900.0]\n")
    across = [abs(a[3] - b[3]) for a, b in zip(torn, torn[1:]) if a[1] == b[1] and a[0] < 400 < b[0] and 200 < a[1] < 700]
    before = [abs(a[3] - b[3]) for a, b in zip(plain, plain[1:]) if a[1] == b[1] and a[0] < 400 < b[0] and 200 < a[1] < 700]
    check(sum(across) > 1.3 * sum(before), f"tear: a larger jump across it, {sum(across):.2f} against {sum(before):.2f} decades")

    # A fixed region keeps its resistivity, to the last digit, with bounds that do not hold it as well.
    fixed = '[[regularization.fixed]]\ny_min_m = -300.0\ny_max_m = 300.0\nz_min_m = 250.0\nz_max_m = 700.0\nresistivity_ohm_m = 20.0\n'
    for name, more in (("fixed", ""), ("fixed_bounds", "[bounds]\nresistivity_min_ohm_m = 30.0\nresistivity_max_ohm_m = 500.0\n")):
        section = invert(folder, name, fixed + more)
        inside = [c[3] for c in section if abs(c[0]) < 300 and 250 < (c[1] + c[2]) / 2 < 700]
        outside = [c[3] for c in section if abs(c[0]) > 500]
        check(inside and all(abs(v - math.log10(20.0)) < 1e-12 for v in inside), f"{name}: {len(inside)} cells keep 20 ohm m")
        check(max(outside) - min(outside) > 0.001, f"{name}: the others are inverted for")
    check(min(c[3] for c in section if abs(c[0]) > 500) > math.log10(30.0), "bounds hold outside the fixed region")
    polygon = invert(folder, "polygon", "[[regularization.fixed]]\ny_m = [-600.0, 600.0, 0.0]\nz_m = [300.0, 300.0, 2000.0]\n")
    check(any(abs(c[3] - 2.0) < 1e-12 for c in polygon if abs(c[0]) < 200 and c[1] > 400), "a polygon keeps the reference model")

    # Soundings: a section of their own, and a start model.
    layered = folder.write("layers.toml", "[background]\nresistivity_ohm_m = [100.0, 10.0]\nthickness_m = [500.0]\n")
    folder.write("sites.csv", SITES)
    expect(0, ["wrote"], "forward", "--model", layered, "--sites", folder / "sites.csv", "--periods", "0.001,0.01,0.1,1,10", "-o", folder / "layers.dat")
    path = folder.write("soundings.toml", CONFIG.format(iterations=3, target=1.0, accuracy="standard").replace("data.dat", "layers.dat").replace("report = false", "report = true"))
    expect(0, ["7 of 7 soundings"], "invert", path, "--dim", "1", "-o", folder / "one")
    section = cells(folder / "one/section.csv")
    top = [c[3] for c in section if c[2] < 300]
    deep = [c[3] for c in section if 900 < c[1] and c[2] < 2500]
    check(all(abs(v - 2.0) < 0.15 for v in top), f"soundings: 100 ohm m above ({min(top):.2f} … {max(top):.2f})")
    check(all(abs(v - 1.0) < 0.3 for v in deep), f"soundings: 10 ohm m below ({min(deep):.2f} … {max(deep):.2f})")
    check(len({round(c[3], 3) for c in section if c[1] == section[0][1]}) == 1, "layers are layers")
    table = read(folder / "one/soundings.csv")
    check(len(table) == 7 and all(float(r["rms"]) <= 1.0 and r["at_target"] == "1" for r in table), "one row per sounding with its rms")
    for name in ("result.h5", "report.html", "vtk/section.vtu", "config.toml"):
        check(os.path.exists(folder / f"one/{name}"), f"soundings: {name} is written")
    expect(0, ["HDF5 result"], "info", folder / "one/result.h5")
    expect_target(["the first model at the target"], path, "--set", 'start.from="soundings"', "--set", "inversion.smooth_at_target=false", "-o", folder / "two")
    first = read(folder / "two/iterations.csv")[0]
    check(float(first["rms"]) < 1.5, f"soundings as start model: it fits a layered earth from the start (rms {float(first['rms']):.2f})")

    # Refused before any solve.
    def dry(id, parts, more, name="bad.toml"):
        expect_error(2, id, parts, "invert", config(folder, name, more), "--dry-run")

    dry("no_face_crossed", ["bad.toml:23"], "[[regularization.tear]]\ny_m = [9e6, 9e6]\nz_m = [0.0, 100.0]\n")
    expect(0, ["bad.toml:23: regularization.tear[0].y_m: a part of the line lies outside the grid", "600 m from y = -2700 m, z = 300 m to y = -2100 m"], "invert",
           config(folder, "bad.toml", "[[regularization.tear]]\ny_m = [-2700.0, 0.0]\nz_m = [300.0, 300.0]\n"), "--dry-run")
    dry("bad_points", ["tear[0].y_m", "2", "1"], "[[regularization.tear]]\ny_m = [0.0, 1.0]\nz_m = [0.0]\n")
    dry("out_of_range", ["weight", "0 to 1"], "[[regularization.tear]]\ny_m = [0.0, 1.0]\nz_m = [0.0, 1.0]\nweight = 2\n")
    dry("bad_polygon", ["fixed[0]", "1–2", "3–4"], "[[regularization.fixed]]\ny_m = [0.0, 400.0, 400.0, 0.0]\nz_m = [0.0, 400.0, 0.0, 400.0]\n")
    dry("no_cell_inside", ["bad.toml"], "[[regularization.fixed]]\ny_min_m = 9e6\n")
    dry("no_free_cell", ["bad.toml"], "[[regularization.fixed]]\ny_min_m = -9e6\n")
    dry("polygon_or_box", ["y_m", "z_max_m"], "[[regularization.fixed]]\ny_min_m = 1.0\ny_m = [1.0]\n")
    dry("norm_needs_first_order", ["order = 1", "order = 2"], '[regularization]\norder = 2\nnorm = "l1"\n')
    dry("out_of_range", ["norm_epsilon", "0"], '[regularization]\nnorm = "mgs"\nnorm_epsilon = 0\n')
    dry("unknown_word", ["l3", "l1"], '[regularization]\nnorm = "l3"\n')
    dry("no_model_file", ["start.model_file", "from"], '[start]\nfrom = "file"\n')
    dry("not_chosen", ["start.resistivity_ohm_m", "half_space"], '[start]\nfrom = "soundings"\nresistivity_ohm_m = 10\n')
    expect(2, ["--dim"], "invert", path, "--dim", "4")
    expect(2, ["--dim 1", "--resume"], "invert", path, "--dim", "1", "--resume")
finish()
