"""Fits the polynomials of `math/`: nearly minimax, with coefficients that are floats.

`python fit.py [NAME ...]` prints the coefficients of entries of TABLE, lowest first, and the largest weighted error in
bits.

The error of a sum of `c[i] * v**i` against `f(v)` is weighted by `w(v)`, so that it is an error of the result relative
to what counts there. Coefficients are rounded one after the other, lowest first, and the later ones are fitted anew
each time, so that they make up for the rounding of the earlier ones. Needs mpmath.
"""

import sys
from collections.abc import Callable

import mpmath
from mpmath import mpf

mpmath.mp.prec = 240


def rounded(value, digits):
    """The nearest number with so many binary digits."""
    with mpmath.workprec(digits):
        return +value


def minimax(f, w, low, high, powers, rounds=30):
    """Coefficients of the powers whose largest weighted error is nearly the least: least squares, weighted anew by the
    errors (Lawson)."""
    count = 12 * len(powers) + 12
    grid = [low + (high - low) * (1 - mpmath.cos(mpmath.pi * i / count)) / 2 for i in range(count + 1)]
    rows = [[v**p * w(v) for p in powers] for v in grid]
    right = [f(v) * w(v) for v in grid]
    shares = [mpf(1)] * len(grid)
    best, least = None, mpmath.inf
    n = len(powers)
    for _ in range(rounds):
        square = mpmath.matrix(n, n)
        side = mpmath.matrix(n, 1)
        for i in range(n):
            scaled = [s * row[i] for s, row in zip(shares, rows)]
            side[i] = mpmath.fdot(scaled, right)
            for j in range(i + 1):
                square[i, j] = square[j, i] = mpmath.fdot(scaled, (row[j] for row in rows))
        c = mpmath.lu_solve(square, side)
        errors = [abs(mpmath.fdot(row, c) - r) for row, r in zip(rows, right)]
        if max(errors) < least:
            best, least = list(c), max(errors)
        shares = [s * e for s, e in zip(shares, errors)]
        total = sum(shares)
        shares = [s / total + mpf(2) ** -100 for s in shares]
    return best


def fit(f, w, low, high, count, digits, given):
    """So many coefficients of so many binary digits (or of as many as a list says); the first may be given. And the
    largest weighted error."""
    low, high = mpf(low), mpf(high)
    done = [mpf(g) for g in given]
    while len(done) < count:
        rest = lambda v: f(v) - sum(a * v**p for p, a in enumerate(done))
        bits = digits if isinstance(digits, int) else digits[len(done)]
        done.append(rounded(minimax(rest, w, low, high, range(len(done), count))[0], bits))
    error = lambda v: abs(sum(a * v**p for p, a in enumerate(done)) - f(v)) * w(v)
    return done, max(error(low + (high - low) * i / 2000) for i in range(2001))


def quotient(f, high, count, rounds=25):
    """So many `n` and `d` of `(1 + z n(z)) / (1 + z d(z))` near `f` on [0, high], of 53 bits, and the largest relative
    error in bits: linear least squares, weighted anew by the errors and the denominators; coefficients are rounded one
    after the other, as in `fit`."""
    grid = [high * (1 - mpmath.cos(mpmath.pi * i / 160)) / 2 for i in range(161)]
    values = [f(z) for z in grid]
    value = lambda c, z: 1 + sum(a * z ** (i + 1) for i, a in enumerate(c))
    done = ([], [])
    while True:
        shares, below, best = [mpf(1)] * 161, [mpf(1)] * 161, (mpmath.inf,)
        free = [[i for i in range(len(part) + 1, count + 1)] for part in done]
        for _ in range(rounds):
            rows, right = [], []
            for z, t, d in zip(grid, values, below):
                rows.append([z**i / (t * d) for i in free[0]] + [-(z**i) / d for i in free[1]])
                right.append((t * value(done[1], z) - value(done[0], z)) / (t * d))
            n = len(rows[0])
            square, side = mpmath.matrix(n, n), mpmath.matrix(n, 1)
            for i in range(n):
                scaled = [s * row[i] for s, row in zip(shares, rows)]
                side[i] = mpmath.fdot(scaled, right)
                for j in range(i + 1):
                    square[i, j] = square[j, i] = mpmath.fdot(scaled, (row[j] for row in rows))
            c = list(mpmath.lu_solve(square, side))
            parts = (done[0] + c[: len(free[0])], done[1] + c[len(free[0]) :])
            below = [value(parts[1], z) for z in grid]
            errors = [abs(value(parts[0], z) / (d * t) - 1) for z, t, d in zip(grid, values, below)]
            best = min(best, (max(errors), parts), key=lambda b: b[0])
            shares = [s * (e + max(errors) / 50) for s, e in zip(shares, errors)]
            total = sum(shares)
            shares = [s / total for s in shares]
        which = len(done[1]) <= len(done[0])
        if len(done[0]) + len(done[1]) == 2 * count - 1:
            return best[1][0][:-1] + [rounded(best[1][0][-1], 53)], best[1][1], best[0]
        done[which].append(rounded(best[1][which][len(done[which])], 53))


def ratio(f, limit) -> Callable:
    """`f`, which is 0/0 at zero, with its limit there."""
    return lambda v: f(v) if abs(v) > mpf(2) ** -60 else mpf(limit)


def root(f) -> Callable:
    """A function of the square of the argument."""
    return lambda z: f(mpmath.sqrt(z))


QUARTER_PI = mpmath.pi / 4 * mpf("1.0001")
HALF_LN2 = mpmath.log(2) / 2 * mpf("1.0001")
SQRT2 = mpmath.sqrt(2)
# Where erf(sqrt(z)) / sqrt(z) - 1 is a number of few bits, which it is the closer to the better z is as a float.
ERF_CENTRE, ERF_FIRST = mpf(0.9792202741056858), mpf(-0.15283203125)

atanh_tail = ratio(root(lambda s: (2 * mpmath.atanh(s) - 2 * s) / s**3), mpf(2) / 3)
erf_less_one = ratio(root(lambda x: mpmath.erf(x) / x - 1), 2 / mpmath.sqrt(mpmath.pi) - 1)
tanh_tail = ratio(root(lambda x: (mpmath.tanh(x) / x - 1) / x**2), mpf(-1) / 3)
log2_erfc = lambda a: mpmath.log(mpmath.erfc(a), 2)
erfc_root = lambda a: SQRT2 * mpmath.erfc(a) ** (mpf(1) / 8)
# Of the argument 1 / (a + 3).
erfc_scaled = lambda t: (lambda a: mpmath.erfc(a) * mpmath.exp(a * a) / t)(1 / t - 3)

# Name: function, weight, ends, number of coefficients, digits, and the first coefficients if they are given.
TABLE = {
    "trig::float::sine": (
        ratio(root(lambda r: (mpmath.sin(r) / r - 1) / r**2), mpf(-1) / 6),
        lambda z: z,
        0,
        QUARTER_PI**2,
        3,
        24,
        [],
    ),
    "trig::float::cosine": (
        ratio(root(lambda r: (mpmath.cos(r) - 1) / r**2), -0.5),
        lambda z: z,
        0,
        QUARTER_PI**2,
        4,
        24,
        [-0.5],
    ),
    "log::logf": (ratio(lambda f: (mpmath.log1p(f) - f) / f**2, -0.5), abs, SQRT2 / 2 - 1, SQRT2 - 1, 9, 24, [-0.5]),
    "log::log2f": (lambda f: TABLE["log::logf"][0](f) / mpmath.log(2), abs, SQRT2 / 2 - 1, SQRT2 - 1, 9, 24, []),
    "log::log10f": (
        lambda f: TABLE["log::logf"][0](f) / mpmath.log(10),
        abs,
        SQRT2 / 2 - 1,
        SQRT2 - 1,
        9,
        24,
        [],
    ),
    "log::inverse": (lambda d: 1 / d, lambda d: d, 1 + SQRT2 / 2, 1 + SQRT2, 3, 53, []),
    "arc::arctangent": (
        ratio(root(lambda t: (mpmath.atan(t) / t - 1) / t**2), mpf(-1) / 3),
        lambda z: z,
        0,
        1,
        20,
        53,
        [],
    ),
    "arc::arcsine": (
        ratio(root(lambda s: (mpmath.asin(s) / s - 1) / s**2), mpf(1) / 6),
        lambda z: z,
        0,
        0.25,
        12,
        53,
        [],
    ),
    "root::inverse_root": (lambda d: (1 - d) ** mpf(-0.5), lambda d: (1 - d) ** 0.5, 0.1049, 0.2053, 4, 53, []),
    "root::inverse_cube_root": (
        lambda d: (1 - d) ** (mpf(-1) / 3),
        lambda d: (1 - d) ** (mpf(1) / 3),
        0.1792,
        0.3079,
        4,
        53,
        [],
    ),
    "root::float::inverse_root": (lambda d: (1 - d) ** mpf(-0.5), lambda d: (1 - d) ** 0.5, 0.1049, 0.2053, 3, 24, []),
    "root::float::inverse_cube_root": (
        lambda d: (1 - d) ** (mpf(-1) / 3),
        lambda d: (1 - d) ** (mpf(1) / 3),
        0.1792,
        0.3079,
        3,
        24,
        [],
    ),
    "log::log2": (
        lambda z: atanh_tail(z) / mpmath.log(2),
        lambda z: z,
        0,
        (3 - 2 * SQRT2) ** 2 * mpf("1.0001"),
        7,
        53,
        [],
    ),
    "log::log10": (
        lambda z: atanh_tail(z) / mpmath.log(10),
        lambda z: z,
        0,
        (3 - 2 * SQRT2) ** 2 * mpf("1.0001"),
        7,
        53,
        [],
    ),
    "trig::float::tan": (
        ratio(root(lambda r: (mpmath.tan(r) / r - 1) / r**2), mpf(1) / 3),
        lambda z: z,
        0,
        QUARTER_PI**2,
        7,
        24,
        [],
    ),
    "arc::float::atan": (
        ratio(root(lambda t: (mpmath.atan(t) / t - 1) / t**2), mpf(-1) / 3),
        lambda z: z,
        0,
        1,
        10,
        24,
        [],
    ),
    "arc::float::arcsine": (
        ratio(root(lambda s: (mpmath.asin(s) / s - 1) / s**2), mpf(1) / 6),
        lambda z: z,
        0,
        0.25,
        6,
        24,
        [],
    ),
    "area::float::asinh": (
        ratio(root(lambda x: (mpmath.asinh(x) / x - 1) / x**2), mpf(-1) / 6),
        lambda z: z,
        0,
        0.25,
        5,
        24,
        [],
    ),
    "area::float::atanh": (
        ratio(root(lambda x: (mpmath.atanh(x) / x - 1) / x**2), mpf(1) / 3),
        lambda z: z,
        0,
        0.25,
        6,
        24,
        [],
    ),
    "area::float::acosh": (
        ratio(lambda t: (mpmath.acosh(1 + t) / mpmath.sqrt(2 * t) - 1) / t, mpf(-1) / 12),
        lambda t: t,
        0,
        0.5,
        5,
        24,
        [],
    ),
    "exp::float::power": (lambda f: mpf(2) ** f, lambda f: mpf(2) ** -f, -0.5, 0.5, 7, 24, [1]),
    "hyperbolic::float::tanh, near": (tanh_tail, lambda z: z, 0, 1, 7, 24, []),
    "hyperbolic::float::tanh, far": (lambda w: 2 / (1 + w), lambda w: w, 0, mpmath.exp(-2), 5, 24, []),
    "erf::float::erf, near": (erf_less_one, lambda z: 1, 0, 1, 7, 24, []),
    "erf::float::erf, far": (lambda v: log2_erfc(v + 1), lambda v: mpmath.erfc(v + 1), 0, 2.93, 7, 24, []),
    # Coefficients of 21 bits are operands of a GPU's instructions.
    "erf::wide::erfc": (
        erfc_scaled,
        lambda t: 1 / erfc_scaled(t),
        1 / mpf("13.1"),
        mpf(1) / 3,
        10,
        [53] * 3 + [21] * 7,
        [],
    ),
    "exp::wide::exp": (
        ratio(lambda r: (mpmath.expm1(r) - r) / r**2, 0.5),
        lambda r: r * r * mpmath.exp(-r),
        -HALF_LN2,
        HALF_LN2,
        6,
        21,
        [0.5],
    ),
    "erf::wide::inverse": (lambda t: 1 / t, lambda t: t, mpf("0.70709"), mpf("0.72855"), 3, 21, []),
    "erf::erf, near": (
        lambda v: erf_less_one(v + ERF_CENTRE),
        lambda v: 1,
        -ERF_CENTRE,
        1.96 - ERF_CENTRE,
        15,
        53,
        [ERF_FIRST],
    ),
    "erf::erf, far": (lambda v: erfc_root(v + 1.5), lambda v: erfc_root(v + 1.5) ** 7 / 2, -0.1, 4.5, 16, 53, []),
}


def main():
    if len(sys.argv) == 1 or "trig::tangent" in sys.argv[1:]:
        tangent = ratio(root(lambda r: mpmath.tan(r) / r), 1)
        n, d, worst = quotient(tangent, QUARTER_PI**2, 3)
        print(
            f"trig::tangent: {[float(a) for a in n]}, {[float(a) for a in d]}; {float(mpmath.log(worst, 2)):.1f}",
            flush=True,
        )
    for name, (f, w, low, high, count, digits, given) in TABLE.items():
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            c, worst = fit(f, w, low, high, count, digits, given)
            print(
                f"{name}: {', '.join(mpmath.nstr(a, 9 if digits == 24 else 17) for a in c)}; "
                f"{float(mpmath.log(worst, 2)):.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
