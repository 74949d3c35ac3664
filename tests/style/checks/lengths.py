# SPDX-License-Identifier: Apache-2.0
"""Lengths of files and functions, headers that are too small, lines of code per operation of the engine."""

import ast
import re

from . import cpp
from .ratchet import Allowed, Finding
from .tree import CPP, HEADERS, in_library_or_apps

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
MIN_HEADER_LINES = 30
MAX_LINES_PER_OP = 84
OP_FOLDERS = ("engine/ops/", "engine/backend/", "engine/vmath/")
# Calls of a library say no op: they stand in front of kernels that are counted, or of a decomposition.
LIBRARY_CALLS = "engine/backend/cpu/onednn"
SMALL_ON_PURPOSE = "// Small on purpose:"

ALLOWED_LENGTHS = Allowed(
    "allowed_lengths.txt",
    f"""Files over {MAX_FILE_LINES} lines and functions over {MAX_FUNCTION_LINES} lines, each with its reason.
path  reason
path:function  reason""",
)
ALLOWED_HEADERS = Allowed(
    "allowed_headers.txt",
    f"""Headers under {MIN_HEADER_LINES} lines, each with its reason. A header may state it itself:
"{SMALL_ON_PURPOSE} reason" in the comment on its top.
path  reason""",
)


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def long_ones(tree):
    """Yields (file, line, function or none, number of lines) of each file and function above the limits."""
    for name in tree.with_ending(*CPP, ".py", ".sh", ".cmake"):
        text = tree.text(name)
        if tree.n_lines(name) > MAX_FILE_LINES:
            yield name, 1, "", tree.n_lines(name)
        functions = (
            cpp.functions(text)
            if name.endswith(CPP)
            else python_functions(text) if name.endswith(".py") else ()
        )
        for function, first, last in functions:
            if last - first + 1 > MAX_FUNCTION_LINES:
                yield name, first, function, last - first + 1


def check_lengths(tree):
    for name, line, function, n_lines in long_ones(tree):
        if function:
            yield Finding(
                (f"{name}:{function}",),
                f"{name}:{line}",
                f"{function} has {n_lines} lines, more than {MAX_FUNCTION_LINES}; split it",
            )
        else:
            yield Finding(
                (name,), f"{name}:1", f"{n_lines} lines, more than {MAX_FILE_LINES}; split the file"
            )


def leading_comment(text):
    lines = []
    for line in text.splitlines():
        if line.strip().startswith("//"):
            lines.append(line.strip())
        elif line.strip() and not line.startswith("#pragma once"):
            break
    return lines


def small_headers(tree):
    return [
        name
        for name in tree.with_ending(*HEADERS)
        if in_library_or_apps(name) and tree.n_lines(name) < MIN_HEADER_LINES
    ]


def check_small_headers(tree):
    for name in small_headers(tree):
        if not any(
            line.startswith(SMALL_ON_PURPOSE) and line[len(SMALL_ON_PURPOSE) :].strip()
            for line in leading_comment(tree.text(name))
        ):
            yield Finding(
                (name,),
                f"{name}:1",
                f"{tree.n_lines(name)} lines; merge the header with its neighbour, or state"
                f" '{SMALL_ON_PURPOSE} reason' on its top",
            )


def lines_of_code(text):
    """Returns the number of lines that are neither empty nor a comment."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def check_primitives(tree):
    n_ops = sum(
        1 for name in tree.files if re.fullmatch(r"docs/ops/(?!README)\w+\.md", name)
    )  # A test keeps one page per row.
    per_folder = {
        folder: sum(
            lines_of_code(tree.text(name))
            for name in tree.with_ending(*CPP)
            if name.startswith(folder) and not name.startswith(LIBRARY_CALLS)
        )
        for folder in OP_FOLDERS
    }
    per_op = sum(per_folder.values()) / max(n_ops, 1)
    print(
        f"{per_op:.0f} lines of code per op: {n_ops} ops, "
        + ", ".join(f"{folder} {n}" for folder, n in per_folder.items())
    )
    if per_op > MAX_LINES_PER_OP:
        yield (
            f"engine/ops: {per_op:.0f} lines of code per op, more than {MAX_LINES_PER_OP}; say ops by others,"
            " share what families have in common"
        )
