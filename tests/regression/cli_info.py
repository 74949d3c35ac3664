# SPDX-License-Identifier: Apache-2.0
"""info: what files are, as JSON and for people."""
import json
import os
import signal
import subprocess

from support import BLOCK, DATA, EDI, PROGRAM, Folder, check, expect, finish, synthetic

SITE_KEYS = {"name", "latitude_deg", "longitude_deg", "elevation_m", "n_periods", "period_min_s", "period_max_s", "components", "n_masked", "n_masked_values", "sign",
             "units", "frame_deg"}

with Folder() as folder:
    station = os.path.join(EDI, "SAMTEX.kim438.2004.edi")
    model = folder.write("block.toml", BLOCK)
    result = expect(0, [], "info", "--json", station, model)
    files = json.loads(result.stdout)
    check([set(f) for f in files] == [{"path", "format", "status", "warnings", "sites"}] * 2, "one object per file with the five keys")
    site = files[0]["sites"][0]
    check(set(site) == SITE_KEYS, "each site has its thirteen keys")
    check(site["name"] == "kim438" and site["n_periods"] == 80 and abs(site["latitude_deg"] + 23.236867) < 1e-5, "what the file says")
    check({"zxx", "zxy", "zyx", "zyy"} <= set(site["components"]) and site["sign"] == "+" and site["units"] == "mV/km/nT", "components, sign, units")
    check(files[0]["status"] == "ok" and files[1]["sites"] == [], "a model has no sites")

    bad = folder.write("bad.edi", open(station, "rb").read()[:4000])
    result = expect(4, [], "info", "--json", bad, station)
    files = json.loads(result.stdout)
    check(len(files) == 2 and files[0]["status"] != "ok" and files[1]["status"] == "ok", "a bad file is reported, the next one still read")
    expect(3, ["missing.edi"], "info", folder / "missing.edi")
    expect(0, ["kim438", "EDI"], "info", station)
    check(len(json.loads(expect(0, [], "info", "--json", EDI).stdout)) == 36, "a folder stands for its EDI files")

    sites = folder.write("sites.csv", "site,y_m\nwest,-10\neast,20.5\n")
    said = expect(0, ["CSV sites", "2 sites", "y = -10 to 20.5 m", "west"], "info", sites).stdout
    check("nan" not in said and "iωt" not in said, "a list of sites has no periods to tell of")
    expect(0, ["CSV table", "rows of model,mode,period_s"], "info", os.path.join(DATA, "benchmarks", "sensitivity2d.csv"))
    expect(4, ["unknown format", "convert it"], "info", folder.write("letter.csv", "Dear all,\n"))

    # What the program writes itself.
    config = synthetic(folder, iterations=1, target=0.01, accuracy="iteration")
    expect(10, [], "invert", config, "-o", folder / "run")
    expect(0, ["HDF5 result", "rms", "s3"], "info", folder / "run/result.h5")
    expect(0, ["HDF5 checkpoint", "after iteration 1", "--resume"], "info", folder / "run/checkpoint.h5")
    expect(0, ["CSV section"], "info", folder / "run/section.csv")
    expect(0, [], "forward", "--model", folder / "run/result.h5", "--sites", folder / "sites.csv", "--periods", "0.1,1", "-o", folder / "r.h5")
    made = json.loads(expect(0, [], "info", "--json", folder / "r.h5").stdout)[0]
    check(made["format"] == "HDF5 responses" and [len(made["sites"]), made["sites"][0]["n_periods"]] == [7, 2], "responses: sites and periods")

    # A pipe whose reader has seen enough ends the program without a word, as it ends others.
    for words in (["info", EDI], ["check", EDI, "--json"], ["selftest", "--list"]):
        reading, writing = os.pipe()
        os.close(reading)
        ended = subprocess.run([PROGRAM, *words], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(writing)
        check(ended.returncode == -signal.SIGPIPE and ended.stderr == "", f"{words[0]}: a closed pipe, ends quietly by SIGPIPE (code {ended.returncode}): {ended.stderr}")
finish()
