"""Where large graphs are cut: loops of a program repeat operations, and a region for one round serves all rounds.

Compilation takes time in proportion to the operations. Rounds that are regions of their own are compiled once, and cost
that the arrays between them are stored.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from lancehead.xp.graph import Node
from lancehead.xp.rows import Kind

#: Smaller graphs are one region, and so many operations are a region at least.
_LARGE, _LEAST = 64, 32
#: Arrays that are stored between rounds, at most.
_STATE = 3
#: By so many operations that follow, a place in a round is known.
_KNOWN_BY = 8


def rounds(order: Sequence[Node]) -> list[list[Node]]:
    """For operations in their order, the nodes that are stored after each of the rounds but the last."""
    if len(order) <= _LARGE:
        return []
    states = _states(order)
    places: dict[object, list[int]] = {}
    for i, state in states.items():
        following = tuple([n.op for n in order[i + 1 : i + 1 + _KNOWN_BY]])
        places.setdefault((following, len(state)), []).append(i)
    found: list[int] = []
    for same in places.values():
        cuts = same[:1]
        for i in same:
            if i - cuts[-1] >= _LEAST:
                cuts.append(i)
        if (not found or cuts[0] < found[0]) and _saves(order, cuts):
            found = cuts
    return [states[i] for i in found]


def _saves(order: Sequence[Node], cuts: Sequence[int]) -> bool:
    # Whether at least half of the rounds are equal to another one.
    between = [tuple([n.op for n in order[i + 1 : k + 1]]) for i, k in itertools.pairwise(cuts)]
    return len(between) > 1 and 2 * len(set(between)) <= len(between)


def _states(order: Sequence[Node]) -> dict[int, list[Node]]:
    # For each place after which few arrays are read that were computed before it: these.
    last: dict[Node, int] = {}
    for i, n in enumerate(order):
        for k in n.inputs:
            last[k] = i
    found: dict[int, list[Node]] = {}
    alive: dict[Node, None] = {}
    for i, n in enumerate(order):
        for k in n.inputs:
            if last[k] == i:
                alive.pop(k, None)
        if last.get(n, -1) > i:
            alive[n] = None
        if 0 < len(alive) <= _STATE and not any(k.parts or k.op.kind is Kind.VIEW for k in alive):
            found[i] = list(alive)
    return found
