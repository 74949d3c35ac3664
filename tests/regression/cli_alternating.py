# SPDX-License-Identifier: Apache-2.0
"""invert with pairs of steps of cells and of codes: fit, polish, stopping and resuming, ranks, static shifts, files."""
import math
import os
import re

from learned import REGION, cells, history, section, stages, train
from support import Folder, check, expect, expect_error, finish, run, synthetic



def farthest_from_decoded(folder, name):
    """Largest deviation of the final from the decoded model, by the header of the ParaView file."""
    header = open(folder / f"{name}/vtk/section.vtu", errors="replace").read()
    ends = re.search(r'Name="learned_prior/deviation_decades"[^>]*RangeMin="([^"]*)"\s*RangeMax="([^"]*)"', header)
    return max(abs(float(end)) for end in ends.groups()) if ends else math.inf


def jumps_inside(resistivities):
    """Sum of the squared differences of log10 resistivity from row to row of the region, columns 4 to 9 and rows 1 to 8 of 14 × 10 cells."""
    log10 = [math.log10(each) for each in resistivities]
    return sum((log10[14 * (row + 1) + column] - log10[14 * row + column]) ** 2 for row in range(1, 8) for column in range(4, 10))


with Folder() as folder:
    base = open(synthetic(folder, iterations=3, target=1.0, accuracy="iteration")).read()
    alternating = base.replace("[inversion]\n", "[inversion]\nalgorithm = \"alternating\"\n")
    expect_error(2, "no_region", ["config.toml", "algorithm", "[[learned_prior.region]]"], "invert", folder.write("config.toml", alternating), "-o", folder / "none")
    train(folder, "right", 0.3, 2.7)
    train(folder, "wrong", 2.9, 3.1)
    right = folder.write("right_run.toml", alternating + REGION.format(network="right/vae.h5", polish="never"))
    wrong = folder.write("wrong_run.toml", alternating + REGION.format(network="wrong/vae.h5", polish="when_needed"))

    expect(0, ["6 subdomains by 4 codes", "24 codes and 92 cells outside take turns with 140 cells"], "invert", right, "-o", folder / "dry", "--dry-run")

    # Pairs fit, and what they end with is decoded.
    said = run("invert", right, "-o", folder / "pairs")
    check(said.returncode in (0, 10), f"pairs: ends (code {said.returncode})")
    rows = history(folder, "pairs")
    check({row["stage"] for row in rows} == {"features"} and [row["kind"] for row in rows[1:]] == ["pair"] * (len(rows) - 1), "pairs of one stage")
    check(float(rows[-1]["rms"]) < 0.35 * float(rows[0]["rms"]), f"pairs: the rms falls from {rows[0]['rms']} to {rows[-1]['rms']}")
    check(all(int(row["n_jacobian"]) >= 2 for row in rows[1:]), "a pair takes a Jacobian of the cells and one of the codes")
    expect(0, ["report.html"], "report", folder / "pairs")
    check("Learned prior" in open(folder / "pairs/report.html").read(), "the report has the section of the prior")
    check(os.path.exists(folder / "pairs/vtk/model_0001.vtu"), "ParaView files per pair")
    # What a run without a polish ends with is decoded. The nearest code is sought with next to no say of its prior: 2e-7 decades here.
    apart = farthest_from_decoded(folder, "pairs")
    check(apart < 1e-5, f"the final model is decoded: ParaView sees deviations of at most {apart:.1e} decades")

    # Given weights are taken as they are.
    given = ["--set", "inversion.pixel_lambda=50.0", "--set", "inversion.code_lambda=20.0", "--set", "inversion.lambda_decay=0.5"]
    check(run("invert", right, *given, "-o", folder / "given").returncode in (0, 10), "with given lambdas it ends")
    check(float(history(folder, "given")[1]["lambda"]) == 50.0, "the first lambda of the cells is the one given")

    # Roughness inside subdomains counts in the steps of the codes.
    check(run("invert", right, "--set", "learned_prior.inside_weight=10.0", "-o", folder / "smooth").returncode in (0, 10), "with inside_weight it ends")
    jumps = {name: jumps_inside(cells(folder, name)) for name in ("pairs", "smooth")}
    check(float(history(folder, "smooth")[-1]["rms"]) < 0.35 * float(history(folder, "smooth")[0]["rms"]), "with inside_weight the rms falls")
    check(jumps["smooth"] < 0.9 * jumps["pairs"], f"inside_weight makes the subdomains smoother: squares of jumps {jumps}")

    # Ranks give the same section.
    launcher = ("mpirun", "--oversubscribe", "-n", "2", "--bind-to", "none")
    check(run("invert", right, "-o", folder / "ranks", launcher=launcher).returncode in (0, 10), "2 ranks: ends")
    apart = max(abs(a / b - 1.0) for a, b in zip(cells(folder, "ranks"), cells(folder, "pairs")))
    check(apart < 1e-8, f"2 ranks: the same section to 1e-8 ({apart:.1e})")

    # A prior that does not fit, then cells alone; in pieces the same bits.
    shifts = ["--set", "static_shift.enabled=true"]
    ended = run("invert", wrong, *shifts, "-o", folder / "polished")
    check(ended.returncode in (0, 10) and "The prior does not fit the data" in ended.stdout, f"a wrong prior: reported in words (code {ended.returncode})")
    names = stages(folder, "polished")
    first = names.index("polish")
    rows = history(folder, "polished")
    check(set(names[:first]) == {"features"} and set(names[first:]) == {"polish"}, "features, then polish")
    check({row["kind"] for row in rows[first + 1:]} <= {"jump", "creep"}, "the polish takes steps of Gauss–Newton")
    check(float(rows[-1]["rms"]) < float(rows[first]["rms"]), f"the polish fits better: {rows[first]['rms']} to {rows[-1]['rms']}")
    apart = farthest_from_decoded(folder, "polished")
    check(0.05 < apart < math.inf, f"what was polished is not decoded: {apart:.2g} decades from the nearest model that is")
    check(len(open(folder / "polished/static_shift.csv").read().splitlines()) == 15, "a shift per site and mode")
    code, n = 11, 0
    while code == 11 and n < 12:
        code, n = run("invert", wrong, *shifts, "-o", folder / "pieces", "--time-limit", "1e-6", *(["--resume"] if n else [])).returncode, n + 1
    check(code in (0, 10) and n > 4, f"in pieces: done (code {code} after {n} runs)")
    check(section(folder, "pieces") == section(folder, "polished"), "in pieces: the same section, digit by digit")
    check(history(folder, "pieces") == history(folder, "polished"), "in pieces: the same history")

    # Mistakes are told before any work.
    expect_error(2, "out_of_range", ["lambda_decay", "1.5"], "invert", right, "-o", folder / "bad", "--set", "inversion.lambda_decay=1.5")
    expect_error(2, "not_chosen", ["memory", "lbfgs"], "invert", right, "-o", folder / "bad", "--set", "inversion.memory=5")
    expect_error(2, "not_chosen", ["pixel_lambda", "alternating"], "invert", right, "-o", folder / "bad", "--set", "inversion.algorithm=\"gauss_newton\"",
           "--set", "inversion.pixel_lambda=1.0")
finish()
