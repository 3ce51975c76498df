"""Texts of the kernels of reductions for the CPU device, where a thread does what a block of threads does on a GPU.

Its threads take turns, and barriers between them cost more than the operations. The order of these is that of
`device_orders.py`, so that results have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable

from lancehead.xp.device_orders import BLOCK, LEAF, Texts

#: Lines that a thread reduces together.
WIDTH = 64


class Serial(Texts):
    """The kernels of a reduction in an order, each thread of which has a block of a line."""

    def _head(self, name: str, is_joined: bool, memory: str) -> str:
        return self.kernel(
            name,
            is_joined,
            f"""{memory}
    for t in range(cuda.grid(1), rows * blocks, cuda.gridsize(1)):
        r = t // blocks
""",
        )

    def lanes_alone(self, is_joined: bool) -> str:
        """The sixteen lanes of a block."""
        at = self.at(is_joined)
        settled = self.result if is_joined else self.settled
        halves = "".join(
            f"""            for j in range({half}):
                lanes[j] = {self.combined("lanes[j]", f"lanes[j + {half}]")}
"""
            for half in (8, 4, 2, 1)
        )
        return f"""{self._head("alone", is_joined, f"    lanes = cuda.local.array(16, {self.dtype})")}\
        start = (t - r * blocks) * {BLOCK}
        count = {"size" if is_joined else f"min(size - start, {BLOCK})"}
        groups = count // 64
        if groups:
            for j in range(16):
                lanes[j] = {self.four(at, "start + j", 16)}
            for k in range(1, groups):
                i = start + 64 * k
                for j in range(16):
                    lanes[j] = {self.combined("lanes[j]", self.four(at, "i + j", 16))}
{halves}            total = lanes[0]
            first = start + 64 * groups
        else:
            total = {at("start")}
            first = start + 1
        for i in range(first, start + count):
            total = {self.combined("total", at("i"))}
        parts[t] = {settled}
"""

    def trees_alone(self) -> str:
        """The leaves of a tree of halves, and then the tree."""
        at = self.at(False)
        memory = f"    sums = cuda.local.array(8, {self.dtype})\n    tree = cuda.local.array(16, {self.dtype})"
        return f"""{self._head("alone", False, memory)}\
        base, whole = half_of(0, size, t - r * blocks, blocks >> 1, 0)
        for leaf in range(16):
            start = base
            count = whole
            k = 8
            while k and count > {LEAF}:
                start, count = half_of(start, count, leaf, k, k >> 1)
                k >>= 1
            if count == 0 or (k and leaf & (2 * k - 1)):
                continue
            eights = count >> 3
            if eights:
                for j in range(8):
                    sums[j] = {at("start + j")}
                for q in range(1, eights):
                    i = start + 8 * q
                    for j in range(8):
                        sums[j] = {self.combined("sums[j]", at("i + j"))}
                total = {self.tree([f"sums[{k}]" for k in range(8)])}
                first = start + 8 * eights
            else:
                total = {at("start")}
                first = start + 1
            for i in range(first, start + count):
                total = {self.combined("total", at("i"))}
            tree[leaf] = total
        k = 1
        while k < 16:
            for j in range(0, 16, 2 * k):
                start, count = half_of(0, whole, j, 8, k)
                if count > {LEAF}:
                    tree[j] = {self.combined("tree[j]", "tree[j + k]")}
            k *= 2
        total = tree[0]
        parts[t] = {self.settled}
"""

    def columns(self) -> str:
        """Blocks of lines that lie beside each other, from left to right: some lines by a thread, in one pass."""
        at = self.at(False)
        body = f"""    totals = cuda.local.array({WIDTH}, {self.dtype})
    groups = (rows + {WIDTH - 1}) // {WIDTH}
    for t in range(cuda.grid(1), groups * blocks, cuda.gridsize(1)):
        c = t // groups
        first = (t - c * groups) * {WIDTH}
        width = min(rows - first, {WIDTH})
        start = c * {BLOCK}
        for j in range(width):
            r = first + j
            totals[j] = {at("start")}
        for i in range(start + 1, min(start + {BLOCK}, size)):
            for j in range(width):
                r = first + j
                totals[j] = {self.combined("totals[j]", at("i"))}
        for j in range(width):
            r = first + j
            total = totals[j]
            parts[r * blocks + c] = {self.settled}
"""
        return self.kernel("columns", False, body)

    def places_alone(self, element: str, dtype: str, better: Callable[[str, str], str]) -> str:
        """The place of the best element of a block: each of sixteen lanes has its first best one."""
        memory = f"    best = cuda.local.array(16, {dtype})\n    places = cuda.local.array(16, np.int64)"
        x = element.format("i")
        step = f"""x = {x}
                is_better = {better("x", "best[j]")}
                best[j] = x if is_better else best[j]
                places[j] = i if is_better else places[j]"""
        return f"""{self._head("alone", False, memory)}\
        start = (t - r * blocks) * {BLOCK}
        stop = min(start + {BLOCK}, size)
        for j in range(16):
            i = min(start + j, stop - 1)
            best[j] = {x}
            places[j] = i
        whole = start + max((stop - start) // 16, 1) * 16
        for g in range(start + 16, whole, 16):
            for j in range(16):
                i = g + j
                {step}
        for i in range(whole, stop):
            for j in range(i - whole, i - whole + 1):
                {step}
        total = places[0]
        value = best[0]
        for j in range(1, 16):
            x = best[j]
            if ({better("x", "value")}) or (places[j] < total and not ({better("value", "x")})):
                value = x
                total = places[j]
        parts[t] = {self.settled}
"""


def reduction(given: str, dtype: str, order: str, prefix: str = "") -> str:
    """The further kernels of a reduction in an order."""
    texts = Serial(given, dtype, prefix)
    if order == "halves":
        return texts.trees_alone()
    if order == "lanes":
        return "\n".join([texts.lanes_alone(False), texts.lanes_alone(True)])
    return texts.columns() if order == "left" else ""


def place(given: str, element: str, dtype: str, better: Callable[[str, str], str]) -> str:
    """The further kernel of a reduction to places, of whose elements `element` is the text and `dtype` the type."""
    return Serial(given, "np.int64", "").places_alone(element, dtype, better)


__all__ = ["WIDTH", "place", "reduction"]
