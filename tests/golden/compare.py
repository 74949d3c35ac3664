# SPDX-License-Identifier: Apache-2.0
"""Compares all arrays in two folders of golden results. Without --tolerance every bit has to be the same.

usage: compare.py A B [--tolerance T [--absolute T] [--lambda-tolerance T]] [--only CASE,...] [--variants V W] [--skip PATTERN]... [--all]

Exit code 0: the same; 1: differences, which are printed; 2: wrong usage.
"""
import argparse
import array
import fnmatch
import math
import os
import sys

from golden_files import READERS, without_folders

# Arrays whose path changes in version 2 of the result file: {new path or folder: path or folder in version 1}. The longest entry that fits is used.
RENAMED = {}
# The same for names of files, as {"new name": "name in version 1"}.
RENAMED_FILES = {}
# Patterns "file:array" of what only one of the two versions has, on purpose.
ALONE = []
# Patterns "file:array" of what differs between two runs of one program: times, dates, hosts, builds and commands; the configuration is compared as config.toml.
EXCLUDED = [
    "*.h5:provenance/*", "*.h5:provenance@*", "*.h5:configuration/toml", "*:history/seconds*", "iterations.csv:seconds", "history.csv:seconds",
    "*.json:*started_utc", "*.json:*cpu_s", "*.json:header.*", "*.json:*commit", "*.json:*version", "*:@*_version", "*.json:*seconds", "info.json:*.path",
]
# Columns of tables that are left out where an attribute "columns" names them.
EXCLUDED_COLUMNS = ("seconds",)
# The path of a run: numbers that belong to every step.
LAMBDAS = ("iterations.csv:lambda", "*.h5:history/lambda")


def renamed(name, table):
    for new in sorted(table, key=len, reverse=True):
        if name == new or name.startswith((new + "/", new + "@")):
            return table[new] + name[len(new):]
    return name


def fits(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def without_columns(name, shape, values, found):
    """A table without the columns of times."""
    titles = found.get(name + "@columns")
    if titles is None or len(shape) != 2 or not isinstance(values, array.array):
        return shape, values
    titles = split_outside_parentheses(titles[1][0])
    drop = {i for i, title in enumerate(titles) if title.split(" ")[0] in EXCLUDED_COLUMNS}
    kept = [value for i, value in enumerate(values) if i % shape[1] not in drop]
    return (shape[0], shape[1] - len(drop)), array.array(values.typecode, kept)


def split_outside_parentheses(text):
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def read(path, file):
    """Arrays of a file by their names of version 1, without what is excluded."""
    found = READERS[os.path.splitext(path)[1]](path)
    base = os.path.basename(file)
    kept = {}
    for name, (shape, values) in found.items():
        shape, values = without_columns(name, shape, values, found)
        if not isinstance(values, array.array):
            values = [without_folders(text) for text in values]
        name = renamed(name, RENAMED)
        if not fits(f"{base}:{name}", EXCLUDED):
            kept[name] = (shape, values)
    return kept


def files_in(folder, variant, only):
    """{name without the variant: path} of all files; of those that no reader knows only that they are there is compared."""
    if os.path.isfile(folder):
        return {"": folder}
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            parts = os.path.relpath(path, folder).split(os.sep)
            if only and not set(parts) & set(only) or variant and variant not in parts:
                continue
            parts[-1] = RENAMED_FILES.get(parts[-1], parts[-1])
            found["/".join(part for part in parts if part != variant)] = path
    return found


class Difference:
    """How two arrays differ: `text`; `size`, the largest difference relative to the largest value of the array; `ok`, within what is allowed."""

    def __init__(self, text, size=math.inf, ok=False):
        self.text, self.size, self.ok = text, size, ok


def compare_numbers(a, b, relative, absolute, of_element=False):
    largest = max((abs(v) for pair in (a, b) for v in pair if math.isfinite(v)), default=0.0)
    worst, at, n, element, strange = 0.0, 0, 0, 0.0, ""
    for i, (x, y) in enumerate(zip(a, b)):
        if x == y or x != x and y != y:
            continue
        n += 1
        if not (math.isfinite(x) and math.isfinite(y)):
            strange = strange or f"; {x} against {y} at {i}"
            continue
        apart = abs(x - y)
        element = max(element, apart / max(abs(x), abs(y)))
        if apart >= worst:
            worst, at = apart, i
    size = worst / largest if largest else 0.0
    if n == 0:
        return Difference("the same numbers, signs of zeros or bits of NaN differ", 0.0, relative is not None)
    if of_element:
        size = element
    ok = not strange and relative is not None and (worst <= absolute or size <= relative)
    share = worst / largest if largest else 0.0
    text = f"{n} of {len(a)} differ, most by {worst:.3g} ({a[at]!r}, {b[at]!r} at {at}); {share:.2g} of the largest value, {element:.2g} of an element{strange}"
    return Difference(text, math.inf if strange else size, ok)


def compare_arrays(a, b, relative, absolute, of_element):
    """None where both are the same bits, else a Difference."""
    (shape_a, values_a), (shape_b, values_b) = a, b
    texts = [not isinstance(values, array.array) for values in (values_a, values_b)]
    if shape_a != shape_b or len(values_a) != len(values_b):
        return Difference(f"shape {shape_a} against {shape_b}")
    if any(texts):
        pairs = [(x, y) for x, y in zip(values_a, values_b) if x != y]
        return Difference(f"{len(pairs)} of {len(values_a)} texts differ, the first: {str(pairs[0][0])[:120]!r} against {str(pairs[0][1])[:120]!r}") if pairs else None
    if values_a.typecode == values_b.typecode:
        if values_a.tobytes() == values_b.tobytes():
            return None
        if values_a.typecode == "q":  # counts and indices are exact
            return compare_numbers(values_a, values_b, None, 0.0)
    elif list(values_a) == list(values_b):
        return None if relative is not None else Difference("integers against numbers, of the same value", 0.0)
    return compare_numbers(array.array("d", values_a), array.array("d", values_b), relative, absolute, of_element)


def compare_files(file, a, b, limits, skip):
    """Yields (name, Difference) of a file that both folders have."""
    try:
        found_a, found_b = read(a, file), read(b, file)
    except (OSError, ValueError, KeyError, SyntaxError) as error:
        yield f"{file}", Difference(f"cannot be read: {error}")
        return
    base = os.path.basename(file or a)
    for name in sorted({**found_a, **found_b}):
        full = f"{base}:{name}"
        if fits(full, skip):
            continue
        if name not in found_a or name not in found_b:
            if not fits(full, ALONE):
                yield f"{file}: {name}", Difference("missing in " + ("A" if name not in found_a else "B"))
            continue
        of_path = fits(full, LAMBDAS)
        relative = limits.lambda_tolerance if of_path else limits.tolerance
        difference = compare_arrays(found_a[name], found_b[name], relative, 0.0 if of_path else limits.absolute, of_path)
        if difference:
            yield f"{file}: {name}", difference


def compare(arguments):
    """Prints what differs; returns the number of arrays and files that differ by more than they may."""
    only = arguments.only.split(",") if arguments.only else None
    variants = arguments.variants or (None, None)
    files_a, files_b = files_in(arguments.a, variants[0], only), files_in(arguments.b, variants[1], only)
    if arguments.variants:  # a case may be without one of the variants
        cases = {file.split("/")[0] for file in files_a} & {file.split("/")[0] for file in files_b}
        files_a, files_b = ({file: path for file, path in files.items() if file.split("/")[0] in cases} for files in (files_a, files_b))
    found, n_files = [], 0
    for file in sorted({**files_a, **files_b}):
        if file not in files_a or file not in files_b:
            whole = f"{os.path.basename(file)}:"
            if not fits(whole, ALONE) and not fits(whole, arguments.skip):
                found.append((file, Difference("missing in " + ("A" if file not in files_a else "B"))))
        elif os.path.splitext(files_a[file])[1] in READERS:
            n_files += 1
            found.extend(compare_files(file, files_a[file], files_b[file], arguments, arguments.skip))
    bad = [entry for entry in found if not entry[1].ok]
    for name, difference in found if arguments.all else bad:
        print(f"{'within' if difference.ok else 'DIFFERS'} {name}: {difference.text}")
    within = [entry for entry in found if entry[1].ok]
    if within:
        name, difference = max(within, key=lambda entry: entry[1].size)
        print(f"{len(within)} arrays differ within the tolerance, most of all {name}: {difference.text}")
    if n_files == 0:
        print("no file to compare")
    print(f"{n_files} files compared: " + (f"{len(bad)} arrays or files differ" if bad else "the same" if not within else "the same within the tolerance"))
    return len(bad) + (n_files == 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--tolerance", type=float, help="largest difference allowed, as a share of the largest value of the array; integers and texts stay exact")
    parser.add_argument("--absolute", type=float, default=0.0, help="with --tolerance: differences up to this are allowed as well")
    parser.add_argument("--lambda-tolerance", type=float, default=None, help="with --tolerance: of the λ of every step, as a share of itself; by default that of --tolerance; 0: exact")
    parser.add_argument("--only", help="cases, separated by commas")
    parser.add_argument("--variants", nargs=2, metavar=("V", "W"), help="compare variant V of A with variant W of B, as of one folder with itself")
    parser.add_argument("--skip", action="append", default=[], help="pattern file:array, as '*.h5:meshes@summary'; 'name:' is a whole file")
    parser.add_argument("--all", action="store_true", help="print the arrays that differ within the tolerance too")
    arguments = parser.parse_args()
    for folder in (arguments.a, arguments.b):
        if not os.path.exists(folder):
            parser.error(f"{folder}: no such folder or file")
    if arguments.lambda_tolerance is None:
        arguments.lambda_tolerance = arguments.tolerance
    return 1 if compare(arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
