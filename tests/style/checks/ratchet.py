# SPDX-License-Identifier: Apache-2.0
"""Lists of allowed exceptions.

A rule that the tree does not satisfy everywhere has a list. A violation that the list allows is none. An
entry that allows more than the tree contains is a violation itself, so the lists only shrink. `--ratchet`
rewrites them from the tree. It refuses to let a list grow unless `--grow` is given, as after files have moved.

There are two kinds of lists. One holds a key and a reason per line, separated by two spaces. The other holds
a number and a key per line, where the key is a file and the number is how many violations it contains.
"""

import collections
import dataclasses
import re

FOLDER = "tests/style"
DEFAULT_REASON = "older than this rule"
MAX_SHOWN = 40  # of a file that has more violations than its number


@dataclasses.dataclass(frozen=True)
class Finding:
    """A violation that a list may allow. Any of its keys will do; the first is what `--ratchet` writes."""

    keys: tuple
    place: str  # "file:line"
    text: str


@dataclasses.dataclass(frozen=True)
class Allowed:
    """A list of exceptions: its file, the comment on its top, whether it counts, its keys of this check."""

    file: str
    head: str
    counts: bool = False
    owns: object = lambda key: True

    @property
    def path(self):
        return f"{FOLDER}/{self.file}"


def read_entries(tree, allowed):
    """Returns {key: (number or reason, line number)} and the violations of lines that cannot be read."""
    entries, faults = {}, []
    lines = tree.text(allowed.path).splitlines() if allowed.path in tree.names else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        if len(parts) != 2 or (allowed.counts and not parts[0].isdigit()) or re.match(r"[<=>|]{7}", line):
            expected = "number  key" if allowed.counts else "key  reason"
            faults.append(
                f"{allowed.path}:{number}: the line is not '{expected}' with two spaces between:"
                f" {line.strip()}"
            )
            continue
        key, value = (parts[1], int(parts[0])) if allowed.counts else parts
        if key in entries:
            faults.append(f"{allowed.path}:{number}: '{key}' is listed twice")
        entries[key] = (value, number)
    return entries, faults


def found_by(check, tree):
    """Returns the texts and the findings of a check."""
    listed = list(read_entries(tree, check.allowed)[0]) if check.allowed else []
    found = list(check.find(tree, listed) if check.needs_list else check.find(tree))
    return [item for item in found if isinstance(item, str)], [
        item for item in found if not isinstance(item, str)
    ]


def key_of(finding, entries):
    return next((key for key in finding.keys if key in entries), finding.keys[0])


def violations(check, tree):
    """Returns the texts of all violations of a check, its list taken into account."""
    texts, findings = found_by(check, tree)
    if check.allowed is None:
        return texts + [f"{finding.place}: {finding.text}" for finding in findings]
    entries, faults = read_entries(tree, check.allowed)
    by_key = collections.defaultdict(list)
    for finding in findings:
        by_key[key_of(finding, entries)].append(finding)
    for key, group in by_key.items():
        limit = entries.get(key, (0, 0))[0] if check.allowed.counts else len(group) * (key in entries)
        if len(group) <= limit:
            continue
        if limit:
            texts.append(
                f"{key}:1: {len(group)} violations of {check.name}, the list allows {limit}; they are:"
            )
        texts += [f"{finding.place}: {finding.text}" for finding in group[:MAX_SHOWN]]
        if len(group) > MAX_SHOWN:
            texts.append(f"{key}:1: and {len(group) - MAX_SHOWN} more")
    return faults + texts + stale_entries(check, entries, by_key)


def stale_entries(check, entries, by_key):
    remedy = f"run tests/style/check_style.py {check.name} --ratchet"
    texts = []
    for key, (value, number) in entries.items():
        n_found = len(by_key.get(key, ()))
        if not check.allowed.owns(key) or (n_found and (not check.allowed.counts or n_found >= value)):
            continue
        if n_found:
            texts.append(
                f"{check.allowed.path}:{number}: {key} has {n_found} violations, not {value}; lower the"
                f" number: {remedy}"
            )
        else:
            texts.append(f"{check.allowed.path}:{number}: the entry '{key}' is no longer needed; {remedy}")
    return texts


def reason_of(key, old, new_keys):
    """Returns the old reason of a key, or that of a file of the same name that left the list: it moved."""
    if key in old:
        return old[key][0]
    base = key.rsplit("/", 1)[-1]
    gone = [
        value for name, (value, _) in old.items() if name not in new_keys and name.rsplit("/", 1)[-1] == base
    ]
    return gone[0] if len(gone) == 1 and "->" not in key else DEFAULT_REASON


def rewrite(check, tree, grow):
    """Rewrites the list of a check from the tree. Returns (whether it was done, a sentence about it)."""
    entries, _ = read_entries(tree, check.allowed)
    mine = {key: value for key, value in entries.items() if check.allowed.owns(key)}
    by_key = collections.Counter(key_of(finding, entries) for finding in found_by(check, tree)[1])
    if check.allowed.counts:
        before, after = sum(value for value, _ in mine.values()), sum(by_key.values())
        lines = {key: f"{number}  {key}" for key, number in by_key.items()}
    else:
        before, after = len(mine), len(by_key)
        lines = {key: f"{key}  {reason_of(key, mine, by_key)}" for key in by_key}
    others = {key: f"{key}  {value}" for key, (value, _) in entries.items() if not check.allowed.owns(key)}
    exists = check.allowed.path in tree.names
    if after > before and exists and not grow:
        return (
            False,
            (
                f"{check.name}: {check.allowed.file} would grow from {before} to {after}; mend the tree, or"
                " add --grow"
            ),
        )
    lines.update(others)
    path = tree.root / check.allowed.path
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "".join(f"# {line}\n" for line in check.allowed.head.splitlines())
    path.write_text(head + "".join(lines[key] + "\n" for key in sorted(lines)), encoding="utf-8")
    return True, f"{check.name}: {check.allowed.file} {before} -> {after}"
