# SPDX-License-Identifier: Apache-2.0
"""What the command-line tests share: running the program, checking what it says, small synthetic data."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from block import BLOCK, SITES

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "mt_invert"
SOURCE = sys.argv[2] if len(sys.argv) > 2 else "."
DATA = os.path.join(SOURCE, "data")
EDI = os.path.join(DATA, "samtex", "edi_kim_eto")

failures = []


def check(condition, what):
    print(("ok    " if condition else "FAIL  ") + what)
    if not condition:
        failures.append(what)


def finish():
    """Call last: the exit code of the test."""
    sys.exit(1 if failures else 0)


def run(*arguments, cwd=None, launcher=(), timeout=110, **options):
    command = [*launcher, PROGRAM, *[str(a) for a in arguments]]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, **options)


def expect(code, words, *arguments, **options):
    """Runs the program; its code and every word in stdout or stderr must be there, and no sign of a crash."""
    result = run(*arguments, **options)
    said = result.stdout + result.stderr
    name = "mt_invert " + " ".join(str(a) for a in arguments)
    check(result.returncode == code, f"{name}: code {code}, got {result.returncode}")
    for word in words:
        check(word in said, f"{name}: says \"{word}\"")
    check("Traceback" not in said and "what():" not in said and "Segmentation" not in said, f"{name}: no stack dump")
    if result.returncode != code or any(word not in said for word in words):
        print(said[-3000:])
    return result


def expect_error(code, id, parts, *arguments, **options):
    """Runs the program with a JSON log: it ends with this code and an error of this id, whose message contains these names and numbers."""
    result = expect(code, [], "--log", "json", *arguments, **options)
    lines = [json.loads(line) for line in (result.stdout + result.stderr).splitlines() if line.startswith("{")]
    found = [(line.get("id"), line["message"]) for line in lines if line["level"] == "error"]
    name = "mt_invert " + " ".join(str(a) for a in arguments)
    check([each for each, _ in found] == [id], f"{name}: error {id}, got {found}")
    for part in parts:
        check(any(part in message for _, message in found), f"{name}: the error names \"{part}\"")
    return result


def expect_target(words, *arguments):
    """Runs an inversion that reaches its target, at the final accuracy as well."""
    return expect(0, ["done: rms", *words], "invert", *arguments)


class Folder:
    """A temporary folder with small helpers."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="lodestone_cli_")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def __truediv__(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text):
        path = self / name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb" if isinstance(text, bytes) else "w") as file:
            file.write(text)
        return path


CONFIG = """[run]
title = "synthetic block"
[data]
modem_file = "data.dat"
kind = "impedance"
[data.floors]
impedance_relative = 0.03
[grid]
n_columns = 14
margin = 0.2
n_layers = 10
first_layer_m = 80.0
layer_factor = 1.3
[inversion]
max_iterations = {iterations}
target_rms = {target}
[forward]
iteration_accuracy = "{accuracy}"
certificate = "none"
[output]
report = false
"""


def synthetic(folder, iterations=3, target=1.0, accuracy="standard"):
    """Data of a conductive block at seven sites, and a configuration that inverts them in seconds; with `accuracy` "standard" on meshes as good as the final
    ones, so that a target reached is a target reached."""
    folder.write("model.toml", BLOCK)
    folder.write("sites.csv", SITES)
    made = run("forward", "--model", folder / "model.toml", "--sites", folder / "sites.csv", "--periods", "0.01,0.1,1", "-o", folder / "data.dat")
    check(made.returncode == 0, "synthetic data are made")
    if made.returncode != 0:
        print(made.stdout, made.stderr)
    return folder.write("config.toml", CONFIG.format(iterations=iterations, target=target, accuracy=accuracy))
