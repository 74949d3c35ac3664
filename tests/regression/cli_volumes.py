# SPDX-License-Identifier: Apache-2.0
"""forward and invert of volumes: models, sites on a map, formats, ranks, files of a run, distortion, refusals."""
import csv
import io
import os
import re

from support import SOURCE, Folder, check, expect, expect_error, finish, run

MODEL = """dimension = 3
[background]
thickness_m = [1000.0]
resistivity_ohm_m = [100.0, 20.0]
[[box]]
x_min_m = 0.0
x_max_m = 2000.0
y_min_m = -1000.0
y_max_m = 1000.0
z_min_m = 300.0
z_max_m = 900.0
resistivity_ohm_m = 5.0
"""


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


with Folder() as folder:
    half = folder.write("half.toml", "dimension = 3\n[background]\nresistivity_ohm_m = [50.0]\n")
    block = folder.write("block.toml", MODEL)
    sites = folder.write("sites.csv", "site,x_m,y_m\na,-1500,0\nb,1000,-1500\nc,1000,1500\n")

    # A half-space: the resistivity itself, 45 degrees, no diagonal impedance, no tipper
    result = expect(0, ["rho_xy_ohm_m"], "forward", "--model", half, "--sites", sites, "--periods", "1")
    rows = rows_of(result.stdout)
    check(len(rows) == 3, "one row per period and site")
    check(all(abs(float(r["rho_xy_ohm_m"]) / 50 - 1) < 0.015 and abs(float(r["phase_yx_deg"]) + 135) < 0.7 for r in rows), "half-space within 1.5 % and 0.7 degrees")
    check(all(abs(float(r["Zxx_re_ohm"])) < 1e-3 * abs(float(r["Zxy_re_ohm"])) and abs(float(r["Tzx_re"])) < 1e-3 for r in rows), "no diagonal, no tipper")
    check([(float(r["x_m"]), float(r["y_m"])) for r in rows][1] == (1000.0, -1500.0), "coordinates of the sites file")

    # Mirrored sites: equal off-diagonal impedances, diagonal ones and Tzy with the other sign; ranks change nothing
    coarse = ("--accuracy", "iteration")
    rows = {r["site"]: r for r in rows_of(run("forward", "--model", block, "--sites", sites, "--periods", "1", *coarse).stdout)}
    check(abs(float(rows["b"]["rho_yx_ohm_m"]) / float(rows["c"]["rho_yx_ohm_m"]) - 1) < 0.02, "mirrored sites, equal rho_yx")
    check(float(rows["b"]["Tzy_re"]) * float(rows["c"]["Tzy_re"]) < 0, "Tzy changes sign across the body")
    check(float(rows["b"]["Zxx_re_ohm"]) * float(rows["c"]["Zxx_re_ohm"]) < 0, "Zxx changes sign as well")
    shared = {r["site"]: r for r in rows_of(run("forward", "--model", block, "--sites", sites, "--periods", "1", *coarse, launcher=("mpirun", "--oversubscribe", "-n", "2")).stdout)}
    check(all(abs(float(shared[s]["Zxy_re_ohm"]) / float(rows[s]["Zxy_re_ohm"]) - 1) < 1e-6 for s in rows), "two ranks agree to 1e-6")

    # Formats: HDF5 is described, ModEM data keep their header and come back as sites
    hdf5, first = folder / "out.h5", folder / "first.dat"
    expect(0, ["wrote"], "forward", "--model", block, "--sites", sites, "--periods", "1", *coarse, "-o", hdf5)
    expect(0, ["zxx", "tzy"], "info", hdf5)
    expect(0, ["wrote"], "forward", "--model", block, "--sites", sites, "--periods", "0.3,3", *coarse, "-o", first)
    check("> Full_Impedance" in open(first).read() and "> Full_Vertical_Components" in open(first).read(), "blocks of all elements")
    expect(0, ["wrote"], "forward", "--model", half, "--sites", first, *coarse, "-o", folder / "again.dat")
    expect(0, ["half-space", "layered", "tolerance"], "forward", "--model", half, "--sites", sites, "--periods", "1", *coarse, "--mesh-report")

    # Tippers alone are inverted without a key that says so, and the log states it; a key that asks for more is refused
    with open(first) as file:
        blocks = file.read()
    start = blocks.index("> Full_Vertical_Components")
    folder.write("tippers.dat", blocks[blocks.rindex("\n#", 0, blocks.rindex("\n#", 0, start)) + 1:])
    tippers = folder.write("tippers.toml", '[data]\nstation_files = ["tippers.dat"]\n[data.floors]\ntipper_absolute = 0.02\n[grid]\nn_columns = 8\nn_rows = 8\nn_layers = 8\n')
    result = expect(0, [], "invert", tippers, "--dim", "3", "-o", folder / "tippers", "--dry-run")
    check("tippers are inverted" in result.stdout + result.stderr, "the log says that tippers are inverted")
    expect_error(5, "no_usable_datum", ["tippers.toml:2"], "invert", tippers, "--dim", "3", "-o", folder / "tippers", "--set", 'data.kind="log10_rho_phase"', "--dry-run")

    # An inversion of these data, its files, and its continuation
    config = folder.write("run.toml", f"""[data]
modem_file = "{first}"
kind = "full_impedance"
tipper = true
[data.floors]
impedance_relative = 0.05
tipper_absolute = 0.02
[grid]
n_columns = 8
n_rows = 8
n_layers = 8
[inversion]
max_iterations = 2
[forward]
final_accuracy = "iteration"
""")
    out = folder / "run"
    expect(0, ["unknowns:", "memory per rank"], "invert", config, "--dim", "3", "--dry-run")
    # Several ranks: what each of them solves, the largest units first
    said = run("invert", config, "--dim", "3", "--dry-run", launcher=("mpirun", "-n", "2", "--bind-to", "none", "--oversubscribe"))
    shares = re.findall(r"^ +([01]) +(\d+) +(\d+) +([\d.]+) %$", said.stdout, re.MULTILINE)
    check([rank for rank, *_ in shares] == ["0", "1"] and abs(sum(float(share[3]) for share in shares) - 100) < 0.2, f"shares of two ranks: {shares}")
    # Smooth in (x, y, ln z) with a length that the stations tell, unless an exponent is given
    expect(0, ["smooth in (x, y, ln(z + 500 m)): "], "invert", config, "--dim", "3", "--dry-run", "--set", "regularization.depth_weight_z0_m=500")
    for key in ("depth_weight_exponent", "horizontal_depth_exponent"):
        said = run("invert", config, "--dim", "3", "--dry-run", "--set", f"regularization.{key}=0")
        check(said.returncode == 0 and "smooth in (x, y, ln" not in said.stdout + said.stderr, f"{key} ends the default of volumes")
    result = run("invert", config, "--dim", "3", "-o", out)
    check(result.returncode in (0, 10), f"the inversion ends, code {result.returncode}: {(result.stdout + result.stderr)[-800:]}")
    for name in ("result.h5", "report.html", "vtk/model.vtu", "iterations.csv", "pictures/slices_horizontal.png"):
        check(os.path.exists(os.path.join(out, name)), f"the run wrote {name}")
    history = list(csv.DictReader(line for line in open(os.path.join(out, "iterations.csv")) if not line.startswith("#")))
    check(float(history[-1]["rms"]) < 0.7 * float(history[0]["rms"]), "the misfit falls by a third in two steps")
    expect(0, ["cells along x, y and z", "zxx"], "info", os.path.join(out, "result.h5"))
    expect(0, ["wrote"], "forward", "--model", os.path.join(out, "result.h5"), "--sites", sites, "--periods", "1", *coarse, "-o", folder / "of_result.csv")

    # From a section, the same at every x, with deviations, resolution and the depth of investigation of what comes out
    start = folder.write("start.toml", "[background]\nthickness_m = [900.0]\nresistivity_ohm_m = [90.0, 25.0]\n[[box]]\ny_min_m = -1000.0\ny_max_m = 1000.0\nz_max_m = 900.0\nresistivity_ohm_m = 60.0\n")
    result = run("invert", config, "--dim", "3", "-o", folder / "judged", "--set", f'start.model_file="{start}"', "--set", "inversion.max_iterations=1", "--set", "uncertainty.posterior=true")
    check(result.returncode in (0, 10), f"a run from a section ends: {(result.stdout + result.stderr)[-800:]}")
    begun = list(csv.DictReader(line for line in open(folder / "judged/iterations.csv") if not line.startswith("#")))
    check(abs(float(begun[0]["rms"]) - float(history[0]["rms"])) > 0.01, "the section is the start")
    vtk = open(folder / "judged/vtk/model.vtu", errors="replace").read()
    check(all(f'"posterior/{name}"' in vtk for name in ("deviation_decades", "resolution", "investigated")), "ParaView has deviations, resolution and what is investigated")
    check("depth of investigation" in open(folder / "judged/report.html").read().lower(), "the report states the depth of investigation")

    # Sites beyond the cells of a model file are named; models of TOML files have no end
    far = folder.write("far.csv", "site,x_m,y_m\nnear,0,0\nlost,9e6,100\n")
    expect(0, ["1 of 2 stations stand outside the cells of the model, which continues as at its edge (x ", "lost (x 9e+06 m, y 100 m)", "origin of the model"], "forward", "--model", os.path.join(out, "result.h5"), "--sites", far, "--periods", "1", *coarse, "-o", folder / "far_out.csv")
    said = run("forward", "--model", half, "--sites", far, "--periods", "1", *coarse, "-o", folder / "far_half.csv")
    check(said.returncode == 0 and "outside the cells" not in said.stdout + said.stderr, "a half-space has no end")

    # Inter-station functions: by a column of references, out to CSV and ModEM data, and back into an inversion
    referred = folder.write("referred.csv", "site,x_m,y_m,reference\na,-3000,-2000,b\nb,100,300,\nc,2500,-1500,b\n")
    rows = {r["site"]: r for r in rows_of(run("forward", "--model", block, "--sites", referred, "--periods", "1", *coarse).stdout)}
    check(rows["a"]["reference"] == "b" and rows["b"]["Mxx_re"] == "" and 0.5 < float(rows["a"]["Mxx_re"]) < 2, f"functions where a reference is stated: {rows['a']}")
    check(float(rows["a"]["Mxx_re"]) != float(rows["c"]["Mxx_re"]) != 1, "functions differ between sites")
    expect(0, ["wrote"], "forward", "--model", block, "--sites", referred, "--periods", "0.3,3", *coarse, "-o", folder / "between.dat")
    expect(0, ["mxx"], "info", folder / "between.dat")
    between = ("--set", f'data.modem_file="{folder / "between.dat"}"', "--set", "data.modes=[]", "--set", "data.tipper=false", "--set", "data.interstation=true", "--set", "inversion.target_rms=0.2", "--set", "inversion.max_iterations=2")
    result = run("invert", config, "--dim", "3", *between, "-o", folder / "between")
    check(result.returncode in (0, 10), f"an inversion of inter-station functions ends: {(result.stdout + result.stderr)[-800:]}")
    of = [float(r["rms"]) for r in csv.DictReader(line for line in open(folder / "between/iterations.csv") if not line.startswith("#"))]
    check(of[-1] < 0.8 * of[0], f"and lowers the misfit: {of}")
    expect_error(4, "unknown_reference", ["referred.csv", "got z for a"], "forward", "--model", half, "--sites", folder.write("referred.csv", "site,x_m,y_m,reference\na,0,0,z\n"), "--periods", "1")

    # Distortion matrices: a row per site in a file of their own and in the report
    on = ("--set", "distortion.enabled=true")
    result = run("invert", config, "--dim", "3", *on, "--set", "inversion.max_iterations=1", "-o", folder / "matrices")
    check(result.returncode in (0, 10) and "distortion: 12 unknowns" in result.stdout, f"an inversion with matrices ends, code {result.returncode}: {(result.stdout + result.stderr)[-800:]}")
    rows = list(csv.DictReader(open(folder / "matrices/distortion.csv")))
    check([r["site"] for r in rows] == ["a", "b", "c"] and all(0.5 < float(r["gain"]) < 2 for r in rows), "a matrix per site, not far from the identity")
    check("Galvanic distortion" in open(folder / "matrices/report.html").read() and os.path.exists(folder / "matrices/pictures/distortion.png"), "the report has table and maps of the matrices")
    expect_error(2, "exclusive_tables", ["static_shift"], "invert", config, "--dim", "3", *on, "--set", "static_shift.enabled=true", "--dry-run")
    expect_error(2, "nothing_distorted", ["full_impedance"], "invert", config, "--dim", "3", *on, "--set", "data.kind=phase_tensor", "--dry-run")

    # ModEM files of a run, a covariance file that holds what they hold, and a region in plan
    held = ("--set", "regularization.fixed=[{x_m = [-9000, -9000, 500, 500], y_m = [-9000, 9000, 9000, -9000], z_max_m = 400, resistivity_ohm_m = 70}]")
    short = ("--set", "inversion.max_iterations=1")
    result = run("invert", config, "--dim", "3", "-o", folder / "modem", *held, *short, "--set", "output.modem=true")
    check(result.returncode in (0, 10) and "fixed region:" in result.stdout, f"an inversion with a region in plan ends: {(result.stdout + result.stderr)[-800:]}")
    files = folder / "modem/modem"
    for name in ("model.rho", "start.rho", "smooth.cov"):
        expect(0, ["ModEM"], "info", os.path.join(files, name))
    check(len(open(os.path.join(files, "predicted.dat")).readlines()) == len(open(os.path.join(files, "observed.dat")).readlines()), "a predicted datum for each observed one")
    go_on = folder.write("go_on.toml", f"""[data]
modem_file = "{os.path.join(files, "observed.dat")}"
kind = "full_impedance"
tipper = true
[grid]
from_start_model = true
[start]
model_file = "{os.path.join(files, "model.rho")}"
[regularization]
modem_covariance_file = "{os.path.join(files, "smooth.cov")}"
[forward]
final_accuracy = "iteration"
certificate = "none"
""")
    n_held = result.stdout.split("fixed region: ")[1].split()[0]
    expect(0, [f"areas: {n_held} cells are held"], "invert", go_on, "--dim", "3", "--dry-run")
    # Smoothing, exceptions and areas of a file that is given come back in that of the run, with the cells held
    header, body = (open(os.path.join(files, "smooth.cov")).read().split("\n")[part] for part in (slice(16), slice(16, None)))
    n_x, n_y, n_z = (int(n) for n in " ".join(body).split()[:3])
    rows = "\n".join(" ".join(["2"] + ["1"] * (n_y - 1)) for _ in range(n_x))
    split = folder.write("split.cov", "\n".join([*header, f"{n_x} {n_y} {n_z}", " ".join(["0.2"] * n_z), " ".join(["0.4"] * n_z), "0.1", "2", "1", "1 2 0.05", f"1 {n_z}", rows, ""]))
    result = run("invert", go_on, "--dim", "3", "-o", folder / "split", *held, *short, "--set", f'regularization.modem_covariance_file="{split}"', "--set", "output.modem=true")
    check(result.returncode in (0, 10), f"an inversion with areas ends: {(result.stdout + result.stderr)[-800:]}")
    numbers = " ".join(open(folder / "split/modem/smooth.cov").read().split("\n")[16:]).split()
    check(numbers[3:4] + numbers[3 + n_z:4 + n_z] + numbers[3 + 2 * n_z:8 + 2 * n_z] == ["0.2", "0.4", "0.1", "2", "1", "1", "2"] and {"1", "2", "9"} <= set(numbers[9 + 2 * n_z:]), f"the file of the run holds what was given: {numbers[:40]}")
    # The smoothing of the file in the place of derivatives
    own = (*short, "--set", f'regularization.modem_covariance_file="{split}"', "--set", "regularization.operator=autoregression")
    result = run("invert", go_on, "--dim", "3", "-o", folder / "smoothed", *own)
    lines = (line for line in open(folder / "smoothed/iterations.csv") if not line.startswith("#"))
    of = [float(row["rms"]) for row in csv.DictReader(lines)]
    check(result.returncode in (0, 10) and of[-1] < 0.9 * of[0],
          f"an inversion by autoregression lowers the misfit: {of}, {(result.stdout + result.stderr)[-800:]}")
    smoothing = open(split).read()
    folder.write("split.cov", smoothing.replace(" ".join(["0.4"] * n_z), " ".join(["0.3"] * n_z)))
    expect(2, ["smoothing"], "invert", go_on, "--dim", "3", "-o", folder / "smoothed", "--resume", *own)
    weighted = (*own, "--set", "regularization.horizontal_weight=2", "--dry-run")
    expect_error(2, "not_chosen", ["horizontal_weight"], "invert", go_on, "--dim", "3", *weighted)
    folder.write("split.cov", smoothing.replace("1 2 0.05", "1 2 0.5"))
    expect(2, ["areas of cells"], "invert", go_on, "--dim", "3", "-o", folder / "split", *held, *short, "--resume", "--set", f'regularization.modem_covariance_file="{split}"', "--set", "output.modem=true")
    expect_error(2, "areas_of_another_grid", ["modem_covariance_file", "smooth.cov", "from_start_model"], "invert", config, "--dim", "3", "--dry-run", "--set", f'regularization.modem_covariance_file="{os.path.join(files, "smooth.cov")}"', "--set", "grid.n_layers=9")
    expect_error(2, "needs_volume", ["regularization.fixed[0]"], "invert", os.path.join(SOURCE, "examples/coprod2/coprod2.toml"), *held, "--dry-run")

    # Refusals
    line = folder.write("line.csv", "site,y_m\na,0\n")
    expect(2, ["site,x_m,y_m"], "forward", "--model", half, "--sites", line, "--periods", "1")
    expect(2, ["site,y_m"], "forward", "--model", folder.write("section.toml", "[background]\nresistivity_ohm_m = [50.0]\n"), "--sites", sites, "--periods", "1")
    below = folder.write("below.csv", "site,x_m,y_m,z_m\na,0,0,50\n")
    result = run("forward", "--model", half, "--sites", below, "--periods", "1")
    check(result.returncode != 0 and "a (50.0 m below)" in result.stderr + result.stdout and "--drape" in result.stderr + result.stdout, "a buried site is named")
    result = run("invert", config, "--dim", "2", "-o", folder / "no")
    check(result.returncode == 2 and "--dim 1 or 3" in result.stderr + result.stdout, "a section refuses sites on a map")
finish()
