//! Gives the code `cfg(Py_3_12)` and the like, a hash of the compiler's sources, and the library as untyped code.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    // Whatever was compiled by other sources is not used: the hash is part of every key of the cache.
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
    // LLVM's 400 constructors lie side by side: loading the module touches 4 MB of code less.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,keep-text-section-prefix");
    println!("cargo:rerun-if-changed=build.rs");
    store_library(&crates.join("../python"));
}

/// Writes the library as untyped code; nothing, if the interpreter that the module is for does not run here.
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
