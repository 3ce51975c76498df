"""Texts of the kernels of reductions for the CPU device, where a thread does what a block of threads does on a GPU.

Its threads take turns, and barriers between them cost more than the operations. The order of these is that of
`device_orders.py`, so that results have the same bits.
"""

from __future__ import annotations

from lancehead.xp.device_orders import BLOCK, LEAF, Texts


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


def reduction(given: str, dtype: str, order: str, prefix: str = "") -> str:
    """The further kernels of a reduction in an order."""
    texts = Serial(given, dtype, prefix)
    if order == "halves":
        return texts.trees_alone()
    if order == "lanes":
        return "\n".join([texts.lanes_alone(False), texts.lanes_alone(True)])
    return ""


__all__ = ["reduction"]
