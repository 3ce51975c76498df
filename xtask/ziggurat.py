"""Writes the tables of `crates/lh-runtime/src/random/generator/tables.rs`.

    python3 xtask/ziggurat.py

256 layers of equal area cover a density (Marsaglia and Tsang, 2000). `x[i]` is the right edge of layer i and `f[i]`
the density there; random bits below `k[i]` are inside of the next layer, so that a draw ends. NumPy's streams depend
on each bit of these numbers: its tables of the normal density were made in double precision, those of the
exponential one with many digits; in single precision the latter were written with nine digits.
"""

import math
import pathlib
import struct
from decimal import Decimal, getcontext

getcontext().prec = 60
LAYERS = 256
PAGE = pathlib.Path(__file__).resolve().parents[1] / "crates/lh-runtime/src/random/generator/tables.rs"
WIDTH = 120


def rounded_exp(x):
    """The exponential of a double, rounded once."""
    return float(Decimal(x).exp())


def normal():
    """Edges and densities of the normal layers, and the bits below which a draw ends, as fractions."""
    r, area = 3.654152885361009, 0.004928673233974652
    x, f = [0.0] * LAYERS, [1.0] * LAYERS
    x[-1], f[-1] = r, rounded_exp(-0.5 * r * r)
    for i in range(LAYERS - 2, 0, -1):
        x[i] = math.sqrt(-2.0 * float(Decimal(area / x[i + 1] + f[i + 1]).ln()))
        f[i] = rounded_exp(-0.5 * x[i] * x[i])
        if i == 38:
            # The exponential that NumPy's authors had was rounded the other way here.
            f[i] = math.nextafter(f[i], 2.0)
    x[0] = area / f[-1]
    inside = [r / x[0], 0.0] + [x[i] / x[i + 1] for i in range(1, LAYERS - 1)]
    return x, f, [round(p * 2.0**52) for p in inside], [round(p * 2.0**23) for p in inside]


def exponential():
    """The same of the exponential layers."""
    r = Decimal("7.69711747013104971404462804811408952334296818528283")
    area = (r + 1) * (-r).exp()
    x = [r] * LAYERS
    for i in range(LAYERS - 2, 0, -1):
        x[i] = -(area / x[i + 1] + (-x[i + 1]).exp()).ln()
    x[0] = area / (-r).exp()
    f = [Decimal(1)] + [(-e).exp() for e in x[1:]]
    inside = [r / x[0], Decimal(0)] + [x[i] / x[i + 1] for i in range(1, LAYERS - 1)]
    return x, f, [2 * int(p * 2**52) for p in inside], [round(p * 2**23) for p in inside]


def single(x):
    """The number in single precision."""
    return struct.unpack("f", struct.pack("f", x))[0]


def short(x):
    """The shortest text of a number in single precision."""
    texts = (f"{x:.{digits}e}" for digits in range(9))
    return next(t for t in texts if single(float(t)) == x)


def table(doc, name, kind, texts):
    """A table as Rust has it."""
    out, line = [f"/// {doc}", "#[rustfmt::skip]", f"pub(super) static {name}: [{kind}; {len(texts)}] = ["], "   "
    for text in texts:
        if len(line) + len(text) + 2 > WIDTH:
            out.append(line)
            line = "   "
        line += f" {text},"
    return "\n".join([*out, line, "];\n"])


def tables(word, bits, made, digits):
    """The tables of one density."""
    x, f, inside, inside_single = made
    name = word.upper()
    near = (lambda t: single(float(f"{t:.8e}"))) if digits else single
    return [
        table(
            f"Edges of the {word} layers by 2**-{bits}.", f"{name}_X", "f64", [repr(float(e) * 2.0**-bits) for e in x]
        ),
        table(f"Densities of the {word} layers.", f"{name}_F", "f64", [repr(float(e)) for e in f]),
        table(f"Bits below which a {word} draw ends.", f"{name}_K", "u64", [hex(k) for k in inside]),
        table(
            f"`{name}_X` in single precision, by 2**-23.",
            f"{name}_X32",
            "f32",
            [short(near(float(e) * 2.0**-23)) for e in x],
        ),
        table(f"`{name}_F` in single precision.", f"{name}_F32", "f32", [short(near(e)) for e in f]),
        table(f"`{name}_K` of 23 bits.", f"{name}_K32", "u32", [hex(k) for k in inside_single]),
    ]


def log_factorials(n):
    """The logarithms of the first factorials."""
    texts, product = [], Decimal(1)
    for i in range(n):
        product *= max(i, 1)
        texts.append(repr(float(product.ln())))
    return table("Logarithms of factorials.", "LOG_FACTORIALS", "f64", texts)


def main():
    """Writes the page."""
    parts = ["//! Layers of the ziggurats and logarithms of factorials, made by `xtask/ziggurat.py`.\n"]
    parts += tables("normal", 52, normal(), False) + tables("exponential", 53, exponential(), True)
    PAGE.write_text("\n".join([*parts, log_factorials(126)]))


if __name__ == "__main__":
    main()
