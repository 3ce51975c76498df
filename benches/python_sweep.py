"""Texts, containers, built-ins and modules of the standard library in compiled code beside CPython itself.

    python benches/python_sweep.py [--only texts] [--match split] [--rounds 7] [--json FILE]

A compiled function and the same function in Python take turns in one process; a number is the least time of the
compiled one over the least of CPython's, so that 0.5 is half of CPython's time. Arguments and results are Python
objects, whose conversion is part of the time.
"""

from __future__ import annotations

import argparse
import bisect
import functools
import heapq
import itertools
import math
import operator
import random
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import figures
import text_cases
from text_cases import FLOATS, INTS, SMALL, TEXT, WORDS, Case

from lancehead import njit

COUNTS = dict(zip(WORDS, range(400)))
SQUARES = {i: i * i for i in range(1000)}
FLAT = list(range(1000))
PAIRS = list(zip(INTS, FLOATS))
NESTED = [INTS[i : i + 20] for i in range(0, 1000, 20)]


def pushed(n: int) -> list[int]:
    """A list made by `append`."""
    out = []
    for i in range(n):
        out.append(i)
    return out


def popped(a: list[int]) -> int:
    """The sum of a list, item by item from the front."""
    b = a[:]
    n = 0
    while b:
        n += b.pop(0)
    return n


def popped_last(a: list[int]) -> int:
    """The sum of a list, item by item from the back."""
    b = a[:]
    n = 0
    while b:
        n += b.pop()
    return n


def inserted(n: int) -> list[int]:
    """A list made from the back."""
    out: list[int] = [0]
    for i in range(n):
        out.insert(0, i)
    return out


def changed(a: list[int]) -> int:
    """A list after `extend`, `remove`, `insert`, `del` and assignments."""
    b = a[:9]
    for i in range(100):
        b.extend(a[i : i + 5])
        b.remove(a[i])
        b.insert(2, i)
        b[3] = i
        b[4:6] = [i]
        del b[1]
    return sum(b)


def sorted_in_place(a: list[int]) -> int:
    """The least item by sorting a copy."""
    b = a.copy()
    b.sort()
    return b[0]


def in_a_loop(a: list[int]) -> int:
    """How many numbers are in a list."""
    n = 0
    for i in range(50):
        if i in a:
            n += 1
    return n


def lists() -> Iterator[Case]:
    a = (INTS,)
    yield "append", pushed, (1000,)
    yield "pop(0)", popped, a
    yield "pop()", popped_last, a
    yield "insert(0, x)", inserted, (1000,)
    yield "extend, remove, insert, del", changed, a
    yield "sort()", sorted_in_place, a
    yield "sorted(a)", lambda a: sorted(a), a
    yield "sorted(a, reverse=True)", lambda a: sorted(a, reverse=True), a
    yield "sorted(a, key=abs)", lambda a: sorted(a, key=abs), a
    yield "sorted(floats)", lambda a: sorted(a), (FLOATS,)
    yield "sorted(pairs)", lambda a: sorted(a), (PAIRS,)
    yield "sorted(nested)", lambda a: sorted(a), (NESTED,)
    yield "x in a", in_a_loop, a
    yield "a.index(x)", lambda a: a.index(9), (SMALL,)
    yield "a.count(x)", lambda a: a.count(3), (SMALL,)
    yield "a.reverse()", lambda a: a.reverse(), (FLAT[:],)
    yield "a[::-1]", lambda a: a[::-1], a
    yield "a[1:-1]", lambda a: a[1:-1], a
    yield "a + a", lambda a: a + a, a
    yield "a * 3", lambda a: a * 3, a
    yield "a.copy()", lambda a: a.copy(), a
    yield "a == b", lambda a, b: a == b, (INTS, INTS[:])
    yield "a < b", lambda a, b: a < b, (INTS, INTS[:])
    yield "[x * x for x in a]", lambda a: [x * x for x in a], (SMALL,)
    yield "[x for row in rows for x in row]", lambda rows: [x for row in rows for x in row], (NESTED,)
    yield "transpose", lambda rows: [[row[i] for row in rows] for i in range(20)], (NESTED,)
    yield "sum of rows", lambda rows: [sum(row) for row in rows], (NESTED,)
    yield "list(range(n))", lambda n: list(range(n)), (1000,)
    yield "[0] * n", lambda n: [0] * n, (1000,)
    yield "tuples", lambda a: [(x, x + 1) for x in a], a


def word_counts(words: list[str]) -> dict[str, int]:
    """How often every word is there."""
    found: dict[str, int] = {}
    for w in words:
        if w in found:
            found[w] += 1
        else:
            found[w] = 1
    return found


def grouped(words: list[str]) -> dict[int, list[str]]:
    """Words by their length."""
    found: dict[int, list[str]] = {}
    for w in words:
        found.setdefault(len(w), []).append(w)
    return found


def removed(d: dict[int, int]) -> int:
    """The sum of the values, taken one by one."""
    e = d.copy()
    n = 0
    while e:
        _, value = e.popitem()
        n += value
    return n


def kept_and_dropped(n: int) -> int:
    """The sum of a dictionary and a set after `pop`, `setdefault`, `discard` and `add`."""
    d = {i: i for i in range(n)}
    s = {i for i in range(n)}
    for i in range(0, n, 2):
        d.pop(i)
        d.setdefault(i + 1, 0)
        s.discard(i)
        s.add(-i)
    return sum(d.values()) + sum(s)


def tables() -> Iterator[Case]:
    d, a = (SQUARES,), (INTS,)
    yield "d[k]", lambda d: sum([d[i] for i in range(1000)]), d
    yield "d.get", lambda d: sum([d.get(i, 0) for i in range(2000)]), d
    yield "k in d", lambda d: sum([i in d for i in range(2000)]), d
    yield "for k in d", lambda d: sum([k for k in d]), d
    yield "d.items()", lambda d: sum([k + v for k, v in d.items()]), d
    yield "d.values()", lambda d: sum(d.values()), d
    yield "d.keys()", lambda d: max(d.keys()), d
    yield "{k: v}", lambda n: {i: i * i for i in range(n)}, (1000,)
    yield "{v: k}", lambda d: {v: k for k, v in d.items()}, d
    yield "d.update", lambda d, e: d.copy().update(e), (SQUARES, {i: i for i in range(500, 1500)})
    yield "d | e", lambda d, e: d | e, (SQUARES, {i: i for i in range(500, 1500)})
    yield "d.popitem()", removed, d
    yield "d.copy()", lambda d: d.copy(), d
    yield "d == e", lambda d, e: d == e, (SQUARES, SQUARES.copy())
    yield "word counts", word_counts, (WORDS,)
    yield "setdefault", grouped, (WORDS,)
    yield "sorted(d.items())", lambda d: sorted(d.items()), (COUNTS,)
    yield "max(d, key=d.get)", lambda d: max(d, key=lambda k: d[k]), (COUNTS,)
    yield "dict(zip)", lambda a, b: dict(zip(a, b)), (INTS, FLOATS)
    yield "set(a)", lambda a: set(a), a
    yield "len(set(a))", lambda a: len(set(a)), (SMALL,)
    yield "{x % 7}", lambda a: {x % 7 for x in a}, a
    yield "s | t", lambda s, t: s | t, (set(INTS), set(FLAT))
    yield "s & t", lambda s, t: s & t, (set(FLAT), set(range(500, 1500)))
    yield "s - t", lambda s, t: s - t, (set(FLAT), set(range(500, 1500)))
    yield "s <= t", lambda s, t: s <= t, (set(FLAT), set(range(1500)))
    yield "s ^ t", lambda s, t: s ^ t, (set(FLAT), set(range(500, 1500)))
    yield "s.isdisjoint", lambda s, t: s.isdisjoint(t), (set(FLAT), set(range(1000, 1500)))
    yield "s.update", lambda a: len({1}.union(a)), a
    yield "pop, discard", kept_and_dropped, (1000,)
    yield "dict.fromkeys", lambda a: dict.fromkeys(a, 0), a
    yield "x in s", lambda s: sum([i in s for i in range(2000)]), (set(FLAT),)
    yield "frozenset(a)", lambda a: len(frozenset(a)), a
    yield "sorted(set(a))", lambda a: sorted(set(a)), a


def any_above(a: list[int]) -> bool:
    return any(x > 10**9 for x in a)


def built_ins() -> Iterator[Case]:
    a, f = (INTS,), (FLOATS,)
    yield "sum(a)", lambda a: sum(a), a
    yield "sum(floats)", lambda a: sum(a), f
    yield "min(a)", lambda a: min(a), a
    yield "max(a)", lambda a: max(a), a
    yield "max(a, key=abs)", lambda a: max(a, key=abs), a
    yield "min(a, key=lambda)", lambda a: min(a, key=lambda x: (x % 100, x)), a
    yield "zip(a, b)", lambda a, b: [x * y for x, y in zip(a, b)], (INTS, FLOATS)
    yield "list(zip(a, b))", lambda a, b: list(zip(a, b)), (INTS, FLOATS)
    yield "enumerate(a)", lambda a: [i + x for i, x in enumerate(a)], a
    yield "any(...)", any_above, a
    yield "all(...)", lambda a: all(x < 10**9 for x in a), a
    yield "sum(... if)", lambda a: sum(x for x in a if x % 2 == 0), a
    yield "list(map)", lambda a: list(map(abs, a)), a
    yield "list(map(lambda))", lambda a: list(map(lambda x: x + 1, a)), a  # noqa: C417 - measures `map`
    yield "list(filter)", lambda a: list(filter(lambda x: x > 0, a)), a
    yield "abs", lambda a: [abs(x) for x in a], a
    yield "divmod", lambda a: [divmod(x, 7) for x in a], a
    yield "pow(x, 2)", lambda a: [pow(x, 2) for x in a], (SMALL,)
    yield "pow(x, n, m)", lambda a: [pow(x, 65537, 1000003) for x in a], a
    yield "x ** 0.5", lambda a: [abs(x) ** 0.5 for x in a], f
    yield "round(x)", lambda a: [round(x) for x in a], f
    yield "round(x, 2)", lambda a: [round(x, 2) for x in a], f
    yield "int(x)", lambda a: [int(x) for x in a], f
    yield "float(x)", lambda a: [float(x) for x in a], a
    yield "reversed(a)", lambda a: [x for x in reversed(a)], a
    yield "range", lambda n: sum(range(n)), (100_000,)
    yield "x.bit_length()", lambda a: [x.bit_length() for x in a], a
    yield "x.bit_count()", lambda a: sum([x.bit_count() for x in a]), a
    yield "hash(x)", lambda a: sum([hash(x) & 7 for x in a]), f
    yield "isinstance", lambda a: sum([isinstance(x, int) for x in a]), a
    yield "x // 3 % 5", lambda a: sum([x // 3 % 5 for x in a]), a
    yield "is_integer", lambda a: sum([x.is_integer() for x in a]), f
    yield "complex", lambda a: sum([abs(complex(x, 1.0)) for x in a]), f


def iterators() -> Iterator[Case]:
    a, few = (INTS,), (INTS[:9],)
    yield "chain", lambda a: list(itertools.chain(a, a)), a
    yield "chain.from_iterable", lambda a: sum(itertools.chain.from_iterable(a)), (NESTED,)
    yield "islice", lambda a: list(itertools.islice(a, 100, 900, 3)), a
    yield "accumulate", lambda a: list(itertools.accumulate(a)), a
    yield "accumulate(max)", lambda a: list(itertools.accumulate(a, max)), a
    yield "groupby", lambda a: [(k, len(list(g))) for k, g in itertools.groupby(a)], (sorted(SMALL),)
    yield "groupby(key)", lambda a: [k for k, g in itertools.groupby(a, lambda x: x // 100)], (FLAT,)
    yield "groupby(s)", lambda s: "".join([k + str(len(list(g))) for k, g in itertools.groupby(s)]), (TEXT,)
    yield "permutations", lambda a: sum([p[0] for p in itertools.permutations(a, 4)]), few
    yield "list(permutations)", lambda a: list(itertools.permutations(a, 3)), (INTS[:9],)
    yield "combinations", lambda a: sum([x * y for x, y in itertools.combinations(a, 2)]), (SMALL[:60],)
    yield "list(combinations)", lambda a: list(itertools.combinations(a, 3)), (INTS[:16],)
    yield "with_replacement", lambda a: len(list(itertools.combinations_with_replacement(a, 3))), (INTS[:16],)
    yield "product", lambda a: sum([x * y for x, y in itertools.product(a, a)]), (SMALL[:40],)
    yield "product(repeat)", lambda a: len(list(itertools.product(a, repeat=4))), (INTS[:6],)
    yield "takewhile", lambda a: list(itertools.takewhile(lambda x: x < 900, a)), (FLAT,)
    yield "dropwhile", lambda a: list(itertools.dropwhile(lambda x: x < 100, a)), (FLAT,)
    yield "filterfalse", lambda a: list(itertools.filterfalse(lambda x: x > 0, a)), a
    yield "compress", lambda a, b: list(itertools.compress(a, b)), (INTS, SMALL)
    yield "starmap", lambda a: list(itertools.starmap(operator.mul, a)), (PAIRS,)
    yield "pairwise", lambda a: [y - x for x, y in itertools.pairwise(a)], a
    yield "zip_longest", lambda a, b: list(itertools.zip_longest(a, b, fillvalue=0)), (INTS, SMALL)
    yield "repeat", lambda n: sum(itertools.repeat(3, n)), (1000,)
    yield "count", lambda a: [x + y for x, y in zip(a, itertools.count())], a
    yield "cycle", lambda a: [x for x, y in zip(itertools.cycle([1, 2, 3]), a)], a
    yield "tee", lambda a: [x for t in itertools.tee(a, 2) for x in t], a
    yield "reduce", lambda a: functools.reduce(lambda x, y: x ^ y, a), a


def heaped(a: list[int]) -> list[int]:
    """Sorted by a heap."""
    heap: list[int] = [0]
    heap.clear()
    for x in a:
        heapq.heappush(heap, x)
    return [heapq.heappop(heap) for _ in range(len(heap))]


def heapified(a: list[int]) -> int:
    """The tenth of a heap."""
    heap = a[:]
    heapq.heapify(heap)
    for _ in range(9):
        heapq.heappop(heap)
    return heap[0]


def replaced(a: list[int]) -> int:
    """The least of the largest."""
    heap = a[:50]
    heapq.heapify(heap)
    for x in a[50:500]:
        heapq.heappushpop(heap, x)
    for x in a[500:]:
        heapq.heapreplace(heap, x)
    return heap[0]


def insorted(a: list[int]) -> list[int]:
    """Sorted by insertion."""
    out: list[int] = [0]
    for x in a:
        bisect.insort(out, x)
    return out


def queued(n: int) -> int:
    """The sum of what goes through a queue."""
    queue = deque([0])
    total = 0
    for i in range(n):
        queue.append(i)
        if len(queue) > 10:
            total += queue.popleft()
    return total


def both_ends(n: int) -> int:
    """The sum of what leaves a queue at either end."""
    queue = deque([0], 50)
    total = 0
    for i in range(n):
        queue.appendleft(i)
        queue.extend((i, i + 1))
        total += queue.pop() + queue[0]
    return total


def defaulted(words: list[str]) -> int:
    """The longest list of words of one length."""
    found = defaultdict(list)
    for w in words:
        found[len(w)].append(w)
    return max([len(v) for v in found.values()])


def shuffled(a: list[int]) -> int:
    """An item of a shuffled copy."""
    b = a[:]
    random.shuffle(b)
    return b[0]


def moved(n: int) -> int:
    """The first key of an ordered dictionary."""
    d = OrderedDict([(i, i) for i in range(n)])
    for i in range(0, n, 2):
        d.move_to_end(i)
    return next(iter(d))


def modules() -> Iterator[Case]:
    """heapq, bisect, collections, random and math."""
    a, f, n = (INTS,), (FLOATS,), (1000,)
    yield "heappush, heappop", heaped, a
    yield "heapify", heapified, a
    yield "nlargest", lambda a: heapq.nlargest(10, a), a
    yield "nsmallest", lambda a: heapq.nsmallest(10, a), a
    yield "merge", lambda a, b: list(heapq.merge(a, b)), (sorted(INTS), FLAT)
    yield "heapreplace", replaced, a
    yield "bisect_right", lambda a: sum([bisect.bisect(a, x) for x in range(1000)]), (sorted(INTS),)
    yield "bisect", lambda a: sum([bisect.bisect_left(a, x) for x in range(1000)]), (sorted(INTS),)
    yield "insort", insorted, a
    yield "Counter(words)", lambda words: Counter(words), (WORDS,)
    yield "Counter(s)", lambda s: Counter(s), (TEXT,)
    yield "most_common", lambda words: Counter(words).most_common(3), (WORDS,)
    yield "Counter(ints)", lambda a: max(Counter(a).values()), (SMALL,)
    yield "deque", queued, n
    yield "deque, both ends", both_ends, n
    yield "Counter.update", lambda a, b: (Counter(a) + Counter(b)).total(), (SMALL, SMALL[::-1])
    yield "deque.rotate", lambda a: deque(a).rotate(10), a
    yield "defaultdict", defaulted, (WORDS,)
    yield "OrderedDict", moved, n
    yield "random()", lambda n: sum([random.random() for _ in range(n)]), n
    yield "randint", lambda n: sum([random.randint(1, 6) for _ in range(n)]), n
    yield "uniform", lambda n: sum([random.uniform(1.0, 6.0) for _ in range(n)]), n
    yield "gauss", lambda n: sum([random.gauss(0.0, 1.0) for _ in range(n)]), n
    yield "choice", lambda a: sum([random.choice(a) for _ in range(1000)]), a
    yield "randrange", lambda n: sum([random.randrange(0, 100, 7) for _ in range(n)]), n
    yield "expovariate", lambda n: sum([random.expovariate(2.0) for _ in range(n)]), n
    yield "triangular", lambda n: sum([random.triangular(0.0, 1.0, 0.3) for _ in range(n)]), n
    yield "getrandbits", lambda n: sum([random.getrandbits(20) for _ in range(n)]), n
    yield "choices", lambda a: random.choices(a, k=1000), a
    yield "choice(s)", lambda s: "".join([random.choice(s) for _ in range(1000)]), (TEXT,)
    yield "shuffle", shuffled, a
    yield "math.sqrt", lambda a: sum([math.sqrt(abs(x)) for x in a]), f
    yield "math.sin", lambda a: [math.sin(x) for x in a], f
    yield "math.gcd", lambda a: [math.gcd(x, 360360) for x in a], a
    yield "math.factorial", lambda n: sum([math.factorial(i % 20) for i in range(n)]), n
    yield "math.comb", lambda n: sum([math.comb(30, i % 30) for i in range(n)]), n
    yield "math.floor", lambda a: [math.floor(x) for x in a], f
    yield "math.isqrt", lambda a: [math.isqrt(abs(x)) for x in a], a
    yield "math.fsum", lambda a: math.fsum(a), f
    yield "math.prod", lambda a: math.prod(a), f
    yield "math.hypot", lambda a: [math.hypot(x, 1.0) for x in a], f
    yield "math.dist", lambda a: [math.dist(x, (0.0, 0.0)) for x in a], ([(x, x + 1.0) for x in FLOATS],)
    yield "math.isclose", lambda a: sum([math.isclose(x, 1.0) for x in a]), f


GROUPS = {
    **text_cases.GROUPS, "lists": lists, "tables": tables, "built-ins": built_ins, "iterators": iterators,
    "modules": modules,
}  # fmt: skip
#: The share of CPython's time that compiled code should stay below.
WANTED = 0.5
#: Seconds of a round of one contender.
ROUND = 0.001
#: Programs above that share that a row of groups names.
SHOWN = 4


def least(f: Callable[..., Any], args: tuple[Any, ...], repeats: int) -> float:
    """Seconds of a call, over so many calls. The thread's own are counted, not those of other programs."""
    start = time.thread_time()
    for _ in range(repeats):
        f(*args)
    return (time.thread_time() - start) / repeats


def ratio(f: Callable[..., Any], args: tuple[Any, ...], rounds: int) -> tuple[float, float]:
    """The time of the compiled function over that of CPython, and that of CPython."""
    compiled = njit(f)
    compiled(*args)
    contenders = (compiled, f)
    repeats = [max(1, int(ROUND / max(least(each, args, 2), 1e-7))) for each in contenders]
    times = [math.inf, math.inf]
    for _ in range(rounds):
        for i, each in enumerate(contenders):
            times[i] = min(times[i], least(each, args, repeats[i]))
    return times[0] / times[1], times[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(GROUPS))
    parser.add_argument("--match", default="", help="only programs whose names contain this text")
    parser.add_argument("--rounds", type=int, default=7)
    figures.add_json(parser)
    given = parser.parse_args()
    result = figures.Result("python", "benches/run.sh python", 1)
    groups = result.table("groups", "group", "programs", ("geometric mean", "", 2), "above 1", "above 0.5")
    programs = result.table("programs", "group", "program", ("CPython", "us", 2), ("over CPython", "", 2))
    for name in [given.only] if given.only else GROUPS:
        print(f"\n{name}: compiled over CPython, CPython's microseconds")
        found = {}
        for text, f, args in GROUPS[name]():
            if given.match in text:
                found[text], theirs = ratio(f, args, given.rounds)
                print(f"  {text:32} {found[text]:6.2f} {theirs * 1e6:12.1f}", flush=True)
                programs.add(name, text, round(theirs * 1e6, 2), round(found[text], 3))
        if not found:
            continue
        ordered = sorted(found, key=found.__getitem__, reverse=True)
        slower, above = ([text for text in ordered if found[text] > bound] for bound in (1, WANTED))
        mean = figures.geometric_mean(found.values())
        print(f"  {len(found)} programs: mean {mean:.2f}, {len(slower)} above 1, {len(above)} above {WANTED}")
        shown = "; ".join([f"`{text}` {found[text]:.2f}" for text in above[:SHOWN]])
        groups.add(name, len(found), mean, len(slower), shown + ("; ..." if len(above) > SHOWN else ""))
    result.write(given.json)


if __name__ == "__main__":
    main()
