# SPDX-License-Identifier: Apache-2.0
"""convert: a folder of EDI files through every format and back, edits with their log, what is lost, refusals."""
import csv
import json
import os
import shutil

from support import SOURCE, Folder, check, expect, expect_error, finish, run

EDI = os.path.join(SOURCE, "data/gabbs_valley/edi")


def rows_of(path):
    with open(path) as file:
        return list(csv.DictReader(file))


with Folder() as folder:
    # Every format, and the same table in the end
    expect(0, ["wrote 59 stations of 59 files"], "convert", EDI, "-o", folder / "survey.h5")
    expect(0, ["HDF5 survey", "gv100", "gv163", "ohm"], "info", folder / "survey.h5")
    expect(0, ["wrote 59"], "convert", folder / "survey.h5", "-o", folder / "direct.csv")
    expect(0, ["CSV transfer functions", "gv100"], "info", folder / "direct.csv")
    direct = rows_of(folder / "direct.csv")
    check(len(direct) > 2000 and direct[0]["site"] == "gv100", f"a row per site and frequency: {len(direct)}")
    before = folder / "survey.h5"
    for to in ("edi", "emtf", "zfile", "jones"):
        expect(0, ["wrote 59"], "convert", before, "-o", folder / to, "--to", to)
        check(len(os.listdir(folder / to)) == 59, f"{to}: a file per station")
        before = folder / to
    expect(0, ["wrote 59 stations of 59 files"], "convert", before, "-o", folder / "through.csv")
    through = {(row["site"], f"{float(row['frequency_hz']):.12g}"): row for row in rows_of(folder / "through.csv")}
    values = [column for column in direct[0] if column.startswith("Z") and ("_re" in column or "_im" in column)]
    same = [row[column] == through[row["site"], f"{float(row['frequency_hz']):.12g}"][column] for row in direct for column in values]
    check(all(same), f"the same digits of all impedances after EDI, XML, Z-file and J: {sum(same)} of {len(same)}")

    # Edits, in their order, noted in the survey file
    said = expect(0, ["wrote 2 stations"], "convert", folder / "survey.h5", "-o", folder / "edited.h5", "--sites", "gv101,gv100", "--periods", "0.1,100", "--mask", "gv100:1,10", "--declination", "12", "--rotate", "30",
                  "--floor", "impedance=0.05", "--floor", "tipper=0.02")
    expect(0, ["gv100: rotated from 12 to 30 degrees", "gv100: azimuths were counted from magnetic north, 12 degrees added", "values were masked", "errors of", "x along 30"], "info", folder / "edited.h5")
    said = expect(0, ["edi cannot hold: correlations of the errors of elements (2 stations)"], "convert", folder / "edited.h5", "-o", folder / "edited", "--to", "edi")
    check(os.path.exists(folder / "edited/gv101.edi"), "files are named after sites")

    # A map has the axes to which tensors are rotated; one that a file states keeps its own
    expect(0, ["x along azimuth 30", "modem cannot hold", "elevations, in whose place Z is 0"], "convert", EDI, "-o", folder / "turned.dat", "--rotate", "30")
    headers = [line.strip() for line in open(folder / "turned.dat") if line.startswith(">")]
    check("> 30.00" in headers or "> 30" in headers, f"the header states 30 degrees: {headers[:6]}")
    expect_error(5, "own_axes", ["turned.dat", "got 60"], "convert", folder / "turned.dat", "-o", folder / "other.dat", "--rotate", "60")

    # Digits come back as they were
    data = os.path.join(SOURCE, "data/modem_block2_3d/de.dat")
    expect(0, ["wrote 198 stations"], "convert", data, "-o", folder / "de.dat")
    longest = max(len(word) for line in open(folder / "de.dat") if line[:1] not in "#>" for word in line.split()[-3:])
    check(longest <= 15, f"numbers with the digits that they had, at most {longest} letters")

    # ModEM's list, which invert takes
    expect(0, ["wrote 59 stations"], "convert", folder / "survey.h5", "-o", folder / "data.dat", "--epsg", "32611", "--floor", "impedance=0.05", "--periods", "1,100")
    expect(0, ["ModEM 3-D data", "gv100"], "info", folder / "data.dat")

    # Profiles: projected and turned to strike, and the same bytes from what was read
    options = ["--profile-azimuth", "70", "--profile-origin", "gv110", "--floor", "impedance=0.05", "--floor", "tipper=0.02"]
    for to, kind in (("occam2d", "Occam2D data"), ("modem2d", "ModEM 2-D data"), ("mare2dem", "MARE2DEM data")):
        expect(0, ["wrote 59 stations", f"{to} cannot hold: tzx, zxx, zyy"], "convert", folder / "survey.h5", "-o", folder / f"{to}.dat", "--to", to, *options)
        expect(0, [kind, "gv100"], "info", folder / f"{to}.dat")
        expect(0, ["wrote 59 stations"], "convert", folder / f"{to}.dat", "-o", folder / f"{to}_2.dat", "--to", to)
        expect(0, ["wrote 59 stations"], "convert", folder / f"{to}_2.dat", "-o", folder / f"{to}_3.dat", "--to", to)
        first, second, third = (open(folder / name).read() for name in (f"{to}.dat", f"{to}_2.dat", f"{to}_3.dat"))
        check("profile along 70 degrees, strike -20 degrees" in first, f"{to}: the file states the profile")
        check(second == third, f"{to}: the same bytes from what was read")
        # Phases that were computed may lack the last bit in degrees.
        same = [a == b for a, b in zip(first.splitlines(), second.splitlines())]
        check(len(first.splitlines()) == len(second.splitlines()) and sum(same) > 0.99 * len(same), f"{to}: {sum(same)} of {len(same)} lines as computed")
    expect_error(5, "on_line_already", [], "convert", folder / "occam2d.dat", "-o", folder / "other.dat", "--to", "occam2d", "--profile-azimuth", "10")
    expect(2, ["--profile-azimuth"], "convert", EDI, "-o", folder / "x.csv", "--profile-azimuth", "10")

    # Maps: WSINV3DMT; transfer functions of MTH5
    expect(0, ["wrote 59 stations"], "convert", folder / "survey.h5", "-o", folder / "ws.dat", "--to", "wsinv", "--epsg", "32611")
    expect(0, ["WSINV3DMT data"], "info", folder / "ws.dat")
    expect(0, ["wrote 59 stations"], "convert", folder / "ws.dat", "-o", folder / "ws_again.dat", "--to", "wsinv")
    check(open(folder / "ws.dat").read() == open(folder / "ws_again.dat").read(), "wsinv: the same text after reading it")
    expect(0, ["wrote 2 stations of 1 file to"], "convert", os.path.join(SOURCE, "tests/data/mth5/mth5_0.2.0.h5"), "-o", folder / "mth5.csv")

    # Signs and units that are given; one bad file of many is named and skipped
    wrong = folder / "wrong"
    os.makedirs(wrong)
    for name in ("gv100.edi", "gv101.edi"):
        shutil.copy(os.path.join(EDI, name), wrong)
    with open(wrong + "/gv102.edi", "w") as file:
        file.write(">HEAD\n")
    with open(wrong + "/cut.h5", "wb") as file:
        file.write(open(folder / "survey.h5", "rb").read(2000))
    expect(0, ["wrote 2 stations", "skipped", "gv102.edi", "cut.h5"], "convert", wrong, "-o", folder / "two.csv")
    expect(14, ["error gv102.edi: was skipped", "[unreadable_file]", "error cut.h5"], "check", wrong)
    expect(0, [], "convert", wrong + "/gv100.edi", "-o", folder / "minus.csv", "--sign", "minus")
    plus, minus = rows_of(folder / "two.csv")[0], rows_of(folder / "minus.csv")[0]
    check(float(plus["Zxy_im_ohm"]) == -float(minus["Zxy_im_ohm"]), "the sign that is given goes before a vote")

    # Choices of readers: errors of J-format are those of each part, or sqrt(2) times as large ones of the complex number; values that Zonge flags
    for word in ("each_part", "complex_element"):
        expect(0, [], "convert", folder / "jones/gv101.j", "-o", folder / f"{word}.csv", "--j-errors", word)
    part, whole = (float(rows_of(folder / f"{word}.csv")[3]["Zxy_error_ohm"]) for word in ("each_part", "complex_element"))
    check(abs(part / whole - 2**0.5) < 1e-12, "errors of J-format as those of the complex number")
    for word in ("leave_out", "keep"):
        expect(0, [], "convert", os.path.join(SOURCE, "tests/data/zonge/tf_zonge.avg"), "-o", folder / f"{word}.csv", "--zonge-flagged", word)
    left, kept = (sum(row["Zxy_re_ohm"] != "" for row in rows_of(folder / f"{word}.csv")) for word in ("leave_out", "keep"))
    check(left < kept, f"values that Zonge flags: {left} without, {kept} with")

    # A station of which everything is masked is left out of every format but the survey file
    expect(0, ["wrote 58 stations", "left out", "gv149"], "convert", folder / "survey.h5", "-o", folder / "masked", "--to", "zfile", "--mask", "gv149")

    expect(2, ["--mask", '":1,10"'], "convert", folder / "survey.h5", "-o", folder / "none.h5", "--mask", ":1,10")
    expect(2, ["--merge-far", "--merge"], "convert", folder / "survey.h5", "-o", folder / "none.h5", "--merge-far")

    # Masks are marks: a survey file keeps the values, every other reader lacks them, and they come back
    expect(0, ["wrote 59 stations"], "convert", folder / "survey.h5", "-o", folder / "marked.h5", "--mask", "gv149", "--mask", "gv100:1,10")
    expect(0, ["gv149: ", "values are masked", "--unmask"], "info", folder / "marked.h5")
    marked = json.loads(run("info", folder / "marked.h5", "--json").stdout)[0]["sites"]
    check({site["name"] for site in marked if site["n_masked_values"] > 0} == {"gv100", "gv149"}, "info counts masked values for programs")
    expect(0, ["wrote 58 stations", "csv cannot hold: masked values", "left out", "gv149"], "convert", folder / "marked.h5", "-o", folder / "marked.csv")
    left = {row["site"] for row in rows_of(folder / "marked.csv")}
    check("gv149" not in left and "gv100" in left, "masked values are absent from other formats")
    said = json.loads(run("check", folder / "marked.h5", "--json").stdout)
    check(all(finding["station"] != "gv149" for finding in said["findings"]), "check sees no station whose values are masked")
    run("check", folder / "marked.h5", "--fix", folder / "marked_mended.h5")
    marked = json.loads(run("info", folder / "marked_mended.h5", "--json").stdout)[0]["sites"]
    check({site["name"] for site in marked if site["n_masked_values"] > 0} == {"gv100", "gv149"}, "a mended survey keeps its masks")
    expect(0, ["wrote 59 stations"], "convert", folder / "marked.h5", "-o", folder / "back.csv", "--unmask", "*")
    check(rows_of(folder / "back.csv") == direct, "unmasked values have the digits that they had")
    expect(0, ["wrote 59 stations"], "convert", folder / "marked.h5", "-o", folder / "part.h5", "--unmask", "gv149")
    marked = json.loads(run("info", folder / "part.h5", "--json").stdout)[0]["sites"]
    check({site["name"] for site in marked if site["n_masked_values"] > 0} == {"gv100"}, "masks of one station are taken back")
    expect(0, ["--mask masks nothing of station gv100 from 1e+06 to 1e+07 s"], "convert", EDI, "-o", folder / "idle.h5", "--mask", "gv100:1e6,1e7")

    # A rotation that a survey file keeps holds in files with axes, unless another is chosen
    expect(0, ["x along azimuth 30", "keep x along 30 degrees"], "convert", folder / "edited.h5", "-o", folder / "kept.dat")
    check(any(line.strip() in ("> 30", "> 30.00") for line in open(folder / "kept.dat")), "the header states 30 degrees")
    expect(0, [], "convert", folder / "edited.h5", "-o", folder / "kept_2d.dat", "--to", "modem2d", "--floor", "impedance=0.05")
    check("strike 30 degrees" in open(folder / "kept_2d.dat").read(), "the x axis of a profile is that of the rotation")
    expect(0, [], "convert", folder / "edited.h5", "-o", folder / "north.dat", "--rotate", "0")
    check(any(line.strip() in ("> 0", "> 0.00") for line in open(folder / "north.dat")), "another rotation goes before")

    # What is merged, how far apart, and whether it agrees
    expect(0, ["gv100_2 is merged into gv100, 0 m apart", "χ² 0 per datum"], "convert", EDI + "/gv100.edi", EDI + "/gv100.edi", "-o", folder / "twice.h5", "--merge", "50")
    os.makedirs(folder / "moved")
    folder.write("moved/gv100.edi", open(EDI + "/gv100.edi").read().replace("LAT=38", "LAT=39"))
    expect(0, ["have one name in their files, but stand", "stay two stations"], "convert", EDI + "/gv100.edi", folder / "moved/gv100.edi", "-o", folder / "apart.h5", "--merge", "50")
    expect(2, ["--merge-far", "1000 m"], "convert", EDI, "-o", folder / "x.csv", "--merge", "5000")
    expect(0, ["differ at", "by more than their errors allow"], "convert", EDI, "-o", folder / "far.h5", "--merge", "5000", "--merge-far")

    # Refusals leave nothing behind
    expect(2, ["did you mean --rotate?"], "convert", EDI, "-o", folder / "x.csv", "--rotat", "30")
    for option in ("--rotate", "--declination", "--merge", "--profile-azimuth"):
        expect(2, [f"{option} expects a finite number, got nan"], "convert", EDI, "-o", folder / "x.csv", option, "nan")
    with open(wrong + "/gv103.edi.gz", "wb") as file:
        file.write(b"\x1f\x8b\x08\x00\x00\x00\x00\x00")
    with open(folder / "utf16.edi", "w", encoding="utf-16") as file:
        file.write(">HEAD\n")
    folder.write("semicolons.csv", "site;period_s;zxy_re_ohm\na;1;2,5\n")
    os.makedirs(wrong + "/deeper")
    expect_error(4, "not_read", ["gzip", "gunzip"], "convert", wrong + "/gv103.edi.gz", "-o", folder / "x.csv")
    expect_error(4, "not_read", ["UTF-16", "iconv"], "convert", folder / "utf16.edi", "-o", folder / "x.csv")
    expect_error(4, "not_read", ["semicolons", "commas"], "convert", folder / "semicolons.csv", "-o", folder / "x.csv")
    expect(0, ["1 subfolder that is not searched, deeper", "1 file that is compressed", "gv103.edi.gz"], "convert", wrong, "-o", folder / "beside.csv")
    refused = run("convert", folder / "semicolons.csv", "-o", folder / "x.csv").stderr
    check(refused.count("semicolons, as") == 1, f"the reason stands once: {refused}")
    expect(2, [".h5", "--to"], "convert", EDI, "-o", folder / "x.txt")
    expect_error(5, "one_file", ["59 stations"], "convert", EDI, "-o", folder / "x.edi")
    expect_error(3, "output_is_folder", [], "convert", EDI, "-o", wrong, "--to", "csv")
    expect_error(3, "folder_not_empty", [], "convert", EDI, "-o", wrong, "--to", "edi")
    expect_error(2, "unknown_site", ["gv100"], "convert", EDI, "-o", folder / "x.csv", "--sites", "gv10")
    expect(2, [], "convert", EDI, "-o", folder / "x.csv", "--periods", "10,1")
    expect_error(2, "no_such_data", ["impedance, tipper", "got one of phase"], "convert", EDI, "-o", folder / "x.csv", "--floor", "phase=1")
    expect(2, [], "convert", EDI, "-o", folder / "x.csv", "--floor", "impedance")
    expect(2, [], "convert", EDI, "-o", folder / "x.csv", "--epsg", "32611")
    expect_error(5, "nothing_left", [], "convert", EDI, "-o", folder / "x.csv", "--periods", "1e7,1e8")
    expect_error(3, "output_is_input", [], "convert", folder / "two.csv", "-o", folder / "two.csv")
    # What `check` mends, and what it says of strike.
    wrong = open(os.path.join(SOURCE, "data/gabbs_valley/edi/gv101.edi")).read()
    os.makedirs(folder / "reversed")
    for name in ("gv100", "gv102", "gv103", "gv104"):
        folder.write(f"reversed/{name}.edi", open(os.path.join(SOURCE, f"data/gabbs_valley/edi/{name}.edi")).read())
    folder.write("reversed/gv101.edi", wrong.replace("LAT=", "LAT=-", 1))
    found = run("check", folder / "reversed", "--json", "--fix", folder / "mended.h5")
    said = json.loads(found.stdout)
    check(found.returncode == 14 and [f["station"] for f in said["findings"] if f["severity"] == "error"] == ["gv101"], "the reversed latitude is an error")
    check(all(0.0 <= band["share_3d"] <= 1.0 and 0.0 <= band["strike"]["azimuth_deg"] <= 90.0 for band in said["bands"]), "each decade has shares and a strike")
    again = run("check", folder / "mended.h5", "--json")
    check(all(f["severity"] != "error" for f in json.loads(again.stdout)["findings"]), "the mended survey has no error")
    expect_error(3, "output_is_input", ["mended.h5"], "check", folder / "mended.h5", "--fix", folder / "mended.h5")
    check(not os.path.exists(folder / "x.csv") and not os.path.exists(folder / "x.edi"), "nothing is half-written")

finish()
