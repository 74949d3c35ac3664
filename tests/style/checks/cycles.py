# SPDX-License-Identifier: Apache-2.0
"""The graph of folders has no cycle. A folder and a folder within it are two nodes of the graph."""

import collections

from .cpp import includes
from .ratchet import Allowed, Finding
from .tree import CPP, folder_of, in_library_or_apps

ALLOWED = Allowed(
    "allowed_cycles.txt",
    """Include edges between folders that close a cycle: without them the graph of folders has none.
folder -> folder  reason""",
)


def folder_edges(tree):
    """Returns {(folder, included folder): [file:line, …]} of the library and the apps."""
    edges = collections.defaultdict(list)
    for name in tree.with_ending(*CPP):
        if not in_library_or_apps(name):
            continue
        for number, quoted, path in includes(tree.text(name)):
            if quoted and in_library_or_apps(path) and folder_of(path) != folder_of(name):
                edges[folder_of(name), folder_of(path)].append(f"{name}:{number}")
    return dict(edges)


def components(edges):
    """Returns the sets of folders that reach each other, those with more than one member."""
    after = collections.defaultdict(set)
    for first, second in edges:
        after[first].add(second)

    def reached(start):
        seen, todo = set(), [start]
        while todo:
            new = after[todo.pop()] - seen
            seen |= new
            todo.extend(new)
        return seen

    reach = {node: reached(node) for node in list(after)}
    found = {frozenset(other for other in reach[node] if node in reach.get(other, ())) for node in reach}
    return sorted((group for group in found if len(group) > 1), key=sorted)


def feedback(group, edges):
    """Returns edges of few includes whose removal leaves a group of folders without a cycle."""
    weight = {pair: len(places) for pair, places in edges.items() if pair[0] in group and pair[1] in group}

    def pull(
        node, other
    ):  # what is gained when node stands above other: its includes of it minus the reverse ones
        return weight.get((node, other), 0) - weight.get((other, node), 0)

    order = sorted(group, key=lambda node: (sum(pull(node, other) for other in group), node))
    improved = True
    while (
        improved
    ):  # One folder at a time moves to where it costs least; each move lowers the sum, so this ends.
        improved = False
        for node in sorted(group):
            place = order.index(node)
            rest = order[:place] + order[place + 1 :]
            gains = [0]
            for other in rest:
                gains.append(gains[-1] + pull(node, other))
            best = max(range(len(gains)), key=lambda position: (gains[position], -position))
            if gains[best] > gains[place]:
                order = rest[:best] + [node] + rest[best:]
                improved = True
    rank = {node: position for position, node in enumerate(order)}
    return needed_of([pair for pair in sorted(weight) if rank[pair[0]] < rank[pair[1]]], weight)


def needed_of(removed, edges):
    """Returns those of the removed edges without whose removal there would be a cycle."""
    kept = [pair for pair in removed if pair in edges]
    left = set(edges) - set(kept)
    for pair in list(kept):
        if not way(left, pair[1], pair[0]):
            left.add(pair)
            kept.remove(pair)
    return kept


def way(edges, start, end):
    """Returns the folders on a shortest way along the edges, or none."""
    after = collections.defaultdict(list)
    for first, second in sorted(edges):
        after[first].append(second)
    before, todo = {start: None}, collections.deque([start])
    while todo:
        node = todo.popleft()
        if node == end:
            found = [node]
            while before[found[-1]] is not None:
                found.append(before[found[-1]])
            return found[::-1]
        for other in after[node]:
            if other not in before:
                before[other] = node
                todo.append(other)
    return []


def closing_edges(edges, listed=()):
    """Returns the listed edges that are needed, and others until no cycle is left."""
    kept = [pair for pair in listed if pair in edges]
    left = {pair: places for pair, places in edges.items() if pair not in kept}
    added = [pair for group in components(left) for pair in feedback(group, left)]
    return needed_of(kept + added, edges)


def check_cycles(tree, listed):
    edges = folder_edges(tree)
    for first, second in closing_edges(edges, [tuple(key.split(" -> ")) for key in listed]):
        circle = " -> ".join([first] + way(set(edges) - {(first, second)}, second, first))
        yield Finding(
            (f"{first} -> {second}",),
            edges[first, second][0],
            f"an include closes a cycle of folders: {circle}",
        )
