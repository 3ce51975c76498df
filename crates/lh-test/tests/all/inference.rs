//! The file tests of inference, and the text of the whole library's code.

use lh_ir::parse_untyped::parse;
use lh_test::files;
use lh_test::inference::run_file;
use lh_test::library::{library, root};
use std::panic::catch_unwind;

#[test]
fn file_tests() {
    let dir = root().join("tests/infer");
    let files = files(&dir, "uir");
    let mut failures = Vec::new();
    for path in &files {
        let result = catch_unwind(|| run_file(path)).unwrap_or_else(|_| Err("inference panics".to_owned()));
        if let Err(e) = result {
            failures.push(format!("{}: {e}", path.strip_prefix(&dir).unwrap_or(path).display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(files.len() >= 120, "{} files", files.len());
}

#[test]
fn the_text_of_every_library_function_parses_to_the_same_code() {
    let count = library().count();
    for n in 0..count {
        let code = library().function(n as u32, "lancehead").code;
        let text = format!("{code:#}");
        let again = parse(&text).unwrap_or_else(|e| panic!("{e} of\n{text}"));
        assert_eq!(again.len(), 1);
        assert_eq!(format!("{:#}", again[0]), text);
        lh_frontend::verify(&again[0]).unwrap_or_else(|e| panic!("{e} in\n{text}"));
        assert_eq!((again[0].value_count, &again[0].params), (code.value_count, &code.params));
    }
    assert!(count > 1000, "{count} functions");
}
