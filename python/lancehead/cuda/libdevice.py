"""NVIDIA's mathematical functions by their own names; their code is in `lancehead/lib/cuda/libdevice.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lancehead.cuda.names import Name

# A star stands for the name alone and with `f`, a last underscore for the four ways of rounding.
_NAMES = """
    abs acos* acosh* asin* asinh* atan* atan2* atanh* brev brevll byte_perm cbrt* ceil* clz clzll copysign* cos* cosh*
    cospi* dadd_ ddiv_ dmul_ double2float_ double2hiint double2int_ double2ll_ double2loint double2uint_ double2ull_
    double_as_longlong drcp_ dsqrt_ erf* erfc* erfcinv* erfcx* erfinv* exp* exp10* exp2* expm1* fabs* fadd_ fast_cosf
    fast_exp10f fast_expf fast_fdividef fast_log10f fast_log2f fast_logf fast_powf fast_sincosf fast_sinf fast_tanf
    fdim* fdiv_ ffs ffsll finitef float2half_rn float2int_ float2ll_ float2uint_ float2ull_ float_as_int floor* fma*
    fma_ fmaf_ fmax* fmin* fmod* fmul_ frcp_ frexp* frsqrt_rn fsqrt_ fsub_ hadd half2float hiloint2double hypot* ilogb*
    int2double_rn int2float_ int_as_float isfinited isinfd isinff isnand isnanf j0* j1* jn* ldexp* lgamma* ll2double_
    ll2float_ llabs llmax llmin llrint* llround* log* log10* log1p* log2* logb* longlong_as_double max min modf* mul24
    mul64hi mulhi nearbyint* nextafter* normcdf* normcdfinv* popc popcll pow* powi* rcbrt* remainder* remquo* rhadd
    rint* round* rsqrt* sad saturatef scalbn* signbitd signbitf sin* sincos* sincospi* sinh* sinpi* sqrt* tan* tanh*
    tgamma* trunc* uhadd uint2double_rn uint2float_ ull2double_ ull2float_ ullmax ullmin umax umin umul24 umul64hi
    umulhi urhadd usad y0* y1* yn*
"""

for _word in _NAMES.split():
    _ends = ("", "f") if _word.endswith("*") else ("rn", "rd", "ru", "rz") if _word.endswith("_") else ("",)
    globals().update({name: Name(f"cuda.libdevice.{name}") for name in (_word.rstrip("*") + end for end in _ends)})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Any]: ...


def __dir__() -> list[str]:
    return [name for name, value in globals().items() if isinstance(value, Name)]
