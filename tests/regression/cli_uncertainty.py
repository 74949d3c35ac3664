# SPDX-License-Identifier: Apache-2.0
"""invert with [uncertainty]: posterior and samples of runs in cells, in bounds, in codes, after a polish; ranks; samples that are gone on with; errors."""
import os
import re
import signal
import subprocess
import time

from learned import REGION, section, train
from support import PROGRAM, Folder, check, expect, expect_error, finish, run, synthetic

BOTH = ["--set", "uncertainty.posterior=true", "--set", "uncertainty.samples=4", "--set", "uncertainty.max_iterations=1"]
ARRAYS = ["posterior/deviation_decades", "posterior/prior_deviation_decades", "posterior/variance_reduction", "posterior/resolution",
          "posterior/investigated", "ensemble/p5_log10_resistivity", "ensemble/p50_log10_resistivity", "ensemble/p95_log10_resistivity",
          "ensemble/deviation_decades"]


def words(said):
    """What the log says of the uncertainty: the posterior's numbers, and the samples' rms line by line."""
    posterior = re.search(r"uncertainty: (\d+) data determine ([\d.]+) of (\d+) unknowns \((\w+)\)", said.stdout)
    samples = re.findall(r"sample (\d+) of \d+: rms ([\d.]+)", said.stdout)
    return posterior.groups() if posterior else None, samples


def ended(*arguments, **options):
    said = run("invert", *arguments, **options)
    check(said.returncode in (0, 10), f"{arguments[0]}: ends (code {said.returncode})")
    if said.returncode not in (0, 10):
        print(said.stdout[-2000:], said.stderr[-2000:])
    return said


def announced(path, n):
    """The least and the most seconds that a dry run says of n samples."""
    said = run("invert", path, "--dry-run", "--set", f"uncertainty.samples={n}").stdout
    found = re.search(rf"{n} samples: +from (\S+) (\w+) \({n + 1} forward runs, 1 Jacobian\) to (\S+) (\w+) \({3 * n + 1} and {2 * n + 1}, where every sample takes 3 step", said)
    check(found is not None, f"--dry-run says what {n} samples take")
    check("posterior" not in said, "and nothing of what is not asked for")
    if not found:
        return [float("nan")] * 2
    least, least_unit, most, most_unit = found.groups()
    seconds = [float(value) * {"s": 1.0, "min": 60.0}[unit] for value, unit in ((least, least_unit), (most, most_unit))]
    check(0.0 < 1.5 * seconds[0] < seconds[1], f"from {seconds[0]} to {seconds[1]} s: two Jacobians and two forward runs more for each")
    return seconds


with Folder() as folder:
    path = synthetic(folder, iterations=3, target=1.0, accuracy="iteration")
    plain = ended(path, "-o", folder / "plain")
    check("uncertainty" not in plain.stdout and not os.path.exists(folder / "plain/ensemble.h5"), "nothing is computed unasked")

    # Asked beforehand: 1 + n forward runs and a Jacobian at least, 1 + 3 n and 1 + 2 n at most with the usual 3 steps; ten thousand samples take ten times a thousand.
    # Each dry run times a solve of its own, which a busy machine upsets now and then: three pairs, of which one has to do.
    ratios = []
    for _ in range(3):
        lengths = [announced(path, n) for n in (1000, 10000)]
        ratios.append([b / a for a, b in zip(*lengths)])
        if all(2.0 < ratio < 50.0 for ratio in ratios[-1]):
            break
    check(all(2.0 < ratio < 50.0 for ratio in ratios[-1]), f"ten times the samples, about ten times the time: {ratios}")
    expect(0, ["posterior:            about"], "invert", path, "--dry-run", "--set", "uncertainty.posterior=true")

    # Cells.
    said = ended(path, *BOTH, "-o", folder / "cells")
    posterior, samples = words(said)
    check(posterior is not None and posterior[2:] == ("140", "cells"), f"posterior of 140 cells: {posterior}")
    check(posterior is not None and 1.0 < float(posterior[1]) < 84.0, "the data determine some of them, no more than there are data")
    check(len(samples) == 4, f"four samples: {samples}")
    check(section(folder, "cells") == section(folder, "plain"), "the section is that of a run without")
    expect(0, [], "report", folder / "cells")
    text = open(folder / "cells/report.html").read()
    for word in ("How well the data determine it", "depth of investigation", "Lowest of the models", "Standard deviation (decades)", "So few samples"):
        check(word in text, f"the report says \"{word}\"")
    for name in ("deviations", "percentiles"):
        check(os.path.exists(folder / f"cells/pictures/{name}.png"), f"picture {name}")
    vtk = open(folder / "cells/vtk/section.vtu", errors="replace").read()
    for name in ARRAYS:
        check(f"Name=\"{name}\"" in vtk, f"ParaView sees {name}")

    # Ranks agree.
    launcher = ("mpirun", "--oversubscribe", "-n", "2", "--bind-to", "none")
    check(words(ended(path, *BOTH, "-o", folder / "ranks", launcher=launcher)) == (posterior, samples), "2 ranks: the same numbers")

    # Asked for afterwards, more of them afterwards, and stopped in between: the same samples.
    check(words(ended(path, *BOTH, "-o", folder / "plain", "--resume"))[1] == samples, "asked for after the run: the same samples")
    more = ended(path, *BOTH, "--set", "uncertainty.samples=6", "-o", folder / "plain", "--resume")
    check("4 of 6 are there already" in more.stdout and [s[0] for s in words(more)[1]] == ["5", "6"], "two more are added to four")
    other = ended(path, *BOTH, "--set", "uncertainty.seed=2", "-o", folder / "plain", "--resume")
    check("another model, seed" in other.stdout + other.stderr and words(other)[1] != samples and len(words(other)[1]) == 4, "another seed begins anew")
    code, pieces, n = 11, [], 0
    while code == 11 and n < 12:
        said = run("invert", path, *BOTH, "-o", folder / "pieces", "--time-limit", "1e-6", *(["--resume"] if n else []))
        code, pieces, n = said.returncode, pieces + words(said)[1], n + 1
    check(code in (0, 10) and n > 6 and pieces == samples, f"stopped after every sample by a time limit: the same samples (code {code} after {n} runs)")
    check(words(said)[0] == posterior, "and the same posterior")
    process = subprocess.Popen([PROGRAM, "invert", path, *BOTH, "--set", "uncertainty.samples=200", "-o", folder / "stopped"], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    end = time.time() + 100
    while time.time() < end and process.poll() is None and not os.path.exists(folder / "stopped/ensemble.h5"):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    stopped, _ = process.communicate(timeout=100)
    check(process.returncode == 11 and "--resume" in stopped, f"SIGTERM between samples: code 11, got {process.returncode}")
    check(not os.path.exists(folder / "stopped/result.h5"), "no result before the samples are there")
    folder.write("stopped/ensemble.h5", open(folder / "stopped/checkpoint.h5", "rb").read())
    expect(4, ["ensemble.h5", "samples of a run"], "invert", path, *BOTH, "-o", folder / "stopped", "--resume")

    # Bounds and static shifts; a norm whose weights follow the model.
    bounded = ["--set", "bounds.resistivity_min_ohm_m=1.0", "--set", "bounds.resistivity_max_ohm_m=1000.0", "--set", "static_shift.enabled=true"]
    check(words(ended(path, *BOTH, *bounded, "-o", folder / "bounded"))[0][2:] == ("154", "cells"), "cells and shifts")
    check(words(ended(path, *BOTH, "--set", "regularization.norm=\"l1\"", "-o", folder / "l1"))[0] is not None, "total variation")

    # Far above rms 1 the errors are taken to be as large as the misfit, unless they are to count as stated.
    far = ("--set", "inversion.target_rms=3.0", "--set", "uncertainty.posterior=true")
    scaled, stated = ended(path, *far, "-o", folder / "scaled"), ended(path, *far, "--set", "uncertainty.scale_errors=false", "-o", folder / "stated")
    factor = re.search(r"Errors count ([\d.]+) times", scaled.stdout)
    known = [float(re.search(r"is known to ([\d.]+) decades", said.stdout).group(1)) for said in (scaled, stated)]
    check(factor and float(factor.group(1)) > 1.5 and known[0] > 1.3 * known[1], f"larger errors, wider deviations: {known}")
    check("Errors count" not in stated.stdout, "as stated without")

    # Codes, by joint steps and by pairs, and the cells of a polish.
    train(folder, "right", 0.3, 2.7)
    train(folder, "wrong", 2.9, 3.1)
    base = open(path).read()
    right = folder.write("right_run.toml", base + REGION.format(network="right/vae.h5", polish="never"))
    wrong = folder.write("wrong_run.toml", base + REGION.format(network="wrong/vae.h5", polish="when_needed"))
    pairs = folder.write("pairs_run.toml", open(right).read().replace("[inversion]\n", "[inversion]\nalgorithm = \"alternating\"\n"))
    for config, name, kind in ((right, "codes", ("116", "codes")), (pairs, "pairs", ("116", "codes")), (wrong, "polished", ("140", "cells"))):
        said = ended(config, *BOTH, "-o", folder / name)
        check(words(said)[0][2:] == kind and len(words(said)[1]) == 4, f"{name}: {words(said)[0]}")

    # A prior that λ made narrow, for a target that asked for little, counts as trained unless the λ of the run is to count.
    narrow = ("--set", "inversion.target_rms=3.0", "--set", "uncertainty.posterior=true", "--set", "learned_prior.code_weight=30.0")
    wide, kept = ended(right, *narrow, "-o", folder / "wide"), ended(right, *narrow, "--set", "uncertainty.widen_prior=false", "-o", folder / "kept")
    known = [float(re.search(r"is known to ([\d.]+) decades|They determine no cell", said.stdout).group(1) or 0.0) for said in (wide, kept)]
    check("here it counts as trained" in wide.stdout and "spreads are too small" in kept.stdout, "how the prior counts is said")
    check(known[0] > 1.2 * known[1], f"a prior as trained, wider deviations: {known}")

    # Mistakes, and what has no answer.
    for setting, id, part in (("samples=1", "out_of_range", "2"), ("samples=-1", "out_of_range", "0"), ("seed=3", "not_chosen", "samples"), ("seen_share=0.5", "not_chosen", "posterior = true"),
                              ("scale_errors=true", "not_chosen", "posterior"), ("widen_prior=false", "not_chosen", "samples"), ("posteriori=true", "unknown_key", "posterior")):
        expect_error(2, id, ["uncertainty." + setting.split("=")[0], part], "invert", path, "-o", folder / "bad", "--set", f"uncertainty.{setting}")
    expect_error(2, "exclusive_tables", ["huber_threshold"], "invert", path, "-o", folder / "bad", *BOTH, "--set", "misfit.huber_threshold=1.5")
    easy = run("invert", path, *BOTH, "--set", "inversion.target_rms=1000.0", "--set", "start.resistivity_ohm_m=100.0", "-o", folder / "easy")
    check(easy.returncode == 0 and "took no step" in easy.stdout + easy.stderr, "a start model at the target has no lambda, which is said")
finish()
