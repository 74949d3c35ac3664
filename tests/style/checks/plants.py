# SPDX-License-Identifier: Apache-2.0
"""Small trees that break the rules.

Each check must notice what is expected here and nothing else; its list must allow exactly that.
"""

import pathlib
import shutil
import tempfile

from . import ratchet
from .files import MAX_FILE_BYTES
from .lengths import MAX_FUNCTION_LINES, MAX_LINES_PER_OP, MIN_HEADER_LINES, SMALL_ON_PURPOSE
from .lines import MAX_COLUMNS
from .tree import Tree

HEAD = "// SPDX-License-Identifier: Apache-2.0\n"
LONG = "int planted" + "d" * MAX_COLUMNS + ";\n"


def including(*paths):
    return HEAD + "".join(f'#include "{path}"\n' for path in paths)


# For each check: the files of a tree, and the beginnings of the violations to expect.
PLANTS = {
    "layers": (
        {
            "physics/mt/planted.cpp": including("inversion/gauss_newton.hpp"),
            "physics/mesh/planted.cpp": including("engine/core/error.hpp", "physics/mt/survey.hpp"),
            "models/planted.cpp": including("io/text/words.hpp"),
            "inversion/mt/good.cpp": including(
                "physics/mt/survey.hpp", "inversion/run.hpp", "engine/core/mpi/team.hpp"
            ),
            "inversion/planted.cpp": including("run.hpp"),
        },
        [
            "physics/mt/planted.cpp:2",
            "physics/mesh/planted.cpp:3",
            "models/planted.cpp:2",
            "inversion/planted.cpp:2",
        ],
    ),
    "io_edges": (
        {
            "io/csv/planted.cpp": including(
                "physics/mt/survey.hpp", "io/edi/read.hpp", "io/text/words.hpp", "engine/core/error.hpp"
            ),
            "io/edi/planted.cpp": including(
                "inversion/run.hpp", "physics/mt/survey.hpp", "io/run/result.hpp"
            ),
            "io/run/good.cpp": including("inversion/mt/recipe.hpp", "models/vae/vae.hpp", "io/hdf5/file.hpp"),
            "io/unknown/planted.cpp": HEAD,
        },
        [
            "io/csv/planted.cpp:2",
            "io/csv/planted.cpp:3",
            "io/edi/planted.cpp:2",
            "io/edi/planted.cpp:4",
            "io/unknown/planted.cpp:1",
        ],
    ),
    "cycles": (
        {
            "physics/mt/planted.cpp": including("physics/mt/d2/b.hpp"),
            "physics/mt/d2/planted.cpp": including("physics/fem/c.hpp", "physics/fem/d.hpp"),
            "physics/fem/planted.cpp": including("physics/mt/a.hpp", "physics/mt/e.hpp"),
            "io/edi/good.cpp": including("physics/mt/a.hpp", "io/text/a.hpp"),
        },
        ["physics/mt/planted.cpp:2"],
    ),
    "third_party": ({"inversion/planted.cpp": HEAD + "#include <petscksp.h>\n"}, ["inversion/planted.cpp:2"]),
    "lengths": (
        {
            "physics/planted.cpp": (
                HEAD + "int planted(int x) {\n" + "  ++x;\n" * MAX_FUNCTION_LINES + "  return x;\n}\n"
            ),
            "physics/good.cpp": (
                HEAD + "struct Good {\n" + "  int good() { return 1; }\n" * MAX_FUNCTION_LINES + "};\n"
            ),
        },
        ["physics/planted.cpp:2"],
    ),
    "small_headers": (
        {
            "physics/planted.hpp": HEAD + "#pragma once\nint planted();\n",
            "physics/good.hpp": (
                HEAD + f"{SMALL_ON_PURPOSE} it keeps a heavy include apart.\n#pragma once\nint good();\n"
            ),
            "physics/long.hpp": HEAD + "int good();\n" * MIN_HEADER_LINES,
            "physics/late.hpp": (
                HEAD + f"#pragma once\nint planted();\n{SMALL_ON_PURPOSE} this stands too late.\n"
            ),
        },
        ["physics/planted.hpp:1", "physics/late.hpp:1"],
    ),
    "primitives": (
        {"engine/ops/planted.cpp": HEAD + "int planted;\n" * (MAX_LINES_PER_OP + 1)},
        ["engine/ops:"],
    ),
    "columns": (
        {
            "physics/planted.cpp": HEAD + LONG + "int good;\n" + LONG,
            "physics/good.cpp": (
                HEAD
                + "// "
                + "Ω" * (MAX_COLUMNS - 3)
                + '\n#include "'
                + "x" * MAX_COLUMNS
                + '"\n// https://'
                + "x" * MAX_COLUMNS
                + '\nauto text = R"(\n'
                + LONG
                + ')";\n'
            ),
        },
        ["physics/planted.cpp:2", "physics/planted.cpp:4"],
    ),
    "cmake_lines": (
        {
            "physics/CMakeLists.txt": (
                "lodestone_add_module(physics\n  SOURCES\n    a.cpp b.cpp # c.cpp d.cpp\n    a_b.cpp\n "
                " HEADERS\n    b.hpp\n    a.hpp\n)\n"
            ),
            "io/CMakeLists.txt": (
                "add_library(io STATIC\n  a.cpp\n  a_b.cpp\n  ${more}\n "
                " b/a.cpp)\nset_source_files_properties(b.cpp a.cpp PROPERTIES X Y)\n"
            ),
        },
        ["physics/CMakeLists.txt:3", "physics/CMakeLists.txt:2", "physics/CMakeLists.txt:5"],
    ),
    "names_2d": (
        {
            "inversion/planted.cpp": (
                HEAD
                + "// Section2D is not counted here.\nSection2D planted(Section2D, Eigen::Vector2d, MT2DData,"
                " Mesh2d);\n"
            ),
            "physics/mt/d2/good.cpp": HEAD + "Section2D good;\n",
            "tests/unit/io/modem/good.cpp": HEAD + "Section2D good;\n",
        },
        ["inversion/planted.cpp:3", "inversion/planted.cpp:3"],
    ),
    "doc_openings": (
        {
            "physics/planted.hpp": (
                HEAD + "/// Of one run each.\nint a;\nint b;  ///< what it holds\n///\n/// The same\n/// of a"
                " file.\nint c;\n/// errors: none\nint d;\n"
            ),
            "physics/good.hpp": (
                HEAD
                + "/// Returns the number\n/// of a run.\nint a;  ///< the number\n        ///< of runs\n"
                '/// Whatever is left.\nchar b[] = "/// of a text";\n//// of a line\n'
            ),
        },
        ["physics/planted.hpp:2", "physics/planted.hpp:4", "physics/planted.hpp:5", "physics/planted.hpp:9"],
    ),
    "doc_sentences": (
        {
            "physics/planted.hpp": HEAD + f"/// Returns {'a ' * 13}\n/// {'b ' * 12}number. Short.\nint a;\n",
            "physics/good.hpp": (
                HEAD
                + f"/// Returns {'a ' * 13}\n/// `{'b ' * 12}`.\n///\n///     {'c ' * 30}\n///\n/// {'d ' * 25}\n"
                "int a;\n"
            ),
        },
        ["physics/planted.hpp:2"],
    ),
    "spdx": ({"physics/planted.cpp": "int planted;\n"}, ["physics/planted.cpp:1"]),
    "readmes": ({"physics/planted/planted.cpp": HEAD}, ["physics/planted/README.md:1"]),
    "sizes": ({"data/planted.bin": "x" * (MAX_FILE_BYTES + 1)}, ["data/planted.bin:1"]),
    "words": ({"docs/planted.md": "see /" + "work/main\n"}, ["docs/planted.md:1"]),
    "format": (
        {"physics/planted.cpp": HEAD + "int   planted ;\n", "physics/good.cpp": HEAD + "int good;\n"},
        ["physics/planted.cpp:1"],
    ),
}


def plant(root, files):
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
    shutil.copy(pathlib.Path(__file__).resolve().parents[3] / ".clang-format", root / ".clang-format")


def faults_of(check):
    """Returns what is wrong with a check: plants not noticed, good files noticed, a list without effect."""
    files, expected = PLANTS[check.name]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        plant(root, files)
        found = ratchet.violations(check, Tree(root))
        faults = [
            f"the planted violation {place} was NOT noticed"
            for place in expected
            if not any(line.startswith(place) for line in found)
        ]
        faults += [
            f"noticed without reason: {line}" for line in found if not line.startswith(tuple(expected))
        ]
        if len(found) != len(expected):
            faults.append(f"{len(found)} violations instead of {len(expected)}: {found}")
        return faults + (faults_of_list(check, root, found) if check.allowed else [])


def faults_of_list(check, root, found):
    always = ratchet.found_by(check, Tree(root))[0]
    path = root / check.allowed.path
    faults = []
    ratchet.rewrite(check, Tree(root), grow=False)  # There is no list yet, so this makes one.
    if sorted(ratchet.violations(check, Tree(root))) != sorted(always) or len(always) == len(found):
        faults.append("a list rewritten from the tree does not allow what the tree contains")
    listed = path.read_text(encoding="utf-8")
    path.write_text("# nothing is allowed\n", encoding="utf-8")
    if (
        ratchet.rewrite(check, Tree(root), grow=False)[0]
        or not ratchet.rewrite(check, Tree(root), grow=True)[0]
    ):
        faults.append("a list grows without --grow, or does not grow with it")
    if path.read_text(encoding="utf-8") != listed:
        faults.append("two lists rewritten from one tree differ")
    for planted in PLANTS[check.name][0]:
        (root / planted).unlink()
    if not any(line.startswith(check.allowed.path) for line in ratchet.violations(check, Tree(root))):
        faults.append("an entry that is no longer needed was NOT noticed")
    path.write_text("<<<<<<< ours\nplanted\n", encoding="utf-8")
    if len(ratchet.violations(check, Tree(root))) != 2:
        faults.append("lines that cannot be read were NOT noticed")
    return faults


def check_figures(checks):
    """Prints whether the figures of a small tree are right; returns the exit code."""
    from .figures import figures

    with tempfile.TemporaryDirectory() as folder:
        plant(
            pathlib.Path(folder),
            {
                "apps/mt_invert/main.cpp": including("io/edi/read.hpp") + LONG,
                "apps/mt_invert/cli/parts.hpp": (
                    including("apps/mt_invert/config.hpp") + "/// Of one run.\nint planted(Section2D);\n"
                ),
                "apps/mt_invert/config.hpp": (
                    including("apps/mt_invert/cli/parts.hpp") + "int a();\nint b();\n"
                ),
            },
        )
        rows = {name: value for name, value, _ in figures(Tree(folder), checks)}
    expected = {
        "files of apps/mt_invert/": "3 in 1 rooms, 11 lines",
        "files that name a 2-D type (library and apps, without the engine)": (
            "1 of 3, 1 outside the 2-D folders"
        ),
        "headers under 30 lines": "2",
        "headers with a single function": "1",
        "C++ lines over 110 columns": "1 of 11, 9.1 %",
        "/// with an opening to avoid": "1 of 1",
        "folder edges that close a cycle": "1",
    }
    wrong = {name: rows.get(name) for name, value in expected.items() if rows.get(name) != value}
    print(f"figures: wrong are {wrong}" if wrong else "figures: those of a small tree are right")
    return 1 if wrong else 0
