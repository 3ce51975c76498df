"""Functions that C text calls: of mathematics, of threads, atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lancehead.cupy.c.tokens import Failure
from lancehead.cupy.c.values import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    Pointer,
    Value,
    common,
    constant,
    converted,
    exact,
    loaded,
    name_of,
    stored,
)  # fmt: skip

if TYPE_CHECKING:
    from lancehead.cupy.c.writing import Writer

_ONE = frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt "
    "cbrt rcbrt floor ceil trunc round rint nearbyint erf erfc erfinv erfcinv erfcx tgamma lgamma sinpi cospi normcdf "
    "normcdfinv j0 j1 y0 y1 logb fabs".split()
)
_TWO = frozenset("pow atan2 fmod hypot copysign fmax fmin fdim nextafter remainder".split())
_FAST = {
    f"__{n}f": f"fast_{n}f" for n in ("sin", "cos", "exp", "exp10", "log", "log2", "log10", "pow", "tan", "fdivide")
}
_OF_COMPLEX = frozenset("exp log log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh pow".split())
_TESTS = {"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "signbit": "signbit"}
_ATOMICS = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicMax": "max", "atomicMin": "min", "atomicAnd": "and_",
    "atomicOr": "or_", "atomicXor": "xor", "atomicExch": "exch", "atomicInc": "inc", "atomicDec": "dec",
}  # fmt: skip
_BARRIERS = {
    "__syncthreads": "syncthreads", "__threadfence": "threadfence", "__threadfence_block": "threadfence_block",
    "__threadfence_system": "threadfence_system",
}  # fmt: skip
_BITS = {"__popc": "popc", "__popcll": "popc", "__clz": "clz", "__clzll": "clz", "__ffs": "ffs", "__ffsll": "ffs"}
_SHUFFLES = {
    "__shfl_sync": "shfl_sync", "__shfl_up_sync": "shfl_up_sync", "__shfl_down_sync": "shfl_down_sync",
    "__shfl_xor_sync": "shfl_xor_sync",
}  # fmt: skip
_VOTES = {"__all_sync": "all_sync", "__any_sync": "any_sync", "__ballot_sync": "ballot_sync"}
_CU = {"cuCadd": "+", "cuCsub": "-", "cuCmul": "*", "cuCdiv": "/"}


def _floating(values: list[Value]) -> np.dtype[Any]:
    # The type of a function of floats: of floats that, of integers double.
    found = [v.type for v in values if v.type.kind == "f"]
    if not found:
        return DOUBLE
    return DOUBLE if DOUBLE in found else FLOAT


def _library(name: str, d: np.dtype[Any], values: list[Value], line: int) -> Value:
    given = ", ".join(converted(v, d, line).text for v in values)
    return Value(f"cuda.libdevice.{name}{'f' if d == FLOAT else ''}({given})", d)


def _count(name: str, values: list[Value], n: int, line: int) -> None:
    if len(values) != n:
        few = "few" if len(values) < n else "many"
        raise Failure(f"too {few} arguments in the call of {name}", line)


def called(w: Writer, name: str, values: list[Value], line: int) -> Value | None:
    """The result of a known function; None for one that is not known."""
    for group in (_mathematics, _integers, _complex, _threads, _atomics, _pointers):
        found = group(w, name, values, line)
        if found is not None:
            return found
    return None


def _mathematics(w: Writer, name: str, values: list[Value], line: int) -> Value | None:
    if any(v.is_pointer or v.type is None for v in values) or any(v.type.kind == "c" for v in values):
        return None
    stem = name
    if name in _FAST:
        values = [converted(v, FLOAT, line) for v in values]
        return Value(f"cuda.libdevice.{_FAST[name]}({', '.join(v.text for v in values)})", FLOAT)
    if name in _TESTS or name.rstrip("f") in _TESTS:
        _count(name, values, 1, line)
        d = values[0].type if values[0].type.kind == "f" else DOUBLE
        return Value(
            f"bool(np.{_TESTS.get(name) or _TESTS[name.rstrip('f')]}({converted(values[0], d, line).text}))", BOOL
        )
    if name[-1:] == "f" and name[:-1] in (_ONE | _TWO | {"fma"}) and name not in _ONE | _TWO:
        stem, values = name[:-1], [converted(v, FLOAT, line) for v in values]
    if stem in _ONE or stem in _TWO or stem == "fma":
        n = 1 if stem in _ONE else 2 if stem in _TWO else 3
        _count(name, values, n, line)
        return _library(stem, _floating(values), values, line)
    if name == "abs" and values and values[0].type.kind == "f":
        return _library("fabs", _floating(values), values, line)
    if name in ("llrint", "llround", "lrint", "lround"):
        rounded = _library("round" if "round" in name else "rint", _floating(values), values, line)
        return converted(rounded, LONG, line)
    if name in ("scalbn", "ldexp"):
        d = _floating(values[:1])
        two = _library("exp2", d, [values[1]], line)
        return Value(f"({converted(values[0], d, line).text} * {two.text})", d)
    if name in ("__float_as_int", "__int_as_float", "__double_as_longlong", "__longlong_as_double"):
        of: dict[str, Any] = {"float": FLOAT, "int": INT, "double": DOUBLE, "longlong": LONG}
        source, _, to = name[2:].partition("_as_")
        return loaded(f"cuda.libdevice.{name[2:]}({stored(converted(values[0], of[source], line))})", of[to])
    if name[:2] == "__" and name[2:3] in "fd" and name[-3:] in ("_rn", "_rz", "_ru", "_rd") and "2" not in name:
        d = FLOAT if name[2] == "f" else DOUBLE
        given = ", ".join(converted(v, d, line).text for v in values)
        return Value(f"cuda.libdevice.{name[2:]}({given})", d)
    if name in ("__saturatef", "saturate"):
        return Value(f"cuda.libdevice.saturatef({converted(values[0], FLOAT, line).text})", FLOAT)
    return None


def _integers(w: Writer, name: str, values: list[Value], line: int) -> Value | None:
    if any(v.is_pointer or v.type is None for v in values) or any(v.type.kind == "c" for v in values):
        return None
    if name in ("abs", "labs", "llabs"):
        d = common(values[0].type, LONG if name != "abs" else INT)
        return Value(f"abs({exact(converted(values[0], d, line)).text})", d) if d.kind != "u" else values[0]
    if name in ("min", "max"):
        _count(name, values, 2, line)
        d = common(values[0].type, values[1].type)
        if d.kind == "f":
            return _library(f"f{name}", d, values, line)
        a, b = [w.once(exact(converted(v, d, line))) for v in values]
        return Value(f"({a.text} if {a.text} {'<' if name == 'min' else '>'} {b.text} else {b.text})", d)
    if name in _BITS:
        d = ULONG if name.endswith("ll") else UINT
        return Value(f"np.int64(cuda.{_BITS[name]}({stored(converted(values[0], d, line))}))", INT)
    if name in ("__brev", "__brevll"):
        d = ULONG if name.endswith("ll") else UINT
        return loaded(f"cuda.brev({stored(converted(values[0], d, line))})", d)
    if name in ("__mul24", "__umul24"):
        d = UINT if name[2] == "u" else INT
        one, other = [converted(v, d, line).text for v in values]
        return Value(f"({one} * {other})", d, is_loose=True)
    if name in ("__umulhi", "__mulhi"):
        d, wide = (UINT, ULONG) if name[2] == "u" else (INT, LONG)
        one, other = [converted(converted(v, d, line), wide, line).text for v in values]
        return converted(Value(f"(({one} * {other}) >> {constant(32, wide).text})", wide), d, line)
    return None


def _complex(w: Writer, name: str, values: list[Value], line: int) -> Value | None:
    if any(v.is_pointer or v.type is None for v in values) or not values:
        return None
    v = values[0]
    stem = {"cuCreal": "real", "cuCimag": "imag", "cuConj": "conj", "cuCabs": "abs", "cuCrealf": "real",
            "cuCimagf": "imag", "cuConjf": "conj", "cuCabsf": "abs"}.get(name, name)  # fmt: skip
    if stem.rstrip("f") in _CU or stem in ("cuCfma", "cuCfmaf"):
        if stem.startswith("cuCfma"):
            return Value(f"({values[0].text} * {values[1].text} + {values[2].text})", values[0].type)
        return Value(f"({values[0].text} {_CU[stem.rstrip('f')]} {values[1].text})", values[0].type)
    if name in ("cuComplexDoubleToFloat", "cuComplexFloatToDouble"):
        d = np.dtype(np.complex64 if name.endswith("Float") else np.complex128)
        return converted(v, d, line)
    if name in ("make_cuComplex", "make_cuFloatComplex", "make_cuDoubleComplex"):
        return complex_of(np.dtype(np.complex128 if "Double" in name else np.complex64), values, line)
    real = np.dtype(f"f{v.type.itemsize // 2}") if v.type.kind == "c" else _floating([v])
    if stem in ("real", "imag", "conj", "arg", "norm", "abs", "proj") and v.type.kind != "c":
        if stem in ("abs", "proj"):
            return None
        plain = converted(v, real, line)
        known = {"real": plain, "imag": constant(0, real), "conj": plain,
                 "arg": _library("atan2", real, [constant(0, real), plain], line)}  # fmt: skip
        return known.get(stem) or Value(f"({plain.text} * {plain.text})", real)
    if all(x.type.kind != "c" for x in values):
        return None
    if stem in ("real", "imag"):
        return Value(f"{v.text}.{stem}", real)
    if stem == "conj":
        return Value(f"np.conj({v.text})", v.type)
    if stem == "abs":
        return Value(f"{_real_name(real)}(abs({v.text}))", real)
    if stem == "arg":
        return _library("atan2", real, [Value(f"{v.text}.imag", real), Value(f"{v.text}.real", real)], line)
    if stem == "norm":
        v = w.once(v)
        return Value(f"({v.text}.real * {v.text}.real + {v.text}.imag * {v.text}.imag)", real)
    if stem in _OF_COMPLEX:
        d = common(values[0].type, values[-1].type)
        given = ", ".join(converted(x, d, line).text for x in values)
        return Value(f"np.{'power' if stem == 'pow' else _numpy_name(stem)}({given})", d)
    return None


def _numpy_name(stem: str) -> str:
    return "arc" + stem[1:] if stem[0] == "a" else stem


def _real_name(d: np.dtype[Any]) -> str:
    return f"np.{d.name}"


def complex_of(d: np.dtype[Any], values: list[Value], line: int) -> Value:
    """A complex number of its parts."""
    real = np.dtype(f"f{d.itemsize // 2}")
    a, b = [converted(v, real, line).text for v in values]
    return Value(f"np.{d.name}(complex({a}, {b}))", d)


def _threads(w: Writer, name: str, values: list[Value], line: int) -> Value | None:
    if name in _BARRIERS:
        w.add(f"cuda.{_BARRIERS[name]}()")
        return Value("0", None)
    if name in ("__syncthreads_count", "__syncthreads_and", "__syncthreads_or"):
        return w.bound(Value(f"np.int64(cuda.{name[2:]}({stored(converted(values[0], INT, line))}))", INT))
    if name == "__syncwarp":
        w.add(f"cuda.syncwarp({stored(converted(values[0], UINT, line)) if values else ''})")
        return Value("0", None)
    if name == "__activemask":
        return w.bound(loaded("np.uint32(cuda.activemask())", UINT))
    if name in _SHUFFLES:
        if len(values) == 4 and values[3].number != 32:
            raise Failure(f"{name} is served for whole warps only, not for a width", line)
        mask, v, lane = values[0], values[1], values[2]
        v = converted(v, {2: INT, 1: INT}.get(v.type.itemsize, v.type), line)
        given = f"{stored(converted(mask, UINT, line))}, {stored(v)}, {stored(converted(lane, INT, line))}"
        return w.bound(converted(loaded(f"cuda.{_SHUFFLES[name]}({given})", v.type), values[1].type, line))
    if name in _VOTES:
        text = (
            f"cuda.{_VOTES[name]}({stored(converted(values[0], UINT, line))}, {converted(values[1], BOOL, line).text})"
        )
        d = UINT if name == "__ballot_sync" else INT
        return w.bound(loaded(f"np.{d.name}({text})", d))
    if name == "clock64" or name == "clock":
        raise Failure(f"{name} is not served", line)
    if name == "assert":
        w.add(f"assert {converted(values[0], BOOL, line).text}")
        return Value("0", None)
    if name in ("printf", "malloc", "free", "memcpy", "memset", "cudaMalloc"):
        raise Failure(f"{name} is not served in kernels of C text", line)
    return None


def _atomics(w: Writer, name: str, values: list[Value], line: int) -> Value | None:
    stem = name.removesuffix("_block").removesuffix("_system")
    if stem not in _ATOMICS and stem != "atomicCAS":
        return None
    place = w.decayed(values[0]) if values else None
    if place is None or not isinstance(place.type, Pointer) or place.type.of is None:
        raise Failure(f"the first argument of {name} is an address", line)
    _count(name, values, 3 if stem == "atomicCAS" else 2, line)
    d = place.type.of
    given = ", ".join(stored(converted(v, d, line)) for v in values[1:])
    function = "cas" if stem == "atomicCAS" else _ATOMICS[stem]
    return w.bound(loaded(f"cuda.atomic.{function}({place.base}, {w.place(place)}, {given})", d))


def _pointers(w: Writer, name: str, values: list[Value], line: int) -> Value | None:
    if name == "__ldg":
        place = w.decayed(values[0])
        return loaded(f"{place.base}[{w.place(place)}]", place.type.of)
    if name in ("sincos", "sincosf", "sincospi", "sincospif"):
        _count(name, values, 3, line)
        d = FLOAT if name.endswith("f") else DOUBLE
        v = w.once(converted(values[0], d, line))
        pi, suffix = ("pi" if "pi" in name else ""), ("f" if d == FLOAT else "")
        for part, to in zip(("sin", "cos"), values[1:], strict=True):
            to = w.decayed(to)
            w.add(f"{to.base}[{w.place(to)}] = cuda.libdevice.{part}{pi}{suffix}({v.text})")
        return Value("0", None)
    if name in ("modf", "modff", "frexp", "frexpf"):
        d = FLOAT if name.endswith("ff") or name == "frexpf" or values[0].type == FLOAT else DOUBLE
        to = w.decayed(values[1])
        stem = name[:4] if name.startswith("modf") else "frexp"
        a, b = w.fresh("part"), w.fresh("part")
        w.add(f"{a}, {b} = cuda.libdevice.{stem}{'f' if d == FLOAT else ''}({converted(values[0], d, line).text})")
        w.add(f"{to.base}[{w.place(to)}] = {name_of(to.type.of)}({b})")
        return Value(a, d)
    return None
