"""Functions that C text calls: of mathematics, of threads, atomics.

A function is an entry of a table: how many arguments it takes, and what writes its result. Functions of numbers have a
table for complex ones, too, which a complex argument chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

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
    Group,
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


class Function(NamedTuple):
    """A function of C: the numbers of arguments that it takes, and what writes a call of it."""

    counts: tuple[int, ...]
    write: Callable[[Writer, list[Value], int], Value]


#: Functions of real numbers, of complex ones, and of everything else, by their names.
_REAL: dict[str, Function] = {}
_COMPLEX: dict[str, Function] = {}
_OTHERS: dict[str, Function] = {}
_NOT_SERVED = frozenset("clock clock64 printf malloc free memcpy memset cudaMalloc".split())


def called(w: Writer, name: str, values: list[Value], line: int) -> Value | None:
    """The result of a known function, None for others. Failure for arguments of a wrong number or type."""
    if name in _NOT_SERVED:
        raise Failure(f"{name} is not served in kernels of C text", line)
    found = _OTHERS.get(name)
    if found is None and not any(v.is_pointer or v.type is None for v in values):
        found = (_COMPLEX if any(v.type.kind == "c" for v in values) else _REAL).get(name)
    if found is None:
        if name in _REAL or name in _COMPLEX:
            raise Failure(f"no {name} takes arguments of these types", line)
        return None
    if len(values) not in found.counts:
        few = "few" if len(values) < min(found.counts) else "many"
        raise Failure(f"too {few} arguments in the call of {name}", line)
    return found.write(w, values, line)


def functions() -> set[str]:
    """The names of all known functions."""
    return {*_OTHERS, *_REAL, *_COMPLEX}


def _floating(values: list[Value]) -> np.dtype[Any]:
    # The type of a function of floats: of floats that, of integers double.
    found = [v.type for v in values if v.type.kind == "f"]
    if not found:
        return DOUBLE
    return DOUBLE if DOUBLE in found else FLOAT


def _texts(values: Iterable[Value], d: np.dtype[Any], line: int) -> str:
    return ", ".join(converted(v, d, line).text for v in values)


def _library(name: str, d: np.dtype[Any], values: list[Value], line: int) -> Value:
    return Value(f"cuda.libdevice.{name}{'f' if d == FLOAT else ''}({_texts(values, d, line)})", d)


# --- real numbers ----------------------------------------------------------------------------------------------------
def _of_floats(name: str, count: int) -> None:
    # In the type of the arguments, and in single precision with the letter f.
    _REAL.setdefault(f"{name}f", Function((count,), lambda w, values, line: _library(name, FLOAT, values, line)))
    _REAL[name] = Function((count,), lambda w, values, line: _library(name, _floating(values), values, line))


for _name in (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt "
    "cbrt rcbrt floor ceil trunc round rint nearbyint erf erfc erfinv erfcinv erfcx tgamma lgamma sinpi cospi normcdf "
    "normcdfinv j0 j1 y0 y1 logb fabs"
).split():
    _of_floats(_name, 1)
for _name in "pow atan2 fmod hypot copysign fmax fmin fdim nextafter remainder".split():
    _of_floats(_name, 2)
_of_floats("fma", 3)


def _in_type(name: str, of: str, d: np.dtype[Any], count: int) -> None:
    # A function of the library of devices, which has one type.
    _REAL[name] = Function(
        (count,), lambda w, values, line: Value(f"cuda.libdevice.{of}({_texts(values, d, line)})", d)
    )


for _name, _n in (("sin", 1), ("cos", 1), ("tan", 1), ("exp", 1), ("exp10", 1), ("log", 1), ("log2", 1), ("log10", 1),
                  ("pow", 2), ("fdivide", 2)):  # fmt: skip
    _in_type(f"__{_name}f", f"fast_{_name}f", FLOAT, _n)
for _name, _d, _n in (
    ("fadd", FLOAT, 2), ("fsub", FLOAT, 2), ("fmul", FLOAT, 2), ("fdiv", FLOAT, 2), ("fmaf", FLOAT, 3),
    ("fsqrt", FLOAT, 1), ("frcp", FLOAT, 1), ("dadd", DOUBLE, 2), ("dmul", DOUBLE, 2), ("ddiv", DOUBLE, 2),
    ("fma", DOUBLE, 3), ("dsqrt", DOUBLE, 1), ("drcp", DOUBLE, 1),
):  # fmt: skip
    for _mode in ("rn", "rz", "ru", "rd"):
        _in_type(f"__{_name}_{_mode}", f"{_name}_{_mode}", _d, _n)
_in_type("__frsqrt_rn", "frsqrt_rn", FLOAT, 1)
_in_type("__saturatef", "saturatef", FLOAT, 1)
_in_type("saturate", "saturatef", FLOAT, 1)


def _test(numpy: str) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        d = values[0].type if values[0].type.kind == "f" else DOUBLE
        return Value(f"bool(np.{numpy}({converted(values[0], d, line).text}))", BOOL)

    return Function((1,), write)


for _name in ("isnan", "isinf", "isfinite", "signbit"):
    _REAL[_name] = _REAL[f"{_name}f"] = _test(_name)


def _to_integer(rounding: str) -> Function:
    return Function(
        (1,), lambda w, values, line: converted(_library(rounding, _floating(values), values, line), LONG, line)
    )


for _name in ("lrint", "lround"):
    _REAL[_name] = _REAL[f"l{_name}"] = _to_integer(_name[1:])


def _scaled(w: Writer, values: list[Value], line: int) -> Value:
    d = _floating(values[:1])
    two = _library("exp2", d, [values[1]], line)
    return Value(f"({converted(values[0], d, line).text} * {two.text})", d)


_REAL["scalbn"] = _REAL["ldexp"] = Function((2,), _scaled)


def _bits_as(of: str, source: np.dtype[Any], to: np.dtype[Any]) -> Function:
    return Function(
        (1,),
        lambda w, values, line: loaded(f"cuda.libdevice.{of}({stored(converted(values[0], source, line))})", to),
    )


for _name, _source, _to in (("float_as_int", FLOAT, INT), ("int_as_float", INT, FLOAT),
                       ("double_as_longlong", DOUBLE, LONG), ("longlong_as_double", LONG, DOUBLE)):  # fmt: skip
    _REAL[f"__{_name}"] = _bits_as(_name, _source, _to)


def _absolute(least: np.dtype[Any]) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        if values[0].type.kind == "f":
            return _library("fabs", _floating(values), values, line)
        d = common(values[0].type, least)
        return Value(f"abs({exact(converted(values[0], d, line)).text})", d) if d.kind != "u" else values[0]

    return Function((1,), write)


_REAL["abs"], _REAL["labs"], _REAL["llabs"] = _absolute(INT), _absolute(LONG), _absolute(LONG)


def _exactly(of: str, given: tuple[np.dtype[Any], ...], d: np.dtype[Any]) -> Function:
    # A function of the library of devices whose types are known; unsigned integers have a sign there.
    def write(w: Writer, values: list[Value], line: int) -> Value:
        texts = [stored(exact(converted(v, t, line))) for v, t in zip(values, given, strict=True)]
        return loaded(f"{name_of(d)}(cuda.libdevice.{of}({', '.join(texts)}))", d)

    return Function((len(given),), write)


def _convert(one: str, other: str, mode: str) -> None:
    # Both conversions between two types, with a rounding.
    types: dict[str, np.dtype[Any]] = {
        "int": INT,
        "uint": UINT,
        "ll": LONG,
        "ull": ULONG,
        "float": FLOAT,
        "double": DOUBLE,
    }
    for a, b in ((one, other), (other, one)):
        _REAL[f"__{a}2{b}_{mode}"] = _exactly(f"{a}2{b}_{mode}", (types[a],), types[b])


for _mode in ("rn", "rz", "ru", "rd"):
    for _name in ("int", "uint", "ll", "ull"):
        _convert("float", _name, _mode)
        _convert("double", _name, _mode)
    _REAL[f"__double2float_{_mode}"] = _exactly(f"double2float_{_mode}", (DOUBLE,), FLOAT)
for _name in ("int2double", "uint2double"):
    _REAL[f"__{_name}"] = _REAL[f"__{_name}_rn"]
for _name, _given, _result in (
    ("hadd", (INT, INT), INT), ("rhadd", (INT, INT), INT), ("uhadd", (UINT, UINT), UINT), ("ilogb", (DOUBLE,), INT),
    ("urhadd", (UINT, UINT), UINT), ("sad", (INT, INT, UINT), UINT), ("usad", (UINT, UINT, UINT), UINT),
    ("mul64hi", (LONG, LONG), LONG), ("umul64hi", (ULONG, ULONG), ULONG), ("byte_perm", (UINT, UINT, UINT), UINT),
    ("hiloint2double", (INT, INT), DOUBLE), ("double2hiint", (DOUBLE,), INT), ("double2loint", (DOUBLE,), INT),
):  # fmt: skip
    _REAL[_name if _name == "ilogb" else f"__{_name}"] = _exactly(_name, _given, _result)


def _extreme(name: str, sign: str) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        d = common(values[0].type, values[1].type)
        if d.kind == "f":
            return _library(name, d, values, line)
        a, b = [w.once(exact(converted(v, d, line))) for v in values]
        return Value(f"({a.text} if {a.text} {sign} {b.text} else {b.text})", d)

    return Function((2,), write)


_REAL["min"], _REAL["max"] = _extreme("fmin", "<"), _extreme("fmax", ">")


def _counting(of: str, d: np.dtype[Any]) -> Function:
    return Function(
        (1,), lambda w, values, line: Value(f"np.int64(cuda.{of}({stored(converted(values[0], d, line))}))", INT)
    )


def _reversing(d: np.dtype[Any]) -> Function:
    return Function((1,), lambda w, values, line: loaded(f"cuda.brev({stored(converted(values[0], d, line))})", d))


for _name in ("popc", "clz", "ffs"):
    _REAL[f"__{_name}"], _REAL[f"__{_name}ll"] = _counting(_name, UINT), _counting(_name, ULONG)
_REAL["__brev"], _REAL["__brevll"] = _reversing(UINT), _reversing(ULONG)


def _low_product(d: np.dtype[Any]) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        one, other = [converted(v, d, line).text for v in values]
        return Value(f"({one} * {other})", d, is_loose=True)

    return Function((2,), write)


def _high_product(d: np.dtype[Any], wide: np.dtype[Any]) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        one, other = [converted(converted(v, d, line), wide, line).text for v in values]
        return converted(Value(f"(({one} * {other}) >> {constant(32, wide).text})", wide), d, line)

    return Function((2,), write)


_REAL["__mul24"], _REAL["__umul24"] = _low_product(INT), _low_product(UINT)
_REAL["__mulhi"], _REAL["__umulhi"] = _high_product(INT, LONG), _high_product(UINT, ULONG)


def _real_part(w: Writer, values: list[Value], line: int) -> Value:
    return converted(values[0], _floating(values), line)


def _no_part(w: Writer, values: list[Value], line: int) -> Value:
    return constant(0, _floating(values))


def _real_angle(w: Writer, values: list[Value], line: int) -> Value:
    d = _floating(values)
    return _library("atan2", d, [constant(0, d), converted(values[0], d, line)], line)


def _real_norm(w: Writer, values: list[Value], line: int) -> Value:
    plain = _real_part(w, values, line)
    return Value(f"({plain.text} * {plain.text})", plain.type)


_REAL |= {
    "real": Function((1,), _real_part), "conj": Function((1,), _real_part), "imag": Function((1,), _no_part),
    "arg": Function((1,), _real_angle), "norm": Function((1,), _real_norm),
}  # fmt: skip


# --- groups of threads -----------------------------------------------------------------------------------------------
_RANK = "(np.{0}(cuda.{1}.x) + np.{0}(cuda.{2}.x) * (np.{0}(cuda.{1}.y) + np.{0}(cuda.{2}.y) * np.{0}(cuda.{1}.z)))"
_SIZE = "(np.{0}(cuda.{1}.x) * np.{0}(cuda.{1}.y) * np.{0}(cuda.{1}.z))"


def of_group(v: Value, name: str, line: int) -> Value:
    """The result of a function of a group of threads: `sync`, `thread_rank`, `size`."""
    if not isinstance(v.type, Group) or name not in ("sync", "thread_rank", "size", "num_threads", "is_valid"):
        raise Failure(f"{name} of a group of threads is not served in kernels of C text", line)
    is_block = v.type.name == "block"
    if name == "sync":
        return Value("cuda.syncthreads()" if is_block else "cuda.cg.this_grid().sync()", None)
    if name == "is_valid":
        return constant(True, BOOL)
    of = "int64" if is_block else "uint64"
    rank, size = _RANK.format(of, "threadIdx", "blockDim"), _SIZE.format(of, "blockDim")
    if not is_block:
        rank = f"({_RANK.format(of, 'blockIdx', 'gridDim')} * {size} + {rank})"
        size = f"({_SIZE.format(of, 'gridDim')} * {size})"
    return Value(rank if name == "thread_rank" else size, UINT if is_block else ULONG)


# --- complex numbers -------------------------------------------------------------------------------------------------
_SINGLE, _WIDE = np.dtype(np.complex64), np.dtype(np.complex128)


def _part_type(v: Value) -> np.dtype[Any]:
    return np.dtype(f"f{v.type.itemsize // 2}")


def _part(name: str) -> Function:
    return Function((1,), lambda w, values, line: Value(f"{values[0].text}.{name}", _part_type(values[0])))


def _conjugate(w: Writer, values: list[Value], line: int) -> Value:
    return Value(f"np.conj({values[0].text})", values[0].type)


def _length(w: Writer, values: list[Value], line: int) -> Value:
    d = _part_type(values[0])
    return Value(f"np.{d.name}(abs({values[0].text}))", d)


def _angle(w: Writer, values: list[Value], line: int) -> Value:
    d, v = _part_type(values[0]), values[0]
    return _library("atan2", d, [Value(f"{v.text}.imag", d), Value(f"{v.text}.real", d)], line)


def _norm(w: Writer, values: list[Value], line: int) -> Value:
    v = w.once(values[0])
    return Value(f"({v.text}.real * {v.text}.real + {v.text}.imag * {v.text}.imag)", _part_type(v))


def _by_numpy(numpy: str, count: int) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        d = common(values[0].type, values[-1].type)
        return Value(f"np.{numpy}({_texts(values, d, line)})", d)

    return Function((count,), write)


def _operation(sign: str) -> Function:
    return Function((2,), lambda w, values, line: Value(f"({values[0].text} {sign} {values[1].text})", values[0].type))


def _product_and_sum(w: Writer, values: list[Value], line: int) -> Value:
    return Value(f"({values[0].text} * {values[1].text} + {values[2].text})", values[0].type)


def _as(d: np.dtype[Any]) -> Function:
    return Function((1,), lambda w, values, line: converted(values[0], d, line))


_COMPLEX |= {
    "real": _part("real"), "imag": _part("imag"), "conj": Function((1,), _conjugate), "abs": Function((1,), _length),
    "arg": Function((1,), _angle), "norm": Function((1,), _norm), "pow": _by_numpy("power", 2),
}  # fmt: skip
_COMPLEX |= {name: _by_numpy(name, 1) for name in "exp log log10 sqrt sin cos tan sinh cosh tanh".split()}
_COMPLEX |= {f"a{name}": _by_numpy(f"arc{name}", 1) for name in "sin cos tan sinh cosh tanh".split()}
for _name, _function in {
    "cuCreal": _COMPLEX["real"], "cuCimag": _COMPLEX["imag"], "cuConj": _COMPLEX["conj"], "cuCabs": _COMPLEX["abs"],
    "cuCadd": _operation("+"), "cuCsub": _operation("-"), "cuCmul": _operation("*"), "cuCdiv": _operation("/"),
    "cuCfma": Function((3,), _product_and_sum),
}.items():  # fmt: skip
    _COMPLEX[_name] = _COMPLEX[f"{_name}f"] = _function
_COMPLEX["cuComplexDoubleToFloat"], _COMPLEX["cuComplexFloatToDouble"] = _as(_SINGLE), _as(_WIDE)


def complex_of(d: np.dtype[Any], values: list[Value], line: int) -> Value:
    """A complex number of its parts."""
    return Value(f"np.{d.name}(complex({_texts(values, np.dtype(f'f{d.itemsize // 2}'), line)}))", d)


def _complex(d: np.dtype[Any]) -> Function:
    return Function((2,), lambda w, values, line: complex_of(d, values, line))


_REAL["make_cuComplex"] = _REAL["make_cuFloatComplex"] = _complex(_SINGLE)
_REAL["make_cuDoubleComplex"] = _complex(_WIDE)


# --- threads ---------------------------------------------------------------------------------------------------------
def _barrier(of: str) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        w.add(f"cuda.{of}()")
        return Value("0", None)

    return Function((0,), write)


for _name in ("syncthreads", "threadfence", "threadfence_block", "threadfence_system"):
    _OTHERS[f"__{_name}"] = _barrier(_name)


def _voting_barrier(of: str) -> Function:
    return Function(
        (1,),
        lambda w, values, line: w.bound(Value(f"np.int64(cuda.{of}({stored(converted(values[0], INT, line))}))", INT)),
    )


for _name in ("syncthreads_count", "syncthreads_and", "syncthreads_or"):
    _OTHERS[f"__{_name}"] = _voting_barrier(_name)


def _warp_barrier(w: Writer, values: list[Value], line: int) -> Value:
    w.add(f"cuda.syncwarp({stored(converted(values[0], UINT, line)) if values else ''})")
    return Value("0", None)


def _active(w: Writer, values: list[Value], line: int) -> Value:
    return w.bound(loaded("np.uint32(cuda.activemask())", UINT))


def _shuffle(of: str) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        if len(values) == 4 and values[3].number != 32:
            raise Failure(f"__{of} is served for whole warps only, not for a width", line)
        mask, v, lane = values[:3]
        v = converted(v, {2: INT, 1: INT}.get(v.type.itemsize, v.type), line)
        given = f"{stored(converted(mask, UINT, line))}, {stored(v)}, {stored(converted(lane, INT, line))}"
        return w.bound(converted(loaded(f"cuda.{of}({given})", v.type), values[1].type, line))

    return Function((3, 4), write)


for _name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"):
    _OTHERS[f"__{_name}"] = _shuffle(_name)


def _vote(of: str, d: np.dtype[Any]) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        given = f"{stored(converted(values[0], UINT, line))}, {converted(values[1], BOOL, line).text}"
        return w.bound(loaded(f"np.{d.name}(cuda.{of}({given}))", d))

    return Function((2,), write)


def _assertion(w: Writer, values: list[Value], line: int) -> Value:
    w.add(f"assert {converted(values[0], BOOL, line).text}")
    return Value("0", None)


_OTHERS |= {
    "__syncwarp": Function((0, 1), _warp_barrier), "__activemask": Function((0,), _active),
    "__all_sync": _vote("all_sync", INT), "__any_sync": _vote("any_sync", INT),
    "__ballot_sync": _vote("ballot_sync", UINT), "assert": Function((1,), _assertion),
}  # fmt: skip


# --- memory ----------------------------------------------------------------------------------------------------------
def _atomic(name: str, of: str, count: int) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        place = w.decayed(values[0])
        if not isinstance(place.type, Pointer) or place.type.of is None:
            raise Failure(f"the first argument of {name} is an address", line)
        d = place.type.of
        given = ", ".join(stored(converted(v, d, line)) for v in values[1:])
        return w.bound(loaded(f"cuda.atomic.{of}({place.base}, {w.place(place)}, {given})", d))

    return Function((count,), write)


for _name, _of in {
    "atomicAdd": "add", "atomicSub": "sub", "atomicMax": "max", "atomicMin": "min", "atomicAnd": "and_",
    "atomicOr": "or_", "atomicXor": "xor", "atomicExch": "exch", "atomicInc": "inc", "atomicDec": "dec",
    "atomicCAS": "cas",
}.items():  # fmt: skip
    for _scope in ("", "_block", "_system"):
        _OTHERS[_name + _scope] = _atomic(_name + _scope, _of, 3 if _of == "cas" else 2)


def _address(w: Writer, v: Value, line: int) -> Value:
    place = w.decayed(v)
    if not isinstance(place.type, Pointer) or place.type.of is None:
        raise Failure("the argument is not the address of a number", line)
    return place


def _cached(w: Writer, values: list[Value], line: int) -> Value:
    place = _address(w, values[0], line)
    return loaded(f"{place.base}[{w.place(place)}]", place.type.of)


def _sine_and_cosine(pi: str, d: np.dtype[Any]) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        v = w.once(converted(values[0], d, line))
        for part, to in zip(("sin", "cos"), values[1:], strict=True):
            to = _address(w, to, line)
            w.add(f"{to.base}[{w.place(to)}] = {_library(part + pi, d, [v], line).text}")
        return Value("0", None)

    return Function((3,), write)


def _two_parts(of: str, d: np.dtype[Any] | None) -> Function:
    def write(w: Writer, values: list[Value], line: int) -> Value:
        own, to = d or _floating(values[:1]), _address(w, values[1], line)
        a, b = w.fresh("part"), w.fresh("part")
        w.add(f"{a}, {b} = {_library(of, own, values[:1], line).text}")
        w.add(f"{to.base}[{w.place(to)}] = {name_of(to.type.of)}({b})")
        return Value(a, own)

    return Function((2,), write)


_OTHERS["__ldg"] = Function((1,), _cached)
for _pi in ("", "pi"):
    _OTHERS[f"sincos{_pi}"], _OTHERS[f"sincos{_pi}f"] = _sine_and_cosine(_pi, DOUBLE), _sine_and_cosine(_pi, FLOAT)
for _name in ("modf", "frexp"):
    _OTHERS[_name], _OTHERS[f"{_name}f"] = _two_parts(_name, None), _two_parts(_name, FLOAT)
