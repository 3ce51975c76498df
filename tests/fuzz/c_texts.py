"""Runs random texts of C as `RawKernel` and as `ElementwiseKernel`, and compares with the same C built by g++.

    python tests/fuzz/c_texts.py FIRST COUNT

g++ notes where C leaves an element's result undefined, by its sanitizer of undefined behaviour; that element is not
compared. Products of floats are with powers of two only, because kernels contract a product and a sum to one rounding.
The compiler is needed: `tools/setup.sh` installs it.
"""

from __future__ import annotations

import ctypes
import hashlib
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from lancehead import cupy as cp

#: The types of inputs by their letters: C's names and NumPy's.
TYPES = {
    "a": ("signed char", "int8"), "b": ("unsigned char", "uint8"), "c": ("short", "int16"),
    "d": ("unsigned short", "uint16"), "e": ("int", "int32"), "g": ("unsigned int", "uint32"),
    "h": ("long long", "int64"), "l": ("unsigned long long", "uint64"), "o": ("bool", "bool"),
    "p": ("float", "float32"), "q": ("double", "float64"),
}  # fmt: skip
INTEGERS, FLOATS = "abceghlo", "pq"
SIZE = 16

HEADER = r"""
#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#define __global__
#define __device__
using std::fabs; using std::floor; using std::ceil; using std::trunc; using std::sqrt;
static jmp_buf undefined;
static struct { unsigned x, y, z; } threadIdx, blockIdx, blockDim = {1, 1, 1}, gridDim = {1, 1, 1};
#define HANDLER(name) void on_##name() asm("__ubsan_handle_" #name); void on_##name() { longjmp(undefined, 1); }
HANDLER(add_overflow) HANDLER(sub_overflow) HANDLER(mul_overflow) HANDLER(negate_overflow)
HANDLER(divrem_overflow) HANDLER(shift_out_of_bounds) HANDLER(float_cast_overflow) HANDLER(out_of_bounds)
"""
_FLAGS = "-std=gnu++20 -O1 -shared -fPIC -w -ffp-contract=off -fno-strict-aliasing".split()
# One library leaves a text where C does not define what comes, the other one wraps around. The first folds some
# comparisons of sums before it looks for their overflow.
_KINDS = (
    [
        "-fsanitize-recover=all",
        "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,float-cast-overflow,bounds",
    ],
    ["-fwrapv"],
)


class Text:
    """A body in C: it reads inputs and variables, and assigns to `r` and `f`."""

    def __init__(self, seed: int) -> None:
        self.rng, self.seed = random.Random(seed), seed
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.names: dict[str, list[str]] = {k: [k] for k in TYPES}
        #: Variables that may be assigned to, and arrays with their lengths.
        self.variables: dict[str, list[str]] = {k: [] for k in TYPES}
        self.arrays: list[tuple[str, str, int]] = []
        self.count, self.depth, self.loops = 0, 2, 0
        self.in_function = ""
        for _ in range(self.rng.randint(0, 2)):
            self.function()
        for _ in range(self.rng.randint(2, 5)):
            self.declaration()
        for _ in range(self.rng.randint(3, 7)):
            self.statement(0)
        self.write(f"r = {self.integer(0)};")
        self.write(f"f = {self.floating(0)};")

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # --- expressions ---------------------------------------------------------------------------------------------
    def literal(self) -> str:
        r = self.rng
        n = r.choice((0, 1, 1, 2, 3, 4, 5, 7, 9, 31, 32, 63, 100, 127, 128, 255, 256, 32767, 65535, 65536, 2**31 - 1))
        more = "2147483648u 0xFFFFFFFFu 0x80000000 4294967296LL 0x7FFFFFFFFFFFFFFFLL 1ULL 017 'a'".split()
        return r.choice((str(n), str(n), f"{n}u", f"{n}LL", hex(n), f"(-{n})", r.choice(more)))

    def variable(self, kinds: str) -> str:
        return self.rng.choice([name for k in kinds for name in self.names[k]])

    def integer(self, depth: int) -> str:
        """An expression of an integer type."""
        r = self.rng
        if depth > 3 or r.random() < 0.2:
            return self.variable(INTEGERS) if r.random() < 0.75 else self.literal()
        a = self.integer(depth + 1)
        kind = r.randrange(14)
        if kind < 5:
            return f"({a} {r.choice('++--*&&|^')} {self.integer(depth + 1)})"
        if kind == 5:
            return f"({a} {r.choice('/%')} ({self.integer(depth + 1)}{r.choice((' | 1', ' | 1', ''))}))"
        if kind == 6:
            by = r.choice((str(r.randrange(33)), f"({self.integer(depth + 1)} & {r.choice((7, 15, 31))})"))
            return f"({a} {r.choice(('<<', '>>'))} {by})"
        if kind == 7:
            return f"({r.choice('-~+!')}{a})"
        if kind == 8:
            return f"({self.condition(depth + 1)} ? {a} : {self.integer(depth + 1)})"
        if kind == 9:
            return f"({TYPES[r.choice(INTEGERS)][0]})({a})"
        if kind == 10 and not self.in_function:
            # The compiler does not say that a constant does not fit.
            value = f"{r.choice(FLOATS)} + {self.floating(depth + 1)}"
            return f"static_cast<{TYPES[r.choice(INTEGERS)][0]}>({value})"
        if kind == 11 and self.functions and not self.in_function:
            return self.call(depth)
        if kind == 12 and self.arrays:
            name, _, length = r.choice(self.arrays)
            return f"((long long){name}[({a}) & {length - 1}])"
        return f"({self.condition(depth + 1)})"

    def floating(self, depth: int) -> str:
        """An expression of a floating type."""
        r = self.rng
        if depth > 3 or r.random() < 0.2:
            return self.variable(FLOATS) if r.random() < 0.7 else r.choice("0.5 1.5f (-2.25) 100.0f 1e3 3.f".split())
        a, b = self.floating(depth + 1), self.floating(depth + 1)
        kind = r.randrange(9)
        if kind < 2:
            return f"({a} {r.choice('+-')} {b})"
        if kind == 2:
            return f"({a} / {b})"
        if kind == 3:
            return f"({a} * {r.choice(('2', '0.5f', '4.0', '-1'))})"
        if kind == 4:
            return f"({self.condition(depth + 1)} ? {a} : {b})"
        if kind == 5:
            return f"{r.choice(('fabs', 'floor', 'ceil', 'trunc'))}((double)({a}))"
        if kind == 6:
            return f"({r.choice(('float', 'double'))})({self.integer(depth + 1)})"
        if kind == 7:
            return f"(-({a}))"
        return f"({self.variable(FLOATS)} + {self.integer(depth + 1)})"

    def condition(self, depth: int) -> str:
        r = self.rng
        of = self.integer if r.random() < 0.75 else self.floating
        if depth > 3:
            return f"{self.variable(INTEGERS)} {r.choice(('<', '>', '==', '!='))} {self.literal()}"
        if r.random() < 0.25:
            return f"({self.condition(depth + 1)} {r.choice(('&&', '||'))} {self.condition(depth + 1)})"
        return f"{of(depth + 1)} {r.choice(('<', '<=', '>', '>=', '==', '!='))} {of(depth + 1)}"

    def call(self, depth: int) -> str:
        name, count = self.rng.choice(self.known)
        return f"{name}({', '.join(self.integer(depth + 1) for _ in range(count))})"

    # --- statements ----------------------------------------------------------------------------------------------
    def function(self) -> None:
        """A function of integers, which others call."""
        r = self.rng
        kinds = [r.choice("abceghl") for _ in range(r.randint(1, 3))]
        name = f"h{self.seed}_{len(self.functions)}"
        before = self.names, self.lines, self.depth, self.variables
        self.names = {k: [f"x{n}" for n, of in enumerate(kinds) if of == k] for k in TYPES}
        self.names[kinds[0]].append("x0")
        for k in FLOATS:
            self.names[k] = ["2.5"]
        self.variables, self.lines, self.depth, self.in_function = {k: [] for k in TYPES}, [], 1, name
        integers = [k for k in INTEGERS if self.names[k]]
        for k in INTEGERS:
            self.names[k] = self.names[k] or self.names[integers[0]]
        if r.random() < 0.5:
            self.write(f"if ({self.condition(2)}) return {self.integer(2)};")
        self.write(f"return {self.integer(1)};")
        head = ", ".join(f"{TYPES[k][0]} x{n}" for n, k in enumerate(kinds))
        result = TYPES[r.choice("abceghlo")][0]
        self.functions.append(f"__device__ {result} {name}({head}) {{\n" + "\n".join(self.lines) + "\n}\n")
        self.known = [*getattr(self, "known", []), (name, len(kinds))]
        self.names, self.lines, self.depth, self.variables = before
        self.in_function = ""

    def declaration(self) -> None:
        r = self.rng
        if r.random() < 0.25:
            k, length = r.choice("abceghlpq"), r.choice((2, 4, 8))
            name = self.fresh("w")
            of = self.floating if k in FLOATS else self.integer
            values = ", ".join(f"({TYPES[k][0]})({of(2)})" for _ in range(r.randint(1, length)))
            self.write(f"{TYPES[k][0]} {name}[{length}] = {{{values}}};")
            self.arrays.append((name, k, length))
            return
        k = r.choice([*TYPES])
        name = self.fresh("v")
        of = self.floating if k in FLOATS and r.random() < 0.8 else self.integer
        self.write(f"{TYPES[k][0]} {name} = {of(1)};")
        self.names = {**self.names, k: [*self.names[k], name]}
        self.variables = {**self.variables, k: [*self.variables[k], name]}

    def block(self, nesting: int) -> None:
        before = self.names, self.variables, self.arrays
        self.arrays = list(self.arrays)
        self.depth += 1
        for _ in range(self.rng.randint(1, 3)):
            self.statement(nesting + 1)
        self.depth -= 1
        self.names, self.variables, self.arrays = before

    def assignment(self) -> None:
        r = self.rng
        known = [(k, name) for k, names in self.variables.items() for name in names]
        if self.arrays and r.random() < 0.3:
            name, k, length = r.choice(self.arrays)
            target = f"{name}[{self.integer(2)} & {length - 1}]"
        elif known:
            k, target = r.choice(known)
        else:
            return
        if k in FLOATS:
            self.write(f"{target} {r.choice(('=', '+=', '-=', '/='))} {self.floating(1)};")
        elif k != "o" and r.random() < 0.2:
            self.write(r.choice((f"{target}++;", f"--{target};", f"{target}--;", f"++{target};")))
        elif k == "o":
            self.write(f"{target} = {self.integer(1)};")
        elif r.random() < 0.15:
            self.write(f"{target} {r.choice(('<<=', '>>='))} ({self.integer(2)} & 7);")
        else:
            op = r.choice(("=", "=", "+=", "-=", "/=", "%=", "&=", "|=", "^=") if self.loops else ("*=", "=", "+="))
            # Divisors are mostly not zero.
            self.write(
                f"{target} {op} {self.integer(1)};" if op[0] not in "/%" else f"{target} {op} ({self.integer(1)} | 1);"
            )

    def statement(self, nesting: int) -> None:
        r = self.rng
        kind = r.random()
        if nesting > 2 or kind < 0.45:
            self.assignment()
        elif kind < 0.55:
            self.declaration()
        elif kind < 0.7:
            self.write(f"if ({self.condition(1)}) {{")
            self.block(nesting)
            if r.random() < 0.5:
                self.write("} else {")
                self.block(nesting)
            self.write("}")
        elif kind < 0.88:
            self.loop(nesting)
        else:
            self.switch(nesting)

    def loop(self, nesting: int) -> None:
        r = self.rng
        k, name, rounds = r.choice("abceghl"), self.fresh("k"), r.randint(1, 6)
        of = TYPES[k][0]
        before = self.names
        self.names = {**self.names, k: [*self.names[k], name]}
        form = r.randrange(4)
        if form == 0:
            self.write(f"for ({of} {name} = 0; {name} < {rounds}; {name}++) {{")
        elif form == 1:
            self.write(f"for ({of} {name} = {rounds}; {name} > 0; --{name}) {{")
        elif form == 2:
            self.write(f"{of} {name} = 0;")
            self.write(f"while ({name}++ < {rounds}) {{")
        else:
            self.write(f"{of} {name} = 0;")
            self.write("do {")
        self.loops += 1
        self.block(nesting)
        if r.random() < 0.3:
            self.depth += 1
            self.write(f"if ({self.condition(2)}) {r.choice(('break', 'continue'))};")
            self.assignment()
            self.depth -= 1
        self.loops -= 1
        self.write("}" if form < 3 else f"}} while (++{name} < {rounds});")
        self.names = before

    def switch(self, nesting: int) -> None:
        r = self.rng
        self.write(f"switch ({self.integer(1)} & 3) {{")
        for label in r.sample(range(4), r.randint(1, 3)):
            self.write(f"case {label}: {{")
            self.block(nesting)
            self.write("}" + (" break;" if r.random() < 0.7 else ""))
        if r.random() < 0.6:
            self.write("default: {")
            self.block(nesting)
            self.write("}")
        self.write("}")

    # --- texts ---------------------------------------------------------------------------------------------------
    @property
    def body(self) -> str:
        return "\n".join(self.lines)

    @property
    def kernel(self) -> str:
        """The text for `RawKernel` and for g++, whose functions have names of their own."""
        parameters = ", ".join(f"const {of}* in_{k}" for k, (of, _) in TYPES.items())
        inputs = "".join(f"        {of} {k} = in_{k}[i];\n" for k, (of, _) in TYPES.items())
        return (
            "".join(self.functions)
            + f'extern "C" __global__ void k{self.seed}({parameters}, long long* out_r, double* out_f, int n) {{\n'
            + "    int i = blockDim.x * blockIdx.x + threadIdx.x;\n    if (i < n) {\n"
            + inputs
            + "        long long r = 0; double f = 0;\n"
            + self.body
            + "\n        out_r[i] = r; out_f[i] = f;\n    }\n}\n"
        )


def inputs(seed: int) -> list[np.ndarray]:
    """Values of all types: small ones, mostly, and extreme ones."""
    rng = np.random.default_rng(seed)
    found = []
    for _, name in TYPES.values():
        d = np.dtype(name)
        if d.kind == "f":
            found.append((rng.integers(-120, 400, SIZE) / 4).astype(d))
            continue
        if d.kind == "b":
            found.append(rng.random(SIZE) < 0.5)
            continue
        info = np.iinfo(d)
        low = -40 if info.min else 0
        x = rng.integers(low, 100, SIZE).astype(d)
        extremes = np.array([info.min, info.max, info.max - 1, info.min + 1, 0, 1], d)
        found.append(np.where(rng.random(SIZE) < 0.1, rng.choice(extremes, SIZE), x).astype(d))
    return found


def built(texts: list[Text]) -> list[ctypes.CDLL]:
    """The texts as libraries of g++, which agree where C defines what a text does."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise RuntimeError("the fuzzer of C texts needs g++, which tools/setup.sh installs")
    source = HEADER + "".join(t.kernel for t in texts)
    for t in texts:
        given = ", ".join(f"(const {of}*)in[{n}]" for n, (of, _) in enumerate(TYPES.values()))
        source += (
            f'extern "C" void run{t.seed}(void** in, long long* r, double* f, int n, bool* left) {{\n'
            f"    for (volatile int i = 0; i < n; i++) {{ if (left[i]) continue;\n"
            f"        threadIdx.x = i; left[i] = setjmp(undefined);\n"
            f"        if (!left[i]) k{t.seed}({given}, r, f, n); }}\n}}\n"
        )
    folder = Path(tempfile.mkdtemp())
    try:
        name, made = hashlib.sha256(source.encode()).hexdigest()[:16], []
        (folder / f"{name}.cpp").write_text(source, encoding="utf-8")
        for kind, flags in enumerate(_KINDS):
            path = str(folder / f"{name}-{kind}.so")
            subprocess.run([compiler, *_FLAGS, *flags, "-o", path, str(folder / f"{name}.cpp")], check=True)
            made.append(ctypes.CDLL(path))
        return made
    finally:
        shutil.rmtree(folder)


def expected(
    libraries: list[ctypes.CDLL], t: Text, given: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The results of g++'s code, and which elements C defines."""
    pointers = (ctypes.c_void_p * len(given))(*[x.ctypes.data for x in given])
    address, found, left = ctypes.c_void_p, [], np.zeros(SIZE, np.bool_)
    for library in libraries:
        r, f, run = np.zeros(SIZE, np.int64), np.zeros(SIZE), library[f"run{t.seed}"]
        run(pointers, address(r.ctypes.data), address(f.ctypes.data), SIZE, address(left.ctypes.data))
        found.append((r, f))
    (r, f), (wrapped, g) = found
    return r, f, ~left & (r == wrapped) & ((f == g) | ((f != f) & (g != g)))


def computed(t: Text, given: list[np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The results of both kinds of kernels."""
    arrays = [cp.asarray(x) for x in given]
    r, f = cp.zeros(SIZE, np.int64), cp.zeros(SIZE)
    raw = cp.RawKernel(t.kernel, f"k{t.seed}")
    raw((1,), (32,), (*arrays, r, f, SIZE))
    ins = ", ".join(f"{name} {k}" for k, (_, name) in TYPES.items())
    body = "r = 0; f = 0;\n" + t.body
    elementwise = cp.ElementwiseKernel(ins, "int64 r, float64 f", body, f"e{t.seed}", preamble="".join(t.functions))
    return {"RawKernel": (r.get(), f.get()), "ElementwiseKernel": tuple(x.get() for x in elementwise(*arrays))}


def run(first: int, count: int) -> dict[int, str]:
    """The faults of texts, by their seeds."""
    texts = [Text(seed) for seed in range(first, first + count)]
    libraries, faults = built(texts), {}
    for t in texts:
        given = inputs(t.seed)
        r, f, known = expected(libraries, t, given)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = computed(t, given)
        except Exception as e:
            faults[t.seed] = f"{type(e).__name__}: {e}\n{t.kernel}"
            continue
        for kind, (own_r, own_f) in found.items():
            wrong = known & ~((own_r == r) & ((own_f == f) | ((own_f != own_f) & (f != f))))
            if wrong.any():
                i = int(wrong.argmax())
                values = ", ".join(f"{k} = {x[i]!r}" for k, x in zip(TYPES, given, strict=True))
                faults[t.seed] = f"{kind}: {own_r[i]}, {own_f[i]} are not {r[i]}, {f[i]} for {values}\n{t.kernel}"
    return faults


def defined(first: int, count: int) -> float:
    """The share of elements whose results C defines."""
    texts = [Text(seed) for seed in range(first, first + count)]
    libraries = built(texts)
    return float(np.mean([expected(libraries, t, inputs(t.seed))[2] for t in texts]))


if __name__ == "__main__":
    found = run(int(sys.argv[1]), int(sys.argv[2]))
    for seed, text in found.items():
        print(f"seed {seed}: {text}", flush=True)
    print(f"{len(found)} of {sys.argv[2]} texts are wrong")
    sys.exit(bool(found))
