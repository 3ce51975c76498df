//! Recorded functions of every version against their printed IR: `code/expected.txt`, rewritten by `LH_BLESS=1`.
//!
//! The IR of the first version stands in full; that of a later version where it differs from the one before, as the
//! lines that differ from the first.

use crate::support::{VERSIONS, path, recorded};
use lh_frontend::{translate, verify};
use lh_ir::Value;
use lh_ir::diag::Diagnostic;
use lh_ir::parse_untyped::parse;
use lh_ir::untyped::{BlockData, Code};
use std::fmt::Write;
use std::fs;
use std::sync::Arc;

/// Text of a translated function, or its diagnostic.
fn printed(raw: &lh_frontend::raw::RawCode, version: (u8, u8)) -> String {
    match translate(raw, version) {
        Ok(code) => {
            verify(&code).expect("the code is well-formed");
            code.to_string()
        }
        Err(diagnostic) => refusal(&diagnostic),
    }
}

fn refusal(d: &Diagnostic) -> String {
    let mut text = format!("error[{}]: {}\n  at {}:{}:{}\n", d.id.0, d.headline, d.file, d.span.line, d.span.col);
    if !d.label.is_empty() {
        writeln!(text, "  {}", d.label).expect("writing to a string");
    }
    for note in &d.notes {
        writeln!(text, "  note: {note}").expect("writing to a string");
    }
    text
}

/// Lines of `new` that are not in `old`, roughly: what stands between the common start and the common end.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    new[start..new.len() - end].iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn recorded_functions_translate_as_expected() {
    let [first, others @ ..] = VERSIONS;
    let others = others.map(|version| (version, recorded(version)));
    let mut text = String::new();
    for raw in recorded(first) {
        let full = printed(&raw, first);
        writeln!(text, "# {}\n{full}", raw.name).expect("writing to a string");
        let mut known = full.clone();
        for (version, functions) in &others {
            let Some(other) = functions.iter().find(|f| f.name == raw.name) else { continue };
            let other = printed(other, *version);
            if other != known {
                let text_of_it =
                    if other == full { "as in the first version\n".to_owned() } else { difference(&full, &other) };
                writeln!(text, "# {} from {}.{} on\n{text_of_it}", raw.name, version.0, version.1)
                    .expect("writing to a string");
                known = other;
            }
        }
    }
    let file = path("expected.txt");
    if std::env::var_os("LH_BLESS").is_some() {
        fs::write(&file, &text).expect("the file can be written");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    let line = text.lines().zip(expected.lines()).position(|(a, b)| a != b);
    assert!(text == expected, "expected.txt differs from line {line:?} on; LH_BLESS=1 rewrites it");
}

/// Code of which names are only known of values that are defined: the text says no others.
fn without_unused_names(code: &Code) -> Code {
    let mut code = code.clone();
    let of_block = |b: &BlockData| b.params.iter().copied().chain(b.insts.iter().filter_map(|i| i.result)).collect();
    let defined: Vec<Value> = code.blocks.iter().flat_map(|b| -> Vec<Value> { of_block(b) }).collect();
    for (i, name) in code.value_names.iter_mut().enumerate() {
        *name = name.take().filter(|_| defined.contains(&Value::new(i)));
    }
    code.inner = code.inner.iter().map(|inner| Arc::new(without_unused_names(inner))).collect();
    code
}

#[test]
fn printed_code_parses_to_the_same_code() {
    let mut count = 0;
    for version in VERSIONS {
        for raw in recorded(version) {
            let Ok(code) = translate(&raw, version) else { continue };
            let text = format!("{code:#}");
            let again = parse(&text).unwrap_or_else(|e| panic!("{version:?}: {e} of\n{text}"));
            assert_eq!(format!("{:?}", again[0]), format!("{:?}", without_unused_names(&code)), "{version:?}");
            count += 1;
        }
    }
    assert!(count > 100);
}

/// The text that a span covers in `source.py`.
fn covered(span: lh_ir::Span) -> String {
    let source = fs::read_to_string(path("source.py")).expect("the file is there");
    let line = source.lines().nth(span.line as usize - 1).expect("the line is there");
    line[span.col as usize..span.end_col as usize].to_owned()
}

#[test]
fn instructions_know_their_places() {
    for version in VERSIONS {
        let raw = recorded(version).into_iter().find(|f| f.name == "try_except").expect("it is recorded");
        let code = translate(&raw, version).expect("it translates");
        let places: Vec<String> =
            code.blocks.iter().flat_map(|b| &b.insts).filter(|d| d.span.line != 0).map(|d| covered(d.span)).collect();
        for expected in ["a[i]", "x + 1", "IndexError", "(ValueError, TypeError)", "print(e)", "x += 1", "x, y"] {
            assert!(places.iter().any(|p| p == expected), "{version:?}: {expected} is not among {places:?}");
        }
    }
}
