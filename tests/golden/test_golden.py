# SPDX-License-Identifier: Apache-2.0
"""The golden results themselves: threads change no bit of the cheapest cases, and compare.py notices what is planted.

usage: test_golden.py PROGRAM
"""
import csv
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from hdf5_arrays import read_hdf5  # noqa: E402

CASES = "marine,pairs,train"
failures = []


def check(condition, what):
    print(("ok    " if condition else "FAIL  ") + what)
    if not condition:
        failures.append(what)


def script(name, *arguments):
    said = subprocess.run([sys.executable, "-B", os.path.join(HERE, name), *arguments], capture_output=True, text=True, timeout=280)
    return said.returncode, said.stdout + said.stderr


def comparison(a, b, *more):
    return script("compare.py", a, b, *more)


def expect(code, words, a, b, *more):
    got, said = comparison(a, b, *more)
    check(got == code and all(word in said for word in words), f"compare {' '.join(more)}: code {code} with {words}, got {got}")
    if got != code:
        print(said[-2000:])


def plant_bit(path, name, at):
    """The last bit of one number of an HDF5 file."""
    bits = struct.pack("<d", read_hdf5(path)[name][1][at])
    with open(path, "rb") as file:
        raw = file.read()
    check(raw.count(bits) >= 1, f"{name} lies in the file as it is read")
    with open(path, "wb") as file:
        file.write(raw.replace(bits, bytes([bits[0] ^ 1]) + bits[1:]))


def plant_word(path, column, row, word):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    rows[1 + row][rows[0].index(column)] = word
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def main():
    program = sys.argv[1]
    folder = tempfile.mkdtemp(prefix="lodestone_golden_")
    try:
        out = os.path.join(folder, "out")
        code, said = script("run.py", program, out, "--only", CASES, "--variants", "threads1,threads2")
        check(code == 0, f"the cases {CASES} run\n{said if code else ''}")
        expect(0, ["the same"], out, out, "--variants", "threads1", "threads2")

        def copy(name):
            shutil.copytree(out, os.path.join(folder, name))
            return os.path.join(folder, name)

        bit = copy("bit")
        plant_bit(os.path.join(bit, "pairs/threads1/run/result.h5"), "model/log10_resistivity", 7)
        expect(1, ["pairs/threads1/run/result.h5: model/log10_resistivity"], out, bit)
        expect(0, ["within the tolerance"], out, bit, "--tolerance", "1e-12")

        path = copy("path")
        plant_word(os.path.join(path, "marine/threads2/run/iterations.csv"), "kind", 1, "creep")
        expect(1, ["marine/threads2/run/iterations.csv: kind"], out, path, "--tolerance", "1e-3")
        step = copy("lambda")
        plant_word(os.path.join(step, "marine/threads2/run/iterations.csv"), "lambda", 1, "1.0")
        expect(1, ["iterations.csv: lambda"], out, step, "--tolerance", "1e-3")

        gone = copy("gone")
        os.remove(os.path.join(gone, "train/threads1/prior/vae.h5"))
        os.remove(os.path.join(gone, "marine/threads1/run/vtk/section.vtu"))
        expect(1, ["train/threads1/prior/vae.h5: missing in B", "vtk/section.vtu: missing in B"], out, gone, "--tolerance", "1e-3")
        time = copy("time")
        plant_word(os.path.join(time, "marine/threads1/run/iterations.csv"), "seconds", 1, "1234.5")
        expect(0, ["the same"], out, time)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
