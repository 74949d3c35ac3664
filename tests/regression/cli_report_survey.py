# SPDX-License-Identifier: Apache-2.0
"""The report of a survey: pages and pictures of several formats, options, pages of curves, refusals; what stations lack; many stations."""
import glob
import json
import os
import re
import shutil

from support import DATA, EDI, Folder, check, expect, expect_error, finish

PICTURES = {"map", "strike", "pseudosections", "pseudosections_tipper", "phase_tensor_section", "phase_tensors", "induction_arrows", "soundings_1"}


def page_of(folder, name="report.html"):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def pictures_of(folder):
    return {name[:-4] for name in os.listdir(os.path.join(folder, "pictures"))}


def check_line(folder):
    edi = folder / "edi"
    os.makedirs(edi)
    for name in ("ETO001A", "ETO004A", "ETO007C", "ETO010A", "ETO013A", "kim438"):
        shutil.copy(glob.glob(os.path.join(EDI, f"SAMTEX.{name}.*.edi"))[0], edi)
    expect(0, ["report.html"], "report", edi, "-o", folder / "line")
    page = page_of(folder / "line")
    check(PICTURES <= pictures_of(folder / "line"), f"all pictures are there: {sorted(pictures_of(folder / 'line'))}")
    check("convention of Parkinson" in page and "Skew β" in page, "arrows are those of Parkinson, ellipses show the skew")
    check("6 of EDI" in page and ">kim438<" in page and ">22° S<" in page, "stations, names and degrees are there")
    rows = json.loads(expect(13, [], "check", edi, "--json").stdout)["findings"]
    check(rows and page.count("<td>note</td>") + page.count("<td>warning</td>") == len(rows), f"the page has the {len(rows)} findings of check")

    expect(0, [], "report", edi, "-o", folder / "chosen", "--periods", "0.5,50", "--arrows", "wiese", "--ellipses", "min_phase", "--sites", "ETO004A,ETO007C,kim438",
           "--strike", "30", "--line-width-km", "300", "--stations-per-page", "2")
    page = page_of(folder / "chosen")
    check(">0.5 s: 3 sites<" in page and ">50 s: " in page and ">10 s: " not in page, "maps have the periods that were chosen")
    check("convention of Wiese" in page and "Smallest phase" in page, "arrows and ellipses are as chosen")
    check("azimuth 120°" in page and "strike of 30°" in page, "the profile runs across the strike that was given")
    check("soundings_2.html" in page and ">kim438<" in page_of(folder / "chosen", "soundings_2.html"), "curves stand on two pages")
    expect(0, [], "report", edi, "-o", folder / "chosen")
    check("convention of Parkinson" in page_of(folder / "chosen"), "a report may be written again")

    expect(0, [], "convert", edi, "-o", folder / "survey.h5")
    expect(0, ["report.html"], "report", folder / "survey.h5", edi, "-o", folder / "both")
    check("and others: 12 stations" in page_of(folder / "both"), "several inputs are one survey")


def check_formats(folder):
    expect(0, ["report.html"], "report", os.path.join(DATA, "modem_block2_3d/de.dat"), "-o", folder / "modem")
    page = page_of(folder / "modem")
    check("y, east (km)" in page and "° E<" not in page, "a file without a place on Earth has a map in kilometres")
    expect(0, ["report.html"], "report", os.path.join(DATA, "mare2dem_demo/DemoSynthMT.emdata"), "-o", folder / "mare2dem")
    page = page_of(folder / "mare2dem")
    check("There is no map" in page and "along a profile" in page and "pseudosections" in pictures_of(folder / "mare2dem"), "a file of a profile has sections and no map")
    expect(0, ["report.html"], "report", os.path.join(EDI, "SAMTEX.kim438.2004.edi"), "-o", folder / "one")
    page = page_of(folder / "one")
    check("Map of 1 site<" in page and "There are no sections" in page and "no station has a tipper" in page, "one station without a tipper has a page that says so")


def check_refusals(folder):
    edi = folder / "edi"
    expect(2, ["--depths-km chooses pictures of a run"], "report", edi, "-o", folder / "no", "--depths-km", "1")
    expect(2, ["--contours chooses pictures of a run"], "report", edi, "-o", folder / "no", "--contours")
    expect(2, ["--arrows chooses pictures of a survey"], "report", edi, "--arrows", "wiese")
    expect(2, ["got 2 paths"], "report", edi, folder / "line")
    expect_error(3, "no_result", ["result.h5"], "report", edi)
    expect(2, ["positive periods", "1,-1"], "report", edi, "-o", folder / "no", "--periods", "1,-1")
    expect_error(2, "unknown_station", ["nobody"], "report", edi, "-o", folder / "no", "--sites", "nobody")
    expect(2, ["--arrows"], "report", edi, "-o", folder / "no", "--arrows", "up")
    os.makedirs(folder / "empty")
    expect_error(3, "no_files", ["empty"], "report", folder / "empty", "-o", folder / "no")
    folder.write("run/result.h5", "")
    expect_error(3, "folder_of_run", ["run"], "report", edi, "-o", folder / "run")
    expect_error(3, "not_a_folder", ["survey.h5"], "report", edi, "-o", folder / "survey.h5")
    check(not os.path.exists(folder / "no"), "a report that is refused leaves no folder")


with Folder() as folder:
    check_line(folder)
    check_formats(folder)
    check_refusals(folder)
finish()
