# SPDX-License-Identifier: Apache-2.0
"""check: what it says of damaged files, how it prints findings, and what it tells of a survey."""
import json
import os
import re

from support import DATA, Folder, check, expect, expect_error, finish

GABBS = os.path.join(DATA, "gabbs_valley", "edi")


def findings(code, *arguments):
    return json.loads(expect(code, [], "check", *arguments, "--json").stdout)["findings"]


with Folder() as folder:
    # Files that are cut off, and files without a value
    whole = open(os.path.join(GABBS, "gv102.edi")).read()
    cut = folder.write("cut.edi", whole[:whole.index(">ZYXI")])
    line = whole[:whole.index(">ZYXR")].count("\n") + 1
    damage = [f["place"] for f in findings(13, cut) if f["id"] == "damaged_file"]
    check(damage == 2 * [f"{cut}:{line}"], f"cut off: warnings with file:line, got {damage}")
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

    # Findings of one kind stand on one line
    listed = findings(14, GABBS)
    said = expect(14, ["--json lists each finding on its own"], "check", GABBS).stdout
    lines = [line for line in said.splitlines() if re.match(r"(note|warning|error) ", line)]
    counts = [int(n) for line in lines for n in re.findall(r": (\d+) findings like that of ", line)]
    single = len(lines) - len(counts)
    check(len(lines) < 0.5 * len(listed) and sum(counts) + single == len(listed), f"{len(lines)} lines of {len(listed)} findings, none is lost: {counts}")
    weights = ["error", "warning", "note"]
    order = [weights.index(line.split()[0]) for line in lines]
    check(order == sorted(order), "the gravest come first")
    scatter = [f for f in listed if f["id"] == "scatter"]
    line = next(line for line in lines if "[scatter]" in line)
    names = list(dict.fromkeys(f["station"] for f in scatter))
    check(line.startswith(f"note {', '.join(names[:5])} and {len(names) - 5} more: {len(scatter)} findings like that of {names[0]} ({scatter[0]['place']}): {scatter[0]['text']}"),
          f"a group names its first stations and its number: {line}")
    few = expect(13, [], "check", cut).stdout
    check("findings like" not in few and "--json" not in few, "few findings stand alone")

    # Options that no file takes
    modem = os.path.join(DATA, "modem_block2_3d", "de.dat")
    expect_error(2, "not_taken", ["--units", "de.dat"], "check", modem, "--units", "ohm")
    expect_error(2, "not_taken", ["--j-errors", "cut.edi"], "convert", cut, "-o", folder / "x.csv", "--j-errors", "complex_element")
    stated = folder.write("units.toml", f'[data]\nstation_files = ["{modem}"]\nedi_units = "ohm"\n')
    expect_error(2, "not_taken", ["data.edi_units", "de.dat"], "invert", stated, "--dim", "3", "--dry-run", "-o", folder / "run")
    expect(13, ["--units (data.edi_units) has no effect on 1 of 2 files"], "check", cut, modem, "--units", "field")

    # Determinants, depths and invariants
    bands = json.loads(expect(14, [], "check", GABBS, "--json").stdout)["soundings"]
    said = expect(14, ["depth in km"], "check", GABBS).stdout
    check([round(b["max_period_s"] / b["min_period_s"], 6) for b in bands] == [10.0] * len(bands) and len(bands) == 7, "bands are decades")
    check(all(0.0 < b["shallow_m"] < b["deep_m"] and 0.0 < b["phase_det_deg"] < 90.0 and len(b["weaver_i"]) == 7 for b in bands), "depths, phases and invariants")
    check(all(re.search(rf"{b['min_period_s']:g} to {b['max_period_s']:g} +{b['n_tensors']} +{b['rho_det_ohm_m']:.3g} ", said) for b in bands), "the table has the numbers of the JSON")
finish()
