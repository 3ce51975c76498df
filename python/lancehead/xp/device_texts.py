"""Texts of kernels for devices. Their loops let one thread compute several elements, if there are fewer threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_HEAD = "@cuda.jit(boundscheck=False)\n"
_NJIT = '@njit(error_model="numpy")\n'


def elements(names: Iterable[str], lines: Sequence[str]) -> str:
    """The kernel whose lines compute element `i`."""
    loop = "    for i in range(cuda.grid(1), n, cuda.gridsize(1)):"
    return "\n".join([f"{_HEAD}def kernel({', '.join(['n', *names])}):", loop, *lines, ""])


CHECK = f"""{_HEAD}def kernel(count, n, places, bad):
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        if places[i] < -n or places[i] >= n:
            cuda.atomic.min(bad, 0, i)
"""


def function(name: str, names: Iterable[str], lines: Sequence[str], result: str) -> str:
    """A function of kernels."""
    return "\n".join([f"{_NJIT}def {name}({', '.join(names)}):", *lines, f"    return {result}", ""])


def _of_blocks(given: str, dtype: str, prefix: str, settled: str) -> str:
    # The kernel in which the threads of a block reduce one of elements.
    at, op = f"{prefix}at", f"{prefix}op"
    return f"""{_HEAD}def {prefix}blocks(parts, rows, n, blocks{given}):
    eights = cuda.shared.array(256, {dtype})
    r = cuda.blockIdx.x // blocks
    start = (cuda.blockIdx.x - r * blocks) * 2048
    stop = min(start + 2048, n)
    whole = (stop - start) // 8
    t = cuda.threadIdx.x
    if t < whole:
        eights[t] = {prefix}eight(r, start + 8 * t{given})
    cuda.syncthreads()
    if t == 0:
        if whole:
            total = eights[0]
            for k in range(1, whole):
                total = {op}(total, eights[k], r{given})
            first = start + 8 * whole
        else:
            total = {at}(r, start{given})
            first = start + 1
        for i in range(first, stop):
            total = {op}(total, {at}(r, i{given}), r{given})
        parts[cuda.blockIdx.x] = {settled}
"""


def reduction(given: str, dtype: str, prefix: str = "") -> str:
    """The kernels of a reduction.

    They call `at(r, i, ...)`, `op(a, b, r, ...)`, `opened(a, ...)` and `final(a, n, ...)` with further arguments.
    """
    at, op, final = f"{prefix}at", f"{prefix}op", f"{prefix}final"
    eight = f"""{_NJIT}def {prefix}eight(r, k{given}):
    a = {op}({at}(r, k{given}), {at}(r, k + 1{given}), r{given})
    b = {op}({at}(r, k + 2{given}), {at}(r, k + 3{given}), r{given})
    c = {op}({at}(r, k + 4{given}), {at}(r, k + 5{given}), r{given})
    d = {op}({at}(r, k + 6{given}), {at}(r, k + 7{given}), r{given})
    return {op}({op}(a, b, r{given}), {op}(c, d, r{given}), r{given})
"""
    settled = f"{final}({prefix}opened(total{given}), n{given}) if blocks == 1 else total"
    return f"""{eight}
{_HEAD}def {prefix}lines(parts, rows, n, blocks{given}):
    for t in range(cuda.grid(1), rows * blocks, cuda.gridsize(1)):
        c = t // rows
        r = t - c * rows
        start = c * 2048
        stop = min(start + 2048, n)
        whole = (stop - start) // 8
        if whole:
            total = {prefix}eight(r, start{given})
            for k in range(1, whole):
                total = {op}(total, {prefix}eight(r, start + 8 * k{given}), r{given})
            first = start + 8 * whole
        else:
            total = {at}(r, start{given})
            first = start + 1
        for i in range(first, stop):
            total = {op}(total, {at}(r, i{given}), r{given})
        parts[r * blocks + c] = {settled}

{_of_blocks(given, dtype, prefix, settled)}
{_HEAD}def {prefix}finish(out, parts, rows, n, blocks{given}):
    for r in range(cuda.grid(1), rows, cuda.gridsize(1)):
        total = {prefix}opened(parts[r * blocks]{given})
        for k in range(1, blocks):
            total = {op}(total, parts[r * blocks + k], r{given})
        out[r] = {final}(total, n{given})
"""


def nothing(given: str, result: str) -> str:
    """The kernel of reductions of no elements."""
    return f"""{_HEAD}def nothing(out, rows{given}):
    for r in range(cuda.grid(1), rows, cuda.gridsize(1)):
        out[r] = {result}
"""


def scan(given: str, has_first: bool, exclusive: bool, part: int) -> str:
    """The kernels of a scan, which call `at`, `op`, `place(r, i, ...)`, and `first(...)` if there is one."""
    first = f"first({given[2:]})"
    begin = f"total = {first}\n" if has_first else "total = before[r * parts]\n"
    carry = (
        f"""        for c in range(parts):
            following = op(total, before[r * parts + c], r{given}) if c + 1 < parts else total
            before[r * parts + c] = total
            total = following
"""
        if has_first
        else f"""        for c in range(1, parts):
            following = op(total, before[r * parts + c], r{given}) if c + 1 < parts else total
            before[r * parts + c] = total
            total = following
"""
    )
    element = f"""
            last = total
            total = op(total, at(r, i{given}), r{given})
            out[place(r, i{given})] = {"last" if exclusive else "total"}
"""
    if has_first:
        write = f"""        total = before[r * parts + c]
        for i in range(start, stop):{element}"""
    else:
        write = f"""        if c == 0:
            total = at(r, 0{given})
            out[place(r, 0{given})] = total
            start = 1
        else:
            total = before[r * parts + c]
        for i in range(start, stop):{element}"""
    head = f"""        c = t // rows
        r = t - c * rows
        start = c * {part}
        stop = min(start + {part}, n)
"""
    return f"""{_HEAD}def parts(before, rows, n, parts{given}):
    for t in range(cuda.grid(1), rows * parts, cuda.gridsize(1)):
{head}        total = at(r, start{given})
        for i in range(start + 1, stop):
            total = op(total, at(r, i{given}), r{given})
        before[r * parts + c] = total

{_HEAD}def carry(before, rows, parts{given}):
    for r in range(cuda.grid(1), rows, cuda.gridsize(1)):
        {begin}{carry}
{_HEAD}def write(out, before, rows, n, parts{given}):
    for t in range(cuda.grid(1), rows * parts, cuda.gridsize(1)):
{head}{write}"""


def scatter(names: Iterable[str], lines: Sequence[str], value: str, op: str | None, dtype: str) -> str:
    """The kernels that combine values with elements; `order` are the values sorted by their places."""
    given = "".join(f", {name}" for name in names)
    combined = f"{dtype}({f'{op}(total, {value})' if op else value})"
    body = "\n".join([*lines, f"            total = {combined}"])
    return f"""{_HEAD}def counted(out, places, count, n):
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        place = np.int64(places[i])
        out[i] = place + n if place < 0 else place

{_HEAD}def kernel(out, places, order, count, width{given}):
    for t in range(cuda.grid(1), count * width, cuda.gridsize(1)):
        i = t // width
        column = t - i * width
        place = places[order[i]]
        if i and places[order[i - 1]] == place:
            continue
        total = out[place * width + column]
        while i < count and places[order[i]] == place:
            j = order[i]
{body}
            i += 1
        out[place * width + column] = total
"""


def sort(before: str, is_descending: bool = False) -> str:
    """The kernels of a stable sort of lines by merging.

    Element `i` of line `r` is at `r // m * n * m + r % m + i * m`.
    """
    if is_descending:
        reverse = f"{_NJIT}def after(a, b):\n    return {before}(b, a)\n\n"
        return reverse + sort("after")
    where = """        r = t // n
        i = t - r * n
        base = r // m * n * m + r % m
"""
    return f"""{_HEAD}def begin(order, keys, rows, n, m, runs):
    for t in range(cuda.grid(1), rows * runs, cuda.gridsize(1)):
        r = t // runs
        start = (t - r * runs) * 16
        base = r // m * n * m + r % m
        for i in range(start, min(start + 16, n)):
            v = keys[base + i * m]
            k = i
            while k > start and {before}(v, keys[base + order[r * n + k - 1] * m]):
                order[r * n + k] = order[r * n + k - 1]
                k -= 1
            order[r * n + k] = i

{_HEAD}def merge(out, order, keys, rows, n, m, width):
    for t in range(cuda.grid(1), rows * n, cuda.gridsize(1)):
{where}        start = i // (2 * width) * (2 * width)
        middle = min(start + width, n)
        stop = min(start + 2 * width, n)
        mine = order[r * n + i]
        v = keys[base + mine * m]
        if i < middle:
            low, high = middle, stop
            while low < high:
                k = (low + high) // 2
                if {before}(keys[base + order[r * n + k] * m], v):
                    low = k + 1
                else:
                    high = k
            to = i + low - middle
        else:
            low, high = start, middle
            while low < high:
                k = (low + high) // 2
                if {before}(v, keys[base + order[r * n + k] * m]):
                    high = k
                else:
                    low = k + 1
            to = i - middle + low
        out[r * n + to] = mine

{_HEAD}def places(out, order, keys, rows, n, m):
    for t in range(cuda.grid(1), rows * n, cuda.gridsize(1)):
{where}        out[base + i * m] = order[t]

{_HEAD}def values(out, order, keys, rows, n, m):
    for t in range(cuda.grid(1), rows * n, cuda.gridsize(1)):
{where}        out[base + i * m] = keys[base + order[t] * m]
"""


def product(dtype: str, tile: int, is_shared: bool) -> str:
    """The kernel of products of matrices: a block of threads for so many rows and columns of a result.

    They read tiles of the factors into memory that they share, or each reads what it needs.
    """
    if is_shared:
        memory = f"""
    left = cuda.shared.array(({tile}, {tile}), {dtype})
    right = cuda.shared.array(({tile}, {tile}), {dtype})"""
        sums = f"""for k in range(0, inner, {tile}):
            left[y, x] = a[firsts[q] + row * inner + k + x] if row < rows and k + x < inner else {dtype}(0)
            place = others[q] + (k + y) * columns + column
            right[y, x] = b[place] if column < columns and k + y < inner else {dtype}(0)
            cuda.syncthreads()
            for i in range(min({tile}, inner - k)):
                total += left[y, i] * right[i, x]
            cuda.syncthreads()"""
    else:
        memory = ""
        sums = """if row < rows and column < columns:
            for i in range(inner):
                total += a[firsts[q] + row * inner + i] * b[others[q] + i * columns + column]"""
    return f"""{_HEAD}def kernel(out, a, b, firsts, others, count, rows, inner, columns):{memory}
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.blockIdx.x * {tile} + x, cuda.blockIdx.y * {tile} + y
    for q in range(cuda.blockIdx.z, count, cuda.gridDim.z):
        total = {dtype}(0)
        {sums}
        if row < rows and column < columns:
            out[q * rows * columns + row * columns + column] = total
"""


def chosen(flag: str, given: str) -> str:
    """The kernels that move rows with a flag to the front, and others after them; parts have 1024 rows."""
    return f"""{counts(flag, given)}
{_HEAD}def move(out, rows, before, n, count, width, has_rest, {given}):
    for c in range(cuda.grid(1), (n + 1023) // 1024, cuda.gridsize(1)):
        k = before[c]
        start = c * 1024
        for i in range(start, min(start + 1024, n)):
            if {flag}:
                for j in range(width):
                    out[k * width + j] = rows[i * width + j]
                k += 1
            elif has_rest:
                for j in range(width):
                    out[(count + i - k) * width + j] = rows[i * width + j]
"""


def counts(flag: str, given: str) -> str:
    """The kernels that count flags before parts of 1024."""
    return f"""{_HEAD}def counts(before, parts, n, {given}):
    for c in range(cuda.grid(1), parts, cuda.gridsize(1)):
        k = 0
        for i in range(c * 1024, min(c * 1024 + 1024, n)):
            if {flag}:
                k += 1
        before[c] = k

{_HEAD}def total(before, parts):
    k = 0
    for c in range(parts):
        following = k + before[c]
        before[c] = k
        k = following
    before[parts] = k
"""


def runs(flag: str) -> str:
    """The kernels of runs of equal elements, which begin at flags."""
    return f"""{counts(flag, "line")}
{_HEAD}def begin(values, starts, before, n, line):
    for c in range(cuda.grid(1), (n + 1023) // 1024, cuda.gridsize(1)):
        k = before[c]
        for i in range(c * 1024, min(c * 1024 + 1024, n)):
            if {flag}:
                values[k] = line[i]
                starts[k] = i
                k += 1

{_HEAD}def lengths(out, starts, count, n):
    for k in range(cuda.grid(1), count, cuda.gridsize(1)):
        out[k] = (starts[k + 1] if k + 1 < count else n) - starts[k]
"""


FIRST = f"""
{_HEAD}def first(values, places, order, keys, rows, n, start, count):
    for t in range(cuda.grid(1), rows * count, cuda.gridsize(1)):
        r = t // count
        places[t] = order[r * n + start + t - r * count]
        values[t] = keys[r * n + places[t]]
"""

COUNTS = f"""{_HEAD}def ends(n, line, found):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.min(found, 0, line[i])
        cuda.atomic.max(found, 1, line[i])

{_HEAD}def count(n, out, line):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(out, line[i], 1)
"""


def merged(before: str) -> str:
    """The kernel that merges two sorted lines."""
    return f"""{_HEAD}def kernel(out, sides, a, b, n, m):
    for t in range(cuda.grid(1), n + m, cuda.gridsize(1)):
        low = 0
        if t < n:
            high = m
            while low < high:
                k = (low + high) // 2
                if {before}(b[k], a[t]):
                    low = k + 1
                else:
                    high = k
            to = t + low
            out[to] = a[t]
        else:
            high = n
            while low < high:
                k = (low + high) // 2
                if {before}(b[t - n], a[k]):
                    high = k
                else:
                    low = k + 1
            to = t - n + low
            out[to] = b[t - n]
        sides[to] = t >= n
"""


def segments(op: str, is_scan: bool, exclusive: bool, has_first: bool) -> str:
    """The kernel of segments of lines, each folded from left to right by one thread."""
    begin = "first[0]" if has_first else "line[start]"
    opened = "0" if has_first else "1"
    store = "        out[start] = total" if is_scan and not has_first else ""
    last = "out[i] = last" if exclusive else "out[i] = total"
    return f"""{_HEAD}def kernel(out, rows, n, count, first, line, offsets):
    for t in range(cuda.grid(1), rows * count, cuda.gridsize(1)):
        k = t % count
        start, stop = t // count * n + offsets[k], t // count * n + offsets[k + 1]
        {"out[t] = first[0]" if not is_scan else ""}
        if start == stop:
            continue
        total = {begin}
{store}
        for i in range(start + {opened}, stop):
            last = total
            total = {op}(total, line[i])
            {last if is_scan else ""}
        {"out[t] = total" if not is_scan else ""}
"""


def combined(before: str) -> str:
    """The kernels that choose elements of two merged lines without equal ones, by whose they are."""
    first = f"(i == 0 or {before}(line[i - 1], line[i]))"
    both = f"(i + 1 < n and not {before}(line[i], line[i + 1]))"
    return chosen(
        f"{first} and (of_both if {both} else of_b if sides[i] else of_a)", "line, sides, of_a, of_both, of_b"
    )


HISTOGRAM = f"""{_HEAD}def ends(least, greatest, n, line):
    for c in range(cuda.grid(1), least.size, cuda.gridsize(1)):
        low = high = line[c * 1024]
        for i in range(c * 1024 + 1, min(c * 1024 + 1024, n)):
            low, high = np.minimum(low, line[i]), np.maximum(high, line[i])
        least[c], greatest[c] = low, high

{_HEAD}def bins(out, n, line, edges, number):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        v = line[i]
        low, high = 0, number + 1
        while low < high:
            k = (low + high) // 2
            if edges[k] <= v:
                low = k + 1
            else:
                high = k
        # The last bin has both of its edges; places of none count beside them.
        is_last = low == number + 1 and v == edges[number]
        out[i] = number - 1 if is_last else low - 1 if 0 < low <= number else number

{_HEAD}def count(n, out, places):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(out, places[i], 1)
"""
