# SPDX-License-Identifier: Apache-2.0
"""Numbers that describe the size and the order of the tree, with the goal of each where it has one."""

import re
import statistics

from . import cpp, cycles, lengths, lines, names
from .ratchet import read_entries
from .tree import CPP, HEADERS, LIBRARY, folder_of, in_library_or_apps

APP = "apps/mt_invert/"


def size_figures(tree, sources, owned):
    app = [name for name in sources if name.startswith(APP)]
    n_rooms = len({folder_of(name) for name in app} - {APP.rstrip("/")})
    yield (
        f"files of {APP}",
        f"{len(app)} in {n_rooms} rooms, {sum(map(tree.n_lines, app))} lines",
        "at most 60 in 5 rooms, 5000 lines",
    )
    library = [name for name in owned if not name.startswith("engine/")]
    n_2d = sum(1 for name in library if names.types_2d(tree.text(name)))
    n_outside = sum(
        1
        for name in library
        if names.types_2d(tree.text(name)) and names.FOLDERS_2D.isdisjoint(name.split("/")[:-1])
    )
    yield (
        "files that name a 2-D type (library and apps, without the engine)",
        f"{n_2d} of {len(library)}, {n_outside} outside the 2-D folders",
        "at most 45",
    )
    counts = [tree.n_lines(name) for name in sources]
    yield "median C++ file", f"{statistics.median(counts):.0f} lines of {len(counts)} files", "about 110"
    yield "C++ files above the usual 250 lines", f"{sum(count > 250 for count in counts)}", ""


def text_figures(tree, sources, owned):
    small = lengths.small_headers(tree)
    yield f"headers under {lengths.MIN_HEADER_LINES} lines", f"{len(small)}", "none without a reason"
    single = sum(1 for name in owned if name.endswith(HEADERS) and cpp.has_single_function(tree.text(name)))
    yield "headers with a single function", f"{single}", ""
    n_lines = sum(map(tree.n_lines, sources))
    n_long = sum(1 for name in sources for _ in lines.long_lines(tree.text(name)))
    yield (
        f"C++ lines over {lines.MAX_COLUMNS} columns",
        f"{n_long} of {n_lines}, {100 * n_long / max(n_lines, 1):.1f} %",
        "none",
    )
    blocks = sum(1 for name in sources for _ in cpp.doc_blocks(tree.text(name)))
    openings = sum(1 for name in sources for _ in names.bad_openings(tree.text(name)))
    yield "/// with an opening to avoid", f"{openings} of {blocks}", "none"
    words = [count for name in sources for _, count in names.sentences(tree.text(name))]
    yield (
        f"sentences of /// over {names.MAX_WORDS} words",
        f"{sum(count > names.MAX_WORDS for count in words)} of {len(words)}",
        "none",
    )
    long_ones = list(lengths.long_ones(tree))
    n_functions = sum(1 for _, _, function, _ in long_ones if function)
    yield (
        f"files over {lengths.MAX_FILE_LINES} lines",
        f"{len(long_ones) - n_functions}",
        "none without a reason",
    )
    yield f"functions over {lengths.MAX_FUNCTION_LINES} lines", f"{n_functions}", "none without a reason"
    for name, line, function, count in long_ones:
        yield f"  {name}:{line}", f"{function + ' has ' if function else ''}{count} lines", ""


def order_figures(tree):
    edges = cycles.folder_edges(tree)
    groups = cycles.components(edges)
    n_within = sum(
        1 for first, second in edges if any(first in group and second in group for group in groups)
    )
    yield (
        "folder edges within cycles",
        f"{n_within} of {len(edges)}, among {sum(map(len, groups))} folders in {len(groups)} groups",
        "none",
    )
    yield "folder edges that close a cycle", f"{len(cycles.closing_edges(edges))}", "none"


def list_figures(tree, checks):
    for check in checks:
        if check.allowed is None:
            continue
        entries = {
            key: value
            for key, value in read_entries(tree, check.allowed)[0].items()
            if check.allowed.owns(key)
        }
        total = sum(value for value, _ in entries.values()) if check.allowed.counts else len(entries)
        yield f"allowed by {check.allowed.file} for {check.name}", f"{total} in {len(entries)} entries", ""


def figures(tree, checks):
    """Returns rows of a name, a value and a goal."""
    sources = tree.with_ending(*CPP)
    owned = [name for name in sources if in_library_or_apps(name)]
    rows = [
        (
            "library files",
            f"{sum(name.startswith(LIBRARY) for name in sources)} of {len(sources)} C++ files",
            "",
        )
    ]
    return rows + [
        *size_figures(tree, sources, owned),
        *text_figures(tree, sources, owned),
        *order_figures(tree),
        *list_figures(tree, checks),
    ]
