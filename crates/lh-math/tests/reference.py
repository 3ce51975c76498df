"""Writes reference.txt: arguments and exact results of every function, for accuracy.rs. Needs mpmath.

Each line: function, arguments, result as a double, and what that lacks as a second one; all as hexadecimal bits.
"""

import random
import struct

import mpmath

mpmath.mp.prec = 2200
UNARY = {
    "exp": (mpmath.exp, [(-745, 709.7), (-1, 1)]),
    "exp2": (lambda x: mpmath.mpf(2) ** x, [(-1074, 1023.9), (-1, 1)]),
    "expm1": (mpmath.expm1, [(-40, 709.7), (-1, 1), (0.34, 0.37)]),
    "log": (mpmath.log, [(0, 3), (0.7, 1.42)]),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), [(0, 3), (0.7, 1.42)]),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), [(0, 3), (0.7, 1.42)]),
    "log1p": (mpmath.log1p, [(-1, 3), (-0.3, 0.42)]),
    "sin": (mpmath.sin, [(-10, 10), (-1e6, 1e6), (-1e15, 1e15), (-8e307, 8e307)]),
    "cos": (mpmath.cos, [(-10, 10), (-1e6, 1e6), (-1e15, 1e15), (-8e307, 8e307)]),
    "tan": (mpmath.tan, [(-10, 10), (-1e6, 1e6), (-1e15, 1e15), (-8e307, 8e307)]),
    "asin": (mpmath.asin, [(-1, 1), (0.45, 0.6)]),
    "acos": (mpmath.acos, [(-1, 1), (0.45, 0.6)]),
    "atan": (mpmath.atan, [(-3, 3), (0.4, 0.45), (-1000, 1000)]),
    "sinh": (mpmath.sinh, [(-710, 710), (-2, 2), (17, 21)]),
    "cosh": (mpmath.cosh, [(-710, 710), (-2, 2), (17, 21)]),
    "tanh": (mpmath.tanh, [(-20, 20), (-1, 1), (0.15, 0.2)]),
    "asinh": (mpmath.asinh, [(-10, 10), (-1, 1), (-1e300, 1e300)]),
    "acosh": (mpmath.acosh, [(1, 3), (1, 1e300)]),
    "atanh": (mpmath.atanh, [(-1, 1), (0.1, 0.2)]),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), [(-8, 8), (-1e300, 1e300)]),
    "erf": (mpmath.erf, [(-6, 6), (0, 0.3), (0.9, 1.4)]),
    "erfc": (mpmath.erfc, [(-6, 26), (-1, 1), (0.6, 0.9)]),
}
BINARY = {
    "pow": (lambda x, y: x**y, [((0, 10), (-300, 300)), ((0.5, 1.5), (-1700, 1700)), ((0.99, 1.01), (-1e4, 1e4))]),
    "atan2": (mpmath.atan2, [((-3, 3), (-3, 3)), ((-1e3, 1e3), (-1, 1))]),
    "hypot": (
        lambda x, y: mpmath.sqrt(x * x + y * y),
        [((-3, 3), (-3, 3)), ((-8e307, 8e307), (-8e307, 8e307)), ((0, 1e-310), (0, 1e-310))],
    ),
}
# Near multiples of pi/2, ends of ranges, and the largest errors that long searches found.
HARD = {
    "sin": [
        3.141592653589793,
        1e22,
        6381956970095103.0 * 2.0**797,
        8.640051120076258,
        2.0**22,
        710.0 * 3.141592653589793,
    ],
    "cos": [1.5707963267948966, 1e22, 6381956970095103.0 * 2.0**797, 0.81746707747361158, 11 * 1.5707963267948966],
    "tan": [1.5707963267948966, 1e22, 6381956970095103.0 * 2.0**797, 0.78494181429420873],
    "exp": [0.41409691936267068, -708.77151142198443, -745.1, 709.78],
    "log": [0.70706298180241089, 5e-324, 2.2e-308, 0.9999999999999999],
    "expm1": [0.3491680065249243, 37.127399947244569, 1e-310, -1e-17],
    "erf": [1.0407952258532835, 0.001712373275227374, 1e-310],
    "log1p": [5.5531101088255854e-17, -5.5531101088255854e-17, 1.7e308],
    "atanh": [6.1731541345754427e-17],
    "asinh": [1.2279387760494373e-16, 1e-310],
}


def bits(x):
    return struct.pack(">d", x).hex()


def draw(rng, low, high):
    if rng.random() < 0.25 and low <= 0 <= high:
        return rng.choice([low, high]) * 10.0 ** rng.uniform(-12, 0)
    return rng.uniform(low, high)


def line(name, function, arguments):
    value = function(*map(mpmath.mpf, arguments))
    high = float(value)
    return " ".join([name, *map(bits, arguments), bits(high), bits(float(value - mpmath.mpf(high)))])


def main():
    rng = random.Random(20)
    lines = []
    for name, (function, ranges) in UNARY.items():
        points = [draw(rng, *ends) for ends in ranges for _ in range(240 // len(ranges))] + HARD.get(name, [])
        lines += [line(name, function, [x]) for x in points if x != 0]
    for name, (function, ranges) in BINARY.items():
        points = [[draw(rng, *ends) for ends in pair] for pair in ranges for _ in range(240 // len(ranges))]
        lines += [line(name, function, p) for p in points if 1e-320 < abs(function(*map(mpmath.mpf, p))) < 1.7e308]
    with open("reference.txt", "w") as file:
        file.write("\n".join(lines) + "\n")


main()
