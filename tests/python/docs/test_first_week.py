"""Programs of a user's first week, beside plain Python, NumPy, SciPy and pandas.

`test_first_week_refused` has those that are refused, `test_first_week_idioms` the small ones.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import ndimage, signal, special
from scipy.integrate import solve_ivp
from sklearn.datasets import load_digits, load_iris, load_sample_image

from lancehead import cuda, get_num_threads, guvectorize, njit, prange, set_num_threads, stencil, vectorize
from lancehead.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

same = np.testing.assert_array_equal
near = np.testing.assert_allclose


@njit
def row_01_emboss(image, kernel, offset):
    height, width, colours = image.shape
    out = np.zeros_like(image)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            for c in range(colours):
                s = (image[y - 1 : y + 2, x - 1 : x + 2, c].astype(np.float64) * kernel).sum()
                out[y, x, c] = np.uint8(np.clip(s + offset, 0.0, 255.0))
    return out


def test_row_01_image_filter():
    image = load_sample_image("flower.jpg")[150:210, 200:280]
    kernel = np.array([[-2.0, -1.0, 0.0], [-1.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
    result = row_01_emboss(image, kernel, 16.0)
    sums = np.stack([ndimage.correlate(image[:, :, c].astype(float), kernel) for c in range(3)], axis=2)
    same(result[1:-1, 1:-1], np.clip(sums + 16.0, 0, 255).astype(np.uint8)[1:-1, 1:-1])
    same(result, row_01_emboss.py_func(image, kernel, 16.0))


@njit
def row_02_call_price(spot, strike, rate, volatility, years, paths, seed=None):
    """Monte-Carlo price of a European call option, with antithetic variables."""
    if seed is not None:
        np.random.seed(seed)
    drift = (rate - 0.5 * volatility**2) * years
    spread = volatility * math.sqrt(years)
    total = 0.0
    for _ in range(paths):
        z = np.random.standard_normal()
        for sign in (1.0, -1.0):
            total += max(spot * math.exp(drift + sign * spread * z) - strike, 0.0)
    return math.exp(-rate * years) * total / (2 * paths)


def test_row_02a_option_price():
    price = row_02_call_price(100.0, 105.0, 0.03, 0.2, 1.0, 200_000, 42)
    d1 = (math.log(100 / 105) + 0.03 + 0.02) / 0.2
    exact = 100.0 * special.ndtr(d1) - 105.0 * math.exp(-0.03) * special.ndtr(d1 - 0.2)
    assert abs(price - exact) < 0.1
    few = (100.0, 105.0, 0.03, 0.2, 1.0, 2000, 7)
    near(row_02_call_price(*few), row_02_call_price.py_func(*few), rtol=1e-12)
    assert row_02_call_price(*few[:-1]) != row_02_call_price(*few[:-1])


@njit
def row_03_predators(t, state):
    """Lotka and Volterra's foxes and hares."""
    hares, foxes = state
    return np.array([1.1 * hares - 0.4 * hares * foxes, 0.1 * hares * foxes - 0.4 * foxes])


@njit
def row_03_heun(f, state, until, steps):
    dt = until / steps
    path = [state]
    for i in range(steps):
        slope = f(i * dt, state)
        ahead = f((i + 1) * dt, state + dt * slope)
        state = state + dt / 2 * (slope + ahead)
        path.append(state)
    return path


def test_row_03_differential_equation():
    start = np.array([10.0, 2.0])
    precise = solve_ivp(row_03_predators, (0.0, 20.0), start, rtol=1e-10, atol=1e-10)
    path = row_03_heun(row_03_predators, start, 20.0, 20_000)
    assert len(path) == 20_001
    near(path[-1], precise.y[:, -1], rtol=1e-4)
    same(row_03_heun(row_03_predators, start, 1.0, 50), row_03_heun.py_func(row_03_predators.py_func, start, 1.0, 50))


FIELDS = [("place", np.float64, 3), ("speed", np.float64, 3), ("mass", np.float64), ("kind", np.int8)]
PARTICLE = np.dtype(FIELDS, align=True)


@njit
def row_04_step(particles, dt):
    """One leapfrog step under gravity; particles of kind 0 stay where they are."""
    for i in range(len(particles)):
        pull = np.zeros(3)
        for j in range(len(particles)):
            if i != j:
                gap = particles[j].place - particles[i].place
                pull += particles[j].mass * gap / (gap @ gap + 1e-3) ** 1.5
        particles[i].speed += dt * pull
    for p in particles:
        if p.kind:
            p.place += dt * p.speed


def test_row_04_particles_in_records():
    rng = np.random.default_rng(4)
    plain = np.zeros(12, PARTICLE)
    plain["place"] = rng.normal(size=(12, 3))
    plain["mass"] = rng.uniform(0.5, 1.5, 12)
    plain["kind"] = np.arange(12) % 4
    compiled, as_recarray = plain.copy(), plain.copy().view(np.recarray)
    for _ in range(10):
        row_04_step(compiled, 0.01)
        row_04_step.py_func(as_recarray, 0.01)
    for field in ("place", "speed", "mass", "kind"):
        near(compiled[field], as_recarray[field], rtol=1e-10)
    same(compiled["place"][0], plain["place"][0])
    assert (compiled["place"][1] != plain["place"][1]).all()


@njit
def row_05_longest_frame(sequence):
    """Start and end of the longest piece from ATG to a stop codon, in three frames."""
    best = (0, 0)
    for frame in range(3):
        start = -1
        for i in range(frame, len(sequence) - 2, 3):
            codon = sequence[i : i + 3]
            if start < 0 and codon == "ATG":
                start = i
            elif start >= 0 and codon in ("TAA", "TAG", "TGA"):
                if i + 3 - start > best[1] - best[0]:
                    best = (start, i + 3)
                start = -1
    return best


@njit
def row_05_fasta(text):
    """Names and sequences of a FASTA text, by `split("\\n")`."""
    names = [""]
    sequences = [""]
    for line in text.split("\n"):
        if line.startswith(">"):
            names.append(line[1:].split()[0])
            sequences.append("")
        else:
            sequences[-1] += line.strip().upper()
    return names[1:], sequences[1:]


def test_row_05_texts():
    text = ">one first\nccatggcttaacc\nAT GAAATAG\n>two\n\nATGTGA\n>three x y\nacgt"
    assert row_05_fasta(text) == row_05_fasta.py_func(text)
    assert row_05_fasta(text)[0] == ["one", "two", "three"]
    sequence = "".join(np.random.default_rng(5).choice(list("ACGT"), 3000))
    start, end = row_05_longest_frame(sequence)
    assert (start, end) == row_05_longest_frame.py_func(sequence)
    assert sequence[start : start + 3] == "ATG"
    assert sequence[end - 3 : end] in {"TAA", "TAG", "TGA"}


@njit
def row_05_word_counts(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


@njit
def row_11_distinct(numbers):
    seen = set()
    for number in numbers:
        seen.add(number)
    return len(seen), {x % 2 for x in seen}


@njit
def row_05_records(text):
    count = 0
    for line in text.splitlines():
        count += line.startswith(">")
    return count


def test_row_05_lines():
    assert row_05_records(">a\nACGT\r\n>b\n") == 2


def test_rows_05_and_11_dictionaries_and_sets():
    assert row_05_word_counts("a b a") == {"a": 2, "b": 1}
    assert row_11_distinct([1, 2, 1]) == (2, {0, 1})


@njit
def row_06_table(text, columns):
    rows = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    out = np.empty((len(rows), columns))
    for i, row in enumerate(rows):
        fields = row.split(",")
        if len(fields) != columns:
            raise ValueError(f"row {i + 1} has {len(fields)} fields, not {columns}")
        for j, field in enumerate(fields):
            out[i, j] = float(field) if field.strip() else np.nan
    return out


@njit
def row_06_lines_and_longest(data):
    """Counts lines of bytes, and finds the length of the longest."""
    lines, longest, length = 0, 0, 0
    for byte in data:
        if byte == 10:
            lines += 1
            longest = max(longest, length)
            length = 0
        else:
            length += 1
    return lines, max(longest, length)


def test_row_06a_csv():
    iris = load_iris().data[:20]
    frame = pd.DataFrame(iris)
    text = "# iris\n" + frame.to_csv(index=False, header=False)
    same(row_06_table(text, 4), iris)
    same(row_06_table(" 1.5e3, -2 ,\n\n,nan,inf\n", 3), [[1500.0, -2.0, np.nan], [np.nan, np.nan, np.inf]])
    with pytest.raises(ValueError, match="row 2 has 1 fields, not 2"):
        row_06_table("1,2\n3\n", 2)
    with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
        row_06_table("1,x\n", 2)


def test_row_06b_bytes():
    for data in (b"one\ntwo three\n\nx", b"", b"no end"):
        assert row_06_lines_and_longest(data) == row_06_lines_and_longest.py_func(data)
    assert row_06_lines_and_longest(b"ab\nabc\na") == (2, 3)


@njit(parallel=True)
def row_07_counts(values, low, high, bins):
    counts = np.zeros(bins, np.int64)
    for i in prange(len(values)):
        if low <= values[i] <= high:
            counts[min(int((values[i] - low) / (high - low) * bins), bins - 1)] += 1
    return counts


@njit
def row_07_numpy(values):
    return np.histogram(values, 16, (0.0, 16.0))


def test_row_07_histogram():
    values = load_digits().data[:, 20:40].ravel()
    expected, edges = np.histogram(values, 16, (0.0, 16.0))
    same(row_07_counts(values, 0.0, 16.0, 16), expected)
    counts, found = row_07_numpy(values)
    same(counts, expected)
    same(found, edges)


@njit
def row_08_moving_average(values, window):
    out = np.full(len(values), np.nan)
    total = 0.0
    for i in range(len(values)):
        total += values[i]
        if i >= window:
            total -= values[i - window]
        if i >= window - 1:
            out[i] = total / window
    return out


@njit
def row_08_spread(window):
    return window.max() - window.min()


def test_row_08_pandas():
    prices = pd.Series(np.cumsum(np.random.default_rng(8).normal(size=500)))
    near(row_08_moving_average(prices.to_numpy(), 20), prices.rolling(20).mean(), rtol=1e-9, atol=1e-12)
    same(prices.rolling(7).apply(row_08_spread, raw=True), prices.rolling(7).max() - prices.rolling(7).min())
    table = np.random.default_rng(9).normal(size=(60, 4))
    same(row_08_moving_average(table[::2, 1], 5), row_08_moving_average.py_func(table[::2, 1], 5))
    same(row_08_moving_average([1.0, 2.0, 6.0], 2), [np.nan, 1.5, 4.0])


@njit
def row_09_kmeans(points, groups, rounds, seed):
    np.random.seed(seed)
    centres = points[np.random.choice(len(points), groups, replace=False)]
    labels = np.zeros(len(points), np.int64)
    for _ in range(rounds):
        for i in range(len(points)):
            labels[i] = ((centres - points[i]) ** 2).sum(axis=1).argmin()
        for k in range(groups):
            mine = points[labels == k]
            if len(mine) > 0:
                for c in range(points.shape[1]):
                    centres[k, c] = mine[:, c].mean()
    return centres, labels


@njit
def row_09_gaps(points):
    return np.sqrt(((points[:, None, :] - points) ** 2).sum(axis=-1))


def test_row_09_kmeans():
    points = load_iris().data
    centres, labels = row_09_kmeans(points, 3, 30, 3)
    near(centres, row_09_kmeans.py_func(points, 3, 30, 3)[0], rtol=1e-12)
    gaps = ((points[:, None] - centres) ** 2).sum(axis=2)
    same(labels, gaps.argmin(axis=1))
    near(row_09_gaps(points), np.linalg.norm(points[:, None] - points, axis=-1), rtol=1e-12)


@njit
def row_10_life_by_roll(board):
    around = np.zeros_like(board)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                around += np.roll(np.roll(board, dy, axis=0), dx, axis=1)
    return ((around == 3) | ((board == 1) & (around == 2))).astype(board.dtype)


def test_row_10_game_of_life():
    board = (np.random.default_rng(10).random((31, 43)) < 0.3).astype(np.int32)
    around = ndimage.convolve(board, np.ones((3, 3), int), mode="wrap") - board
    result = row_10_life_by_roll(board)
    same(result, (around == 3) | ((board == 1) & (around == 2)))
    assert result.dtype == np.int32
    same(row_10_life_by_roll(result), row_10_life_by_roll.py_func(result))


@njit
def row_11_steps(neighbours, start):
    """Breadth-first search: edges to every vertex, or -1. A list and the index of its head are the queue."""
    steps = [-1 for _ in neighbours]
    steps[start] = 0
    queue = [start]
    head = 0
    while head < len(queue):
        here = queue[head]
        head += 1
        for other in neighbours[here]:
            if steps[other] < 0:
                steps[other] = steps[here] + 1
                queue.append(other)
    return steps


@njit
def row_11_dijkstra(edges, start):
    far = [math.inf] * len(edges)
    far[start] = 0.0
    heap = [(0.0, start)]
    while heap:
        length, here = heapq.heappop(heap)
        if length > far[here]:
            continue
        for other, weight in edges[here]:
            if length + weight < far[other]:
                far[other] = length + weight
                heapq.heappush(heap, (far[other], other))
    return far


def test_row_11_graphs():
    neighbours = [[1, 2], [3], [3], [4], [], [0]]
    assert row_11_steps(neighbours, 0) == [0, 1, 1, 2, 3, -1]
    edges = [[(1, 7.0), (2, 1.0)], [(3, 1.0)], [(1, 2.0), (3, 9.0)], [], [(0, 1.0)]]
    assert row_11_dijkstra(edges, 0) == [0.0, 3.0, 1.0, 4.0, math.inf]
    rng = np.random.default_rng(11)
    large = [[(int(rng.integers(80)), float(rng.random())) for _ in range(4)] for _ in range(80)]
    assert row_11_dijkstra(large, 3) == row_11_dijkstra.py_func(large, 3)
    ways = [[v for v, _ in out] for out in large]
    assert row_11_steps(ways, 3) == row_11_steps.py_func(ways, 3)


@njit
def row_12_common(a, b):
    """A longest common subsequence of two strings."""
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            table[i + 1, j + 1] = table[i, j] + 1 if a[i] == b[j] else max(table[i, j + 1], table[i + 1, j])
    found = ""
    i, j = len(a), len(b)
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            found = a[i - 1] + found
            i, j = i - 1, j - 1
        elif table[i - 1, j] >= table[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return found


@njit
def row_12_knapsack(weights, values, limit):
    best = [0] * (limit + 1)
    for weight, value in zip(weights, values):
        for room in range(limit, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[limit]


@njit
def row_12_queens(n, row, columns, left, right):
    """Ways to place queens, by recursion over bit sets."""
    if row == n:
        return 1
    ways = 0
    for c in range(n):
        if not (columns >> c & 1 or left >> (row + c) & 1 or right >> (row - c + n) & 1):
            ways += row_12_queens(n, row + 1, columns | 1 << c, left | 1 << (row + c), right | 1 << (row - c + n))
    return ways


def test_row_12_dynamic_programming():
    assert row_12_common("AGGTAB", "GXTXAYB") == "GTAB"
    assert row_12_common("grüße", "größe") == row_12_common.py_func("grüße", "größe") == "grße"
    assert row_12_knapsack([1, 3, 4, 5], [1, 4, 5, 7], 7) == 9
    rng = np.random.default_rng(12)
    some = rng.integers(1, 30, 20).tolist(), rng.integers(1, 90, 20).tolist(), 100
    assert row_12_knapsack(*some) == row_12_knapsack.py_func(*some)
    assert [row_12_queens(n, 0, 0, 0, 0) for n in range(1, 9)] == [1, 0, 0, 2, 10, 4, 40, 92]


@njit
def row_13_fit(x, y):
    design = np.column_stack((np.ones(len(x)), x))
    return np.linalg.solve(design.T @ design, design.T @ y)


@njit
def row_13_components(data, count):
    centred = data.copy()
    for c in range(data.shape[1]):
        centred[:, c] -= data[:, c].mean()
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    return values[:count] ** 2 / (len(data) - 1), axes[:count]


@njit
def row_13_largest(a, rounds):
    v = np.ones(a.shape[0])
    for _ in range(rounds):
        v = a @ v
        v /= np.linalg.norm(v)
    return v @ a @ v


def test_row_13a_linear_algebra():
    data = load_iris().data
    x, y = np.ascontiguousarray(data[:, :3]), np.ascontiguousarray(data[:, 3])
    near(row_13_fit(x, y), np.linalg.lstsq(np.column_stack((np.ones(len(x)), x)), y)[0], rtol=1e-8)
    variances, axes = row_13_components(data, 2)
    values, vectors = np.linalg.eigh(np.cov(data.T))
    near(variances, values[::-1][:2], rtol=1e-9)
    near(np.abs(axes @ vectors[:, ::-1][:, :2]), np.eye(2), atol=1e-9)
    near(row_13_largest(np.cov(data.T), 200), values[-1], rtol=1e-12)


@njit
def row_14_dft(samples):
    n = len(samples)
    out = np.zeros(n, np.complex128)
    for k in range(n):
        for t in range(n):
            out[k] += samples[t] * np.exp(-2j * np.pi * k * t / n)
    return out


@njit
def row_14_goertzel(samples, k):
    c = 2.0 * math.cos(2.0 * math.pi * k / len(samples))
    before = last = 0.0
    for sample in samples:
        before, last = last, sample + c * last - before
    return last**2 + before**2 - c * last * before


def test_row_14_signals():
    t = np.arange(64)
    samples = np.sin(2 * np.pi * 5 * t / 64) + 0.5 * signal.square(2 * np.pi * 3 * t / 64)
    near(row_14_dft(samples), np.fft.fft(samples), atol=1e-9)
    near(row_14_goertzel(samples, 5), abs(np.fft.fft(samples)[5]) ** 2, rtol=1e-9)


@njit
def row_15_bilinear(image, ys, xs):
    y0 = np.minimum(np.floor(ys).astype(np.int64), image.shape[0] - 2)
    x0 = np.minimum(np.floor(xs).astype(np.int64), image.shape[1] - 2)
    out = np.empty(len(ys))
    for i in range(len(ys)):
        corner = image[y0[i] : y0[i] + 2, x0[i] : x0[i] + 2]
        fy, fx = ys[i] - y0[i], xs[i] - x0[i]
        out[i] = np.array([1.0 - fy, fy]) @ np.ascontiguousarray(corner) @ np.array([1.0 - fx, fx])
    return out


@njit
def row_15_interp(x, xp, fp):
    return np.interp(x, xp, fp), fp[np.argsort(-xp)][:3]


def test_row_15_interpolation():
    image = load_sample_image("china.jpg")[:50, :70].mean(axis=2)
    rng = np.random.default_rng(15)
    ys, xs = rng.uniform(0, 49, 300), rng.uniform(0, 69, 300)
    near(row_15_bilinear(image, ys, xs), ndimage.map_coordinates(image, [ys, xs], order=1), rtol=1e-9)
    xp, fp = np.sort(rng.random(20)), rng.random(20)
    found, last = row_15_interp(np.linspace(-0.5, 1.5, 50), xp, fp)
    near(found, np.interp(np.linspace(-0.5, 1.5, 50), xp, fp), rtol=1e-12)
    same(last, fp[::-1][:3])


@njit(parallel=True)
def row_16_highest(walkers, steps, seed):
    """The highest place that any walker on a line reaches, and the mean of their ends."""
    np.random.seed(seed)
    highest = 0
    ends = np.empty(walkers, np.int64)
    for w in prange(walkers):
        place = 0
        for _ in range(steps):
            place += 1 if np.random.random() < 0.5 else -1
            highest = max(highest, place)
        ends[w] = place
    return highest, ends


def test_row_16_parallel_walks():
    highest, ends = row_16_highest(10_000, 400, 3)
    threads = get_num_threads()
    try:
        set_num_threads(1)
        again = row_16_highest(10_000, 400, 3)
    finally:
        set_num_threads(threads)
    assert again[0] == highest
    same(again[1], ends)
    assert (row_16_highest(10_000, 400, 4)[1] != ends).any()
    # Standard errors: of the mean 0.2, of the variance 5.7.
    assert abs(ends.mean()) < 1.2
    assert abs(ends.var() - 400) < 30
    assert ends.max() <= highest <= 400


@vectorize(["float64(float64, float64)"])
def row_17_log_sum(a, b):
    """log(exp(a) + exp(b)) without overflow."""
    top = max(a, b)
    return top + math.log1p(math.exp(-abs(a - b)))


@vectorize(["float64(float64)"], target="parallel")
def row_17_logistic(x):
    return 1.0 / (1.0 + math.exp(-x))


@vectorize
def row_17_dynamic(a, b):
    return a * a - b


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),()->(n)")
def row_17_smoothed(values, share, out):
    out[0] = values[0]
    for i in range(1, len(values)):
        out[i] = share[0] * values[i] + (1.0 - share[0]) * out[i - 1]


def test_row_17_ufuncs():
    a = np.random.default_rng(17).normal(scale=500, size=(20, 30))
    near(row_17_log_sum(a, a[0]), np.logaddexp(a, a[0]), rtol=1e-13)
    near(row_17_log_sum.reduce(a, axis=1), special.logsumexp(a, axis=1), rtol=1e-12)
    near(row_17_log_sum.accumulate(a[0]), np.logaddexp.accumulate(a[0]), rtol=1e-12)
    near(row_17_log_sum.outer(a[0], a[1]), np.logaddexp.outer(a[0], a[1]), rtol=1e-12)
    near(row_17_logistic(a / 100), special.expit(a / 100), rtol=1e-12)
    assert row_17_dynamic(3, 2) == 7
    assert row_17_dynamic(1.5, 2) == 0.25
    near(row_17_smoothed(a, 0.3), pd.DataFrame(a.T).ewm(alpha=0.3, adjust=False).mean().T, rtol=1e-9)


@stencil
def row_18_laplace(t):
    return t[0, 1] + t[0, -1] + t[1, 0] + t[-1, 0] - 4.0 * t[0, 0]


@stencil(neighborhood=((-2, 2),))
def row_18_mean(t):
    total = 0.0
    for i in range(-2, 3):
        total += t[i]
    return total / 5.0


@njit(parallel=True)
def row_18_heat(plate, steps):
    for _ in range(steps):
        plate = plate + 0.1 * row_18_laplace(plate)
    return plate


def test_row_18_stencils():
    plate = load_sample_image("china.jpg")[:40, :60].mean(axis=2)
    expected = plate
    for _ in range(5):
        change = ndimage.laplace(expected)
        change[[0, -1], :] = change[:, [0, -1]] = 0.0
        expected = expected + 0.1 * change
    near(row_18_heat(plate, 5), expected, rtol=1e-12)
    near(row_18_mean(plate[3])[2:-2], np.convolve(plate[3], np.ones(5) / 5, "valid"), rtol=1e-12)
    same(row_18_mean(plate[3])[[0, 1, -2, -1]], 0.0)


@cuda.jit
def row_19_product(a, b, out):
    """A matrix product by tiles in shared memory."""
    tile_a = cuda.shared.array((8, 8), np.float64)
    tile_b = cuda.shared.array((8, 8), np.float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for start in range(0, a.shape[1], 8):
        tile_a[tx, ty] = a[x, start + ty] if x < a.shape[0] and start + ty < a.shape[1] else 0.0
        tile_b[tx, ty] = b[start + tx, y] if start + tx < b.shape[0] and y < b.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(8):
            total += tile_a[tx, k] * tile_b[k, ty]
        cuda.syncthreads()
    if x < out.shape[0] and y < out.shape[1]:
        out[x, y] = total


@cuda.jit
def row_19_inside(states, rounds, hits):
    thread = cuda.grid(1)
    count = 0
    for _ in range(rounds):
        x = xoroshiro128p_uniform_float64(states, thread)
        y = xoroshiro128p_uniform_float64(states, thread)
        if x * x + y * y < 1.0:
            count += 1
    cuda.atomic.add(hits, 0, count)


def test_row_19_cuda():
    rng = np.random.default_rng(19)
    a, b = rng.random((19, 27)), rng.random((27, 21))
    stream = cuda.stream()
    begin, end = cuda.event(), cuda.event()
    begin.record(stream)
    on_device = cuda.to_device(a, stream), cuda.to_device(b, stream), cuda.device_array((19, 21), stream=stream)
    row_19_product[(3, 3), (8, 8), stream](*on_device)
    end.record(stream)
    stream.synchronize()
    near(on_device[2].copy_to_host(), a @ b, rtol=1e-12)
    assert cuda.event_elapsed_time(begin, end) > 0.0
    hits = np.zeros(1, np.int64)
    row_19_inside[4, 64](create_xoroshiro128p_states(256, seed=1), 1000, hits)
    assert abs(4 * hits[0] / 256_000 - math.pi) < 0.02


class Body(NamedTuple):
    mass: float
    place: tuple[float, float]


@njit
def row_20_centre(bodies):
    total = x = y = 0.0
    for body in bodies:
        total += body.mass
        x += body.mass * body.place[0]
        y += body.mass * body.place[1]
    return Body(total, (x / total, y / total))


class Geometry:
    @staticmethod
    @njit
    def area(corners):
        total = 0.0
        for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
            total += x0 * y1 - x1 * y0
        return abs(total) / 2


def test_row_20_named_tuples_and_static_methods():
    bodies = [Body(1.0, (0.0, 0.0)), Body(3.0, (4.0, 8.0))]
    assert row_20_centre(bodies) == row_20_centre.py_func(bodies) == Body(4.0, (3.0, 6.0))
    assert isinstance(row_20_centre(bodies), Body)
    assert Geometry.area([(0.0, 0.0), (4.0, 0.0), (4.0, 3.0)]) == 6.0
