#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: make_layouts.py > tests/data/layouts.txt

Writes which elements of small tensors the ranks of a mesh hold. The engine computes where pieces begin; here
each element finds its owner by itself: cut points divide the axis into equal parts, and the element belongs
to the part whose number is that of the cut points before the end of the element's block.
"""

import fractions
import itertools
import re

CASES = []


def case(mesh, shape, layout):
    CASES.append((mesh, shape, layout))


# Extents that divide, that do not, and that are shorter than the number of pieces.
for n, extents in [(1, [0, 1, 5]), (2, [0, 1, 2, 3, 7, 8]), (3, [0, 1, 2, 3, 4, 5, 6, 7, 10]),
                   (4, [0, 1, 2, 3, 4, 5, 6, 7, 9, 12]), (5, [3, 4, 9, 11]), (7, [5, 6, 10, 15]), (8, [3, 8, 13])]:
    for extent in extents:
        case(f"x={n}", f"{extent}", "[x]")
# Pieces of whole blocks.
for n, extent, grain in [(2, 24, 4), (4, 24, 4), (3, 24, 4), (5, 24, 4), (7, 24, 4), (4, 10, 2), (4, 10, 3), (4, 10, 4),
                         (2, 3, 2), (2, 5, 4), (2, 4, 5), (3, 9, 3), (3, 12, 5), (3, 0, 2), (4, 7, 2), (6, 13, 3)]:
    case(f"x={n}", f"{extent}", f"[x by {grain}]")
# More shards than ranks, which divide them or do not.
for n, shards, extent in [(1, 8, 5), (2, 8, 16), (3, 8, 16), (4, 8, 16), (5, 8, 16), (7, 8, 16), (8, 8, 16), (2, 3, 6),
                          (2, 5, 10), (3, 4, 12), (3, 8, 5), (2, 8, 3), (5, 6, 7), (3, 10, 21), (4, 6, 9), (2, 4, 1)]:
    case(f"x={n}/{shards}", f"{extent}", "[x]")
for n, shards, extent, grain in [(2, 8, 24, 4), (3, 8, 24, 4), (3, 4, 20, 3), (2, 3, 9, 2), (4, 8, 12, 5)]:
    case(f"x={n}/{shards}", f"{extent}", f"[x by {grain}]")
# Two axes of the mesh cut one axis of the tensor, in both orders.
for mesh in ["x=2 y=2", "x=2 y=3", "x=3 y=2", "x=2/4 y=2", "x=2/3 y=2/4"]:
    for extent in [5, 7, 12]:
        case(mesh, f"{extent}", "[x*y]")
        case(mesh, f"{extent}", "[y*x]")
for extent, grain in [(24, 4), (10, 3)]:
    case("x=2 y=3", f"{extent}", f"[x*y by {grain}]")
    case("x=2 y=2/4", f"{extent}", f"[y*x by {grain}]")
# Matrices: rows, columns, blocks, and copies along an axis that cuts nothing.
for mesh in ["x=2 y=2", "x=2 y=3", "x=3 y=2", "x=1 y=4"]:
    for shape in ["4 6", "5 3", "1 7"]:
        for layout in ["[x, y]", "[y, x]", "[x, whole]", "[whole, y]", "[whole, whole]"]:
            case(mesh, shape, layout)
for shape in ["6 4", "3 5"]:
    for layout in ["[x*y, whole]", "[whole, y*x]", "[x by 2, y]", "[x, y by 3]", "[y by 2, x by 3]"]:
        case("x=2 y=2", shape, layout)
# Tensors of three axes, meshes of three axes, scalars, and terms, which change no box.
for layout in ["[x, y, z]", "[z, x, y]", "[x*z, whole, y]", "[whole, z*y*x, whole]", "[y, whole, x by 2]"]:
    case("x=2 y=2 z=2", "4 6 5", layout)
    case("x=2 y=3 z=1", "3 7 4", layout)
case("x=2 y=2", "scalar", "[]")
case("x=2 y=2", "scalar", "[], sum over x")
case("x=2 y=2", "6", "[x], sum over y")
case("x=2 y=2", "6 2", "[whole, y], max over x")
case("x=2 y=3", "6", "[y], one over x, on host")
case("x=2 y=3", "0 4", "[x, y], on host")
case("x=3/5", "8 2", "[x, whole]")
case("x=3/5", "8 2", "[whole, x]")
case("x=3", "2 0", "[x, whole]")
case("x=3", "2 0", "[whole, x]")


def part_of(end, length, n):
    """Returns the number of cut points i length / n with 0 < i < n that lie before a point."""
    return sum(1 for i in range(1, n) if fractions.Fraction(i * length, n) < end)


def owner(element, extent, ranks, shards, grain):
    end_of_block = (element // grain + 1) * grain
    shard = part_of(end_of_block, extent, shards)
    return part_of(shard + 1, shards, ranks)


def boxes(mesh, shape, layout):
    axes = [(name, int(size), int(shards or size)) for name, size, shards in re.findall(r"(\w+)=(\d+)/?(\d*)", mesh)]
    extents = [] if shape == "scalar" else [int(each) for each in shape.split()]
    cuts = [each for each in layout[1 : layout.index("]")].split(", ") if each]
    for point in itertools.product(*(range(size) for _, size, _ in axes)):
        ranges = []
        for extent, cut in zip(extents, cuts, strict=True):
            names, _, grain = cut.partition(" by ")
            index, ranks, shards = 0, 1, 1
            for name in names.split("*") if names != "whole" else []:
                number = [each[0] for each in axes].index(name)
                index = index * axes[number][1] + point[number]
                ranks *= axes[number][1]
                shards *= axes[number][2]
            mine = [e for e in range(extent) if owner(e, extent, ranks, shards, int(grain or 1)) == index]
            ranges.append(f"{mine[0]}:{mine[-1] + 1}" if mine else "")
        yield "none" if not all(ranges) else " ".join(ranges) or "all"


print("# Which elements each rank of a mesh holds, in the order of the mesh's points, the last axis fastest.")
print("# mesh (size/shards of each axis) | shape | layout | elements of each rank: first:behind the last, per axis")
for mesh, shape, layout in CASES:
    print(f"{mesh} | {shape} | {layout} | " + " | ".join(boxes(mesh, shape, layout)))
