# SPDX-License-Identifier: Apache-2.0
"""Rules about whole files: licence line, READMEs, size, private words, format."""

import concurrent.futures
import os
import re
import shutil
import subprocess

from .tree import CPP, FOLDER_OF_LAYER

MAX_FILE_BYTES = 5_000_000
FORMAT_BATCH = 40
README_FOLDERS = tuple(folder for folder, _ in FOLDER_OF_LAYER) + (
    "examples/",
    "benchmarks/",
    "tests/support/",
    "tests/style/",
)

# Written in pieces, so that this file does not contain them.
PRIVATE_WORDS = [r"(?<![\w.])/" + "work/", r"(?<!\w)\." + "library\\b", "sub" + "agent", r"\.\./" + "shared"]
HOME_FOLDERS = [r"(?<![\w.])/" + "home/\\w", r"(?<![\w.])/" + "root/\\w"]


class Skipped(Exception):
    """The tool for a check is missing."""


def is_source(name):
    base = name.rsplit("/", 1)[-1]
    return (
        name.endswith(CPP + (".py", ".sh", ".cmake", ".cpp.in", ".cmake.in"))
        or name == ".ci/run"
        or base in ("CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy")
    )


def check_spdx(tree):
    for name in tree.files:
        if is_source(name) and "SPDX-License-Identifier: Apache-2.0" not in "\n".join(
            tree.text(name).splitlines()[:3]
        ):
            yield f"{name}:1: no line 'SPDX-License-Identifier: Apache-2.0' on top"


def check_readmes(tree):
    folders = {
        name.rsplit("/", 1)[0] for name in tree.with_ending(*CPP, ".py") if name.startswith(README_FOLDERS)
    }
    for folder in sorted(folders):
        if f"{folder}/README.md" not in tree.names:
            yield (
                f"{folder}/README.md:1: missing; say what is here, what it may include, where to start"
                " reading, how to add one more"
            )


def check_sizes(tree):
    for name in tree.files:
        size = (tree.root / name).stat().st_size
        if size > MAX_FILE_BYTES:
            yield f"{name}:1: {size / 1e6:.1f} MB, more than {MAX_FILE_BYTES / 1e6:.0f} MB"


def check_words(tree):
    private = re.compile("|".join(PRIVATE_WORDS))
    home = re.compile("|".join(PRIVATE_WORDS + HOME_FOLDERS))
    for name in tree.files:
        pattern = (
            private if name.startswith(("data/", "tests/")) else home
        )  # Field files may name their makers' folders.
        text = tree.text(name)
        for match in pattern.finditer(text):
            yield (
                f"{name}:{text.count(chr(10), 0, match.start()) + 1}: '{match[0]}' means nothing outside one"
                " machine"
            )


def check_format(tree):
    tool = os.environ.get("CLANG_FORMAT", "clang-format")
    version = (
        subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
        if shutil.which(tool)
        else ""
    )
    if not re.search(r"version 14\.", version):
        raise Skipped(f"the rules are for clang-format 14, found '{version.strip() or 'none'}'")
    names = tree.with_ending(".cpp", ".hpp", ".cu")

    def unformatted(first):
        command = [tool, "--dry-run", "-Werror", *names[first : first + FORMAT_BATCH]]
        found = subprocess.run(command, cwd=tree.root, capture_output=True, text=True).stderr
        return dict.fromkeys(re.findall(r"(?m)^([^:\n]+):\d+:\d+: error", found))

    with concurrent.futures.ThreadPoolExecutor(
        os.cpu_count() or 1
    ) as pool:  # The threads only wait for their programs.
        for batch in pool.map(unformatted, range(0, len(names), FORMAT_BATCH)):
            for name in batch:
                yield f"{name}:1: not formatted; run scripts/format.sh"
