"""Lazily fused arrays: the Python array API standard, version 2024.12. Operations are compiled together.

>>> from lancehead import xp
>>> x = xp.asarray([1.0, 2.0, 3.0])
>>> float(xp.sum((x - xp.mean(x)) ** 2))
2.0
"""

from __future__ import annotations

from typing import Any

from lancehead.xp import dtypes, fft, indexing, linalg, random  # noqa: F401
from lancehead.xp.array import ndarray
from lancehead.xp.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)  # fmt: skip
from lancehead.xp.devices import CPU, Device
from lancehead.xp.devices import default_device as _default_device
from lancehead.xp.devices import devices as _devices
from lancehead.xp.dtypes import (
    bool,
    can_cast,
    complex64,
    complex128,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from lancehead.xp.elementwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    conj,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    imag,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    round,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
)  # fmt: skip
from lancehead.xp.later import autotune, explain
from lancehead.xp.manipulation import (
    astype,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    matrix_transpose,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)  # fmt: skip
from lancehead.xp.methods import bind
from lancehead.xp.primitives import (
    adjacent_difference,
    bincount,
    compact,
    constant,
    counting,
    difference,
    exclusive_scan,
    gather,
    histogram,
    inclusive_scan,
    inner,
    intersection,
    k_select,
    map,
    merge,
    outer,
    partition,
    permutation,
    reduce,
    reverse,
    run_length,
    scan,
    scatter,
    segmented_reduce,
    segmented_scan,
    sort_by_key,
    stencil,
    strided,
    symmetric_difference,
    top_k,
    transform,
    transform_reduce,
    union,
    unique,
    zip,
    zipwith,
)  # fmt: skip
from lancehead.xp.products import (
    matmul,
    tensordot,
    vecdot,
)  # fmt: skip
from lancehead.xp.reducing import (
    all,
    any,
    argmax,
    argmin,
    argsort,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    diff,
    max,
    mean,
    min,
    nonzero,
    prod,
    searchsorted,
    sort,
    std,
    sum,
    take,
    take_along_axis,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    var,
    where,
)  # fmt: skip
from lancehead.xp.schedules import Schedule
from lancehead.xp.tracing import trace

__array_api_version__ = "2024.12"

e, pi, inf, nan, newaxis = 2.718281828459045, 3.141592653589793, float("inf"), float("nan"), None


class _Information:
    """What the namespace has, by the standard."""

    def capabilities(self) -> dict[str, Any]:
        """Shapes that depend on values, indexing by masks, and the greatest number of axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Device:
        """Where arrays are that are made without a device."""
        return _default_device()

    def devices(self) -> list[Device]:
        """All devices."""
        return _devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Types of arrays that are made without one."""
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Types by their names, all or those of a kind."""
        return {d.name: d for d in dtypes.ALL if kind is None or isdtype(d, kind)}


bind(globals())


def __array_namespace_info__() -> _Information:
    """What the namespace has, by the standard."""
    return _Information()


__all__ = [
    "CPU", "Device", "Schedule", "abs", "acos", "acosh", "add", "adjacent_difference", "all", "any", "arange",
    "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "astype", "atan", "atan2", "atanh", "autotune",
    "bincount", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "bool", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "can_cast", "ceil", "clip",
    "compact", "complex128", "complex64", "concat", "conj", "constant", "copysign", "cos", "cosh", "count_nonzero",
    "counting", "cumulative_prod", "cumulative_sum", "diff", "difference", "divide", "e", "empty", "empty_like",
    "equal", "exclusive_scan", "exp", "expand_dims", "explain", "expm1", "eye", "fft", "finfo", "flip", "float16",
    "float32", "float64", "floor", "floor_divide", "from_dlpack", "full", "full_like", "gather", "greater",
    "greater_equal", "histogram", "hypot", "iinfo", "imag", "inclusive_scan", "inf", "inner", "int16", "int32",
    "int64", "int8", "intersection", "isdtype", "isfinite", "isinf", "isnan", "k_select", "less", "less_equal",
    "linalg", "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "map", "matmul", "matrix_transpose", "max", "maximum", "mean", "merge", "meshgrid", "min",
    "minimum", "moveaxis", "multiply", "nan", "ndarray", "negative", "newaxis", "nextafter", "nonzero", "not_equal",
    "ones", "ones_like", "outer", "partition", "permutation", "permute_dims", "pi", "positive", "pow", "prod",
    "random", "real", "reciprocal", "reduce", "remainder", "repeat", "reshape", "result_type", "reverse", "roll",
    "round", "run_length", "scan", "scatter", "searchsorted", "segmented_reduce", "segmented_scan", "sign", "signbit",
    "sin", "sinh", "sort", "sort_by_key", "sqrt", "square", "squeeze", "stack", "std", "stencil", "strided",
    "subtract", "sum", "symmetric_difference", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "top_k",
    "trace", "transform", "transform_reduce", "tril", "triu", "trunc", "uint16", "uint32", "uint64", "uint8", "union",
    "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where",
    "zeros", "zeros_like", "zip", "zipwith",
]  # fmt: skip
