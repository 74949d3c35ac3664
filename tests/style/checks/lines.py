# SPDX-License-Identifier: Apache-2.0
"""Rules about lines: columns of C++, one file per line in CMake lists."""

import collections
import re

from .cpp import lines_of_raw_strings
from .ratchet import Allowed, Finding

MAX_COLUMNS = 110
SOURCE_ENDINGS = (".cpp", ".hpp", ".cu", ".h", ".c")
NO_LISTS = {"set_source_files_properties", "set_property", "get_source_file_property"}

ALLOWED_COLUMNS = Allowed(
    "allowed_columns.txt",
    f"""How many lines of each file have more than {MAX_COLUMNS} columns.
number  file""",
    counts=True,
)
ALLOWED_CMAKE = Allowed(
    "allowed_cmake_lines.txt",
    """How many lines of each CMake list hold several files, plus how many of its sections are not sorted.
number  file""",
    counts=True,
)


def long_lines(text):
    """Yields (line number, columns) of each line that is too long and could be broken."""
    if not re.search(f".{{{MAX_COLUMNS + 1}}}", text):
        return
    raw = lines_of_raw_strings(text)
    for number, line in enumerate(text.split("\n"), 1):
        if (
            len(line) > MAX_COLUMNS
            and number not in raw
            and "://" not in line
            and not re.match(r"\s*#\s*include\b", line)
        ):
            yield number, len(line)


def check_columns(tree):
    for name in tree.with_ending(".cpp", ".hpp", ".cu"):
        for number, columns in long_lines(tree.text(name)):
            yield Finding((name,), f"{name}:{number}", f"{columns} columns, more than {MAX_COLUMNS}")


def cmake_sections(text):
    """Yields (keyword, its line, [(file, line), …]) of each list of source files within a command."""
    code = re.sub(r'("(?:\\.|[^"\\])*")|#[^\n]*', lambda match: match[1] or "", text)
    for command in re.finditer(r"(?m)^[ \t]*(\w+)[ \t]*\(", code):
        if command[1].lower() in NO_LISTS:
            continue
        keyword, keyword_line, files, depth = command[1], code.count("\n", 0, command.start()) + 1, [], 1
        line, position = code.count("\n", 0, command.end()) + 1, command.end()
        for token in re.compile(r'"(?:\\.|[^"\\])*"|[()]|[^\s()"]+').finditer(code, command.end()):
            line += code.count("\n", position, token.start())
            position = token.start()
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if depth == 0:
                break
            word = token[0].strip('"')
            if re.fullmatch(r"[A-Z][A-Z_]+", word):
                yield keyword, keyword_line, files
                keyword, keyword_line, files = word, line, []
            elif word.endswith(SOURCE_ENDINGS):
                files.append((word, line))
        yield keyword, keyword_line, files


def check_cmake_lines(tree):
    for name in tree.files:
        if name.rsplit("/", 1)[-1] != "CMakeLists.txt" and not name.endswith(".cmake"):
            continue
        for keyword, first, files in cmake_sections(tree.text(name)):
            for line, n_files in collections.Counter(line for _, line in files).items():
                if n_files > 1:
                    yield Finding(
                        (name,),
                        f"{name}:{line}",
                        f"{n_files} files in one line of {keyword}; write one per line",
                    )
            words = [word for word, _ in files]
            wrong = next((after for before, after in zip(words, words[1:]) if after < before), None)
            if wrong:
                yield Finding(
                    (name,),
                    f"{name}:{first}",
                    f"the files of {keyword} are not sorted: {wrong} comes too late",
                )
