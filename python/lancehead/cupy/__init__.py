"""CuPy's interface over lazily fused arrays: a program moves by its import.

>>> from lancehead import cupy as cp
>>> x = cp.arange(5, dtype=cp.float32)
>>> y = cp.sqrt(x * x + 1.0)
>>> y.get().shape
(5,)
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import (
    base_repr,
    binary_repr,
    bool_,
    broadcast_shapes,
    byte,
    cdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    double,
    dtype,
    e,
    errstate,
    euler_gamma,
    finfo,
    float16,
    float32,
    float64,
    floating,
    format_float_positional,
    format_float_scientific,
    generic,
    get_printoptions,
    geterr,
    iinfo,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    isdtype,
    issubdtype,
    longlong,
    mintypecode,
    nan,
    newaxis,
    number,
    pi,
    printoptions,
    promote_types,
    set_printoptions,
    short,
    signedinteger,
    single,
    typename,
    ubyte,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulonglong,
    unsignedinteger,
    ushort,
)  # fmt: skip

from lancehead._core import __version__ as _VERSION
from lancehead.cupy import cuda, exceptions, fft, layout, linalg, random
from lancehead.cupy.array import ndarray
from lancehead.cupy.creation import (
    arange,
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asfortranarray,
    asnumpy,
    copy,
    diag,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    identity,
    linspace,
    meshgrid,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from lancehead.cupy.fusion import (
    fuse,
)
from lancehead.cupy.reductions import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    argsort,
    clip,
    count_nonzero,
    cumprod,
    cumsum,
    dot,
    imag,
    matmul,
    mean,
    nonzero,
    prod,
    real,
    sort,
    std,
    sum,
    take,
    var,
    where,
)
from lancehead.cupy.routines import (
    allclose,
    angle,
    append,
    apply_along_axis,
    argpartition,
    argwhere,
    around,
    array2string,
    array_equal,
    array_equiv,
    array_repr,
    array_str,
    asarray_chkfinite,
    average,
    bartlett,
    bincount,
    blackman,
    c_,
    can_cast,
    choose,
    common_type,
    compress,
    convolve,
    copyto,
    corrcoef,
    correlate,
    cov,
    cross,
    delete,
    diag_indices,
    diag_indices_from,
    diagflat,
    diff,
    digitize,
    ediff1d,
    einsum,
    extract,
    fill_diagonal,
    fix,
    flatnonzero,
    frombuffer,
    fromfile,
    fromfunction,
    fromiter,
    fromstring,
    genfromtxt,
    geomspace,
    gradient,
    hamming,
    hanning,
    histogram,
    histogram2d,
    histogramdd,
    i0,
    in1d,
    indices,
    inner,
    insert,
    interp,
    intersect1d,
    isclose,
    iscomplex,
    iscomplexobj,
    isin,
    isneginf,
    isposinf,
    isreal,
    isrealobj,
    isscalar,
    ix_,
    kaiser,
    kron,
    lexsort,
    load,
    loadtxt,
    logspace,
    mask_indices,
    may_share_memory,
    median,
    mgrid,
    min_scalar_type,
    nan_to_num,
    nanargmax,
    nanargmin,
    nancumprod,
    nancumsum,
    nanmax,
    nanmean,
    nanmedian,
    nanmin,
    nanpercentile,
    nanprod,
    nanquantile,
    nanstd,
    nansum,
    nanvar,
    ndim,
    ogrid,
    outer,
    packbits,
    pad,
    partition,
    percentile,
    piecewise,
    place,
    poly,
    polyadd,
    polyfit,
    polymul,
    polysub,
    polyval,
    ptp,
    put,
    put_along_axis,
    putmask,
    quantile,
    r_,
    ravel_multi_index,
    real_if_close,
    repeat,
    require,
    result_type,
    roots,
    save,
    savetxt,
    savez,
    savez_compressed,
    searchsorted,
    select,
    setdiff1d,
    setxor1d,
    shape,
    shares_memory,
    sinc,
    size,
    sort_complex,
    take_along_axis,
    tensordot,
    tile,
    trace,
    trapezoid,
    tri,
    tril,
    tril_indices,
    tril_indices_from,
    trim_zeros,
    triu,
    triu_indices,
    triu_indices_from,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    unpackbits,
    unravel_index,
    unwrap,
    vander,
    vdot,
)
from lancehead.cupy.shapes import (
    array_split,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast,
    broadcast_arrays,
    broadcast_to,
    column_stack,
    concatenate,
    diagonal,
    dsplit,
    dstack,
    expand_dims,
    flip,
    fliplr,
    flipud,
    hsplit,
    hstack,
    matrix_transpose,
    moveaxis,
    ravel,
    reshape,
    resize,
    roll,
    rollaxis,
    rot90,
    row_stack,
    split,
    squeeze,
    stack,
    swapaxes,
    transpose,
    vsplit,
    vstack,
)
from lancehead.cupy.ufuncs import (
    absolute,
    add,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    bitwise_and,
    bitwise_count,
    bitwise_or,
    bitwise_xor,
    cbrt,
    ceil,
    conjugate,
    copysign,
    cos,
    cosh,
    deg2rad,
    degrees,
    divide,
    divmod,
    equal,
    exp,
    exp2,
    expm1,
    fabs,
    float_power,
    floor,
    floor_divide,
    fmax,
    fmin,
    fmod,
    frexp,
    gcd,
    greater,
    greater_equal,
    heaviside,
    hypot,
    invert,
    isfinite,
    isinf,
    isnan,
    lcm,
    ldexp,
    left_shift,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logaddexp2,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    modf,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    power,
    rad2deg,
    radians,
    reciprocal,
    remainder,
    right_shift,
    rint,
    sign,
    signbit,
    sin,
    sinh,
    spacing,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    true_divide,
    trunc,
    ufunc,
)
from lancehead.options import missing

if TYPE_CHECKING:
    from lancehead.cupy.kernels import ElementwiseKernel
    from lancehead.cupy.raw import RawKernel, RawModule
    from lancehead.cupy.reduction_kernels import ReductionKernel

abs = absolute
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
bitwise_invert = invert
bitwise_left_shift = left_shift
bitwise_not = invert
bitwise_right_shift = right_shift
concat = concatenate
conj = conjugate
max = amax
min = amin
mod = remainder
permute_dims = transpose
pow = power
round = around
trapz = trapezoid

bool = np.bool_
float = np.float64
int = np.int64
complex = np.complex128
cfloat = np.complex128
float_ = np.float64
complex_ = np.complex128
singlecomplex = np.complex64
__version__ = "14.2.0"

_POOL = cuda.MemoryPool()
cuda.set_allocator(_POOL.malloc)
_PINNED_POOL = cuda.PinnedMemoryPool()


def get_array_module(*args: Any) -> Any:
    """This module if an argument is an array of the device, else NumPy."""
    from lancehead.xp.arrays import ndarray as lazy

    if any_of(args, lazy):
        return importlib.import_module("lancehead.cupy")
    return np


def any_of(given: Any, kind: Any) -> Any:
    """Whether one of several objects is of a class, or has memory on a device."""
    for x in given:
        if isinstance(x, kind) or hasattr(x, "__cuda_array_interface__"):
            return True
    return False


def get_default_memory_pool() -> cuda.MemoryPool:
    """The pool of memory of devices."""
    return _POOL


def get_default_pinned_memory_pool() -> cuda.PinnedMemoryPool:
    """The pool of memory of the host for copies."""
    return _PINNED_POOL


def is_available() -> Any:
    """Whether there is a device; without a GPU it is the CPU device."""
    return cuda.is_available()


_KEPT: list[Any] = []


def memoize(for_each_device: Any = False) -> Any:
    """A decorator that keeps the results of a function, for each device if that is asked for."""
    import functools

    def keep(f: Any) -> Any:
        kept = functools.cache(lambda device, *given, **named: f(*given, **named))
        _KEPT.append(kept)

        @functools.wraps(f)
        def g(*given: Any, **named: Any) -> Any:
            return kept(layout.CURRENT.number if for_each_device else 0, *given, **named)

        return g

    return keep


def clear_memo() -> None:
    """Forgets the results that `memoize` keeps."""
    for kept in _KEPT:
        kept.cache_clear()


def show_config(*, _full: Any = False) -> None:
    """Prints the versions of lancehead and of the device's software."""
    print(f"lancehead {_VERSION}, CuPy's interface {__version__}, CUDA {cuda.runtime.runtimeGetVersion()}")


#: Names that are found when they are asked for, and their modules.
_LATER = {
    "ElementwiseKernel": "kernels", "ReductionKernel": "reduction_kernels", "RawKernel": "raw", "RawModule": "raw",
}  # fmt: skip


layout.NAMESPACE.append(sys.modules[__name__])


def __getattr__(name: str) -> Any:
    if name in ("sparse", "testing"):
        return importlib.import_module(f"lancehead.cupy.{name}")
    if name in _LATER:
        found = globals()[name] = getattr(importlib.import_module(f"lancehead.cupy.{_LATER[name]}"), name)
        return found
    raise missing(__name__, name)


__all__ = [
    "ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "abs", "absolute", "acos", "acosh", "add",
    "all", "allclose", "amax", "amin", "angle", "any", "append", "apply_along_axis", "arange", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argpartition", "argsort", "argwhere",
    "around", "array", "array2string", "array_equal", "array_equiv", "array_repr", "array_split", "array_str",
    "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "asin", "asinh", "asnumpy",
    "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d", "average", "bartlett", "base_repr",
    "binary_repr", "bincount", "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "blackman", "bool_", "broadcast", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "byte", "c_", "can_cast", "cbrt", "cdouble", "ceil", "choose", "clear_memo",
    "clip",
    "column_stack", "common_type", "complex128", "complex64", "complexfloating", "compress", "concat", "concatenate",
    "conj", "conjugate", "convolve", "copy", "copysign", "copyto", "corrcoef", "correlate", "cos", "cosh",
    "count_nonzero", "cov", "cross", "csingle", "cuda", "cumprod", "cumsum", "deg2rad", "degrees", "delete", "diag",
    "diag_indices", "diag_indices_from", "diagflat", "diagonal", "diff", "digitize", "divide", "divmod", "dot",
    "double", "dsplit", "dstack", "dtype", "e", "ediff1d", "einsum", "empty", "empty_like", "equal", "errstate",
    "exceptions",
    "euler_gamma", "exp", "exp2", "expand_dims", "expm1", "extract", "eye", "fabs", "fft", "fill_diagonal", "finfo",
    "fix", "flatnonzero", "flip", "fliplr", "flipud", "float16", "float32", "float64", "float_power", "floating",
    "floor", "floor_divide", "fmax", "fmin", "fmod", "format_float_positional", "format_float_scientific", "frexp",
    "from_dlpack", "frombuffer", "fromfile", "fromfunction", "fromiter", "fromstring", "full", "full_like", "fuse",
    "gcd", "generic", "genfromtxt", "geomspace", "get_array_module", "get_default_memory_pool",
    "get_default_pinned_memory_pool", "get_printoptions", "geterr", "gradient", "greater", "greater_equal",
    "hamming", "hanning", "heaviside", "histogram", "histogram2d", "histogramdd", "hsplit", "hstack", "hypot", "i0",
    "identity", "iinfo", "imag", "in1d", "indices", "inexact", "inf", "inner", "insert", "int16", "int32", "int64",
    "int8", "int_", "intc", "integer", "interp", "intersect1d", "intp", "invert", "is_available", "isclose",
    "iscomplex", "iscomplexobj", "isdtype", "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal",
    "isrealobj", "isscalar", "issubdtype", "ix_", "kaiser", "kron", "lcm", "ldexp", "left_shift", "less",
    "less_equal", "lexsort", "linalg", "linspace", "load", "loadtxt", "log", "log10", "log1p", "log2", "logaddexp",
    "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "logspace", "longlong", "mask_indices",
    "matmul", "matrix_transpose", "max", "maximum", "may_share_memory", "mean", "median", "memoize", "meshgrid",
    "mgrid", "min", "min_scalar_type", "minimum", "mintypecode", "mod", "modf", "moveaxis", "multiply", "nan",
    "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "ndarray", "ndim", "negative",
    "newaxis", "nextafter", "nonzero", "not_equal", "number", "ogrid", "ones", "ones_like", "outer", "packbits",
    "pad", "partition", "percentile", "permute_dims", "pi", "piecewise", "place", "poly", "polyadd", "polyfit",
    "polymul", "polysub", "polyval", "positive", "pow", "power", "printoptions", "prod", "promote_types", "ptp",
    "put", "put_along_axis", "putmask", "quantile", "r_", "rad2deg", "radians", "random", "ravel",
    "ravel_multi_index", "real", "real_if_close", "reciprocal", "remainder", "repeat", "require", "reshape",
    "resize", "result_type", "right_shift", "rint", "roll", "rollaxis", "roots", "rot90", "round", "row_stack", "save",
    "savetxt", "savez", "savez_compressed", "searchsorted", "select", "set_printoptions", "setdiff1d", "setxor1d",
    "shape",
    "shares_memory", "short", "show_config", "sign", "signbit", "signedinteger", "sin", "sinc", "single", "sinh",
    "size", "sort", "sort_complex", "spacing", "sparse", "split", "sqrt", "square", "squeeze", "stack", "std",
    "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "testing", "tile", "trace",
    "transpose", "trapezoid", "trapz", "tri", "tril", "tril_indices", "tril_indices_from", "trim_zeros", "triu",
    "triu_indices", "triu_indices_from", "true_divide", "trunc", "typename", "ubyte", "ufunc", "uint16", "uint32",
    "uint64", "uint8", "uintc", "uintp", "ulonglong", "union1d", "unique", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unpackbits", "unravel_index", "unsignedinteger", "unwrap", "ushort",
    "vander", "var", "vdot", "vsplit", "vstack", "where", "zeros", "zeros_like",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__, "bool", "cfloat", "complex", "complex_", "float", "float_", "int", "singlecomplex"]
