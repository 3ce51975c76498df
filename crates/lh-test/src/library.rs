//! The library's functions as untyped code, for tests: decoded once in a process, by the interpreter of the workspace.

use lh_library::{Library, make, sources};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The directory of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The interpreter: that of `PYO3_PYTHON`, else of the virtual environment beside the crates, else the first one found.
fn interpreter() -> PathBuf {
    let own = root().join(".venv/bin/python");
    match std::env::var_os("PYO3_PYTHON") {
        Some(path) => path.into(),
        None if own.exists() => own,
        None => "python3".into(),
    }
}

/// The stored library. No Python code runs afterwards.
///
/// # Panics
/// If the library cannot be decoded.
pub fn library() -> &'static Library {
    static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
        let package = root().join("python");
        let mut command = Command::new(interpreter());
        command.args(["-B", "-S", "-s"]).arg(root().join("crates/lh-library/src/decode.py"));
        // The paths in code objects begin with that of the package as Python sees it.
        command.arg(package.canonicalize().expect("the package lies beside the crates"));
        // Classes for tests lie beside the tests of Python.
        command.arg(root().join("tests/python/library").canonicalize().expect("the tests lie in the repository"));
        command.env_remove("PYTHONPATH").env("PYTHONHASHSEED", "0");
        let output = command.output().unwrap_or_else(|e| panic!("{}: {e}", command.get_program().display()));
        assert!(output.status.success(), "decode.py: {}", String::from_utf8_lossy(&output.stderr));
        let digest = sources::digest(&package.join("lancehead/lib")).expect("the library's sources can be read");
        Library::open(make(&output.stdout, digest).leak()).expect("what was made can be opened")
    });
    &LIBRARY
}

/// Lets texts mention classes of the library.
pub fn declare_classes() {
    lh_ir::class::set_source(|path| library().class(path));
}
