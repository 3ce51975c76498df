"""Derivatives at edges beside JAX's: zeros with signs, equal elements, infinities, branch cuts.

benches/run.sh gradients --rules [words]        rows that have one of the words; needs JAX in target/peers
"""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import scipy.special

from lancehead.gradients import grad

NUMBERS = "-inf -2.5 -1.0 -0.5 -0.0 0.0 0.5 1.0 2.0 inf".split()
PAIRS = "0,0 0,1 1,0 0,-1 -1,0 -0.0,0 0,-0.0 1,1 -1,-1 2,0 2,1 -2,2 0,0.5 inf,1 1,inf -inf,1 inf,inf -inf,inf".split()
CUTS = "0,0 1,0 -1,0 2,0 2,-0.0 -2,0 -2,-0.0 0,1 0,-1 0,2 -0.0,2 0,-2 -0.0,-2 0.5,0.25 -0.5,0 0.5,-0.0".split()
LINES = ["1,3,3", "3,3,3", "-1,0,1", "0,0,0", "-0.0,0,1", "inf,1,2", "-inf,inf,0", "2,0,0", "0,3,0"]

#: Expressions of a number, of two, of a complex number, and of three elements.
ROWS = {
    "x": """
        np.sqrt(x); np.cbrt(x); np.log(x); np.log2(x); np.log10(x); np.log1p(x); np.exp(x); np.exp2(x); np.expm1(x)
        np.sin(x); np.cos(x); np.tan(x); np.arcsin(x); np.arccos(x); np.arctan(x); np.sinh(x); np.cosh(x); np.tanh(x)
        np.arcsinh(x); np.arccosh(x); np.arctanh(x); np.abs(x); np.fabs(x); np.sign(x) * x; np.square(x)
        np.reciprocal(x); np.floor(x) * x; np.ceil(x) * x; np.trunc(x) * x; np.round(x) * x; np.sinc(x)
        np.maximum(x, 0.0); np.minimum(x, 0.0); np.maximum(0.0, x); np.fmax(x, 0.5); np.fmin(x, 0.5)
        np.clip(x, -0.5, 1.0); np.clip(x, 0.5, 0.5); np.where(x > 0.0, x, 0.0)[()]; np.heaviside(x, 0.5) * x
        np.nan_to_num(x); np.deg2rad(x); np.degrees(x); np.copysign(1.0, x) * x; np.modf(x)[0]; np.mod(x, 1.0)
        np.power(x, 0.0); np.power(x, 1.0); np.power(x, 2.0); np.power(x, 0.5); np.power(x, 3); np.power(x, -1.0)
        np.power(x, 0); np.power(x, 1); np.power(x, 2); x**0.0; x**2; x**3.0; np.power(0.0, x); np.power(2.0, x)
        np.float_power(x, 0.5); np.hypot(x, 0.0); np.arctan2(x, 0.0); np.arctan2(0.0, x); np.logaddexp(x, x)
        np.frexp(x)[0]; np.ldexp(x, 2); np.abs(np.sqrt(x + 0j)); np.angle(x + 0j); np.fmod(x, 1.0); np.divmod(x, 1.0)[1]
        scipy.special.erf(x); scipy.special.erfc(x); scipy.special.expit(x); scipy.special.logit(x)
        scipy.special.gammaln(x); scipy.special.digamma(x); scipy.special.xlogy(x, x); scipy.special.xlog1py(x, x)
        scipy.special.ndtr(x); scipy.special.ndtri(x); scipy.special.log_ndtr(x); scipy.special.erfinv(x)
        scipy.special.i0(x); scipy.special.i0e(x); scipy.special.i1(x); scipy.special.i1e(x); scipy.special.gamma(x)
    """,
    "x, y": """
        np.power(x, y); x**y; np.hypot(x, y); np.arctan2(x, y); np.maximum(x, y); np.minimum(x, y); np.fmax(x, y)
        np.fmin(x, y); np.logaddexp(x, y); np.logaddexp2(x, y); np.mod(x, y); np.fmod(x, y); np.copysign(x, y)
        np.divide(x, y); x * y; np.heaviside(x, y); np.clip(x, y, 1.0); np.clip(x, 0.0, y); np.float_power(x, y)
        scipy.special.xlogy(x, y); scipy.special.xlog1py(x, y); scipy.special.beta(x, y); scipy.special.betaln(x, y)
        np.where(x > y, x, y)[()]; np.floor_divide(x, y) * x
    """,
    "z": """
        np.sqrt(z).real; np.sqrt(z).imag; np.log(z).real; np.log(z).imag; np.arcsin(z).real; np.arcsin(z).imag
        np.arccos(z).real; np.arccos(z).imag; np.arctan(z).real; np.arctan(z).imag; np.arcsinh(z).real
        np.arcsinh(z).imag; np.arccosh(z).real; np.arccosh(z).imag; np.arctanh(z).real; np.arctanh(z).imag
        np.abs(z); np.angle(z); np.exp(z).real; np.sin(z).imag; np.tan(z).real; np.tanh(z).imag; np.square(z).real
        np.power(z, 2).real; np.power(z, 0.5).real; np.power(z, 0.5).imag; np.power(z, 0).real; np.power(2.0, z).real
        (z**3).real; np.sign(z).real; np.reciprocal(z).real; np.conj(z).imag; np.log1p(z).real; np.expm1(z).imag
        np.log2(z).real; np.log10(z).imag; np.sinh(z).real; np.cosh(z).imag; np.real(z); np.imag(z); np.abs(z) ** 2
        (z ** (2.0 + 0j)).imag; np.exp(z).imag; np.sinh(z).imag; np.cos(z).imag; (z / (1.0 - z)).imag
        np.power(z, z).real; np.real(z * np.conj(z)); np.exp2(z).real
    """,
    "a": """
        np.max(a); np.min(a); np.sum(np.sort(a) * W); np.median(a); np.ptp(a); np.quantile(a, 0.25); np.quantile(a, 0.5)
        np.percentile(a, 75.0); np.sum(np.cumprod(a) * W); np.prod(a); np.linalg.norm(a); np.linalg.norm(a, 1)
        np.linalg.norm(a, 3.0); np.linalg.norm(a, np.inf); np.linalg.norm(a, -np.inf); np.var(a); np.std(a); np.mean(a)
        np.nanmax(a); np.nanmin(a); np.nansum(a); np.nanmean(a); np.nanprod(a); np.nanvar(a); np.nanmedian(a)
        np.sum(np.maximum(a, a[::-1]) * W); np.sum(np.clip(a, 0.0, 1.0) * W); np.sum(np.abs(a) * W)
        np.sum(np.unique(a)); np.interp(1.0, np.arange(3.0), a); np.interp(a[1], np.arange(3.0), W); np.sum(np.diff(a))
        np.sum(np.where(a != 0.0, np.sqrt(a), 0.0)); np.sum(np.nancumsum(a) * W); np.sum(np.partition(a, 1)[:1])
        np.sum(np.maximum.accumulate(a) * W); np.sum(np.logaddexp.reduce(a)); np.sum(np.hypot(a, a[::-1]))
        np.linalg.det(np.outer(a, a)); np.linalg.det(np.diag(a)); np.sum(np.linalg.svd(np.diag(a), compute_uv=False))
        np.sum(np.linalg.eigvalsh(np.diag(a))); np.linalg.norm(np.diag(a)); np.linalg.norm(np.diag(a), 2)
        np.linalg.slogdet(np.diag(a))[1]; np.sum(np.linalg.pinv(np.diag(a))); np.sum(np.gradient(a) * W)
        np.argmax(a) * a[0]; np.sum(np.trapezoid(a))
        np.average(a, weights=W); np.average(W, weights=a + 2.0)
        np.sum(np.convolve(a, W)); np.cov(a)[()]; np.sum(np.nan_to_num(a) * W)
        np.sum(np.fft.rfft(a).real); a[np.argmin(a)]
    """,
}
#: Differences that are meant, by what is in an expression: `docs/grad.md` has the table.
MEANT = {
    r"abs\(|norm\(a, 1": "the absolute value is flat at zero",
    r"hypot|norm\(": "norms are flat at zero",
    r"power|\*\*": "powers of zero depend on nothing; Python raises for negative ones",
    r"median|quantile|percentile": "of equal elements, the first one",
    r"fmax|fmin": "of equal numbers, the first one",
    r"sqrt\(z|arc\w+\(z": "on branch cuts the slope is that of the value there",
    r"sign\(z": "the sign of a complex number turns with it",
    r"where\(a != 0|xlog1?p?y\(|reciprocal\(z": "no NaN out of what is not chosen",
    r"copysign\(x|z / \(1|svd": "no slope at all, or an exception as Python has it",
    r"logit|ndtri|i0\(|digamma|ldexp|modf|fmod|floor_divide|logaddexp|gamma": "JAX's is not the slope",
    r"unique|det\(": "JAX has none",
}
POINTS = {
    "x": [f"({x},)" for x in NUMBERS],
    "x, y": [f"(float({x.replace(',', '), float(')}))" for x in PAIRS],
    "z": [f"(complex({z}),)" for z in CUTS],
    "a": [f"(np.array([{a}], float),)" for a in LINES],
}
NAMES = {"np": np, "scipy": scipy, "inf": np.inf, "nan": np.nan}
JAX = Path(__file__).parents[1] / "target" / "peers" / "v" / "bin" / "python"
WITH_JAX = Path(__file__).parent / "peers" / "rules_with_jax.py"


def rows(words):
    finite = [point for point in POINTS["a"] if "inf" not in point]
    for names, text in ROWS.items():
        for line in filter(None, map(str.strip, text.replace("W", "np.array([1.0, 2.0, 4.0])").splitlines())):
            for expression in map(str.strip, line.split(";")):
                if not words or any(word in expression for word in words):
                    # JAX's decompositions of infinite matrices do not end.
                    points = finite if "linalg" in expression and names == "a" else POINTS[names]
                    yield {"names": names, "text": expression, "points": points}


def flat(x):
    if isinstance(x, tuple):
        return [v for part in x for v in flat(part)]
    return [float(v) for z in np.asarray(x).ravel() for v in (z.real, z.imag)]


def ours(row):
    """Derivatives at all points; the text of what is raised in place of them."""
    function = eval(f"lambda {row['names']}: {row['text']}", NAMES)
    slopes, found = grad(function, tuple(range(len(row["names"].split(","))))), []
    for point in row["points"]:
        try:
            found.append(flat(slopes(*eval(point, NAMES))))
        except Exception as e:
            found.append(f"{type(e).__name__}: {e}"[:80])
    return found


def short(x):
    if isinstance(x, str):
        return x
    return " ".join(f"{v:.4g}" for v in (x if any(x[1::2]) else x[::2]))


def agree(x, y):
    """Whether derivatives are equal. Where there is none, both may say so in their own way."""
    if isinstance(x, str) or isinstance(y, str):
        return isinstance(x, str) and isinstance(y, str)
    if not np.isfinite(x).all() and not np.isfinite(y).all():
        return True
    return len(x) == len(y) and np.allclose(x, y, rtol=1e-7, atol=1e-12)


def main(words):
    """Prints where derivatives differ from JAX's and why; gives how many do without a reason."""
    asked = list(rows(words))
    given = json.dumps(asked)
    with subprocess.Popen([JAX, WITH_JAX], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as jax:
        assert jax.stdin is not None and jax.stdout is not None
        jax.stdin.write(given)
        jax.stdin.close()
        count = meant = points = 0
        for row, line in zip(asked, jax.stdout, strict=True):
            for point, x, y in zip(row["points"], ours(row), json.loads(line), strict=True):
                points += 1
                if agree(x, y):
                    continue
                why = next((why for part, why in MEANT.items() if re.search(part, row["text"])), "")
                meant, count = meant + bool(why), count + (not why)
                print(f"{row['text']:40s} {point:32s} {short(x):32s} JAX {short(y):24s} {why}", flush=True)
    print(f"{points} points, {meant} differences that are meant, {count} others")
    return count
