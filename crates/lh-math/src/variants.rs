//! How a vectorised loop calls the functions for rare arguments: only if a lane needs it.
//!
//! LLVM vectorises a call under a condition if the function has a masked vector variant. Ours tests the mask and
//! branches around a call that does its lanes one by one, so what a loop pays is that test.
//!
//! To use: give the functions of [`RARE`] the attribute `"vector-function-abi-variant"` with the text of [`mappings`];
//! name the variants in `@llvm.compiler.used` so that they live until the vectoriser has run, and then drop that, link
//! [`variants`] (textual IR) and run `always-inline,simplifycfg,globaldce`.

use std::fmt::Write;

/// A function that is called under a condition.
pub struct Rare {
    /// Its name.
    pub name: &'static str,
    /// How many arguments it takes.
    pub arity: usize,
    /// Whether it takes and returns `f32` rather than `f64`.
    pub single: bool,
}

macro_rules! rare {
    ($($name:ident($($arg:ident: $ty:ident),+) -> $ret:ident = $body:path;)*) => {
        /// The functions that are called under a condition.
        pub const RARE: &[Rare] = &[$(Rare {
            name: stringify!($name),
            arity: [$(stringify!($arg)),+].len(),
            single: size_of::<$ret>() == 4,
        }),*];
    };
}
each_of_rare!(rare);

/// Numbers of lanes that get a variant.
const WIDTHS: [u32; 4] = [2, 4, 8, 16];

/// The function of [`RARE`] of this name, or of which it is a variant.
pub fn rare(name: &str) -> Option<&'static Rare> {
    let base = name.split('.').next();
    RARE.iter().find(|rare| Some(rare.name) == base)
}

/// The value of the attribute `"vector-function-abi-variant"` for a function of [`RARE`].
pub fn mappings(rare: &Rare) -> String {
    let (name, kinds) = (rare.name, "v".repeat(rare.arity));
    WIDTHS.map(|n| format!("_ZGV_LLVM_M{n}{kinds}_{name}({name}.v{n})")).join(",")
}

/// Textual IR of the variants of some functions.
pub fn variants(wanted: impl Fn(&Rare) -> bool) -> String {
    let mut text = String::new();
    for n in WIDTHS {
        for (ty, arity) in [("double", 1), ("double", 2), ("float", 1), ("float", 2)] {
            lanes(&mut text, n, ty, arity);
        }
        line(&mut text, format_args!("declare i{n} @llvm.cttz.i{n}(i{n}, i1)"));
    }
    for rare in RARE.iter().filter(|rare| wanted(rare)) {
        let ty = element(rare);
        let types = vec![ty; rare.arity].join(", ");
        line(&mut text, format_args!("declare {ty} @{}({types}) nounwind willreturn memory(none)", rare.name));
        for n in WIDTHS {
            variant(&mut text, rare, n);
        }
    }
    line(&mut text, format_args!("!0 = !{{!\"branch_weights\", i32 1000000, i32 1}}"));
    text
}

fn line(text: &mut String, args: std::fmt::Arguments<'_>) {
    writeln!(text, "{args}").expect("a string takes everything");
}

fn element(rare: &Rare) -> &'static str {
    if rare.single { "float" } else { "double" }
}

/// The variant itself: nothing to do unless a lane of the mask is set.
fn variant(text: &mut String, rare: &Rare, n: u32) {
    let (name, arity, ty) = (rare.name, rare.arity, element(rare));
    let arguments = ["x", "y"][..arity].iter().map(|a| format!("<{n} x {ty}> %{a}")).collect::<Vec<_>>().join(", ");
    line(text, format_args!(
        "define internal <{n} x {ty}> @{name}.v{n}({arguments}, <{n} x i1> %mask) alwaysinline nounwind willreturn memory(none) {{
  %bits = bitcast <{n} x i1> %mask to i{n}
  %none = icmp eq i{n} %bits, 0
  br i1 %none, label %done, label %some, !prof !0
some:
  %r = call <{n} x {ty}> @lh_lanes{arity}.{ty}.v{n}(ptr @{name}, {arguments}, i{n} %bits) nounwind willreturn memory(none)
  br label %done
done:
  %result = phi <{n} x {ty}> [ %x, %0 ], [ %r, %some ]
  ret <{n} x {ty}> %result
}}"
    ));
}

/// A function applied to one lane after the other, of those that are wanted.
fn lanes(text: &mut String, n: u32, ty: &str, arity: usize) {
    let (mut arguments, mut memory, mut loads, mut values) =
        (String::new(), String::new(), String::new(), String::new());
    for name in &["x", "y"][..arity] {
        arguments += &format!(", <{n} x {ty}> %{name}");
        memory += &format!("\n  %p{name} = alloca <{n} x {ty}>\n  store <{n} x {ty}> %{name}, ptr %p{name}");
        loads +=
            &format!("\n  %a{name} = getelementptr {ty}, ptr %p{name}, i64 %i\n  %l{name} = load {ty}, ptr %a{name}");
        values += &format!("{}{ty} %l{name}", if values.is_empty() { "" } else { ", " });
    }
    line(text, format_args!(
        "define internal <{n} x {ty}> @lh_lanes{arity}.{ty}.v{n}(ptr %f{arguments}, i{n} %bits) noinline cold nounwind willreturn memory(none) {{{memory}
  br label %loop
loop:
  %left = phi i{n} [ %bits, %0 ], [ %rest, %loop ]
  %place = call i{n} @llvm.cttz.i{n}(i{n} %left, i1 true)
  %i = zext i{n} %place to i64{loads}
  %r = call {ty} %f({values}) nounwind willreturn memory(none)
  store {ty} %r, ptr %ax
  %less = sub i{n} %left, 1
  %rest = and i{n} %left, %less
  %end = icmp eq i{n} %rest, 0
  br i1 %end, label %done, label %loop
done:
  %result = load <{n} x {ty}>, ptr %px
  ret <{n} x {ty}> %result
}}"
    ));
}
