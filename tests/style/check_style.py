#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: check_style.py CHECK [--plant | --ratchet [--grow]] [--root DIR]

Checks one rule over the files of the project (tracked, or untracked and not ignored).
Prints each violation as file:line: text. CHECK is a rule, `all` for every rule, or
`figures`, which prints numbers about the tree.
With --plant the rule runs on a small tree that breaks it; the exit code is 0 only if exactly the planted
violations are found. With --ratchet the list of allowed exceptions of the rule is rewritten from the tree;
it grows only with --grow.
Exit codes: 0 clean, 1 violations, 77 the tool for this check is missing.
"""

import argparse
import dataclasses
import pathlib
import sys
import time

from checks import cycles, figures, files, layers, lengths, lines, names, plants, ratchet
from checks.tree import Tree


@dataclasses.dataclass(frozen=True)
class Check:
    name: str
    find: object  # tree (and the keys of the list) -> texts and findings
    allowed: ratchet.Allowed = None
    needs_list: bool = False


CHECKS = {
    check.name: check
    for check in [
        Check("layers", layers.check_layers, layers.LAYER_EDGES),
        Check("io_edges", layers.check_io_edges, layers.IO_EDGES),
        Check("cycles", cycles.check_cycles, cycles.ALLOWED, needs_list=True),
        Check("third_party", layers.check_third_party),
        Check("lengths", lengths.check_lengths, lengths.ALLOWED_LENGTHS),
        Check("small_headers", lengths.check_small_headers, lengths.ALLOWED_HEADERS),
        Check("primitives", lengths.check_primitives),
        Check("columns", lines.check_columns, lines.ALLOWED_COLUMNS),
        Check("cmake_lines", lines.check_cmake_lines, lines.ALLOWED_CMAKE),
        Check("names_2d", names.check_names_2d, names.ALLOWED_2D),
        Check("doc_openings", names.check_doc_openings, names.ALLOWED_OPENINGS),
        Check("doc_sentences", names.check_doc_sentences, names.ALLOWED_SENTENCES),
        Check("spdx", files.check_spdx),
        Check("readmes", files.check_readmes),
        Check("sizes", files.check_sizes),
        Check("words", files.check_words),
        Check("format", files.check_format),
    ]
}


def print_figures(root):
    rows = figures.figures(Tree(root), CHECKS.values())
    width = max(len(row[0]) for row in rows)
    for name, value, goal in rows:
        print(f"{name:<{width}}  {value}" + (f"  (goal: {goal})" if goal else ""))
    return 0


def rewrite_lists(checks, arguments):
    done = True
    for check in checks:
        if check.allowed is None:
            continue
        written, sentence = ratchet.rewrite(
            check, Tree(arguments.root), arguments.grow
        )  # The tree is read anew: two checks share a list.
        print(sentence)
        done = done and written
    return 0 if done else 1


def run(check, tree, planted):
    """Prints what a check finds and returns its exit code."""
    start = time.monotonic()
    try:
        found = plants.faults_of(check) if planted else ratchet.violations(check, tree)
    except files.Skipped as reason:
        print(f"{check.name}: skipped: {reason}")
        return 77
    for line in found:
        print(f"{check.name}: {line}" if planted else line)
    clean = "the planted violations were noticed" if planted else "clean"
    print(f"{check.name}: {f'{len(found)} lines' if found else clean} ({time.monotonic() - start:.1f} s)")
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("check", choices=[*CHECKS, "all", "figures"])
    parser.add_argument(
        "--plant", action="store_true", help="run on a tree that breaks the rule; succeed if it is noticed"
    )
    parser.add_argument(
        "--ratchet", action="store_true", help="rewrite the list of allowed exceptions from the tree"
    )
    parser.add_argument(
        "--grow", action="store_true", help="with --ratchet: let the list grow, as after files have moved"
    )
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    if arguments.check == "figures":
        return plants.check_figures(CHECKS.values()) if arguments.plant else print_figures(arguments.root)
    checks = list(CHECKS.values()) if arguments.check == "all" else [CHECKS[arguments.check]]
    if arguments.ratchet:
        return rewrite_lists(checks, arguments)
    tree = None if arguments.plant else Tree(arguments.root)
    codes = [run(check, tree, arguments.plant) for check in checks]
    return 1 if 1 in codes else max(codes) if len(codes) == 1 else 0


if __name__ == "__main__":
    sys.exit(main())
