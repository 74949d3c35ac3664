# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/results: what was measured is written, what was not is named and fails. argv: program, source tree."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[2])
PAGES = {"accuracy.md": "<!-- table accuracy -->\nold accuracy\n<!-- end -->\n", "forward_speed.md": "<!-- table peers -->\nold peers\n<!-- end -->\n"}
BENCHMARKS = ("commemi2d0", "commemi2d1", "commemi2d2", "commemi2d4", "wannamaker_hill")


def selftest(difference, limit):
    rows = [{"benchmark": name, "what": f"TM 1 s y = 0 m {kind}", "difference": difference, "difference_units": "%", "limit": limit, "judged": True, "passed": abs(difference) <= limit}
            for name in BENCHMARKS for kind in ("rho_a", "phase")]
    return {"header": {"machine": "M", "ranks": 1, "commit": "c"}, "benchmarks": [{"benchmark": name, "cpu_s": 0.5} for name in BENCHMARKS], "results": rows}


def peers(peer_value):
    return {"header": {"machine": "M", "ranks": 1, "threads": 1, "commit": "c"},
            "results": [{"case": f"COMMEMI 2D-1 to 1 %, beside {peer}", "metric": metric, "unit": "s CPU", "value": 2.0, "peer": peer, "peer_value": value,
                         "ratio": value / 2.0 if value else None}
                        for peer, value in (("A", 8.0), ("B", peer_value)) for metric in ("model to impedances", "model to Jacobian, 600 cells")]}


def tables(document=".", **documents):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for page, text in PAGES.items():
            (folder / page).write_text(text)
        for stem, content in documents.items():
            (folder / f"{stem}.json").write_text(json.dumps(content))
        run = subprocess.run([sys.executable, SOURCE / "benchmarks" / "tables.py", "--results", folder, "--document", folder / document], capture_output=True, text=True)
        return run.returncode, run.stderr, "".join((folder / page).read_text() for page in PAGES)


def check(condition, what, *evidence):
    if not condition:
        sys.exit(f"FAIL: {what}: {evidence}")


both = {"selftest_default": selftest(-0.25, 0.5), "selftest_fine": selftest(0.2, 0.1)}
code, said, text = tables(**both, peers=peers(6.0))
check(code == 0 and "old" not in text, "all tables are written where everything was measured", code, said)
check("| `commemi2d0` | ρₐ | 0.25 % | TM 1 s y = 0 m | 0.5 % | 1 of 1 | 0.2 % | TM 1 s y = 0 m | 0.1 % | 0 of 1 |" in text, "both accuracies stand side by side", text)
check("| B | model to impedances | 1 % | 2 | 6 | 3.0 |" in text, "peers stand beside us", text)

code, said, text = tables(**both, peers=peers(None))
check(code == 1 and "table peers" in said and "B" in said and "scripts/peers.sh" in said, "an absent peer fails and is named", code, said)
check("old peers" in text and "old accuracy" not in text, "its table stays, the others are written", text)

code, said, text = tables(peers=peers(6.0), selftest_default=both["selftest_default"])
check(code == 1 and "table accuracy" in said and "selftest_fine.json" in said and "make bench BENCH=selftest" in said, "missing figures fail and are named", code, said)
check("old accuracy" in text and "old peers" not in text, "their table stays, the others are written", text)

code, said, text = tables(document="accuracy.md", **both, peers=peers(6.0))
check(code == 0 and "old accuracy" not in text and "old peers" in text, "a single page is rewritten alone", code, said)

known = subprocess.run([sys.executable, "-c", "import tables; print(*tables.TABLES)"], cwd=SOURCE / "benchmarks", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True).stdout.split()
marks = re.findall(r"<!-- table (\w+) -->", "".join(page.read_text() for page in sorted((SOURCE / "docs" / "results").glob("*.md"))))
check(known and sorted(marks) == sorted(known), "every table stands on one page of docs/results", known, marks)

# Files of stations: limits are judged where they are meant, and the table needs the peer
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "benchmarks"))
import surveys


def survey_rows(checked_s=1.5, written_s=60.0, peer=True):
    own = {("convert", 1): [0.7, 0.5, 0.4], ("convert", 2): [0.5], ("check", 1): [2.1], ("check", 2): [checked_s]}
    return surveys.rows_of(724, own, {"peer": "P 1", "seconds": {"1": [11.0], "2": [6.0], "written": [written_s]}} if peer else None)


def verdicts(rows):
    return [row["met"] for row in rows if row["met"] is not None]


check(verdicts(survey_rows()) == [True, True], "reading is 22 times as fast, and a checked file takes less than 2 s", survey_rows())
check(verdicts(survey_rows(checked_s=2.4)) == [True, False], "2.4 s miss the limit", survey_rows(checked_s=2.4))
check(verdicts(survey_rows(written_s=20.0)) == [True, False], "13 times as fast is not 20", survey_rows(written_s=20.0))
check(verdicts(survey_rows(peer=False)) == [True], "without the peer the limit alone is judged", survey_rows(peer=False))
PAGES["surveys.md"] = "<!-- table surveys -->\nold surveys\n<!-- end -->\n"
head = {"header": {"machine": "M", "ranks": 1, "threads": 2, "commit": "c"}}
code, said, text = tables(document="surveys.md", surveys={**head, "results": survey_rows()})
check(code == 0 and "| 724 EDI files, read, checked and written | 2 threads | 1.5 | 2 | 11 (7.3) | 6 (4.0) | 60 (40.0) |" in text, "figures and ratios stand in the table", code, said, text)
code, said, text = tables(document="surveys.md", surveys={**head, "results": survey_rows(peer=False)})
check(code == 1 and "mtpy" in said and "old surveys" in text, "without the peer the table stays and says why", code, said)
