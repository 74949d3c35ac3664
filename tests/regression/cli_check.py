# SPDX-License-Identifier: Apache-2.0
"""check: what it says of damaged files, how it prints findings, and what it tells of a survey."""
import json
import os
import re

from support import DATA, Folder, check, expect, finish

GABBS = os.path.join(DATA, "gabbs_valley", "edi")


def findings(code, *arguments):
    return json.loads(expect(code, [], "check", *arguments, "--json").stdout)["findings"]


with Folder() as folder:
    # Files that are cut off, and files without a value
    whole = open(os.path.join(GABBS, "gv102.edi")).read()
    cut = folder.write("cut.edi", whole[:whole.index(">ZYXI")])
    line = whole[:whole.index(">ZYXR")].count("\n") + 1
    damage = [f["text"] for f in findings(13, cut) if f["id"] == "damaged_file"]
    check(len(damage) == 2 and all(text.startswith(f"{cut}:{line}: ") for text in damage), f"cut off: warnings with file:line, got {damage}")
    within = folder.write("within.edi", whole[:whole.index("\n", whole.index(">ZYXI") + 200) + 1])
    short = findings(14, within)
    check(short[0]["id"] == "unreadable_file" and "expected 42 numbers in block >ZYXI" in short[0]["text"], "cut off in a block: an error")
    values = whole.index(">ZXXR")
    empty = folder.write("empty.edi", whole[:values] + re.sub(r"-?\d\.\d+e[+-]\d+", "NaN", whole[values:], flags=re.I))
    nothing = findings(14, empty)
    check([f["severity"] for f in nothing] == ["error"] and "with values, found none" in nothing[0]["text"], "no value at all: an error")
    expect(4, ["expected a file of stations"], "check", folder.write("letter.txt", "Dear all,\n"))
    expect(3, ["missing.edi"], "check", folder / "missing.edi")
    expect(4, ["empty.edi"], "check", empty, "--fix", folder / "mended.h5")
    check(not os.path.exists(folder / "mended.h5"), "no survey of nothing")

finish()
