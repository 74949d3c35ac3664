# SPDX-License-Identifier: Apache-2.0
"""invert with learned priors: codes, then cells where the prior does not fit; stopping and resuming in either stage; ranks; files."""
import os
import re
import signal
import subprocess
import time

from learned import REGION, cells, history, section, stages, train
from support import PROGRAM, Folder, check, expect, expect_error, finish, run, synthetic


def stop_in(folder, config, stage, name):
    """SIGTERM once the stage has a row, then on to the end."""
    process = subprocess.Popen([PROGRAM, "invert", config, "-o", folder / name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.time() + 100
    while time.time() < end and process.poll() is None:
        if os.path.exists(folder / f"{name}/iterations.csv") and stage in stages(folder, name):
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=100)
    check(process.returncode == 11 and "--resume" in said, f"SIGTERM in {stage}: code 11, got {process.returncode}\n{said[-500:]}")
    return run("invert", config, "-o", folder / name, "--resume")


with Folder() as folder:
    base = open(synthetic(folder, iterations=3, target=1.0, accuracy="iteration")).read()
    train(folder, "right", 0.3, 2.7)
    train(folder, "wrong", 2.9, 3.1)
    right = folder.write("right_run.toml", base + REGION.format(network="right/vae.h5", polish="never"))
    wrong = folder.write("wrong_run.toml", base + REGION.format(network="wrong/vae.h5", polish="when_needed"))

    expect(2, ["[learned_prior]", "--dim 2"], "invert", right, "--dim", "1", "-o", folder / "soundings")
    check(not os.path.exists(folder / "soundings"), "soundings cannot honour a learned prior, and leave nothing")

    # What will be inverted for.
    expect(0, ["block", "columns 4 to 9, rows 1 to 8", "6 subdomains by 4 codes", "24 codes and 92 cells outside instead of 140"],
           "invert", right, "-o", folder / "dry", "--dry-run")

    # The prior alone; the same with the normal distribution of its draws.
    def fitted(config, name):
        said = run("invert", config, "-o", folder / name)
        check(said.returncode in (0, 10) and "learned prior" in said.stdout, f"{name}: ends (code {said.returncode})")
        rows = history(folder, name)
        check({row["stage"] for row in rows} <= {"features", "final"}, f"{name}: no polish")
        check(float(rows[-1]["rms"]) < 0.35 * float(rows[0]["rms"]), f"{name}: the rms falls from {rows[0]['rms']} to {rows[-1]['rms']}")

    gaussian = folder.write("gaussian_run.toml", open(right).read() + 'decoder = "gaussian"\n')
    expect(0, ["Gaussian prior"], "invert", gaussian, "-o", folder / "dry", "--dry-run")
    fitted(right, "features")
    fitted(gaussian, "gaussian")
    check(cells(folder, "features") != cells(folder, "gaussian"), "network and normal distribution are two priors")
    expect(0, ["report.html"], "report", folder / "features")
    rows = expect(0, [], "compare", folder / "features", folder / "gaussian").stdout.splitlines()
    check(rows[1].startswith(f"synthetic block ({folder / 'features'})") and rows[2].startswith(f"synthetic block ({folder / 'gaussian'})"),
          f"runs of one title are told apart by their folders: {rows}")
    text = open(folder / "features/report.html").read()
    check("Table of subdomains" in text and "the range of the training models" in text, "and the coverage of every subdomain")
    check("Learned prior" in text and "right/vae.h5" in text and "mean square of the codes" in text, "the report has the section")
    vtk = open(folder / "features/vtk/section.vtu", errors="replace").read()
    for name in ("subdomain", "decoded_log10_resistivity", "deviation_decades", "relative_distance", "code_chi_square", "verdict"):
        check(f"learned_prior/{name}" in vtk, f"ParaView sees {name}")

    check("learned_prior/data_share" not in vtk, "without a posterior nothing is said of the data's share")
    asked = run("invert", right, "-o", folder / "features", "--resume", "--set", "uncertainty.posterior=true")
    check(asked.returncode in (0, 10) and "of the prior's variance on average" in asked.stdout, "with one, the share is told")
    check("learned_prior/data_share" in open(folder / "features/vtk/section.vtu", errors="replace").read(), "ParaView sees data_share")

    # Ranks give the same section.
    for ranks in (2, 3):
        launcher = ("mpirun", "--oversubscribe", "-n", str(ranks), "--bind-to", "none")
        made = run("invert", right, "-o", folder / f"ranks{ranks}", launcher=launcher)
        check(made.returncode in (0, 10), f"{ranks} ranks: ends (code {made.returncode})")
        apart = max(abs(a / b - 1.0) for a, b in zip(cells(folder, f"ranks{ranks}"), cells(folder, "features")))
        check(apart < 1e-8, f"{ranks} ranks: the same section to 1e-8 ({apart:.1e})")

    # A prior that does not fit is said to be none, and cells go on from where its codes ended.
    ended = run("invert", wrong, "-o", folder / "polished")
    check("The prior does not fit the data" in ended.stdout, "a prior that does not fit is reported in words")
    check(re.search(r'subdomains lie outside the range of the training models \(region "block": \d', ended.stdout) and "coverage, block:" in ended.stdout,
          "subdomains that left the prior are named")
    rows = history(folder, "polished")
    names = [row["stage"] for row in rows]
    first = names.index("polish")
    check(set(names[:first]) == {"features"} and set(names[first:]) == {"polish"}, "features, then polish")
    check(rows[first]["kind"] == "start" and rows[first]["iteration"] == rows[first - 1]["iteration"], "the polish starts where the features ended")
    check(float(rows[-1]["rms"]) < float(rows[first]["rms"]), f"the polish fits better: {rows[first]['rms']} to {rows[-1]['rms']}")
    expect(0, [], "report", folder / "polished")
    check(os.path.exists(folder / "polished/pictures/learned_prior.png"), "final model and nearest one of the prior stand one above the other")

    # Stopped after every iteration, in both stages and between them: the same bits.
    code, n = 11, 0
    while code == 11 and n < 12:
        code, n = run("invert", wrong, "-o", folder / "pieces", "--time-limit", "1e-6", *(["--resume"] if n else [])).returncode, n + 1
    check(code in (0, 10) and n > 4, f"in pieces: done (code {code} after {n} runs)")
    check(section(folder, "pieces") == section(folder, "polished"), "in pieces: the same section, digit by digit")
    check(history(folder, "pieces") == history(folder, "polished"), "in pieces: the same history")
    for stage in ("features", "polish"):
        stop_in(folder, wrong, stage, f"stopped_{stage}")
        check(section(folder, f"stopped_{stage}") == section(folder, "polished"), f"SIGTERM in {stage} and resume: the same section")

    # Meshes are kept from the first model near the target on, here that of iteration 1: also in the polish, and when resumed.
    check(float(rows[first]["rms"]) != float(rows[first - 1]["rms"]), "the polish begins on meshes of its own")
    near = f"{1.0001 * float(rows[1]['rms'])}"  # times the target, which is 1
    kept = [wrong, "--set", 'forward.redesign="until_near_target"', "--set", f"forward.near_target={near}"]
    run("invert", *kept, "-o", folder / "kept")
    rows = history(folder, "kept")
    first = [row["stage"] for row in rows].index("polish")
    check(rows[2]["rms_at_start"] != rows[1]["rms"], "near the target: meshes are made once more")
    check(all(b["rms_at_start"] == a["rms"] for a, b in zip(rows[2:], rows[3:]) if b["kind"] != "start"), "then they are kept")
    check(rows[first]["rms"] == rows[first - 1]["rms"], "also from the features to the polish")
    code, n = 11, 0
    while code == 11 and n < 12:
        code, n = run("invert", *kept, "-o", folder / "kept_pieces", "--time-limit", "1e-6", *(["--resume"] if n else [])).returncode, n + 1
    check(history(folder, "kept_pieces") == rows and section(folder, "kept_pieces") == section(folder, "kept"), "kept in pieces: the same")

    # Patches of two columns of the grid that share one: 5 over the 6 columns, blended.
    train(folder, "patches", 0.3, 2.7, columns="n_columns = 2\nwidth_m = 600.0")
    patches = folder.write("patches_run.toml", base + REGION.format(network="patches/vae.h5", polish="never") + "overlap = 1\n")
    made = run("invert", patches, "-o", folder / "patches_run", "--set", "inversion.max_iterations=1")
    check(made.returncode in (0, 10), f"patches: ends (code {made.returncode})\n{made.stdout[-500:]}")
    rows = history(folder, "patches_run")
    check(float(rows[-1]["rms"]) < float(rows[0]["rms"]), f"patches: the rms falls from {rows[0]['rms']} to {rows[-1]['rms']}")
    expect(0, ["report.html"], "report", folder / "patches_run")
    said = open(folder / "patches_run/report.html").read()
    check("<td>5</td><td>20</td>" in said, "patches: the result holds 20 codes")

    # Static shifts stand behind codes and cells.
    on = ["--set", "static_shift.enabled=true"]
    shifted = run("invert", wrong, *on, "-o", folder / "shifted")
    check(shifted.returncode in (0, 10), f"with static shifts it ends (code {shifted.returncode})")
    check(len(open(folder / "shifted/static_shift.csv").read().splitlines()) == 15, "a shift per site and mode")

    # Another network is none to resume with; other mistakes are told before any work.
    train(folder, "again", 2.9, 3.1, codes=5)
    os.replace(folder / "wrong/vae.h5", folder / "old.h5")
    os.replace(folder / "again/vae.h5", folder / "wrong/vae.h5")
    expect(2, ["network of the learned prior", "by 5 codes"], "invert", wrong, "-o", folder / "polished", "--resume")
    whole = open(folder / "old.h5", "rb").read()
    folder.write("wrong/vae.h5", whole[:len(whole) // 2])
    expect(4, ["wrong/vae.h5"], "invert", wrong, "-o", folder / "cut", "--dry-run")
    os.remove(folder / "wrong/vae.h5")
    expect_error(3, "missing", ["wrong/vae.h5", "mt_invert train"], "invert", wrong, "-o", folder / "cut", "--dry-run")
    for line, word in (("y_m = [-900.0, 90000.0]", "inside the grid"), ("y_m = [-900.0, 900.0]\ncodes = 5", "expected 4 codes per subdomain")):
        bad = folder.write("bad.toml", base + REGION.format(network="right/vae.h5", polish="never").replace("y_m = [-900.0, 900.0]", line))
        expect(2, [word], "invert", bad, "-o", folder / "bad", "--dry-run")
        expect(2, [word], "invert", bad, "-o", folder / "bad/deep")
        check(not os.path.exists(folder / "bad"), "a run that is refused leaves no folder")
    expect(2, ["right/vae.h5"], "invert", right, "-o", folder / "bad", "--dry-run", "--set", "grid.layer_factor=1.31")
    for change, id, key in ((["regularization.order=2"], "prior_needs_first_order", "order"),
                            (["bounds.resistivity_min_ohm_m=1", "bounds.resistivity_max_ohm_m=1e4"], "exclusive_tables", "bounds"),
                            (["regularization.norm=\"l1\""], "prior_needs_l2", "norm")):
        expect_error(2, id, [key], "invert", right, "-o", folder / "bad", "--dry-run", *[word for each in change for word in ("--set", each)])
finish()
