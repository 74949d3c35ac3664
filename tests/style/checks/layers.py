# SPDX-License-Identifier: Apache-2.0
"""Which layer includes which, and where each third-party library may be touched."""

import re

from .cpp import includes
from .ratchet import Allowed, Finding
from .tree import CPP, IO_GROUPS, LAYERS, SUPPORT_FOLDERS, folder_of, layer_of

HEAD = """Include edges that the layers do not have, each with its reason. An entry goes with its last edge.
file -> layer  reason
folder -> layer  reason"""
LAYER_EDGES = Allowed("allowed_edges.txt", HEAD, owns=lambda key: not key.startswith("io/"))
IO_EDGES = Allowed("allowed_edges.txt", HEAD, owns=lambda key: key.startswith("io/"))

# Each third-party library and the folders that may touch it (prefixes). Tests may use any except Catch2,
# which has one door.
THIRD_PARTY = [
    ("PETSc", r"petsc", ["physics/linalg/"]),
    ("HDF5", r"(hdf5|H5[A-Z])", ["io/hdf5/"]),
    ("VTK", r"vtk", ["io/vtk/"]),
    ("cairo", r"cairo", ["io/report/"]),
    ("PROJ", r"proj\.h", ["io/geodesy/"]),
    ("GDAL", r"(gdal|cpl_|ogr_)", ["io/raster/"]),
    ("toml++", r"toml(\+\+|\.hpp)", ["io/toml/"]),
    ("CLI11", r"CLI/", ["apps/"]),
    ("spdlog", r"spdlog/", ["engine/core/"]),
    (
        "nlohmann-json",
        r"nlohmann/",
        [
            "engine/core/",
            "engine/inspect/",
            "engine/state/",
            "io/info/",
            "io/model/",
            "io/report/",
            "io/csv/",
            "apps/",
        ],
    ),
    ("pugixml", r"pugixml", ["io/"]),
    (
        "MPI",
        r"mpi\.h",
        ["engine/core/mpi/", "engine/dist/mpi/", "physics/", "inversion/", "models/", "apps/", "examples/", "benchmarks/"],
    ),
    ("hypre", r"(HYPRE|_hypre)", ["physics/linalg/"]),
    ("BLAS", r"(cblas|lapacke|openblas)", ["engine/", "inversion/"]),
    ("oneDNN", r"(oneapi/|dnnl)", ["engine/backend/cpu/"]),
    ("CUDA", r"(cuda|cublas|cudnn|nvrtc|nccl|cusparse)", ["engine/backend/cuda/", "physics/"]),
    ("Catch2", r"catch2/", []),
]
CATCH_DOORS = {"tests/support/catch.hpp", "tests/support/catch_main.cpp"}


def edge(name, number, target, text):
    return Finding((f"{name} -> {target}", f"{folder_of(name)} -> {target}"), f"{name}:{number}", text)


def check_layers(tree):
    """Checks that includes start at the top of the tree and go only to the layers that LAYERS allows."""
    for name in tree.with_ending(*CPP):
        layer = layer_of(name)
        for number, quoted, path in includes(tree.text(name)):
            if not quoted:
                continue
            target = layer_of(path)
            is_catch = name.startswith("tests/") and path.startswith("catch2/")
            if target is None and not path.startswith(SUPPORT_FOLDERS) and not is_catch:
                if not name.startswith("examples/"):  # An outside project has headers of its own.
                    yield f'{name}:{number}: "{path}" is not written from the top of the tree'
            elif layer is not None and target is None:
                yield f'{name}:{number}: {layer} includes "{path}", which is no part of the library'
            elif layer not in (None, "io") and target not in LAYERS[layer]:
                yield edge(
                    name,
                    number,
                    target,
                    f"{layer} may not include {target} ({path}); the layers have no such edge",
                )


def check_io_edges(tree):
    """Checks the includes of each folder of io with IO_GROUPS."""
    for name in tree.with_ending(*CPP):
        if not name.startswith("io/"):
            continue
        folder = name.split("/")[1]
        group = next((group for group in IO_GROUPS if folder in group[0]), None)
        if group is None:
            yield f"{name}:1: the folder io/{folder} has no place in IO_GROUPS of tests/style/checks/tree.py"
            continue
        for number, quoted, path in includes(tree.text(name)):
            target = layer_of(path) if quoted else None
            if target == "io":
                other = path.split("/")[1]
                target = f"io/{other}"
                fits = other == folder or other in group[2]
            else:
                fits = target is None or target in group[1]
            if not fits:
                yield edge(
                    name,
                    number,
                    target,
                    f"io/{folder} may not include {target} ({path}); such files know"
                    f" {', '.join(sorted(group[1]))}",
                )


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
                    yield (
                        f"{name}:{number}: {library} may be included only in"
                        f" {', '.join(folders) or 'tests/support/catch.hpp'}"
                    )
