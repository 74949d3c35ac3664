# SPDX-License-Identifier: Apache-2.0
"""The files of a checkout, and which layer of the project each belongs to."""

import os
import pathlib
import shutil
import subprocess

CPP = (".cpp", ".hpp", ".cu", ".h")
HEADERS = (".hpp", ".h")

# The layers, with what each may include. The folders of io have a table of their own, IO_GROUPS.
LAYERS = {
    "core": {"core"},
    "mpi": {"core", "mpi"},
    "engine": {"core", "engine"},
    "dist": {"core", "mpi", "engine", "dist"},
    "mesh": {"core", "mesh"},
    "physics": {"core", "mpi", "mesh", "physics"},
    "inversion": {"core", "mpi", "engine", "mesh", "inversion"},
    "inversion_mt": {"core", "mpi", "engine", "mesh", "physics", "inversion", "inversion_mt"},
    "models": {"core", "engine", "mesh", "inversion", "models"},
    "models_study": {
        "core",
        "mpi",
        "engine",
        "mesh",
        "physics",
        "inversion",
        "inversion_mt",
        "models",
        "models_study",
    },
    "io": None,
    "apps": {
        "core",
        "mpi",
        "engine",
        "mesh",
        "physics",
        "inversion",
        "inversion_mt",
        "models",
        "models_study",
        "dist",
        "io",
        "apps",
    },
}
# The first folder that fits decides.
FOLDER_OF_LAYER = [
    ("engine/core/mpi/", "mpi"),
    ("engine/core/", "core"),
    ("engine/dist/mpi/", "dist"),
    ("engine/", "engine"),
    ("physics/mesh/", "mesh"),
    ("physics/", "physics"),
    ("inversion/mt/", "inversion_mt"),
    ("inversion/", "inversion"),
    ("models/study/", "models_study"),
    ("models/", "models"),
    ("io/", "io"),
    ("apps/", "apps"),
]
SUPPORT_FOLDERS = (
    "tests/",
    "examples/",
    "benchmarks/",
)  # They may include every layer; no layer includes them.
LIBRARY = ("engine/", "physics/", "inversion/", "models/", "io/")

# Groups of the folders of io, lowest first: folders, layers they may include, folders of io they may include.
BELOW_IO = {"core", "mpi", "engine", "mesh", "physics", "inversion", "inversion_mt", "models"}
PLAIN_FILES = {"text", "hdf5", "toml", "csv"}
FORMATS = {"geodesy", "edi", "emtf", "femtic", "gocad", "jones", "modem", "mare2dem", "mt2d", "mth5", "occam2d", "raster", "survey", "wsinv", "zfile", "zonge"}
RESULTS = {"model", "run", "vtk", "report", "info", "result"}
IO_GROUPS = [
    (PLAIN_FILES, {"core"}, {"text"}),
    (FORMATS, {"core", "mesh", "physics"}, PLAIN_FILES | FORMATS),
    (RESULTS, BELOW_IO, PLAIN_FILES | FORMATS | RESULTS),
]


class Tree:
    """Holds the files of a checkout and reads each at most once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self._texts = {}
        self.files = sorted(self._list())
        self.names = set(self.files)

    def _list(self):
        if (self.root / ".git").exists() and shutil.which("git"):
            command = [
                "git",
                "-C",
                str(self.root),
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ]
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

    def n_lines(self, name):
        return self.text(name).count("\n")


def folder_of(name):
    return name.rsplit("/", 1)[0] if "/" in name else "."


def layer_of(name):
    return next((layer for folder, layer in FOLDER_OF_LAYER if name.startswith(folder)), None)


def in_library_or_apps(name):
    return layer_of(name) is not None
