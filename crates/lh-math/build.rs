//! Compiles `math/` to LLVM bitcode: with and without fused multiply-add, and for GPUs. Collects the lists of what its
//! files export.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=math");
    // The tests include the same sources; they test the fused variant.
    println!("cargo:rustc-cfg=lh_fma");
    println!("cargo:rustc-check-cfg=cfg(lh_gpu)");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let lists = ["exports", "rare"].map(list).concat();
    std::fs::write(Path::new(&out).join("lists.rs"), lists).expect("OUT_DIR is writable");
    compile(&Path::new(&out).join("fma.bc"), &["--cfg=lh_fma"]);
    compile(&Path::new(&out).join("plain.bc"), &[]);
    compile(&Path::new(&out).join("gpu.bc"), &["--cfg=lh_fma", "--cfg=lh_gpu"]);
    println!("cargo:rustc-env=LH_MATH={:016x}", digest(Path::new(&out)));
}

/// The digest of all that code which uses the library is made of.
fn digest(out: &Path) -> u64 {
    let made = ["lists.rs", "fma.bc", "plain.bc", "gpu.bc"].map(|name| out.join(name));
    let mut hash = DefaultHasher::new();
    let sources = ["src/lib.rs", "src/variants.rs"].map(PathBuf::from);
    sources.iter().for_each(|file| println!("cargo:rerun-if-changed={}", file.display()));
    made.iter().chain(&sources).for_each(|file| std::fs::read(file).expect("it can be read").hash(&mut hash));
    hash.finish()
}

/// A macro that passes the functions of all invocations of a macro in `math/` to another macro.
fn list(name: &str) -> String {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir("math").expect("math/ is here").map(|entry| entry.expect("it can be read").path()).collect();
    files.sort();
    let (mut functions, start) = (String::new(), format!("\n{name}! {{\n"));
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        if let Some((_, after)) = text.split_once(&start) {
            functions += after.split_once("\n}\n").expect("the end of the invocation").0;
            functions.push('\n');
        }
    }
    format!(
        "/// Passes the functions of all lists `{name}!` to a macro.\n\
         #[macro_export]\nmacro_rules! each_of_{name} {{ ($with:ident) => {{ $with! {{\n{functions}}} }} }}\n"
    )
}

fn compile(to: &Path, options: &[&str]) {
    let rustc = std::env::var("RUSTC").expect("cargo sets RUSTC");
    let target = std::env::var("TARGET").expect("cargo sets TARGET");
    let status = Command::new(rustc)
        .args(["math/lib.rs", "--crate-name=lh_math_functions", "--crate-type=lib", "--edition=2024", "--emit=llvm-bc"])
        .args(["--cfg=lh_bitcode", "--cap-lints=allow", "--target", &target, "-o"])
        .arg(to)
        .args(["-Copt-level=3", "-Cpanic=abort", "-Coverflow-checks=off", "-Cdebuginfo=0", "-Ccodegen-units=1"])
        // The loops are vectorised where the functions are used, at the width of that machine.
        .args(["-Cno-vectorize-loops", "-Cno-vectorize-slp"])
        .args(options)
        .status()
        .expect("rustc runs");
    assert!(status.success(), "the math functions do not compile");
}
