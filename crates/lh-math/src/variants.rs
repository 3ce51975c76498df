//! How a vectorised loop calls the functions for large arguments: once per vector, and only if a lane needs it.
//!
//! LLVM vectorises a call under a condition if the function has a masked vector variant. Ours tests the mask and
//! branches around a call that does the lanes one by one, so what a loop pays is that test.
//!
//! To use: link [`VARIANTS`] (textual IR) into a module that got `lh_sin`, `lh_cos` or `lh_tan`; give the functions
//! named in [`LARGE`] the attribute `"vector-function-abi-variant"` with the text of [`mappings`]; name the variants
//! in `@llvm.compiler.used` (`VARIANTS` does). After the pipeline, drop `@llvm.compiler.used` and run
//! `always-inline,simplifycfg,globaldce`.

use std::fmt::Write;
use std::sync::LazyLock;

/// The functions that are called under a condition.
pub const LARGE: &[&str] =
    &["lh_sin_large", "lh_cos_large", "lh_tan_large", "lh_sinf_large", "lh_cosf_large", "lh_tanf_large"];

/// Numbers of lanes that get a variant.
const WIDTHS: [u32; 4] = [2, 4, 8, 16];

/// The value of the attribute `"vector-function-abi-variant"` for a function of [`LARGE`].
pub fn mappings(name: &str) -> String {
    WIDTHS.map(|n| format!("_ZGV_LLVM_M{n}v_{name}({name}.v{n})")).join(",")
}

/// Textual IR of the variants.
pub static VARIANTS: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    let mut used = Vec::new();
    for n in WIDTHS {
        lanes(&mut text, n, "double");
        lanes(&mut text, n, "float");
        for name in LARGE {
            variant(&mut text, name, n);
            used.push(format!("ptr @{name}.v{n}"));
        }
    }
    for name in LARGE {
        let ty = element(name);
        line(&mut text, format_args!("declare {ty} @{name}({ty}) nounwind willreturn memory(none)"));
    }
    let (count, list) = (used.len(), used.join(", "));
    line(
        &mut text,
        format_args!("@llvm.compiler.used = appending global [{count} x ptr] [{list}], section \"llvm.metadata\""),
    );
    line(&mut text, format_args!("!0 = !{{!\"branch_weights\", i32 1000000, i32 1}}"));
    text
});

fn line(text: &mut String, args: std::fmt::Arguments<'_>) {
    writeln!(text, "{args}").expect("a string takes everything");
}

/// Whether a function of [`LARGE`], or a variant of one, takes and returns `f32` rather than `f64`.
pub fn is_single(name: &str) -> bool {
    name.split('.').next().is_some_and(|base| base.ends_with("f_large"))
}

fn element(name: &str) -> &'static str {
    if is_single(name) { "float" } else { "double" }
}

/// The variant itself: nothing to do unless a lane of the mask is set.
fn variant(text: &mut String, name: &str, n: u32) {
    let ty = element(name);
    line(text, format_args!(
        "define internal <{n} x {ty}> @{name}.v{n}(<{n} x {ty}> %x, <{n} x i1> %mask) alwaysinline nounwind willreturn memory(none) {{
  %bits = bitcast <{n} x i1> %mask to i{n}
  %none = icmp eq i{n} %bits, 0
  br i1 %none, label %done, label %some, !prof !0
some:
  %y = call <{n} x {ty}> @lh_lanes.{ty}.v{n}(ptr @{name}, <{n} x {ty}> %x) nounwind willreturn memory(none)
  br label %done
done:
  %result = phi <{n} x {ty}> [ %x, %0 ], [ %y, %some ]
  ret <{n} x {ty}> %result
}}"
    ));
}

/// A function applied to one lane after the other.
fn lanes(text: &mut String, n: u32, ty: &str) {
    line(text, format_args!(
        "define internal <{n} x {ty}> @lh_lanes.{ty}.v{n}(ptr %f, <{n} x {ty}> %x) noinline cold nounwind willreturn memory(none) {{
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %v = phi <{n} x {ty}> [ %x, %0 ], [ %w, %loop ]
  %a = extractelement <{n} x {ty}> %v, i32 %i
  %b = call {ty} %f({ty} %a) nounwind willreturn memory(none)
  %w = insertelement <{n} x {ty}> %v, {ty} %b, i32 %i
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, {n}
  br i1 %more, label %loop, label %end
end:
  ret <{n} x {ty}> %w
}}"
    ));
}
