# SPDX-License-Identifier: Apache-2.0
"""The command line: help, version and wrong usage."""
import json
import os

from support import Folder, check, expect, expect_error, finish, run

help_text = expect(0, ["invert", "forward", "report", "compare", "info", "selftest", "Exit codes"], "--help").stdout
check("3 file" in help_text and "11 interrupted" in help_text, "exit codes are listed")
for command in ("invert", "forward", "report", "compare", "info", "machine", "selftest", "help"):
    expect(0, ["Examples:", f"mt_invert {command}"], command, "--help")
expect(0, ["mt_invert ", "compiler", "commit"], "--version")
for flag in ("--set", "--output", "--resume", "--dry-run", "--time-limit"):
    check(flag in run("invert", "--help").stdout, f"invert knows {flag}")
check("--dim 3 -o" in run("invert", "--help").stdout, "an example of invert is in three dimensions")

expect(0, ["[data.floors]", "impedance_relative", "0 to 10", "max_halvings"], "help", "configuration")
check("max_halvings" not in expect(0, ["log10_rho"], "help", "configuration", "data.floors").stdout, "one table is printed alone")
check(run("help", "forward").stdout == run("forward", "--help").stdout, "help on a command is its --help")
expect(2, ["[data.floors]", "flors"], "help", "configuration", "flors")
expect(2, ["mt_invert help configuration?"], "help", "configuraton")
expect(2, ["--markdown"], "help", "invert", "--markdown")
expect(2, ["invert, train, forward"])
expect(2, ["mt_invert invert?", "--help"], "invrt")
expect(2, ["mt_invert train?"], "trian", "prior.toml", "-o", "x")
check("did you mean" not in expect(2, ["--help"], "something").stderr, "a word like no command is none")
expect(2, ["CONFIG"], "invert")
expect(2, ["--sites"], "forward", "--model", "m.toml")
expect(2, ["accuracy"], "forward", "--model", "m", "--sites", "s", "--accuracy", "best")
expect(2, ["--periods", "-2"], "forward", "--model", "m", "--sites", "s", "--periods", "1,-2")
expect(2, ["--periods", "1 s"], "forward", "--model", "m", "--sites", "s", "--periods", "1,1")
expect(2, [".csv, .h5 or .dat"], "forward", "--model", "m", "--sites", "s", "--periods", "1", "-o", "out.txt")
expect(2, ["--dry-run", "--resume"], "invert", "c.toml", "--dry-run", "--resume")
expect(2, ["--output"], "invert", "c.toml", "-o", "")
expect(3, ["no_such_folder"], "--trace", "no_such_folder/trace.json", "--version")
expect(2, ["time-limit"], "invert", "c.toml", "--time-limit", "0")
expect_error(2, "unknown_selftest", ["\"comemi2d1\"", "\"commemi2d1\""], "selftest", "comemi2d1")
expect(0, ["layered1d", "commemi2d0", "sensitivity2d"], "selftest", "--list")
expect_error(3, "no_result", ["result.h5"], "report", "nowhere")

expect(3, ["nowhere.h5"], "compare", "nowhere.h5")
expect(2, ["--block-km", "1,2"], "compare", "a.csv", "--block-km", "1,2")

with Folder() as folder:
    expect_error(3, "no_result", ["result.h5"], "compare", folder.path)
    points = folder.write("points.csv", "x_km,depth_km,log10_rho_up,log10_rho_down\n0,1,1,4\n1,1,2,3\n0,2,3,2\n1,2,4,\n")
    drawn = folder / "points.svg"
    table = expect(0, ["up (points.csv)", "r2: correlation"], "compare", points, "--reference", points, "--block-km", "-1,2,0,1.5", "-o", drawn).stdout
    rows = [line.split()[-3:] for line in table.splitlines()[1:3]]
    check(rows == [["1.00", "-1.00", "1.50"], ["-1.00", "1.00", "3.50"]], f"compare: correlations ±1 of opposite sections, means of a block; got {rows}")
    check("down (points.csv)" in open(drawn).read(), "compare: the picture names its sections")
    expect(3, ["no_such_folder"], "compare", points, "-o", folder / "no_such_folder/a.png")
    folder.write("bad.csv", "x_km,depth_km,rho\n0,1,1\n")
    expect(4, ["bad.csv:1", "log10_rho_NAME"], "compare", folder / "bad.csv")
    trace = folder / "trace.json"
    expect(0, ["layered1d"], "selftest", "--list", "--log", "json", "--trace", trace)
    check(open(trace).read().lstrip()[:1] in "[{", "the trace is JSON")
    failed = folder / "failed.json"
    model = folder / "sea.toml"
    with open(model, "w") as file:
        file.write("[background]\nresistivity_ohm_m = [1.0]\n")
    with open(folder / "sites.csv", "w") as file:
        file.write("site,y_m,z_m\na,0,500\n")  # beside the surface
    expect(5, ["a"], "forward", "--model", model, "--sites", folder / "sites.csv", "--periods", "1", "--trace", failed)
    check(os.path.exists(failed) and open(failed).read().lstrip()[:1] in "[{", "a command that fails leaves its trace")
    rows = folder / "rows.json"
    expect(0, ["pass"], "selftest", "layered1d", "derivatives2d", "--json", rows)
    with open(rows) as file:
        document = json.load(file)
    check(document["header"]["accuracy"] == "default" and document["header"]["commit"], "the selftest's JSON says what it is")
    check({row["benchmark"] for row in document["results"]} == {"layered1d", "derivatives2d"} and all(row["passed"] for row in document["results"]),
          "it holds the rows of both")
    expect_error(3, "no_folder", ["no_such_folder"], "selftest", "layered1d", "--json", folder / "no_such_folder/rows.json")
finish()
