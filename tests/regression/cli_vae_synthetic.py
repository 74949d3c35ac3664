# SPDX-License-Identifier: Apache-2.0
"""selftest vae-synthetic --quick: data are fitted by every method, figures are for programs too, ranks change none of them."""
import json
import os

from support import Folder, check, expect, finish, run

SAME = ("c", "chi_rms", "error_domain", "error_region", "ssim_region", "iterations", "jacobians", "forward_runs", "solves")


def runs(path):
    return {(r["section"], r["method"], r["noise"]): r for r in json.load(open(path))["runs"]}


with Folder() as folder:
    said = expect(0, ["case A, noise 5 %", "case B, noise 5 %", "published", "rimmed", "feature chi rms", "pass"],
                  "selftest", "vae-synthetic", "--quick", "-o", folder / "all", "--json", folder / "all.json", timeout=280).stdout
    check("FAIL" not in said, "no target that --quick judges is missed")
    all_runs = runs(folder / "all.json")
    check(len(all_runs) == 3 * (2 + 5), "two cases and five families, three methods each")
    for key, figures in all_runs.items():
        check(abs(figures["chi_rms"] - 1.0) < 0.05, f"{key}: chi rms {figures['chi_rms']:.3f}")
        check(0.0 < figures["error_region"] < 1.0 and figures["ssim_region"] <= 1.0, f"{key}: error and similarity are such")
    for case in ("A", "B"):  # a network of eight epochs: 0.85 and 0.92 of the cells' error in the domain, 0.93 in the region
        cells, network = all_runs[case, "pixel", 0.05], all_runs[case, "feature", 0.05]
        check(network["error_domain"] < 0.95 * cells["error_domain"] and network["error_region"] < cells["error_region"], f"{case}: the prior helps")
    for name in ("A_5pct.png", "A_5pct.vtu", "B.h5", "wedge_00_5pct.png"):
        check(os.path.exists(os.path.join(folder / "all", "sections", name)), f"{name} is written")

    # Network and data are there already: they are used again, and two ranks share the work.
    launcher = ("mpirun", "--oversubscribe", "-n", "2", "--bind-to", "none")
    again = run("selftest", "vae-synthetic", "--quick", "--models", "0", "-o", folder / "all", "--json", folder / "ranks.json", launcher=launcher,
                timeout=280)
    check(again.returncode == 0 and "training" not in again.stdout, f"again on two ranks, without training (code {again.returncode})")
    for key, figures in runs(folder / "ranks.json").items():
        check(all(abs(figures[name] - all_runs[key][name]) <= 1e-8 * abs(all_runs[key][name]) for name in SAME), f"{key}: the same on two ranks")

    expect(3, ["none.h5"], "selftest", "vae-synthetic", "--network", folder / "none.h5", "-o", folder / "none")
expect(2, ["vae-synthetic"], "selftest", "layered1d", "--quick")
expect(0, ["vae-synthetic", "by name only"], "selftest", "--list")
finish()
