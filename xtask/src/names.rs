//! Names stay in the tables: code outside of them neither spells a symbol of the run-time library nor asks an
//! operation, a run-time function or a library function by its name. It asks the row or the declaration.

use crate::tidy::Source;

/// The crates that have the tables and the code that they name.
const HOMES: [&str; 4] = ["crates/lh-ops/", "crates/lh-runtime/", "crates/lh-math/", "crates/lh-aot/"];
/// Variables that hold a row, as they are named throughout.
const ROWS: [&str; 8] = ["op", "row", "f", "g", "r", "less", "inner", "callee"];

/// Complains of names in code.
pub fn check(sources: &[Source], complaints: &mut Vec<String>) {
    for source in sources.iter().filter(|s| is_checked(&s.path)) {
        for (number, line) in source.text.lines().enumerate() {
            if let Some(what) = wrong(line) {
                complaints.push(format!("{}:{}: {what}", source.path, number + 1));
            }
        }
    }
}

fn is_checked(path: &str) -> bool {
    let is_source = path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
    is_source && !HOMES.iter().any(|home| path.starts_with(home))
}

fn wrong(line: &str) -> Option<&'static str> {
    let code = line.trim_start();
    if code.starts_with("//") {
        return None;
    }
    if code.contains("\"lh_") {
        return Some("a symbol is spelled here; rows are `lh_ops::runtime::NAME`, others in `lh_ops::symbols`");
    }
    let asks = |(at, field): (usize, &str)| {
        let (before, after) = (&code[..at], &code[at + field.len()..]);
        let receiver = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let start = &before[..before.len() - receiver.len()];
        // `self` is a row of none of the tables.
        let is_row = if field == ".qualname" { receiver != "self" } else { ROWS.contains(&receiver) };
        is_row && is_question(start, after)
    };
    let uses = code.match_indices(".name").chain(code.match_indices(".qualname"));
    let message = "a name is compared; ask the row for its algebra or role, or declare a meaning";
    uses.into_iter().any(asks).then_some(message)
}

/// Whether a field is compared, given the text before what it belongs to and after it.
fn is_question(before: &str, after: &str) -> bool {
    const TESTS: [&str; 7] =
        [" == ", " != ", ".as_str() {", ".starts_with(", ".ends_with(", ".contains(", ".strip_prefix("];
    let is_matched = ["match ", "match (", "matches!("].iter().any(|m| before.ends_with(m));
    TESTS.iter().any(|t| after.starts_with(t)) || (is_matched && after.starts_with([' ', ',']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_asked_are_found() {
        let found = |line: &str| wrong(line).is_some();
        assert!(found("    Inst::Op(op, args) if op.name == \"add\" => 1,"));
        assert!(found("    let group = match op.name {"));
        assert!(found("    match (op.name, holds) {"));
        assert!(found("    matches!(f.name, \"a\" | \"b\")"));
        assert!(found("    if f.name.starts_with(\"print\") {"));
        assert!(found("    match func.qualname.as_str() {"));
        assert!(found("    c.call(\"lh_alloc\")"));
        assert!(!found("    // op.name == \"lh_alloc\""));
        assert!(!found("    lh_ir::bug!(\"no row {}\", op.name)"));
        assert!(!found("    if param.name == \"self\" {"));
    }

    #[test]
    fn tables_may_have_names() {
        assert!(is_checked("crates/lh-opt/src/core/fold.rs") && !is_checked("crates/lh-ops/src/runtime.rs"));
        assert!(!is_checked("crates/lh-opt/tests/a.rs"));
    }
}
