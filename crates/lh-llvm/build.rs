//! Links LLVM statically: the components of the targets we use, and the C++ run-time library.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// The LLVM components that we use; listing them keeps other targets out.
const COMPONENTS: &[&str] = &["x86", "nvptx", "passes", "bitreader", "bitwriter", "linker", "irreader"];

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-changed=build.rs");
    let config = llvm_config();
    let ask = |args: &[&str]| output(&config, args);
    assert!(ask(&["--version"]).starts_with("22."), "lancehead needs LLVM 22; {config} is another version");
    println!("cargo:rerun-if-changed=src/machine/emitter.cpp");
    let flags = ask(&["--cxxflags"]);
    let mut shim = cc::Build::new();
    shim.cpp(true).flags(flags.split_whitespace()).warnings(false).cargo_metadata(false);
    shim.file("src/machine/emitter.cpp").compile("emitter");
    println!("cargo:rustc-link-search=native={}", std::env::var("OUT_DIR").expect("cargo names it"));
    // Before the libraries, which it refers to.
    println!("cargo:rustc-link-lib=static=emitter");
    println!("cargo:rustc-link-search=native={}", ask(&["--libdir"]));
    let names = ask(&[&["--link-static", "--libnames"], COMPONENTS].concat());
    for lib in names.split_whitespace() {
        println!("cargo:rustc-link-lib=static:-bundle={}", lib.trim_start_matches("lib").trim_end_matches(".a"));
    }
    let libstdcxx = output("g++", &["-print-file-name=libstdc++.a"]);
    let dir = Path::new(&libstdcxx).parent().expect("a directory").display();
    println!("cargo:rustc-link-search=native={dir}");
    println!("cargo:rustc-link-search=native=/usr/lib/x86_64-linux-gnu");
    for lib in ["stdc++", "zstd", "z"] {
        println!("cargo:rustc-link-lib=static:-bundle={lib}");
    }
    println!("cargo:rustc-link-lib=dylib=m");
    println!("cargo:rustc-env=LH_PASSES={:016x}", digest(&ask(&["--version"])));
}

/// The digest of LLVM's version and of the sources that decide which object a module becomes: all but those that make
/// modules of typed IR, or load objects.
fn digest(version: &str) -> u64 {
    let mut files = vec![Path::new("src").to_owned()];
    let mut hash = DefaultHasher::new();
    version.hash(&mut hash);
    while let Some(path) = files.pop() {
        if path.is_dir() {
            let mut inside: Vec<_> =
                std::fs::read_dir(&path).expect("it can be read").map(|e| e.expect("it can be read").path()).collect();
            inside.sort();
            files.extend(inside);
        } else if !["src/lower", "src/load"].iter().any(|other| path.to_string_lossy().starts_with(other)) {
            println!("cargo:rerun-if-changed={}", path.display());
            (path.to_string_lossy(), std::fs::read(&path).expect("it can be read")).hash(&mut hash);
        }
    }
    hash.finish()
}

/// The `llvm-config` of LLVM 22: `$LLVM_CONFIG`, on the path, or where Debian puts it.
fn llvm_config() -> String {
    if let Ok(path) = std::env::var("LLVM_CONFIG") {
        return path;
    }
    for path in ["llvm-config-22", "/usr/lib/llvm-22/bin/llvm-config", "llvm-config"] {
        if Command::new(path).arg("--version").output().is_ok_and(|o| o.status.success()) {
            return path.to_owned();
        }
    }
    panic!("LLVM 22 is not installed: set LLVM_CONFIG, or install llvm-22-dev");
}

fn output(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(out.status.success(), "{program} {args:?} failed: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text").trim().to_owned()
}
