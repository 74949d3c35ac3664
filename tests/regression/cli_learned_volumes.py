# SPDX-License-Identifier: Apache-2.0
"""Learned priors in volumes: columns, groups of them, slices and blocks; steps with and without a Jacobian; resuming, ranks, files, refusals."""
import csv
import os
import shutil
import sys

from learned import TRAINING, history, train
from support import SOURCE, Folder, check, expect, expect_error, finish, run

sys.path.insert(0, os.path.join(SOURCE, "benchmarks"))
import volume_error  # noqa: E402

BLOCKS = """[grid]
first_layer_m = 60.0
layer_factor = 1.25
n_layers = 12
first_cell = 1
last_cell = 11
width_m = 1000.0
n_columns = 2
length_m = 1000.0
n_rows = 2
[prior]
seed = 3
[[prior.generator]]
kind = "blocks"
number = [1, 2]
section_width_m = 3000.0
top_m = [100, 800]
width_m = [600, 2500]
length_m = [600, 2500]
height_m = [200, 900]
log10_resistivity = [0.6, 1.0]
[prior.generator.background]
kind = "layers"
number = [1, 1]
log10_resistivity = [2.2, 2.4]
""" + TRAINING.format(codes=6)


def model_of(folder, name):
    """Returns the final log10 resistivities of a run, of its ModEM file."""
    (x, y, z), value = volume_error.read_modem(os.path.join(folder / name, "modem", "model.rho"))
    return [value(ix, iy, iz) for iz in range(len(z) - 1) for iy in range(len(y) - 1) for ix in range(len(x) - 1)]


with Folder() as folder:
    # The example with nine sites at two periods, and data of coarse meshes, with noise; paths in its configurations are relative to the tree
    examples = folder / "examples/learned_volume"
    shutil.copytree(os.path.join(SOURCE, "examples", "learned_volume"), examples)
    truth, sites, smooth, learned, columns = (os.path.join(examples, name) for name in ("model.toml", "sites.csv", "smooth.toml", "learned.toml", "columns.toml"))
    with open(sites, "w") as file:
        file.write("site,x_m,y_m\n" + "".join(f"s{3 * row + column + 1},{x},{y}\n" for row, x in enumerate((-1200, 0, 1200)) for column, y in enumerate((-1200, 0, 1200))))
    for config in (smooth, learned):  # the same cells of 500 m from -2000 to 2000 m
        text = open(config).read()
        check("margin = 0.125" in text, f"{config} has the margin of its 25 sites")
        open(config, "w").write(text.replace("margin = 0.125", "margin = 0.3333333333"))
    clean, data = folder / "clean.dat", folder / "out/learned_volume/data.dat"
    os.makedirs(os.path.dirname(data))
    expect(0, ["wrote"], "forward", "--model", truth, "--sites", sites, "--periods", "0.03,0.3", "--accuracy", "iteration", "-o", clean)
    volume_error.add_noise(clean, data, 0.03, 1)
    expect(0, ["codes in use"], "train", columns, "-o", folder / "out/learned_volume/columns")

    def invert(config, name, *settings, launcher=()):
        said = run("invert", config, "--dim", "3", "-o", folder / name, *settings, launcher=launcher, timeout=280)
        check(said.returncode in (0, 10), f"{name}: ends, code {said.returncode}: {(said.stdout + said.stderr)[-800:]}")
        return said

    def rms(name):
        return float(history(folder, name)[-1]["rms"])

    # What will be inverted for; then both methods to the same target
    expect(0, ["columns 3 to 10 along x and 3 to 10 along y", "64 subdomains by 6 codes", "384 codes"], "invert", learned, "--dim", "3", "--dry-run")
    invert(smooth, "smooth")
    said = invert(learned, "learned")
    check("coverage, below the stations" in said.stdout, "every column is judged")
    check("polish" not in {row["stage"] for row in history(folder, "learned")}, "the codes alone reach the target")
    check(max(rms("smooth"), rms("learned")) <= 1.6, f"both reach the target: rms {rms('smooth'):.3f} and {rms('learned'):.3f}")
    within = [-2000, 2000, -2000, 2000, 60, 2000]
    error = {name: volume_error.error(truth, os.path.join(folder / name, "modem", "model.rho"), within) for name in ("smooth", "learned")}
    print(f"      model errors: smooth {error['smooth'][0]:.3f}, learned {error['learned'][0]:.3f}, mean of the truth {error['smooth'][1]:.3f} decades")
    check(error["learned"][0] < 0.97 * error["smooth"][0], f"the model error with the prior is lower ({error['learned'][0]:.3f}, {error['smooth'][0]:.3f} without)")

    # Files of the run
    for name in ("result.h5", "report.html", "vtk/model.vtu"):
        check(os.path.exists(os.path.join(folder / "learned", name)), f"the run wrote {name}")
    page = open(folder / "learned/report.html").read()
    check("below the stations&quot;: x -2000 to 2000 m, y -2000 to 2000 m" in page, "the report says where the region lies")
    check("<td>64</td><td>384</td>" in page and "Table of subdomains" in page, "and has its table")
    vtk = open(folder / "learned/vtk/model.vtu", errors="replace").read()
    check(all(f"learned_prior/{name}" in vtk for name in ("subdomain", "decoded_log10_resistivity", "deviation_decades", "verdict")), "ParaView sees the prior")
    expect(0, ["report.html"], "report", folder / "learned")

    # With all rows of J and by products alone; on two ranks; in pieces
    short = ("--set", "inversion.max_iterations=1", "--set", "inversion.target_rms=0.5", "--set", 'learned_prior.polish="never"', "--set", "output.report=false", "--set", "output.vtk=false")
    free = (*short, "--set", 'inversion.space="matrix_free"')
    invert(learned, "dense", *short, "--set", 'inversion.space="model"')
    said = invert(learned, "free", *free, "--set", "inversion.forcing=0.01", "--set", "inversion.max_inner_steps=60")
    check("inner steps" in said.stdout and all(row["n_jacobian"] == "0" for row in history(folder, "free")), "products alone make no Jacobian")
    check(all(int(row["n_jacobian"]) > 0 for row in history(folder, "dense")[1:]), "with rows of J there is one in each step")
    check(abs(rms("free") / rms("dense") - 1) < 0.05, f"both ways fit alike: rms {rms('free'):.4f} and {rms('dense'):.4f}")
    invert(learned, "whole", *free)
    invert(learned, "ranks", *free, launcher=("mpirun", "--oversubscribe", "-n", "2", "--bind-to", "none"))
    apart = max(abs(a - b) for a, b in zip(model_of(folder, "whole"), model_of(folder, "ranks")))
    check(apart < 1e-5, f"two ranks: the same model ({apart:.1e} decades)")
    code, n = 11, 0
    while code == 11 and n < 8:
        code, n = run("invert", learned, "--dim", "3", "-o", folder / "pieces", *free, "--time-limit", "1e-6", *(["--resume"] if n else []), timeout=280).returncode, n + 1
    check(code in (0, 10) and n > 1, f"in pieces: done (code {code} after {n} runs)")
    check(history(folder, "pieces") == history(folder, "whole"), "in pieces: the same history, digit by digit")
    check(model_of(folder, "pieces") == model_of(folder, "whole"), "in pieces: the same model")

    # Codes that four columns share, and cells that go on where these do not fit; pairs of steps
    fewer = (*short, "--set", "learned_prior.region[0].together=2")
    expect(0, ["16 subdomains of 44 cells", "96 codes"], "invert", learned, "--dim", "3", "--dry-run", *fewer)
    invert(learned, "together", *fewer)
    check(rms("together") < 0.5 * float(history(folder, "together")[0]["rms"]), "four columns with one code fit, too")
    said = invert(learned, "polished", "--set", "inversion.max_iterations=1", "--set", "learned_prior.region[0].together=4")
    check([row["stage"] for row in history(folder, "polished")] == ["features", "features", "polish", "polish"], "cells go on from where the codes ended")
    check(os.path.exists(folder / "polished/pictures/learned_prior.png"), "the report shows the nearest model of the prior")
    for space in ("auto", "matrix_free"):
        invert(learned, f"pairs_{space}", *short, "--set", 'inversion.algorithm="alternating"', "--set", f'inversion.space="{space}"')
        check(rms(f"pairs_{space}") < 0.6 * float(history(folder, f"pairs_{space}")[0]["rms"]), f"pairs of steps, {space}: the rms falls")

    # Blocks of 2 x 2 columns, slices of two along y and along x, and the normal distribution of the blocks' draws
    expect(0, ["codes in use"], "train", folder.write("blocks.toml", BLOCKS), "-o", folder / "blocks")
    expect(0, ["11 x 2 x 2 cells"], "info", folder / "blocks/vae.h5")
    check("slice in its middle" in open(folder / "blocks/report.html").read(), "the report of a training shows a slice of its volumes")
    of_blocks = (*short, "--set", f'learned_prior.region[0].network="{folder / "blocks/vae.h5"}"')
    expect(0, ["49 subdomains of 44 cells"], "invert", learned, "--dim", "3", "--dry-run", *of_blocks, "--set", "learned_prior.region[0].overlap=1")
    for kind in ("network", "gaussian"):
        invert(learned, kind, *of_blocks, "--set", "learned_prior.region[0].overlap=1", "--set", f'learned_prior.region[0].decoder="{kind}"')
        check(rms(kind) < 0.6 * float(history(folder, kind)[0]["rms"]), f"blocks, {kind}: the rms falls")
    slices = folder.write("slices.toml", BLOCKS.replace("length_m = 1000.0\nn_rows = 2\n", "").replace("length_m = [600, 2500]\n", ""))
    expect(0, ["codes in use"], "train", slices, "-o", folder / "slices")
    of_slices = (*short, "--set", f'learned_prior.region[0].network="{folder / "slices/vae.h5"}"')
    for along in ("x", "y"):
        expect(0, ["32 subdomains of 22 cells"], "invert", learned, "--dim", "3", "--dry-run", *of_slices, "--set", f'learned_prior.region[0].along="{along}"')
    invert(learned, "along_x", *of_slices, "--set", 'learned_prior.region[0].along="x"', "--set", "learned_prior.region[0].overlap=1")
    check(rms("along_x") < 0.6 * float(history(folder, "along_x")[0]["rms"]), "slices along x: the rms falls")

    # Refusals, with the line of the region
    line = next(k for k, text in enumerate(open(learned), 1) if text.startswith("network"))
    place = f"learned.toml:{line}: learned_prior.region[0].network"
    for changes, id, words in (
            (["learned_prior.region[0].together=3"], "region_wrong_columns", ["multiple of 3", "got 8"]),
            (["learned_prior.region[0].along=\"x\""], "region_along_x", ["patches of a section"]),
            (["learned_prior.region[0].x_m=[-9e6, 0]"], "region_outside_grid", ["x_m"]),
            (["grid.layer_factor=1.26"], "region_other_patch", ["columns/vae.h5"]),
            (["learned_prior.region[0].overlap=1"], "region_overlap_of_columns", ["overlap"])):
        expect_error(2, id, [place, *words], "invert", learned, "--dim", "3", "--dry-run", *[word for each in changes for word in ("--set", each)])
    expect_error(2, "region_other_patch", ["edges along x"], "invert", learned, "--dim", "3", "--dry-run", *of_blocks, "--set", "grid.n_rows=16")
    fixed = "regularization.fixed=[{x_min_m = -9e6, x_max_m = 9e6, z_max_m = 300}]"
    expect_error(2, "region_holds_fixed_cells", [place, "at least one subdomain"], "invert", learned, "--dim", "3", "--dry-run", "--set", fixed)
    shore = "regularization.fixed=[{x_min_m = -9e6, x_max_m = -1500, y_min_m = -9e6, y_max_m = 9e6, z_max_m = 300}]"
    expect(0, ["56 subdomains of 11 cells", "8 subdomains are left out"], "invert", learned, "--dim", "3", "--dry-run", "--set", shore)
    bad = folder.write("bad.toml", BLOCKS.replace("codes = 6", 'codes = 6\nkind = "patch"'))
    expect_error(2, "needs_volume", ["bad.toml", "kind"], "train", bad, "-o", folder / "bad")
    bad = folder.write("wedge.toml", BLOCKS.replace('kind = "blocks"', 'kind = "wedge"').replace("number = [1, 2]\n", "").replace("height_m = [200, 900]", "thickness_m = [200, 900]").replace("width_m = [600, 2500]\n", ""))
    expect_error(2, "needs_section", ["wedge.toml", "wedge"], "train", bad, "-o", folder / "bad")
    section = os.path.join(SOURCE, "examples/getting_started/smooth.toml")
    region = f'learned_prior.region=[{{network = "{folder / "out/learned_volume/columns/vae.h5"}", y_m = [0, 1e5], x_m = [0, 1]}}]'
    expect_error(2, "region_needs_volume", ["x_m", "--dim 3"], "invert", section, "--dry-run", "--set", region)
finish()
