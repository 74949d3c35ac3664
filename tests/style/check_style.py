#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: check_style.py CHECK [--plant] [--root DIR]

Checks one rule over the files of the project (tracked, or untracked and not ignored) and prints each violation as file:line: text.
With --plant the rule is run on a small tree that breaks it, and the exit code is 0 only if the violation is found.
CHECK is one of the names at the end of this file. Exit codes: 0 clean, 1 violations, 77 the tool for this check is missing.
"""
import argparse
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CPP = (".cpp", ".hpp", ".cu", ".h")
MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 80
MAX_FILE_BYTES = 5_000_000
MAX_LINES_PER_OP = 80
OP_FOLDERS = ("engine/ops/", "engine/backend/", "engine/vmath/")
SKIPPED = 77

# Section 1 of the architecture: what each layer may include, with what its links bring along.
LAYERS = {
    "core": {"core"},
    "mpi": {"core", "mpi"},
    "engine": {"core", "engine"},
    "physics": {"core", "mpi", "physics"},
    "inversion": {"core", "mpi", "engine", "physics", "inversion"},
    "models": {"core", "mpi", "engine", "physics", "inversion", "models"},
    "io": {"core", "mpi", "engine", "physics", "io"},
    "apps": {"core", "mpi", "engine", "physics", "inversion", "models", "io", "apps"},
}
FOLDER_OF_LAYER = [("engine/core/mpi/", "mpi"), ("engine/core/", "core"), ("engine/", "engine"), ("physics/", "physics"),
                   ("inversion/", "inversion"), ("models/", "models"), ("io/", "io"), ("apps/", "apps")]
SUPPORT_FOLDERS = ("tests/", "examples/", "benchmarks/")  # may include every layer; no layer includes them

# Each third-party library and the folders that may touch it (prefixes). Tests may use any except Catch2, which has one door.
THIRD_PARTY = [
    ("PETSc", r"petsc", ["physics/linalg/"]),
    ("HDF5", r"(hdf5|H5[A-Z])", ["io/hdf5/"]),
    ("VTK", r"vtk", ["io/vtk/"]),
    ("cairo", r"cairo", ["io/report/"]),
    ("PROJ", r"proj\.h", ["io/geodesy/"]),
    ("toml++", r"toml(\+\+|\.hpp)", ["io/toml/"]),
    ("CLI11", r"CLI/", ["apps/"]),
    ("spdlog", r"spdlog/", ["engine/core/"]),
    ("nlohmann-json", r"nlohmann/", ["engine/core/", "engine/state/", "io/info/", "io/report/", "io/csv/", "apps/"]),
    ("pugixml", r"pugixml", ["io/"]),
    ("MPI", r"mpi\.h", ["engine/core/mpi/", "physics/", "inversion/", "models/", "apps/", "examples/", "benchmarks/"]),
    ("hypre", r"(HYPRE|_hypre)", ["physics/"]),
    ("BLAS", r"(cblas|lapacke|openblas)", ["engine/", "inversion/"]),
    ("oneDNN", r"(oneapi/|dnnl)", ["engine/backend/cpu/"]),
    ("CUDA", r"(cuda|cublas|cudnn|nvrtc|nccl|cusparse)", ["engine/backend/cuda/", "physics/"]),
    ("Catch2", r"catch2/", []),
]
CATCH_DOORS = {"tests/support/catch.hpp", "tests/support/catch_main.cpp"}

# Written in pieces, so that this file does not contain them.
PRIVATE_WORDS = [r"(?<![\w.])/" + "work/", r"(?<!\w)\." + "library\\b", "sub" + "agent", r"\.\./" + "shared"]
HOME_FOLDERS = [r"(?<![\w.])/" + "home/\\w", r"(?<![\w.])/" + "root/\\w"]


class Tree:
    """The files of a checkout, read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self._texts = {}
        self.files = sorted(self._list())

    def _list(self):
        if (self.root / ".git").exists() and shutil.which("git"):
            command = ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            names = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
            return {name for name in names if name and (self.root / name).is_file()}
        found = set()
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in (".git", "build", "out", ".cache")]
            found.update((pathlib.Path(folder) / name).relative_to(self.root).as_posix() for name in names)
        return found

    def text(self, name):
        if name not in self._texts:
            self._texts[name] = (self.root / name).read_bytes().decode("utf-8", errors="replace")
        return self._texts[name]

    def with_ending(self, *endings):
        return [name for name in self.files if name.endswith(endings)]


def layer_of(name):
    return next((layer for folder, layer in FOLDER_OF_LAYER if name.startswith(folder)), None)


def includes(text):
    """Yields (line number, is quoted, path) of each include line."""
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line)
        if match:
            yield number, match[1] == '"', match[2]


def check_layers(tree):
    for name in tree.with_ending(*CPP):
        layer = layer_of(name)
        for number, quoted, path in includes(tree.text(name)):
            if not quoted:
                continue
            target = layer_of(path)
            if target is None and not path.startswith(SUPPORT_FOLDERS) and not (name.startswith("tests/") and path.startswith("catch2/")):
                if not name.startswith("examples/"):  # an outside project has headers of its own
                    yield f'{name}:{number}: "{path}" is not written from the top of the tree'
            elif layer is not None and target is None:
                yield f'{name}:{number}: {layer} includes "{path}", which is no part of the library'
            elif layer is not None and target not in LAYERS[layer]:
                yield f"{name}:{number}: {layer} may not include {target} ({path}); the architecture has no such edge"


def check_third_party(tree):
    for name in tree.with_ending(*CPP):
        for number, _, path in includes(tree.text(name)):
            for library, pattern, folders in THIRD_PARTY:
                if not re.match(pattern, path):
                    continue
                allowed = name.startswith(tuple(folders)) if folders else False
                if library == "Catch2":
                    allowed = name in CATCH_DOORS
                elif name.startswith("tests/"):
                    allowed = True
                if not allowed:
                    yield f"{name}:{number}: {library} may be included only in {', '.join(folders) or 'tests/support/catch.hpp'}"


def without_comments_and_strings(text):
    """The same text, same lines, with comments, strings and characters blanked."""
    pattern = re.compile(r'R"([^\s()\\]{0,16})\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'')
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def cpp_functions(text):
    """Yields (name, first line, last line) of each function body at namespace or class level."""
    code = re.sub(r"(?m)^\s*#(?:[^\n]*\\\n)*[^\n]*", lambda match: re.sub(r"[^\n]", " ", match[0]), without_comments_and_strings(text))
    stack, head_start, line = [], 0, 1
    for position, letter in enumerate(code):
        if letter == "\n":
            line += 1
        elif letter == "{":
            head = code[head_start:position]
            outside = all(kind == "scope" for kind, _, _ in stack)
            if outside and re.search(r"\b(namespace|class|struct|union|enum|extern)\b", head) and not re.search(r"\)\s*(const|noexcept|override|final|->[^{]*|\s)*$", head):
                stack.append(("scope", "", line))
            elif outside and ")" in head:
                found = re.search(r"([\w:~]+)\s*\(", head)
                stack.append(("function", found[1] if found else "?", line - head.strip().count("\n")))
            else:
                stack.append(("block", "", line))
            head_start = position + 1
        elif letter == "}":
            if stack:
                kind, function, first = stack.pop()
                if kind == "function":
                    yield function, first, line
            head_start = position + 1
        elif letter == ";" and all(kind == "scope" for kind, _, _ in stack):
            head_start = position + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def allowed_lengths(tree):
    """Lines `path[:function]  reason` of the allow-list."""
    name = "tests/style/allowed_lengths.txt"
    lines = tree.text(name).splitlines() if name in tree.files else []
    entries = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return {entry[0] for entry in entries if len(entry) == 2}


def check_lengths(tree):
    allowed = allowed_lengths(tree)
    for name in tree.with_ending(*CPP, ".py", ".sh", ".cmake"):
        text = tree.text(name)
        n_lines = text.count("\n")
        if n_lines > MAX_FILE_LINES and name not in allowed:
            yield f"{name}:1: {n_lines} lines, more than {MAX_FILE_LINES}; split the file, or give the reason in tests/style/allowed_lengths.txt"
        functions = cpp_functions(text) if name.endswith(CPP) else python_functions(text) if name.endswith(".py") else ()
        for function, first, last in functions:
            if last - first + 1 > MAX_FUNCTION_LINES and f"{name}:{function}" not in allowed:
                yield f"{name}:{first}: {function} has {last - first + 1} lines, more than {MAX_FUNCTION_LINES}; split it, or allow it with a reason"


def is_source(name):
    base = name.rsplit("/", 1)[-1]
    return name.endswith(CPP + (".py", ".sh", ".cmake", ".cpp.in", ".cmake.in")) or base in ("CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy") \
        or name == ".ci/run"


def check_spdx(tree):
    for name in tree.files:
        if is_source(name) and "SPDX-License-Identifier: Apache-2.0" not in "\n".join(tree.text(name).splitlines()[:3]):
            yield f"{name}:1: no line 'SPDX-License-Identifier: Apache-2.0' on top"


def check_readmes(tree):
    folders = {name.rsplit("/", 1)[0] for name in tree.with_ending(*CPP, ".py")
               if name.startswith(tuple(folder for folder, _ in FOLDER_OF_LAYER) + ("examples/", "benchmarks/", "tests/support/", "tests/style/"))}
    for folder in sorted(folders):
        if f"{folder}/README.md" not in tree.files:
            yield f"{folder}/README.md:1: missing; say what is here, what it may include, where to start reading, how to add one more"


def check_sizes(tree):
    for name in tree.files:
        size = (tree.root / name).stat().st_size
        if size > MAX_FILE_BYTES:
            yield f"{name}:1: {size / 1e6:.1f} MB, more than {MAX_FILE_BYTES / 1e6:.0f} MB"


def check_words(tree):
    private = re.compile("|".join(PRIVATE_WORDS))
    home = re.compile("|".join(PRIVATE_WORDS + HOME_FOLDERS))
    for name in tree.files:
        pattern = private if name.startswith(("data/", "tests/")) else home  # field files may name their makers' folders
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            match = pattern.search(line)
            if match:
                yield f"{name}:{number}: '{match[0]}' means nothing outside one machine"


def check_format(tree):
    tool = os.environ.get("CLANG_FORMAT", "clang-format")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout if shutil.which(tool) else ""
    if not re.search(r"version 14\.", version):
        print(f"skipped: the rules are for clang-format 14, found '{version.strip() or 'none'}'")
        sys.exit(SKIPPED)
    names = tree.with_ending(".cpp", ".hpp", ".cu")
    for first in range(0, len(names), 50):
        command = [tool, "--dry-run", "-Werror", *names[first:first + 50]]
        found = subprocess.run(command, cwd=tree.root, capture_output=True, text=True).stderr
        for name in dict.fromkeys(re.findall(r"(?m)^([^:\n]+):\d+:\d+: error", found)):
            yield f"{name}:1: not formatted; run scripts/format.sh"


def lines_of_code(text):
    """Lines that are neither empty nor a comment."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def check_primitives(tree):
    n_ops = sum(1 for name in tree.files if re.fullmatch(r"docs/ops/(?!README)\w+\.md", name))  # a test keeps one page per row
    per_folder = {folder: sum(lines_of_code(tree.text(name)) for name in tree.with_ending(*CPP) if name.startswith(folder)) for folder in OP_FOLDERS}
    per_op = sum(per_folder.values()) / max(n_ops, 1)
    print(f"{per_op:.0f} lines of code per op: {n_ops} ops, " + ", ".join(f"{folder} {n}" for folder, n in per_folder.items()))
    if per_op > MAX_LINES_PER_OP:
        yield f"engine/ops: {per_op:.0f} lines of code per op, more than {MAX_LINES_PER_OP}; say ops by others, share what families have in common"


HEAD = "// SPDX-License-Identifier: Apache-2.0\n"
# For each check: the check itself and a file (name, content) that breaks it.
CHECKS = {
    "layers": (check_layers, "physics/mt/planted.cpp", HEAD + '#include "inversion/gauss_newton.hpp"\n'),
    "third_party": (check_third_party, "inversion/planted.cpp", HEAD + "#include <petscksp.h>\n"),
    "lengths": (check_lengths, "physics/planted.cpp", HEAD + "int planted(int x) {\n" + "  ++x;\n" * MAX_FUNCTION_LINES + "  return x;\n}\n"),
    "spdx": (check_spdx, "physics/planted.cpp", "int planted;\n"),
    "readmes": (check_readmes, "physics/planted/planted.cpp", HEAD),
    "sizes": (check_sizes, "data/planted.bin", "x" * (MAX_FILE_BYTES + 1)),
    "words": (check_words, "docs/planted.md", "see /" + "work/main\n"),
    "primitives": (check_primitives, "engine/ops/planted.cpp", HEAD + "int planted;\n" * (MAX_LINES_PER_OP + 1)),
    "format": (check_format, "physics/planted.cpp", HEAD + "int   planted ;\n"),
}


def violations_of_planted(name):
    check, path, content = CHECKS[name]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(content)
        style = pathlib.Path(__file__).resolve().parents[2] / ".clang-format"
        shutil.copy(style, root / ".clang-format")
        return [line for line in check(Tree(root)) if line.startswith(path.rsplit("/", 1)[0])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--plant", action="store_true", help="run on a tree that breaks the rule; succeed if it is noticed")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    if arguments.plant:
        found = violations_of_planted(arguments.check)
        print("\n".join(found) or f"{arguments.check}: the planted violation was NOT noticed")
        return 0 if found else 1
    found = list(CHECKS[arguments.check][0](Tree(arguments.root)))
    print("\n".join(found) or f"{arguments.check}: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
