//! Loops that must be vectorised, by LLVM's own word and by the code.

use crate::common::{array_1d, build, build_unit, unit};
use lh_llvm::{Unit, Wanted};

/// A loop over `v0` that stores `body` of the element `x` (`v5`) as `v9`.
fn map_text(dtype: &str, body: &str, flags: &str) -> String {
    format!(
        "function %f(v0: array({dtype}, 1, C), v1: array({dtype}, 1, C)) -> none{flags} {{
block0(v0: array({dtype}, 1, C), v1: array({dtype}, 1, C)):
    v2 = array_shape v0, 0: int
    v11 = const 0: int
    jump block1(v11)
block1(v3: int):
    v10 = lt v3, v2: bool
    branch v10, block2(), block3()
block2():
    v4 = elem_ptr check v0[v3]: ptr
    v5 = load v4: {dtype}
{body}
    v6 = elem_ptr check v1[v3]: ptr
    store v6, v9
    v7 = const 1: int
    v8 = add v3, v7: int
    jump block1(v8)
block3():
    v12 = const none: none
    return v12
}}"
    )
}

/// A sum over an array: the value of `v4` after the loop.
fn sum_text(dtype: &str, flags: &str) -> String {
    format!(
        "function %f(v0: array({dtype}, 1, C)) -> {dtype}{flags} {{
    source \"f\", \"/x/f.py\", 1
block0(v0: array({dtype}, 1, C)):
    v1 = array_shape v0, 0: int
    v2 = const 0: int
    v9 = cast v2: {dtype}
    jump block1(v2, v9)
block1(v3: int, v4: {dtype}):
    v5 = lt v3, v1: bool
    branch v5, block2(), block3() @ 3:4-3:8
block2():
    v6 = elem_ptr check wrap v0[v3]: ptr @ 4:4-4:8
    v7 = load v6: {dtype} @ 4:4-4:8
    v8 = add v4, v7: {dtype} @ 4:4-4:8
    v10 = const 1: int
    v11 = add v3, v10: int @ 3:4-3:8
    jump block1(v11, v8)
block3():
    return v4
}}"
    )
}

#[test]
fn sums_are_vectorised_where_order_does_not_matter() {
    let ints = build(&sum_text("int64", ""));
    assert!(ints.optimised().contains("x i64>"), "{}", ints.optimised());
    let strict = build(&sum_text("float64", ""));
    assert!(!strict.optimised().contains("fadd <"), "{}", strict.optimised());
    let fast = build(&sum_text("float64", " fastmath=127"));
    assert!(fast.optimised().contains("fadd fast <"), "{}", fast.optimised());
    let data: Vec<f64> = (0..1001).map(f64::from).collect();
    assert_eq!(fast.call(&array_1d(&data)), Some([500_500f64.to_bits()]));
}

#[test]
fn the_vectoriser_says_what_it_did_and_where() {
    let wanted = Wanted { remarks: true, ..Wanted::default() };
    let remarks = |flags| build_unit(&Unit { wanted, ..unit(&sum_text("float64", flags)) }).output.remarks;
    let fast = remarks(" fastmath=127");
    assert!(fast.iter().any(|r| r.is_success() && r.file == "/x/f.py" && (3..5).contains(&r.line)), "{fast:?}");
    // A sum in order is one of scalars where nothing else profits from vectors, which the hint says.
    let text = sum_text("float64", "").replace("v4: float64):", "v4: float64) sum_in_order:");
    let strict = build_unit(&Unit { wanted, ..unit(&text) }).output.remarks;
    assert!(!strict.iter().any(|r| r.is_success()) && !strict.is_empty(), "{strict:?}");
    assert!(remarks("").iter().any(|r| r.is_success()));
}

#[test]
fn math_functions_are_vectorised_and_accurate() {
    for (name, reference) in
        [("exp", f64::exp as fn(f64) -> f64), ("log", f64::ln), ("sin", f64::sin), ("tanh", f64::tanh)]
    {
        for dtype in ["float64", "float32"] {
            let c = build(&map_text(dtype, &format!("    v9 = {name} v5: {dtype}"), ""));
            let wide = if dtype == "float64" { "x double>" } else { "x float>" };
            assert!(c.optimised().contains(wide), "{name} {dtype}:\n{}", c.optimised());
            let input: Vec<f64> =
                (0..1003).map(|i| f64::from(i) * 0.037 + 0.01).chain([1e9, 1e300, -0.5, f64::NAN]).collect();
            let close = |got: f64, want: f64, ulp: f64| {
                got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= ulp * want.abs()
            };
            if dtype == "float64" {
                let out = vec![0.0f64; input.len()];
                c.call::<0>(&[array_1d(&input), array_1d(&out)].concat()).expect("no exception");
                for (x, y) in input.iter().zip(&out) {
                    // The C library, too, is off by up to two units.
                    assert!(close(*y, reference(*x), 3.0 * f64::EPSILON), "{name}({x}) = {y}, not {}", reference(*x));
                }
            } else {
                let input: Vec<f32> = input.iter().map(|x| *x as f32).collect();
                let out = vec![0.0f32; input.len()];
                c.call::<0>(&[array_1d(&input), array_1d(&out)].concat()).expect("no exception");
                for (x, y) in input.iter().zip(&out) {
                    let want = f64::from(reference(f64::from(*x)) as f32);
                    assert!(close(f64::from(*y), want, f64::from(f32::EPSILON)), "{name}f({x}) = {y}, not {want}");
                }
            }
        }
    }
}

#[test]
fn iterations_that_may_raise_are_put_in_a_row() {
    let text = |flag: &str| {
        let checked = sum_text("float64", "").replace("v0[v3]", "v0[v12]");
        let index = "    v12 = and v3, v10: int @ 4:4-4:8\n";
        let checked = checked.replace("    v6 = ", &format!("    v10 = const 1023: int\n{index}    v6 = "));
        let checked = checked
            .replace("    v10 = const 1: int\n    v11 = add v3, v10", "    v13 = const 1: int\n    v11 = add v3, v13");
        checked.replace("v4: float64):\n    v5", &format!("v4: float64){flag}:\n    v5"))
    };
    let additions = |flag: &str| build(&text(flag)).optimised().matches("fadd double").count();
    // A short loop goes four rounds at a time without the hint, too, and its rest one.
    assert_eq!(additions(""), 5);
    assert!(additions(" unroll") > 5);
}

#[test]
fn loops_in_strips_are_vectorised_and_ask_behind_the_vectors() {
    let text = sum_text("int64", "").replace("v4: int64):\n    v5", "v4: int64) poll_free:\n    v5");
    let text = text.replace("block3():\n    return v4", "block3():\n    runtime lh_stopped() @ 3:4-3:8\n    return v4");
    let c = build(&text);
    let (ir, flag) = (c.optimised(), "load atomic i32, ptr @lh_interrupt_flag");
    assert!(ir.contains("x i64>") && ir.contains(flag) && ir.contains("131072"), "{ir}");
    // The end of a strip is opaque to LLVM.
    assert!(ir.contains("freeze i64"), "{ir}");
    let vectors = |block: &&str| block.contains("vector.body:") || block.contains("phi <");
    assert!(ir.split("\n\n").filter(vectors).all(|block| !block.contains(flag)), "{ir}");
    let data: Vec<i64> = (0..400_001).collect();
    let data: Vec<f64> = data.iter().map(|x| f64::from_bits(*x as u64)).collect();
    assert_eq!(c.call(&array_1d(&data)), Some([400_000 * 400_001 / 2]));
}

#[test]
fn vectors_are_as_wide_as_there_are_where_math_is_in_them() {
    let wide = |text: &str| build(text).optimised().contains("\"prefer-vector-width\"=\"512\"");
    let math = map_text("float64", "    v9 = tanh v5: float64", "");
    let has_wide = std::arch::is_x86_feature_detected!("avx512f");
    assert_eq!(wide(&math.replace("block1(v3: int):", "block1(v3: int) poll_free:")), has_wide);
    // One that is not divided into strips is not vectorised.
    assert!(!wide(&math));
}

#[test]
fn short_loops_go_several_rounds_at_a_time() {
    let text = |next: &str| {
        format!(
            "function %f(v0: int) -> int {{
block0(v0: int):
    v1 = const 0: int
    v2 = const 1: int
    jump block1(v1, v1, v2, v2)
block1(v3: int, v4: int, v5: int, v6: int) poll_free:
    v7 = lt v3, v0: bool
    branch v7, block2(), block3()
block2():
    v8 = xor v4, v5: int
    v9 = add v8, v6: int
    v10 = const 1: int
    v11 = add v3, v10: int
    jump block1(v11, {next})
block3():
    runtime lh_stopped() @ 3:4-3:8
    return v4
}}"
        )
    };
    let rounds = |c: &crate::common::Compiled| c.optimised().matches("xor i64").count();
    let handed_on = build(&text("v5, v6, v9"));
    assert!(rounds(&handed_on) > 1, "{}", handed_on.optimised());
    assert!(rounds(&build(&text("v9, v5, v6"))) > 3);
    for n in [0, 1, 2, 7, 131_072, 400_001] {
        let last = (0..n).fold((0i64, 1i64, 1i64), |(a, b, c), _| (b, c, (a ^ b).wrapping_add(c))).0;
        assert_eq!(handed_on.call(&[n as u64]), Some([last as u64]), "{n}");
    }
}

#[test]
fn whether_a_loop_has_ended_early_is_not_in_memory() {
    let in_strips = |text: &str| {
        let text = text.replace("v4: float64):\n", "v4: float64) poll_free:\n");
        build(&text.replace("block3():\n", "block3():\n    runtime lh_stopped() @ 3:4-3:8\n"))
    };
    let text = sum_text("float64", "").replace("check wrap ", "");
    let c = in_strips(&text);
    assert!(c.optimised().contains("@lh_interrupt_flag") && !c.optimised().contains("alloca"), "{}", c.optimised());
    assert_eq!(c.call(&array_1d(&[1.5, 2.0, 3.0])), Some([6.5f64.to_bits()]));
    // Nor is it asked of a loop that is none any more.
    let c = in_strips(&text.replace("return v4", "return v9"));
    assert!(!c.optimised().contains("@lh_interrupt_flag") && !c.optimised().contains("alloca"), "{}", c.optimised());
    assert_eq!(c.call(&array_1d(&[1.5, 2.0, 3.0])), Some([0]));
}

/// The LLVM text of a unit, before and after the passes.
fn texts(text: &str) -> (String, String) {
    let made = build(text);
    (made.output.llvm_ir.clone().expect("wanted"), made.optimised().to_owned())
}

#[test]
fn loops_have_the_form_that_the_program_asks_for() {
    let plain = map_text("float64", "    v9 = mul v5, v5: float64", "");
    let asked = |form: &str| texts(&plain.replace("block1(v3: int):", &format!("block1(v3: int) elementwise {form}:")));
    let (said, made) = asked("unroll_by=1 lanes=4");
    assert!(said.contains("!\"llvm.loop.vectorize.width\", i32 4") && said.contains("!\"llvm.loop.unroll.disable\""));
    assert!(made.contains("fmul <4 x double>"), "{made}");
    let (_, wide) = asked("unroll_by=1 lanes=16");
    assert!(wide.contains("fmul <16 x double>"), "{wide}");
    let (said, scalar) = asked("unroll_by=8 lanes=1");
    assert!(
        said.contains("!\"llvm.loop.unroll.count\", i32 8")
            && said.contains("!\"llvm.loop.vectorize.enable\", i1 false")
    );
    let count = |text: &str| text.matches(" = fmul double").count();
    assert!(!scalar.contains("x double>") && count(&scalar) >= 8, "{scalar}");
    let (_, single) = asked("unroll_by=1 lanes=1");
    assert!(!single.contains("x double>") && count(&single) < 4, "{single}");
    let (said, made) = asked("lanes=255");
    assert!(!said.contains("vectorize.width") && said.contains("!\"llvm.loop.vectorize.enable\", i1 true"));
    assert!(made.contains("x double>"));
}

#[test]
fn vectors_that_the_program_asks_for_leave_sums_in_order() {
    let data: Vec<f64> = (0..1003).map(|i| f64::from(i * i % 97) * 0.1 + 1e9 / f64::from(i + 1)).collect();
    let in_order = data.iter().sum::<f64>().to_bits();
    for form in ["lanes=8", "lanes=255", "unroll_by=4", "unroll_by=8 lanes=4"] {
        let text = sum_text("float64", "").replace("v4: float64):", &format!("v4: float64) {form}:"));
        assert_eq!(build(&text).call(&array_1d(&data)), Some([in_order]), "{form}");
    }
}
