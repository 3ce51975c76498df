"""Texts of the kernels of reductions and scans, whose orders are those of the host.

Lines are reduced in blocks of 4096 elements, as `lancehead.xp.folds` describes it: in lanes, by neighbours, or from
left to right. Sums of NumPy halve lines (`lancehead.lib.numpy.folds`). Kernels call `at(r, i, ...)`, which is element
`i` of line `r`, `op(a, b, r, ...)`, `opened(a, ...)`, which combines the initial value with a result, and
`final(a, n, ...)`, with further arguments.
"""

from __future__ import annotations

from collections.abc import Callable

from lancehead.xp.device_texts import HEAD, NJIT

#: Elements of a block of a reduction, and of a span of a scan.
BLOCK, SPAN = 4096, 512
#: From so many elements on, threads share blocks of lines, and how many a CUDA block has for that, by orders.
FROM = {"lanes": 64, "neighbours": 128, "halves": 129}
THREADS = {"lanes": 256, "neighbours": 64, "halves": 128}
#: Elements that NumPy's sums add in eight lanes, and of the parts of longer lines that a CUDA block adds: these are at
#: most 16 leaves, as a half has up to eight elements more than the other one.
LEAF, TREE = 128, 1792

#: The beginning of a loop in which a thread has a block of a line; neighbouring threads have neighbouring lines.
_BLOCK_OF_THREAD = f"""    for t in range(cuda.grid(1), rows * blocks, cuda.gridsize(1)):
        c = t // rows
        r = t - c * rows
        start = c * {BLOCK}
        stop = min(start + {BLOCK}, size)
"""


class Texts:
    """The kernels of a reduction in an order.

    `lines` and `blocks` reduce the blocks of lines: by a thread each, or by several. `joined_lines` and `joined_blocks`
    do so with the results of blocks as elements, and `finish` has a thread for all of those of a line. A line of `n`
    elements has `size` of them, or so many results of blocks.
    """

    def __init__(self, given: str, dtype: str, prefix: str) -> None:
        self.given, self.dtype, self.prefix = given, dtype, prefix
        self.op = f"{prefix}op"
        self.result = f"{prefix}final({prefix}opened(total{given}), n{given})"
        # The value that is stored for a block.
        self.settled = f"{self.result} if blocks == 1 else total"

    def at(self, is_joined: bool) -> Callable[[str], str]:
        """The texts of elements at places: those of lines, or results of blocks."""
        if is_joined:
            return lambda i: f"given[r * size + {i}]"
        return lambda i: f"{self.prefix}at(r, {i}{self.given})"

    def combined(self, a: str, b: str) -> str:
        """The text of an operator's result."""
        return f"{self.op}({a}, {b}, r{self.given})"

    def four(self, at: Callable[[str], str], i: str, step: int = 1) -> str:
        """Four elements that are so far from each other, combined in pairs."""
        a, b, c, d = (at(f"{i} + {k * step}") for k in range(4))
        return self.combined(self.combined(a, b), self.combined(c, d))

    def kernel(self, name: str, is_joined: bool, body: str) -> str:
        """A kernel that stores the results of blocks, or of whole lines if they have one block."""
        joined = ("joined_", ", given") if is_joined else ("", "")
        head = f"def {self.prefix}{joined[0]}{name}(parts, rows, size, n, blocks{joined[1]}{self.given}):"
        return f"{HEAD}{head}\n{body}"

    def left_to_right(self, is_first_opened: bool) -> str:
        """Blocks from left to right by a thread each, and results of blocks in the same way."""
        at, given = self.at(False), self.given
        opened = f"{self.prefix}opened(total{given})"
        return f"""{self.kernel("lines", False, _BLOCK_OF_THREAD)}        total = {at("start")}
        for i in range(start + 1, stop):
            total = {self.combined("total", at("i"))}
        parts[r * blocks + c] = {self.settled}

{HEAD}def {self.prefix}finish(out, parts, rows, n, blocks{given}):
    for r in range(cuda.grid(1), rows, cuda.gridsize(1)):
        total = parts[r * blocks]
        {f"total = {opened}" if is_first_opened else ""}
        for k in range(1, blocks):
            total = {self.combined("total", "parts[r * blocks + k]")}
        {"" if is_first_opened else f"total = {opened}"}
        out[r] = {self.prefix}final(total, n{given})
"""

    def lanes(self, is_joined: bool) -> str:
        """Blocks by sixteen threads each, whose reads are next to each other."""
        at, settled = self.at(is_joined), self.result if is_joined else self.settled
        # Results of blocks are one block, however many they are.
        where = ("1", "size") if is_joined else ("blocks", f"min(size - start, {BLOCK})")
        body = f"""    lanes = cuda.shared.array(256, {self.dtype})
    t = cuda.threadIdx.x
    task = cuda.blockIdx.x * 16 + t // 16
    j = t % 16
    r = task // {where[0]}
    start = (task - r * {where[0]}) * {BLOCK}
    count = {where[1]} if r < rows else 0
    groups = count // 64
    if groups:
        first = start + j
        total = {self.four(at, "first", 16)}
        for k in range(1, groups):
            i = first + 64 * k
            total = {self.combined("total", self.four(at, "i", 16))}
        lanes[t] = total
    half = 8
    while half:
        cuda.syncthreads()
        if groups and j < half:
            lanes[t] = {self.combined("lanes[t]", "lanes[t + half]")}
        half //= 2
    if j == 0 and r < rows:
        if groups:
            total = lanes[t]
            first = start + 64 * groups
        else:
            total = {at("start")}
            first = start + 1
        for i in range(first, start + count):
            total = {self.combined("total", at("i"))}
        parts[task] = {settled}
"""
        return self.kernel("blocks", is_joined, body)

    def neighbours(self, is_joined: bool) -> str:
        """Blocks by a thread each, four neighbours at a time: `stack` has results that wait for their neighbours.

        At each level these are up to three, as the digits in base four of the number of groups say.
        """
        at = self.at(is_joined)
        pair = self.combined("stack[level]", "stack[level + 1]")
        body = f"""    stack = cuda.local.array(16, {self.dtype})
{_BLOCK_OF_THREAD}        groups = (stop - start - 1) // 4
        for g in range(groups):
            i = start + 4 * g
            total = {self.four(at, "i")}
            k = g
            level = 0
            while k & 3 == 3:
                total = {self.combined(pair, self.combined("stack[level + 2]", "total"))}
                k >>= 2
                level += 3
            stack[level + (k & 3)] = total
        i = start + 4 * groups
        rest = stop - i
        if rest == 4:
            total = {self.four(at, "i")}
        else:
{self._few(at, "rest", " " * 12)}
        k = groups
        level = 0
        while k:
            if k & 3 == 3:
                total = {self.combined(pair, self.combined("stack[level + 2]", "total"))}
            elif k & 3 == 2:
                total = {self.combined(pair, "total")}
            elif k & 3 == 1:
                total = {self.combined("stack[level]", "total")}
            k >>= 2
            level += 3
        parts[r * blocks + c] = {self.settled}
"""
        return self.kernel("lines", is_joined, body)

    def _few(self, at: Callable[[str], str], count: str, indent: str) -> str:
        # The lines that combine fewer than four elements, from `i` on, from left to right.
        total = self.combined("total", at("i + 1"))
        lines = (
            f"total = {at('i')}",
            f"if {count} > 1:",
            f"    total = {total}",
            f"if {count} > 2:",
            f"    total = {self.combined('total', at('i + 2'))}",
        )
        return "\n".join(indent + line for line in lines)

    def _level(self, at: Callable[[str], str], begin: str, end: str, to: str, indent: str) -> str:
        # The lines that store the results of groups in shared memory. All threads leave a loop at the same time, and
        # what is for one of them is in a loop, too: the CPU device computes that many times faster.
        lines = f"""whole = ({end} - {begin}) // 4
rest = ({end} - {begin}) & 3
for k in range(0, whole, {THREADS["neighbours"]}):
    if k + t < whole:
        i = {begin} + 4 * (k + t)
        line[{to} + k + t] = {self.four(at, "i")}
for k in range(0, rest, {THREADS["neighbours"]}):
    if k + t == 0:
        i = {begin} + 4 * whole
{self._few(at, "rest", " " * 8)}
        line[{to} + whole] = total"""
        return "\n".join(indent + line for line in lines.split("\n"))

    def neighbours_shared(self, is_joined: bool) -> str:
        """The same by a CUDA block for each block: the results of a level come after those before in shared memory."""
        body = f"""    line = cuda.shared.array({BLOCK // 3 + 8}, {self.dtype})
    r = cuda.blockIdx.x // blocks
    start = (cuda.blockIdx.x - r * blocks) * {BLOCK}
    stop = min(start + {BLOCK}, size)
    t = cuda.threadIdx.x
{self._level(self.at(is_joined), "start", "stop", "0", " " * 4)}
    begin = 0
    end = (stop - start + 3) // 4
    for level in range(5):
        cuda.syncthreads()
{self._level(lambda i: f"line[{i}]", "begin", "end", "end", " " * 8)}
        following = end + (end - begin + 3) // 4
        begin = end
        end = following
    if t == 0:
        total = line[begin]
        parts[cuda.blockIdx.x] = {self.settled}
"""
        return self.kernel("blocks", is_joined, body)

    def leaves(self) -> str:
        """NumPy's sums of short lines, by a thread each."""
        at = self.at(False)
        eights = [f"sums[{k}]" for k in range(8)]
        body = f"""    sums = cuda.local.array(8, {self.dtype})
    for r in range(cuda.grid(1), rows, cuda.gridsize(1)):
        total = {at("0")}
        first = 1
        if size >= 8:
            first = size - (size & 7)
            for j in range(8):
                sums[j] = {at("j")}
            for i in range(8, first, 8):
                for j in range(8):
                    sums[j] = {self.combined("sums[j]", at("i + j"))}
            total = {self.tree(eights)}
        for i in range(first, size):
            total = {self.combined("total", at("i"))}
        parts[r] = {self.result}
"""
        return self.kernel("lines", False, body)

    def tree(self, values: list[str]) -> str:
        """The halves of as many values as a power of two, combined."""
        if len(values) == 1:
            return values[0]
        half = len(values) // 2
        return self.combined(self.tree(values[:half]), self.tree(values[half:]))

    def trees(self) -> str:
        """NumPy's sums of parts of lines, halves of halves, by a CUDA block each: eight threads add a leaf."""
        at = self.at(False)
        body = f"""    sums = cuda.shared.array(128, {self.dtype})
    tree = cuda.shared.array(16, {self.dtype})
    r = cuda.blockIdx.x // blocks
    base, whole = half_of(0, size, cuda.blockIdx.x - r * blocks, blocks >> 1, 0)
    t = cuda.threadIdx.x
    j = t % 8
    leaf = t // 8
    start = base
    count = whole
    k = 8
    while k and count > {LEAF}:
        start, count = half_of(start, count, leaf, k, k >> 1)
        k >>= 1
    # Leaves of fewer halvings have the first of several numbers.
    if k and leaf & (2 * k - 1):
        count = 0
    eights = count >> 3
    if eights:
        total = {at("start + j")}
        for q in range(1, eights):
            total = {self.combined("total", at("start + j + 8 * q"))}
        sums[t] = total
    step = 1
    while step < 8:
        cuda.syncthreads()
        if eights and j % (2 * step) == 0:
            sums[t] = {self.combined("sums[t]", "sums[t + step]")}
        step *= 2
    if j == 0 and count:
        if eights:
            total = sums[t]
            first = start + 8 * eights
        else:
            total = {at("start")}
            first = start + 1
        for i in range(first, start + count):
            total = {self.combined("total", at("i"))}
        tree[leaf] = total
    k = 1
    while k < 16:
        cuda.syncthreads()
        if t * 2 * k < 16:
            start, count = half_of(0, whole, t * 2 * k, 8, k)
            if count > {LEAF}:
                tree[t * 2 * k] = {self.combined("tree[t * 2 * k]", "tree[t * 2 * k + k]")}
        k *= 2
    if t == 0:
        total = tree[0]
        parts[cuda.blockIdx.x] = {self.settled}
"""
        return self.kernel("blocks", False, body)

    def joined_trees(self) -> str:
        """The sums of parts, two, four or eight at a time."""
        values = [f"given[first + {k}]" for k in range(8)]
        body = f"""    for t in range(cuda.grid(1), rows * blocks, cuda.gridsize(1)):
        r = t // blocks
        width = size // blocks
        first = t * width
        total = {self.tree(values[:2])}
        if width > 2:
            total = {self.combined("total", self.tree(values[2:4]))}
        if width > 4:
            total = {self.combined("total", self.tree(values[4:]))}
        parts[t] = {self.settled}
"""
        return self.kernel("lines", True, body)


#: The function of a half of a half, and so on, as bits of a path say, from one to that before another; as NumPy does.
_HALVES = f"""{NJIT}def half_of(start, count, path, k, stop):
    while k > stop:
        half = count >> 1
        half -= half & 7
        if path & k:
            start += half
            count -= half
        else:
            count = half
        k >>= 1
    return start, count
"""


def parts_of(n: int) -> int:
    """The number of parts of a line that have at most `TREE` elements, of which the last is the largest."""
    count = 1
    while n > TREE:
        n -= n // 2 - n // 2 % 8
        count *= 2
    return count


def reduction(given: str, dtype: str, order: str, prefix: str = "") -> str:
    """The kernels of a reduction in an order: of "lanes", "neighbours", from "left" to right, NumPy's of "halves"."""
    texts = Texts(given, dtype, prefix)
    if order == "halves":
        return "\n".join([_HALVES, texts.leaves(), texts.trees(), texts.joined_trees()])
    if order == "neighbours":
        kernels = [
            make(is_joined) for is_joined in (False, True) for make in (texts.neighbours, texts.neighbours_shared)
        ]
        return "\n".join(kernels)
    plain = texts.left_to_right(order == "left")
    return plain if order == "left" else "\n".join([plain, texts.lanes(False), texts.lanes(True)])


def scan(given: str, has_first: bool, exclusive: bool) -> str:
    """The kernels of a scan, which call `at`, `op`, `place(r, i, ...)`, and `first(...)` if there is one.

    A thread folds a span by itself, one combines what is before the spans of a line, and each then writes its results.
    """
    first = f"first({given[2:]})"
    # Exclusive results are those of the initial value and the elements after it.
    begin = f"{first} if i == 0 else at(r, i - 1{given})" if exclusive else f"at(r, i{given})"
    element = f"at(r, i - 1{given})" if exclusive else f"at(r, i{given})"
    is_joined = has_first and not exclusive
    joined = f"op(known, total, r{given})"
    head = f"""        c = t // rows
        r = t - c * rows
        i = c * {SPAN}
        stop = min(i + {SPAN}, n)
"""
    carried = f"""        total = {first}
        for c in range(spans):
            last = before[r * spans + c]
            before[r * spans + c] = total
            total = op(total, last, r{given})
""" if is_joined else f"""        total = before[r * spans]
        for c in range(1, spans):
            last = before[r * spans + c]
            before[r * spans + c] = total
            total = op(total, last, r{given})
"""  # fmt: skip
    return f"""{HEAD}def spans(before, rows, n, spans{given}):
    for t in range(cuda.grid(1), rows * spans, cuda.gridsize(1)):
{head}        total = {begin}
        for i in range(i + 1, stop):
            total = op(total, {element}, r{given})
        before[r * spans + c] = total

{HEAD}def carry(before, rows, spans{given}):
    for r in range(cuda.grid(1), rows, cuda.gridsize(1)):
{carried}
{HEAD}def write(out, before, rows, n, spans{given}):
    for t in range(cuda.grid(1), rows * spans, cuda.gridsize(1)):
{head}        known = before[r * spans + c]
        total = {begin}
        out[place(r, i{given})] = {joined if is_joined else f"{joined} if c else total"}
        for i in range(i + 1, stop):
            total = op(total, {element}, r{given})
            out[place(r, i{given})] = {joined if is_joined else f"{joined} if c else total"}
"""
