"""Whether two answers are the same at the ends of types: values, types, shapes, exceptions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

#: The floats in which NumPy computes, by the type of the operands.
NARROW = {
    **dict.fromkeys(("?", "i1", "u1", "f2"), np.float16),
    **dict.fromkeys(("i2", "u2", "f4"), np.float32),
}
NUMBERS = (bool, int, float, complex, np.generic)


def difference(want: Any, got: Any, compiled: Any) -> str:
    """Describes how an answer differs from NumPy's; empty if it does not."""
    if isinstance(want, Exception) or isinstance(got, Exception):
        return _exceptions(want, got)
    if isinstance(want, (tuple, list)) and isinstance(got, (tuple, list)):
        if len(want) != len(got):
            return f"gave {got!r}, NumPy {want!r}"
        return next(filter(None, (difference(w, g, None) for w, g in zip(want, got, strict=True))), "")
    if isinstance(want, np.datetime64) and isinstance(got, np.datetime64) and np.isnat(want) and np.isnat(got):
        return ""
    if isinstance(want, NUMBERS) and isinstance(got, NUMBERS):
        return _scalars(want, got, compiled)
    if isinstance(want, np.ndarray) and want.ndim == 0 and want.dtype.kind in "iu" and type(got) is int:
        return "" if int(want) == got else f"gave {got!r}, NumPy {want!r}"
    if _is_scalar(want) and _is_scalar(got):
        return difference(np.asarray(want)[()], np.asarray(got)[()], compiled)
    if isinstance(want, np.ndarray) and isinstance(got, np.ndarray):
        if want.dtype == np.float16 and got.dtype == np.float32:
            # Of narrow integers, as the manual says.
            got = got.astype(np.float16)
        if want.dtype != got.dtype or want.shape != got.shape:
            return f"gave {got.dtype} {got.shape} {got!r}, NumPy {want.dtype} {want.shape} {want!r}"
        return "" if is_close(want, got) else f"gave {got!r}, NumPy {want!r}"
    if isinstance(want, (type, np.dtype)) and isinstance(got, (type, np.dtype)):
        return "" if np.dtype(want) == np.dtype(got) else f"gave {got!r}, NumPy {want!r}"
    if isinstance(want, slice) or type(want).__name__ in ("flatiter", "memoryview"):
        return ""
    return "" if type(want) is type(got) and want == got else f"gave {got!r}, NumPy {want!r}"


def _is_scalar(x: Any) -> bool:
    """Whether it is a number or an array of rank 0, which arrays of this rank may become."""
    return isinstance(x, NUMBERS) or isinstance(x, np.ndarray) and x.ndim == 0


def _exceptions(want: Any, got: Any) -> str:
    if isinstance(want, Exception) and isinstance(got, Exception):
        # Of several errors, another one may be found first.
        is_size = re.search(
            "than maximum|than minimum|too large|integer argument|as an integer|safe|reorderable", str(want)
        )
        fits = (
            bool(is_size)
            or re.search("convert float|does not fit|out of bounds for u?int", str(got))
            or isinstance(got, type(want))
            or isinstance(want, type(got))
        )
        return "" if fits else f"raised {got!r:.200}, NumPy {want!r:.120}"
    if isinstance(want, Exception):
        return f"gave {got!r:.200}, NumPy raises {want!r:.200}"
    return f"raised {got!r:.200}, NumPy gives {want!r:.200}"


def _scalars(want: Any, got: Any, compiled: Any) -> str:
    kind, dtype = np.asarray(want).dtype.kind, np.asarray(want).dtype
    if np.asarray(got).dtype.kind != kind and not (kind == "u" and isinstance(got, int) and not isinstance(got, bool)):
        return f"gave {got!r}, NumPy {want!r}"
    if dtype == np.float16:
        return "" if is_close(np.asarray(want), np.asarray(got).astype(dtype)) else f"gave {got!r}, NumPy {want!r}"
    typed = str(compiled.nopython_signatures[-1].return_type) if compiled is not None else ""
    if re.fullmatch(r"(u?int|float|complex)\d+|bool", typed) and typed != dtype.name:
        return f"gave {typed} {got!r}, NumPy {want!r}"
    if kind in "iub":
        return "" if int(want) == int(got) else f"gave {got!r}, NumPy {want!r}"
    return "" if is_close(np.asarray(want), np.asarray(got).astype(dtype)) else f"gave {got!r}, NumPy {want!r}"


def is_close(want: np.ndarray, got: np.ndarray) -> bool:
    """Whether numbers are equal but for rounding; NaN, infinities and signs of zeros are what they are."""
    if want.dtype.kind == "c":
        # A part that is tiny beside the other one has few digits.
        size = np.maximum(np.abs(want.real), np.abs(want.imag))
        size = np.where(np.isfinite(size), size, 0)
        return _real(want.real, got.real, size) and _real(want.imag, got.imag, size)
    if want.dtype.kind == "f":
        return _real(want, got, np.zeros_like(want))
    return bool(np.array_equal(want, got))


def _real(want: np.ndarray, got: np.ndarray, size: np.ndarray) -> bool:
    info = np.finfo(want.dtype)
    bound = (32 if info.bits > 16 else 4) * float(info.eps)
    with np.errstate(all="ignore"):
        plain = np.isfinite(want) & np.isfinite(got)
        if not np.array_equal(np.where(plain, 0, want), np.where(plain, 0, got), equal_nan=True):
            return False
        w, g = np.where(plain, want, 0).astype(np.float64), np.where(plain, got, 0).astype(np.float64)
        allowed = bound * np.maximum(np.abs(w), size) + 4 * float(info.smallest_subnormal)
        zeros = plain & (want == 0) & (got == 0)
        signs = np.signbit(want) == np.signbit(got)
        return bool((np.abs(w - g) <= allowed).all() and (signs | ~zeros).all())


def _unsigned(x: Any) -> Any:
    """An answer without the signs of zeros."""
    if isinstance(x, (tuple, list)):
        return [_unsigned(item) for item in x]
    return x + np.zeros_like(x) if np.asarray(x).dtype.kind in "fc" else x


#: Differences that docs/differences.md has, or answers that NumPy leaves open, by the call.
LISTED: list[str] = [
    # Of text, dates and files there are no ends.
    r"\.busday_|\.is_busday|broadcast\(",
    # Sizes that overflow, of which NumPy makes empty arrays.
    r"np\.arange\(|bincount\(",
    # NumPy's own loop of reductions gives something else than a fold.
    r"(arctan2|atan2)\.(reduce|accumulate)|power\.reduce",
    r"argsort\((?!.*stable=True)",
    # NumPy's differences of signed integers wrap around.
    r"(percentile|quantile)\(.* of i\d",
    # Sums of integers are exact, where NumPy's go through floats.
    r"histogram.*weights.* of [iu]",
    # The shape and type depend on whether there are elements.
    r"nan(percentile|quantile)\(",
    r"(cov|corrcoef)\(.* raised ValueError\('a single variable",
    # Infinities as integers are open.
    r"\.at\(.* of [iu]",
    # Of truth values, in `float32`, not `float16`.
    r"(arctan2|atan2|hypot)\(True",
    # A variance about a given mean: NumPy squares distances in the type of the integers, where they wrap around.
    r"\.(nan)?(std|var)\(.*mean=.* of [iu]",
    # The reciprocal of the integer zero is open.
    r"np\.reciprocal\(",
    # Python's integers have 64 bits.
    r"base_repr\(V.* raised OverflowError",
    # Edges are real numbers, and floats where there may be numbers of bins.
    r"histogram_bin_edges\(.* of c|histogram2d\(.*bins=S",
    # Sums of weights that are subnormal, and of distances that are rounded.
    r"average\(.*weights=.* of c|nan(std|var)\(.*dtype=np\.(float32.* of [iu]|complex)",
    # NumPy leaves sizes open that are negative.
    r"fromiter\(|tile\(A, V",
    # No derivative and no integral are of the type of one.
    r"polyint\(M, m=V|polyder\(.*m=V",
    r"pinv\(.*hermitian",
    # Products with zero are zeros to BLAS, and coefficients real if their imaginary parts are zeros.
    r"(dot|inner)\(A, [V1]\)|np\.poly\(.* of c",
    # There may be more than 64 choices.
    r"choose\(True, M",
    # Numbers that differ as integers and are equal as floats.
    r"intersect1d\(.* of u8",
    # Of narrow integers NumPy steps through `float16`.
    r"nextafter\.reduce\(.*initial",
    # A mask of another shape is one condition for each row.
    r"piecewise\(A, A",
    # The second function is one of the rounded results of the first.
    r"\.at\(A, \[0, 0\]\) of c",
    # Halves of 2**64 as integers are open.
    r"nanmedian\(.*out=.* of u8",
    # NumPy's own output has the shape that it likes.
    r"irfft[2n]\(.*out=",
    # Exponents have 64 bits.
    r"ldexp\(A, V",
    # Differences of integers that wrap around.
    r"unwrap\(.* of [iu]8",
    # Indices of 64 bits without a sign are indices.
    r"(choose|take|put)\(.* of u8",
    # Errors of shapes and of numbers.
    r"piecewise\(.* raised|fft\.\w+\(A\).* raised ValueError\('at least 1 axis",
    # Rounded truth values, of no elements too, are small floats; a transform of no axis is a complex number.
    r"(round|around)\(.* of \?|round\(.*decimals=V.* of u|fft\.i?fftn\(V\)",
    # Of no elements NumPy has another type.
    r"np\.polyval\(A, V|cov\(A, dtype=np\.float32",
    # Both are errors, of the rank and of the number.
    r"linalg\.diagonal\(A, offset=V",
    # Powers of infinite numbers, and products of them in other orders.
    r"power\.\w+\(.*complex",
    r"logspace\(.*base=B.* of c|logspace\(.*dtype=np.complex.* of c8",
    # Points that are equal within the period, and NaN that are.
    r"interp\(.*period=|union1d\(.* of c",
    r"(power|convolve|correlate|dot|vdot|inner|cross|vander)[.(].* of c",
    # A second vector of two components is deprecated.
    r"np\.cross\(",
    # NumPy leaves the order open.
    r"argpartition|\.partition\(|unique_values|unique\(.*sorted=False|lexsort",
    # The values that are stored are those that the array has meanwhile.
    r"np\.place\(A, M, A",
    # Numbers of degrees of freedom at the ends of integers.
    r"(var|std)\(.*(correction|ddof)=V",
    # The operand that replaces NaN is a complex number, of which NumPy's cast of its copy fails.
    r"nan_to_num\(.* of c",
    # Real numbers whose zeros are complex.
    r"roots\(.*domain change",
    # Of no numbers NumPy reads memory that is not its.
    r"hfft\(|irfft\(M",
    # Whether a singular value is zero or an error of rounding.
    r"matrix_rank\(.*tol|pinv\(.*rtol=V",
    r"linalg\.(svd|eigh?|qr|eigvals)\(",
]
#: Calls whose answer is open where operands have infinities or NaN: the sign of an imaginary part beside these, and
#: which of them LAPACK gives or refuses.
OF_INFINITE = (
    r"np\.poly(mul|div|fit)?\(|matrix_rank\(|svdvals\(|logspace\(|geomspace\(|"
    r"(acosh?|asinh?|atanh?|arc\w+|sinh?|cosh?|tanh?|exp2?)[.(].* of c|"
    r"linalg\.(pinv|cond|eigvalsh|lstsq|(vector_|matrix_)?norm)\(|(vec|mat)(dot|vec|mat)\(|nan(max|min)\(\("
)
#: Calls that add many terms, in an order of their own: rounding is that of the largest number.
SUMS = (
    r"np\.fft\.|trapezoid\(|(prod|matmul|tensordot|convolve|correlate)\(.* of [fc]|(log|geom|lin)space\(|"
    r"(add\.reduce|sum)\(.*where=|add\.reduceat\(|hypot\.|polymul\(|(vec|v|multi_|\.)dot\(|inner\(|(mat|vec)(vec|mat)\(|"
    r"nanmedian\(|eigvalsh\(|svdvals\(|polyfit\(|lstsq\(|linalg\.(pinv|inv|solve)\("
)
#: Calls for which it is open which one of two zeros is the result.
ZEROS = r"pinv|solve|multiply|dot\(|min|max|clip|sort|unique|median|percentile|quantile|union|round|poly|unwrap|prod"


def _is_wide(x: np.ndarray) -> bool:
    """Whether squares of numbers vanish or leave no digits to others."""
    sizes = np.abs(x[x != 0]) if x.dtype.kind in "iufc" else np.ones(1)
    return bool(((sizes < 1e-30) | (sizes > 1e4)).any())


def is_listed(text: str, dtype: str, values: dict[str, Any], want: Any, got: Any) -> bool:
    """Whether the manual names the difference, or NumPy leaves the answer open."""
    raised = f" raised {got!r}" if isinstance(got, Exception) else ""
    if any(re.search(listed, f"{text} of {dtype}{raised}") for listed in LISTED):
        return True
    if "np.poly(" in text and isinstance(want, float):
        # The array of no coefficients is a number to NumPy.
        return True
    if "roots(" in text and isinstance(want, np.ndarray) and isinstance(got, np.ndarray):
        # Zeros that are floats to NumPy.
        return not difference(want.astype(got.dtype), got, None)
    if re.search(r"histogram|irfft\(", text) and any(np.size(x) == 0 for x in values.values()):
        # NumPy's own edges of no elements are of float64, and its transforms of none read other memory.
        return True
    sizes = [x.size for x in (want, got) if isinstance(x, np.ndarray)]
    if sizes == [0, 0] and want.shape == got.shape:
        # NumPy's own types of results without elements.
        return any(x.size == 0 for x in values.values() if isinstance(x, np.ndarray))
    if "out=np.zeros((2, 2))" in text and dtype in NARROW and isinstance(want, np.ndarray):
        # The output is wider than the type in which NumPy computes.
        narrow = NARROW[dtype]
        return not difference(want.astype(narrow), np.asarray(got, narrow), None)
    floats = [x for x in map(np.asarray, values.values()) if x.dtype.kind in "fc"]
    if re.search(OF_INFINITE, f"{text} of {dtype}") and not all(np.isfinite(x).all() for x in floats):
        return True
    if isinstance(got, ValueError) and isinstance(want, TypeError) and "reorderable" in str(got):
        return True
    is_number = isinstance(want, NUMBERS) or isinstance(want, np.ndarray) and want.ndim == 0
    if "np.fft." in text and (isinstance(want, IndexError) or is_number and np.asarray(want).dtype.kind in "iub"):
        # A transform of no axis.
        return True
    if isinstance(want, Exception) or isinstance(got, Exception):
        return False
    if re.search(r"polyfit\(|slogdet\(|solve\(|inv\(|lstsq\(|histogram.*density", text) and any(
        _is_wide(x) for x in map(np.asarray, values.values())
    ):
        return True
    if "linalg.cond(" in text and min(np.min(want), np.min(got)) > 1e6:
        # The least singular value is an error of rounding, or none.
        return True
    is_sum = re.search(SUMS, f"{text} of {dtype}")
    if is_sum and isinstance(want, tuple) and isinstance(got, tuple) and len(want) == len(got):
        pairs = zip(want, got, strict=True)
        return all(not difference(w, g, None) or is_listed(text, dtype, values, w, g) for w, g in pairs)
    if (
        is_sum
        and not isinstance(want, (tuple, list))
        and np.shape(want) == np.shape(got)
        and np.asarray(want).dtype.kind in "fc"
    ):
        # The order decides where infinities and NaN come from and go to.
        arrays = [x for x in values.values() if isinstance(x, np.ndarray) and x.dtype.kind in "iufc"]
        size = max(np.abs(np.asarray(x, np.complex128)).max(initial=0.0) for x in [*arrays, want])
        far = np.abs(np.asarray(want, np.complex128) - got).max(initial=0.0)
        return not size < 1e38 or bool(far <= 1e3 * np.finfo(np.asarray(want).dtype).eps * size)
    if re.search(ZEROS, text):
        return not difference(_unsigned(want), _unsigned(got), None)
    return False
