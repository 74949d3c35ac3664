# SPDX-License-Identifier: Apache-2.0
"""Every command of docs/modem.md works, one after the other, with a single iteration; results of the run come back from ModEM's files."""
import os
import re
import shlex

from support import DATA, SOURCE, Folder, check, finish, run

with open(os.path.join(SOURCE, "docs", "modem.md"), encoding="utf-8") as page:
    commands = [shlex.split(line) for line in page if line.startswith("mt_invert ")]

with Folder() as folder:
    os.symlink(DATA, folder / "data")
    os.symlink(os.path.join(SOURCE, "examples"), folder / "examples")
    os.mkdir(folder / "out")
    for _, *words in commands:
        # 10: one iteration does not reach the target; 13: check has warnings
        more = ["--set", "inversion.max_iterations=1"] if words[0] == "invert" else []
        result = run(*words, *more, cwd=folder.path, timeout=280)
        allowed = {"invert": (0, 10), "check": (0, 13)}.get(words[0], (0,))
        check(result.returncode in allowed, f"mt_invert {' '.join(words)}: code {result.returncode}")
        if result.returncode not in allowed:
            print((result.stdout + result.stderr)[-2000:])
        for name in re.findall(r"-o (out/\S+)", " ".join(words)):
            check(os.path.exists(folder / name), f"{name} is there")
    check(len(commands) >= 12, f"the page has {len(commands)} commands")
    texts = [open(folder / name, encoding="utf-8").read() for name in ("out/block2.rho", "out/block2/modem/model.rho")]
    check(texts[0] == texts[1], "convert writes the model of the run as the run itself does")
    result = run("convert", folder / "out/start.h5", "-o", folder / "again.rho")
    check(open(folder / "again.rho", encoding="utf-8").read() == texts[0], "what came from ModEM's file goes back with the same bytes")
finish()
