"""Texts of kernels for devices. Their loops let one thread compute several elements, if there are fewer threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: The decorators of kernels, and of functions that they call.
HEAD = "@cuda.jit(boundscheck=False)\n"
NJIT = '@njit(error_model="numpy")\n'


def elements(names: Iterable[str], lines: Sequence[str]) -> str:
    """The kernel whose lines compute element `i`."""
    loop = "    for i in range(cuda.grid(1), n, cuda.gridsize(1)):"
    return "\n".join([f"{HEAD}def kernel({', '.join(['n', *names])}):", loop, *lines, ""])


CHECK = f"""{HEAD}def kernel(count, n, places, bad):
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        if places[i] < -n or places[i] >= n:
            cuda.atomic.min(bad, 0, i)
"""


def function(name: str, names: Iterable[str], lines: Sequence[str], result: str) -> str:
    """A function of kernels."""
    return "\n".join([f"{NJIT}def {name}({', '.join(names)}):", *lines, f"    return {result}", ""])


def nothing(given: str, result: str) -> str:
    """The kernel of reductions of no elements."""
    return f"""{HEAD}def nothing(out, rows{given}):
    for r in range(cuda.grid(1), rows, cuda.gridsize(1)):
        out[r] = {result}
"""


def scatter(names: Iterable[str], lines: Sequence[str], value: str, op: str | None, dtype: str) -> str:
    """The kernels that combine values with elements; `order` are the values sorted by their places."""
    given = "".join(f", {name}" for name in names)
    combined = f"{dtype}({f'{op}(total, {value})' if op else value})"
    body = "\n".join([*lines, f"            total = {combined}"])
    return f"""{HEAD}def counted(out, places, count, n):
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        place = np.int64(places[i])
        out[i] = place + n if place < 0 else place

{HEAD}def kernel(out, places, order, count, width{given}):
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
        reverse = f"{NJIT}def after(a, b):\n    return {before}(b, a)\n\n"
        return reverse + sort("after")
    where = """        r = t // n
        i = t - r * n
        base = r // m * n * m + r % m
"""
    return f"""{HEAD}def begin(order, keys, rows, n, m, runs):
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

{HEAD}def merge(out, order, keys, rows, n, m, width):
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

{HEAD}def places(out, order, keys, rows, n, m):
    for t in range(cuda.grid(1), rows * n, cuda.gridsize(1)):
{where}        out[base + i * m] = order[t]

{HEAD}def values(out, order, keys, rows, n, m):
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
    return f"""{HEAD}def kernel(out, a, b, firsts, others, count, rows, inner, columns):{memory}
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
{HEAD}def move(out, rows, before, n, count, width, has_rest, {given}):
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
    return f"""{HEAD}def counts(before, parts, n, {given}):
    for c in range(cuda.grid(1), parts, cuda.gridsize(1)):
        k = 0
        for i in range(c * 1024, min(c * 1024 + 1024, n)):
            if {flag}:
                k += 1
        before[c] = k

{HEAD}def total(before, parts):
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
{HEAD}def begin(values, starts, before, n, line):
    for c in range(cuda.grid(1), (n + 1023) // 1024, cuda.gridsize(1)):
        k = before[c]
        for i in range(c * 1024, min(c * 1024 + 1024, n)):
            if {flag}:
                values[k] = line[i]
                starts[k] = i
                k += 1

{HEAD}def lengths(out, starts, count, n):
    for k in range(cuda.grid(1), count, cuda.gridsize(1)):
        out[k] = (starts[k + 1] if k + 1 < count else n) - starts[k]
"""


FIRST = f"""
{HEAD}def first(values, places, order, keys, rows, n, start, count):
    for t in range(cuda.grid(1), rows * count, cuda.gridsize(1)):
        r = t // count
        places[t] = order[r * n + start + t - r * count]
        values[t] = keys[r * n + places[t]]
"""

COUNTS = f"""{HEAD}def ends(n, line, found):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.min(found, 0, line[i])
        cuda.atomic.max(found, 1, line[i])

{HEAD}def count(n, out, line):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(out, line[i], 1)
"""


def merged(before: str) -> str:
    """The kernel that merges two sorted lines."""
    return f"""{HEAD}def kernel(out, sides, a, b, n, m):
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
    return f"""{HEAD}def kernel(out, rows, n, count, first, line, offsets):
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


HISTOGRAM = f"""{HEAD}def ends(least, greatest, n, line):
    for c in range(cuda.grid(1), least.size, cuda.gridsize(1)):
        low = high = line[c * 1024]
        for i in range(c * 1024 + 1, min(c * 1024 + 1024, n)):
            low, high = np.minimum(low, line[i]), np.maximum(high, line[i])
        least[c], greatest[c] = low, high

{HEAD}def bins(out, n, line, edges, number):
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

{HEAD}def count(n, out, places):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(out, places[i], 1)
"""
