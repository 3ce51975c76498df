//! Gives the code `cfg(Py_3_12)` and the like, a hash of the compiler's sources, the order of functions, and the
//! library as untyped code.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    // The hash is part of every key of the cache, so code that other sources compiled is not used.
    let crates = Path::new("..");
    let mut files = Vec::new();
    for dir in ["src", "math"] {
        for name in fs::read_dir(crates).expect("the crates lie side by side").flatten() {
            collect(&name.path().join(dir), &mut files);
        }
    }
    files.push(crates.join("../Cargo.lock"));
    files.sort();
    let mut hash = DefaultHasher::new();
    for file in files {
        (file.to_string_lossy(), fs::read(&file).unwrap_or_default()).hash(&mut hash);
    }
    for name in ["PROFILE", "RUSTC", "TARGET"] {
        std::env::var(name).unwrap_or_default().hash(&mut hash);
    }
    println!("cargo:rustc-env=LANCEHEAD_BUILD={:016x}", hash.finish());
    // LLVM's linker lays the functions that run side by side, those that run at load time too: a compilation touches 12
    // to 20 MB of code instead of 28 to 33. `xtask/order.py` writes the list, of a module that was built without one.
    println!("cargo:rerun-if-env-changed=LANCEHEAD_ORDER");
    if let Some(list) = std::env::var("LANCEHEAD_ORDER").ok().filter(|list| !list.is_empty()) {
        link_if_possible(&[&format!("--symbol-ordering-file={list}"), "--no-warn-symbol-ordering"]);
        println!("cargo:rerun-if-changed={list}");
    }
    // Packed relocations take 11 KB instead of 1.4 MB; glibc reads them from 2.36 on.
    link_if_possible(&["-z,pack-relative-relocs"]);
    // Functions with the same code are there once, which makes the module 51 MB instead of 55: most are of templates.
    link_if_possible(&["--icf=all"]);
    // See `object/leaving.rs` and `object/scarcity.rs`.
    let handler = alloc_error_handler();
    println!("cargo:rustc-env=LANCEHEAD_ALLOC_ERROR_HANDLER=__wrap_{handler}");
    let ends = ["rust_eh_personality", "__cxa_atexit", "__cxa_thread_atexit_impl"];
    for symbol in ends.into_iter().chain(["malloc", "calloc", "realloc", &handler]) {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--wrap={symbol}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    store_library(&crates.join("../python"));
}

/// The symbol of the function that Rust's standard library calls when there is no memory; it has the version of the
/// compiler.
fn alloc_error_handler() -> String {
    const END: &str = "_7___rustc26___rust_alloc_error_handler";
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let mut rustc = Command::new(variable("RUSTC"));
    let output = rustc.args(["--print", "target-libdir", "--target", &variable("TARGET")]).output();
    let libraries = String::from_utf8(output.expect("rustc runs").stdout).expect("a path of text");
    let files = fs::read_dir(libraries.trim()).expect("the standard library is there").flatten().map(|f| f.path());
    let is_alloc =
        |path: &PathBuf| path.to_string_lossy().contains("/liballoc-") && path.extension() == Some("rlib".as_ref());
    let bytes = files.filter(is_alloc).find_map(|path| fs::read(path).ok()).expect("the crate `alloc` is there");
    let at = bytes.windows(END.len()).position(|w| w == END.as_bytes()).expect("`alloc` calls the handler");
    let begin = bytes[..at].windows(4).rposition(|w| w == b"_RNv").expect("a mangled name");
    String::from_utf8_lossy(&bytes[begin..at + END.len()]).into_owned()
}

/// Writes the library as untyped code, or nothing if the interpreter that the module is for does not run here.
fn store_library(root: &Path) {
    let root = root.canonicalize().expect("the package lies beside the crates");
    let library = root.join("lancehead/lib");
    println!("cargo:rerun-if-changed={}", library.display());
    let digest = lh_library::sources::digest(&library).expect("the library's sources can be read");
    let config = pyo3_build_config::get();
    let mut stored = Vec::new();
    if let Some(python) = config.executable() {
        let mut command = Command::new(python);
        command.args(["-B", "-S", "-s", "../lh-library/src/decode.py"]).arg(&root);
        // The same sources give the same bytes.
        command.env_remove("PYTHONPATH").env("PYTHONHASHSEED", "0");
        let output = command.output().expect("the interpreter was run by others before");
        assert!(output.status.success(), "decode.py: {}", String::from_utf8_lossy(&output.stderr));
        stored = lh_library::make(&output.stdout, digest);
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("library.bin"), stored).expect("what is made for the crate can be written");
}

/// Gives the linker these options if an empty program can be linked with them, and runs.
fn link_if_possible(options: &[&str]) {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let program = Path::new(&variable("OUT_DIR")).join("empty");
    fs::write(program.with_extension("rs"), "fn main() {}").expect("what is made for the crate can be written");
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.arg(program.with_extension("rs")).args(["--target", &variable("TARGET"), "-o"]).arg(&program);
    rustc.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\x1f').filter(|flag| !flag.is_empty()));
    rustc.args(std::env::var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}")));
    rustc.args(options.iter().map(|option| format!("-Clink-arg=-Wl,{option}")));
    let runs = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if runs(&mut rustc) && runs(&mut Command::new(program)) {
        options.iter().for_each(|option| println!("cargo:rustc-cdylib-link-arg=-Wl,{option}"));
    }
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    println!("cargo:rerun-if-changed={}", dir.display());
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(&path, out);
        } else {
            out.push(path);
        }
    }
}
