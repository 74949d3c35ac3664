# SPDX-License-Identifier: Apache-2.0
"""The configurations of docs/getting-started.md work one after the other, with fewer epochs and iterations; the page types their names."""
import os
import re
import shutil

from support import DATA, SOURCE, Folder, check, expect, finish, run

with Folder() as folder:
    # Paths in the configurations are relative to the tree; the copy keeps what they leave out of it.
    examples = folder / "examples/getting_started"
    shutil.copytree(os.path.join(SOURCE, "examples", "getting_started"), examples)
    os.symlink(DATA, folder / "data")
    smooth, prior, learned = (os.path.join(examples, name) for name in ("smooth.toml", "prior.toml", "learned.toml"))

    expect(0, ["60 × 24", "26 stations read"], "invert", smooth, "--dry-run", "-o", folder / "dry")
    ended = run("invert", smooth, "-o", folder / "out/smooth", "--set", "inversion.max_iterations=1")
    check(ended.returncode in (0, 10), f"smooth.toml runs (code {ended.returncode})")
    expect(0, ["prior.png"], "train", prior, "--preview", "-o", folder / "out/preview")
    expect(0, ["codes in use"], "train", prior, "-o", folder / "out/getting_started_prior", "--set", "training.epochs=2", "--set", "training.draws=2000")
    ended = run("invert", learned, "-o", folder / "out/learned", "--set", "inversion.max_iterations=1", "--set", "learned_prior.polish=\"never\"")
    said = ended.stdout + ended.stderr
    check(ended.returncode in (0, 10) and "coverage, below the line" in said, f"learned.toml runs and judges its region (code {ended.returncode})\n{said[-800:]}")
    check("uncertainty: " in said, "and says what the data determine")

    page = open(os.path.join(SOURCE, "docs", "getting-started.md")).read()
    named = set(re.findall(r"examples/getting_started/(\w+\.toml)", page))
    check(named == {name for name in os.listdir(examples) if name.endswith(".toml")}, f"the page goes through all configurations ({sorted(named)})")
finish()
