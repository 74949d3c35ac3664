# SPDX-License-Identifier: Apache-2.0
"""The demo's TE pair: the same data without and with the learned prior, beside the digitized published pair. Judged by `mt_invert compare`, as users see it.

Usage: demo_learned.py PROGRAM SOURCE"""
import csv
import os
import subprocess

from support import PROGRAM, SOURCE, Folder, check, expect, finish

TARGET = 7.0
BLOCKS = ("90,200,25,80", "300,420,25,80", "90,200,5,20", "300,420,5,20")  # below the two conductors, and they


def invert(config, out):
    environment = {**os.environ, "MT_INVERT": PROGRAM}
    made = subprocess.run(["bash", os.path.join(SOURCE, "scripts", "demo.sh"), f"examples/kim_eto/{config}.toml", out], env=environment,
                          capture_output=True, text=True, timeout=500)
    print(made.stdout[-3000:], made.stderr[-2000:])
    check(made.returncode == 0, f"{config}: the demo ends with code 0, got {made.returncode}")
    return list(csv.DictReader(open(os.path.join(out, "iterations.csv"))))


def jacobians_to_target(history):
    """Jacobians until the first model within 1 % of the target."""
    n = 0
    for row in history:
        n += int(row["n_jacobian"])
        if float(row["rms"]) <= 1.01 * TARGET:
            return n
    return None


def rows_of(table):
    """{title: {column: number or None}} of the table of `compare`, whose legend begins with r1."""
    lines = table.split("\nr1:")[0].splitlines()
    columns = lines[0].split()[1:]
    rows = {}
    for line in lines[1:]:
        title, *fields = line.rsplit(maxsplit=len(columns))
        rows[title.strip()] = {name: None if text == "-" else float(text) for name, text in zip(columns, fields)}
    return rows


with Folder() as folder:
    pixel = invert("kim_eto_te", folder / "te")
    features = invert("kim_eto_learned", folder / "learned")
    picture = folder / "sections.png"
    said = expect(0, ["r1: correlation", "m4: mean"], "compare", folder / "te", folder / "learned", "--reference",
                  os.path.join(SOURCE, "data/samtex/reference_fig4_digitised.csv"), *[word for block in BLOCKS for word in ("--block-km", block)], "-o", picture).stdout
    print(said)
    check(open(picture, "rb").read(8) == b"\x89PNG\r\n\x1a\n", "the picture is drawn")
    rows = rows_of(said)
    check(len(rows) == 4, f"four sections in the table, got {list(rows)}")
    smooth, learned, conventional, published = rows.values()

    # Fit: the target with no more Jacobians, or within 2 % of the rms.
    counts = [jacobians_to_target(history) for history in (pixel, features)]
    print(f"Jacobians to the target: {counts[0]} without, {counts[1]} with the prior; seconds {smooth['s']} and {learned['s']}")
    no_more = None not in counts and counts[1] <= counts[0]
    check(no_more or learned["rms"] <= 1.02 * smooth["rms"], f"the prior costs no fit: rms {learned['rms']} and {smooth['rms']}")
    check({row["stage"] for row in features} <= {"features", "polish"} and features[-1]["stage"] == "features", "the codes reach the target without polish")

    # Structure: the first conductor gets a bottom, what lies below the second stays, and both stay conductors.
    below_first, below_second = learned["m1"] - smooth["m1"], learned["m2"] - smooth["m2"]
    print(f"25–80 km, with minus without the prior: {below_first:+.2f} below the first conductor, {below_second:+.2f} below the second; "
          f"published {published['m1'] - conventional['m1']:+.2f}, {published['m2'] - conventional['m2']:+.2f}")
    check(0.5 <= below_first <= 1.1, "below the first conductor resistivity rises by about 0.8 decades")
    check(abs(below_second) <= 0.3, "below the second it changes by at most 0.3")
    check(learned["m3"] < learned["m1"] - 0.8, "the first conductor has a bottom")
    check(learned["m3"] < 2.0 and learned["m4"] < 2.9, "both conductors are there")
    check(min(learned["r1"], learned["r2"], smooth["r1"], smooth["r2"]) > 0.5, "both sections correlate with both published ones")
finish()
