//! Elementary functions, which need not be correctly rounded.

use crate::eval::{eg, f32, f64, float1, float2};
use crate::table::base::MATH;
use lh_ir::algebra::{Algebra, Approx, Grad};
use lh_ir::op::Class::Floats;
use lh_ir::op::Lower::Math;
use lh_ir::op::Op;
use lh_ir::op::Sig::Same;
use std::f64::consts::{LN_2, LOG2_E, LOG10_2};

/// The rows.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn rows() -> Vec<Op> {
    vec![
        Op {
            name: "sin",
            doc: "Sine of radians.",
            python: &["math.sin", "numpy.sin"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::sin),
            host: Math("lh_sinf", "lh_sin"),
            nvptx: Math("lh_sinf", "lh_sin"),
            approx: Some(Approx::Inst("sin")),
            grad: Grad::Partials(&["d * cos(a)"]),
            examples: eg(vec![
                (vec![f64(-0.0)], f64(-0.0)),
                (vec![f64(1.0)], f64(0.8414709848078965)),
                (vec![f64(1e22)], f64(-0.8522008497671888)),
                (vec![f64(f64::INFINITY)], f64(f64::NAN)),
                (vec![f32(1.0)], f32(0.841_471)),
            ]),
            ..MATH
        },
        Op {
            name: "cos",
            doc: "Cosine of radians.",
            python: &["math.cos", "numpy.cos"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::cos),
            host: Math("lh_cosf", "lh_cos"),
            nvptx: Math("lh_cosf", "lh_cos"),
            approx: Some(Approx::Inst("cos")),
            grad: Grad::Partials(&["-(d * sin(a))"]),
            examples: eg(vec![
                (vec![f64(0.0)], f64(1.0)),
                (vec![f64(1.0)], f64(0.5403023058681398)),
                (vec![f64(1e22)], f64(0.523214785395139)),
                (vec![f64(f64::NAN)], f64(f64::NAN)),
                (vec![f32(1.0)], f32(0.540_302_3)),
            ]),
            ..MATH
        },
        Op {
            name: "tan",
            doc: "Tangent of radians.",
            python: &["math.tan", "numpy.tan"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::tan),
            host: Math("lh_tanf", "lh_tan"),
            nvptx: Math("lh_tanf", "lh_tan"),
            approx: Some(Approx::Ratio("sin", "cos")),
            grad: Grad::Partials(&["cut(d * (1 + r * r))"]),
            examples: eg(vec![
                (vec![f64(-0.0)], f64(-0.0)),
                (vec![f64(1.0)], f64(1.5574077246549023)),
                (vec![f64(f64::NEG_INFINITY)], f64(f64::NAN)),
            ]),
            ..MATH
        },
        Op {
            name: "asin",
            doc: "Arc sine, in radians.",
            python: &["math.asin", "numpy.arcsin", "numpy.asin"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::asin),
            host: Math("lh_asinf", "lh_asin"),
            nvptx: Math("lh_asinf", "lh_asin"),
            grad: Grad::Partials(&["cut(d / sqrt(1 - a * a))"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(std::f64::consts::FRAC_PI_2)),
                (vec![f64(0.3)], f64(0.3046926540153975)),
                (vec![f64(1.5)], f64(f64::NAN)),
            ]),
            ..MATH
        },
        Op {
            name: "acos",
            doc: "Arc cosine, in radians.",
            python: &["math.acos", "numpy.arccos", "numpy.acos"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::acos),
            host: Math("lh_acosf", "lh_acos"),
            nvptx: Math("lh_acosf", "lh_acos"),
            grad: Grad::Partials(&["cut(-d / sqrt(1 - a * a))"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(0.0)),
                (vec![f64(-1.0)], f64(std::f64::consts::PI)),
                (vec![f64(0.3)], f64(1.2661036727794992)),
                (vec![f64(1.5)], f64(f64::NAN)),
            ]),
            ..MATH
        },
        Op {
            name: "atan",
            doc: "Arc tangent, in radians.",
            python: &["math.atan", "numpy.arctan", "numpy.atan"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::atan),
            host: Math("lh_atanf", "lh_atan"),
            nvptx: Math("lh_atanf", "lh_atan"),
            grad: Grad::Partials(&["d / (1 + a * a)"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(std::f64::consts::FRAC_PI_4)),
                (vec![f64(f64::NEG_INFINITY)], f64(-std::f64::consts::FRAC_PI_2)),
                (vec![f64(-0.0)], f64(-0.0)),
            ]),
            ..MATH
        },
        Op {
            name: "sinh",
            doc: "Hyperbolic sine.",
            python: &["math.sinh", "numpy.sinh"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::sinh),
            host: Math("lh_sinhf", "lh_sinh"),
            nvptx: Math("lh_sinhf", "lh_sinh"),
            grad: Grad::Partials(&["cut(d * cosh(a))"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(1.1752011936438014)),
                (vec![f64(1000.0)], f64(f64::INFINITY)),
                (vec![f64(-0.0)], f64(-0.0)),
            ]),
            ..MATH
        },
        Op {
            name: "cosh",
            doc: "Hyperbolic cosine.",
            python: &["math.cosh", "numpy.cosh"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::cosh),
            host: Math("lh_coshf", "lh_cosh"),
            nvptx: Math("lh_coshf", "lh_cosh"),
            algebra: Algebra::Function { least: 1.0 },
            grad: Grad::Partials(&["cut(d * sinh(a))"]),
            examples: eg(vec![
                (vec![f64(0.0)], f64(1.0)),
                (vec![f64(1.0)], f64(1.5430806348152437)),
                (vec![f64(-1000.0)], f64(f64::INFINITY)),
            ]),
            ..MATH
        },
        Op {
            name: "tanh",
            doc: "Hyperbolic tangent.",
            python: &["math.tanh", "numpy.tanh"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::tanh),
            host: Math("lh_tanhf", "lh_tanh"),
            nvptx: Math("lh_tanhf", "lh_tanh"),
            approx: Some(Approx::Intrinsic("llvm.tanh")),
            grad: Grad::Partials(&["d * (1 - r * r)"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(0.7615941559557649)),
                (vec![f64(f64::NEG_INFINITY)], f64(-1.0)),
                (vec![f64(-0.0)], f64(-0.0)),
                (vec![f32(1.0)], f32(0.761_594_2)),
            ]),
            ..MATH
        },
        Op {
            name: "asinh",
            doc: "Inverse hyperbolic sine.",
            python: &["math.asinh", "numpy.arcsinh", "numpy.asinh"],
            sig: Same(1, Floats),
            eval: |a| float1(a, libm::asinh),
            host: Math("lh_asinhf", "lh_asinh"),
            nvptx: Math("lh_asinhf", "lh_asinh"),
            grad: Grad::Partials(&["d / sqrt(1 + a * a)"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(0.881373587019543)),
                (vec![f64(f64::NEG_INFINITY)], f64(f64::NEG_INFINITY)),
                (vec![f64(-0.0)], f64(-0.0)),
            ]),
            ..MATH
        },
        Op {
            name: "acosh",
            doc: "Inverse hyperbolic cosine; NaN below 1.",
            python: &["math.acosh", "numpy.arccosh", "numpy.acosh"],
            sig: Same(1, Floats),
            eval: |a| float1(a, libm::acosh),
            host: Math("lh_acoshf", "lh_acosh"),
            nvptx: Math("lh_acoshf", "lh_acosh"),
            grad: Grad::Partials(&["cut(d / sqrt(a * a - 1))"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(0.0)),
                (vec![f64(2.0)], f64(1.3169578969248166)),
                (vec![f64(0.5)], f64(f64::NAN)),
            ]),
            ..MATH
        },
        Op {
            name: "atanh",
            doc: "Inverse hyperbolic tangent.",
            python: &["math.atanh", "numpy.arctanh", "numpy.atanh"],
            sig: Same(1, Floats),
            eval: |a| float1(a, libm::atanh),
            host: Math("lh_atanhf", "lh_atanh"),
            nvptx: Math("lh_atanhf", "lh_atanh"),
            grad: Grad::Partials(&["cut(d / (1 - a * a))"]),
            examples: eg(vec![
                (vec![f64(0.5)], f64(0.5493061443340548)),
                (vec![f64(1.0)], f64(f64::INFINITY)),
                (vec![f64(2.0)], f64(f64::NAN)),
                (vec![f64(-0.0)], f64(-0.0)),
            ]),
            ..MATH
        },
        Op {
            name: "exp",
            doc: "e to the power of the operand.",
            python: &["math.exp", "numpy.exp"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::exp),
            host: Math("lh_expf", "lh_exp"),
            nvptx: Math("lh_expf", "lh_exp"),
            algebra: Algebra::Function { least: 0.0 },
            approx: Some(Approx::OfProduct("ex2", LOG2_E)),
            grad: Grad::Partials(&["cut(d * r)"]),
            examples: eg(vec![
                (vec![f64(0.0)], f64(1.0)),
                (vec![f64(1.0)], f64(std::f64::consts::E)),
                (vec![f64(1000.0)], f64(f64::INFINITY)),
                (vec![f64(f64::NEG_INFINITY)], f64(0.0)),
                (vec![f32(1.0)], f32(std::f32::consts::E)),
            ]),
            ..MATH
        },
        Op {
            name: "exp2",
            doc: "2 to the power of the operand.",
            python: &["math.exp2", "numpy.exp2"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::exp2),
            host: Math("lh_exp2f", "lh_exp2"),
            nvptx: Math("lh_exp2f", "lh_exp2"),
            algebra: Algebra::Function { least: 0.0 },
            approx: Some(Approx::Inst("ex2")),
            grad: Grad::Partials(&["cut(d * r * 0.6931471805599453)"]),
            examples: eg(vec![
                (vec![f64(10.0)], f64(1024.0)),
                (vec![f64(0.5)], f64(std::f64::consts::SQRT_2)),
                (vec![f64(-2000.0)], f64(0.0)),
            ]),
            ..MATH
        },
        Op {
            name: "expm1",
            doc: "`exp(x) - 1`, accurate near zero.",
            python: &["math.expm1", "numpy.expm1"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::exp_m1),
            host: Math("lh_expm1f", "lh_expm1"),
            nvptx: Math("lh_expm1f", "lh_expm1"),
            grad: Grad::Partials(&["cut(d * (r + 1))"]),
            examples: eg(vec![
                (vec![f64(1e-10)], f64(1.00000000005e-10)),
                (vec![f64(-0.0)], f64(-0.0)),
                (vec![f64(f64::NEG_INFINITY)], f64(-1.0)),
            ]),
            ..MATH
        },
        Op {
            name: "log",
            doc: "Natural logarithm.",
            python: &["math.log", "numpy.log"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::ln),
            host: Math("lh_logf", "lh_log"),
            nvptx: Math("lh_logf", "lh_log"),
            approx: Some(Approx::Product("lg2", LN_2)),
            grad: Grad::Partials(&["cut(d / a)"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(0.0)),
                (vec![f64(10.0)], f64(std::f64::consts::LN_10)),
                (vec![f64(0.0)], f64(f64::NEG_INFINITY)),
                (vec![f64(-1.0)], f64(f64::NAN)),
                (vec![f32(10.0)], f32(std::f32::consts::LN_10)),
            ]),
            ..MATH
        },
        Op {
            name: "log2",
            doc: "Logarithm to base 2.",
            python: &["math.log2", "numpy.log2"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::log2),
            host: Math("lh_log2f", "lh_log2"),
            nvptx: Math("lh_log2f", "lh_log2"),
            approx: Some(Approx::Inst("lg2")),
            grad: Grad::Partials(&["cut(d / (a * 0.6931471805599453))"]),
            examples: eg(vec![
                (vec![f64(1024.0)], f64(10.0)),
                (vec![f64(10.0)], f64(std::f64::consts::LOG2_10)),
                (vec![f64(0.0)], f64(f64::NEG_INFINITY)),
            ]),
            ..MATH
        },
        Op {
            name: "log10",
            doc: "Logarithm to base 10.",
            python: &["math.log10", "numpy.log10"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::log10),
            host: Math("lh_log10f", "lh_log10"),
            nvptx: Math("lh_log10f", "lh_log10"),
            approx: Some(Approx::Product("lg2", LOG10_2)),
            grad: Grad::Partials(&["cut(d / (a * 2.302585092994046))"]),
            examples: eg(vec![
                (vec![f64(1000.0)], f64(3.0)),
                (vec![f64(2.0)], f64(std::f64::consts::LOG10_2)),
                (vec![f64(-1.0)], f64(f64::NAN)),
            ]),
            ..MATH
        },
        Op {
            name: "log1p",
            doc: "`log(1 + x)`, accurate near zero.",
            python: &["math.log1p", "numpy.log1p"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::ln_1p),
            host: Math("lh_log1pf", "lh_log1p"),
            nvptx: Math("lh_log1pf", "lh_log1p"),
            grad: Grad::Partials(&["cut(d / (1 + a))"]),
            examples: eg(vec![
                (vec![f64(1e-10)], f64(9.999999999500001e-11)),
                (vec![f64(-1.0)], f64(f64::NEG_INFINITY)),
                (vec![f64(-0.0)], f64(-0.0)),
            ]),
            ..MATH
        },
        Op {
            name: "pow",
            doc: "The first operand to the power of the second, as C has it: NaN for a negative base with a fractional exponent.",
            python: &[],
            sig: Same(2, Floats),
            eval: |a| float2(a, f64::powf),
            host: Math("lh_powf", "lh_pow"),
            nvptx: Math("lh_powf", "lh_pow"),
            algebra: Algebra::Power,
            approx: Some(Approx::Power),
            grad: Grad::Partials(&[
                "select(eq(b, 0), 0, cut(d * b * pow(a, b - 1)))",
                "select(eq(a, 0), 0, cut(d * r * log(a)))",
            ]),
            examples: eg(vec![
                (vec![f64(2.0), f64(0.5)], f64(std::f64::consts::SQRT_2)),
                (vec![f64(f64::NAN), f64(0.0)], f64(1.0)),
                (vec![f64(-8.0), f64(3.0)], f64(-512.0)),
                (vec![f64(-1.0), f64(0.5)], f64(f64::NAN)),
            ]),
            ..MATH
        },
        Op {
            name: "whole_power",
            doc: "`a` to the power of an integer from -16 to 16 except 0; quick where that is constant.",
            sig: Same(2, Floats),
            eval: |a| float2(a, f64::powf),
            host: Math("lh_whole_powf", "lh_whole_pow"),
            nvptx: Math("lh_whole_powf", "lh_whole_pow"),
            examples: eg(vec![
                (vec![f64(2.0), f64(-3.0)], f64(0.125)),
                (vec![f64(-0.0), f64(-3.0)], f64(f64::NEG_INFINITY)),
                (vec![f64(f64::NEG_INFINITY), f64(-7.0)], f64(-0.0)),
                (vec![f64(-4.0), f64(-16.0)], f64(2.3283064365386963e-10)),
                (vec![f64(1e200), f64(-2.0)], f64(0.0)),
                (vec![f64(-3.0), f64(5.0)], f64(-243.0)),
                (vec![f64(1e200), f64(4.0)], f64(f64::INFINITY)),
            ]),
            ..MATH
        },
        Op {
            name: "atan2",
            doc: "Angle of the point (second, first), in radians.",
            python: &["math.atan2", "numpy.arctan2", "numpy.atan2"],
            sig: Same(2, Floats),
            eval: |a| float2(a, f64::atan2),
            host: Math("lh_atan2f", "lh_atan2"),
            nvptx: Math("lh_atan2f", "lh_atan2"),
            grad: Grad::Partials(&["cut(d * b / (a * a + b * b))", "cut(-(d * a) / (a * a + b * b))"]),
            examples: eg(vec![
                (vec![f64(1.0), f64(1.0)], f64(std::f64::consts::FRAC_PI_4)),
                (vec![f64(0.0), f64(-0.0)], f64(std::f64::consts::PI)),
                (vec![f64(-1.0), f64(0.0)], f64(-std::f64::consts::FRAC_PI_2)),
            ]),
            ..MATH
        },
        Op {
            name: "hypot",
            doc: "Euclidean norm `sqrt(x*x + y*y)`, without overflow on the way.",
            python: &["math.hypot", "numpy.hypot"],
            sig: Same(2, Floats),
            eval: |a| float2(a, f64::hypot),
            host: Math("lh_hypotf", "lh_hypot"),
            nvptx: Math("lh_hypotf", "lh_hypot"),
            grad: Grad::Partials(&["select(eq(r, 0), 0, d * a / r)", "select(eq(r, 0), 0, d * b / r)"]),
            examples: eg(vec![
                (vec![f64(3.0), f64(4.0)], f64(5.0)),
                (vec![f64(f64::INFINITY), f64(f64::NAN)], f64(f64::INFINITY)),
                (vec![f64(1e200), f64(1e200)], f64(1.414213562373095e+200)),
            ]),
            ..MATH
        },
        Op {
            name: "cbrt",
            doc: "Cube root.",
            python: &["math.cbrt", "numpy.cbrt"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::cbrt),
            host: Math("lh_cbrtf", "lh_cbrt"),
            nvptx: Math("lh_cbrtf", "lh_cbrt"),
            grad: Grad::Partials(&["cut(d / (3 * r * r))"]),
            examples: eg(vec![(vec![f64(27.0)], f64(3.0)), (vec![f64(-8.0)], f64(-2.0)), (vec![f64(-0.0)], f64(-0.0))]),
            ..MATH
        },
        Op {
            name: "erf",
            doc: "Error function.",
            python: &["math.erf"],
            sig: Same(1, Floats),
            eval: |a| float1(a, libm::erf),
            host: Math("lh_erff", "lh_erf"),
            nvptx: Math("lh_erff", "lh_erf"),
            grad: Grad::Partials(&["d * 1.1283791670955126 * exp(-(a * a))"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(0.8427007929497149)),
                (vec![f64(f64::INFINITY)], f64(1.0)),
                (vec![f64(-0.0)], f64(-0.0)),
            ]),
            ..MATH
        },
        Op {
            name: "erfc",
            doc: "Complementary error function.",
            python: &["math.erfc"],
            sig: Same(1, Floats),
            eval: |a| float1(a, libm::erfc),
            host: Math("lh_erfcf", "lh_erfc"),
            nvptx: Math("lh_erfcf", "lh_erfc"),
            grad: Grad::Partials(&["-(d * 1.1283791670955126 * exp(-(a * a)))"]),
            examples: eg(vec![
                (vec![f64(1.0)], f64(0.15729920705028513)),
                (vec![f64(10.0)], f64(2.088487583762545e-45)),
                (vec![f64(f64::NEG_INFINITY)], f64(2.0)),
            ]),
            ..MATH
        },
        Op {
            name: "lgamma",
            doc: "Logarithm of the absolute value of the gamma function.",
            sig: Same(1, Floats),
            eval: |a| float1(a, libm::lgamma),
            host: Math("lh_lgammaf", "lh_lgamma"),
            nvptx: Math("lh_gpu_lgammaf", "lh_gpu_lgamma"),
            examples: eg(vec![
                (vec![f64(10.0)], f64(12.801827480081469)),
                (vec![f64(1.0)], f64(0.0)),
                (vec![f64(0.0)], f64(f64::INFINITY)),
            ]),
            ..MATH
        },
        Op {
            name: "tgamma",
            doc: "Gamma function.",
            sig: Same(1, Floats),
            eval: |a| float1(a, libm::tgamma),
            host: Math("lh_tgammaf", "lh_tgamma"),
            nvptx: Math("lh_gpu_tgammaf", "lh_gpu_tgamma"),
            examples: eg(vec![
                (vec![f64(5.0)], f64(24.0)),
                (vec![f64(0.5)], f64(1.7724538509055159)),
                (vec![f64(-1.0)], f64(f64::NAN)),
                (vec![f64(-0.0)], f64(f64::NEG_INFINITY)),
            ]),
            ..MATH
        },
    ]
}
