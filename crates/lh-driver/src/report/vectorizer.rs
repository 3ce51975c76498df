//! LLVM's remarks about loops in the user's words.

/// A piece of LLVM's text and the reason in plain words, in the order in which a report prefers them: first those that
/// say most about the loop, then those of many loops (and of cold copies of loops), last those about code of ours.
const REASONS: &[(&str, &str)] = &[
    ("safe to reorder floating-point operations", "a float sum must keep its order; fastmath={'reassoc'} lifts that"),
    // Of loops with the hint `LoopHint::SumInOrder`.
    ("interleaving are explicitly disabled", "a float sum must keep its order; fastmath={'reassoc'} lifts that"),
    ("call instruction cannot be vectorized", "it calls a function that has no vector form"),
    ("Backward loop carried data dependence", "an iteration reads what an earlier one wrote"),
    ("unsafe dependent memory operations", "an iteration may read what an earlier one wrote"),
    ("safe to reorder memory operations", "it may read what it has just written, and a test for that would be long"),
    ("cannot identify array bounds", "the memory that it touches depends on values it reads"),
    ("could not determine number of loop iterations", "it is not known beforehand how often it runs"),
    (
        "not be identified as reduction",
        "an iteration needs a result of the one before, and it is no plain sum or product",
    ),
    ("induction variable could not be identified", "it does not count in equal steps"),
    ("return type cannot be vectorized", "it computes with a type that has no vector form"),
    ("store that is conditionally executed", "it writes to memory in one branch only"),
    ("cannot be substituted for a select", "one of its branches does more than choose a value"),
    ("vectorization is not beneficial", "vectors would not make it faster"),
    ("trip count", "it runs too few times"),
    ("explicitly disabled", "it hardly ever runs"),
    ("early exit", EARLY_EXIT),
    ("instruction cannot be vectorized", "something in it has no vector form"),
    ("control flow is not understood", "its control flow is too involved"),
    ("atomic ordering or volatile", "it looks for Ctrl-C in every iteration"),
];

/// Why a loop that may be left from its middle stays scalar.
pub(crate) const EARLY_EXIT: &str = "it can be left from its middle";

/// The reason why LLVM did not vectorise a loop, with its place in the order of what to tell first; `None` if it gives
/// none.
pub(crate) fn reason(remark: &str) -> Option<(usize, String)> {
    if let Some(i) = REASONS.iter().position(|r| remark.contains(r.0)) {
        return Some((i, REASONS[i].1.to_owned()));
    }
    let text = remark.lines().next()?.strip_prefix("loop not vectorized: ")?;
    let text = text.split(". Use #pragma").next()?.trim();
    (!text.is_empty()).then(|| (REASONS.len(), text.to_owned()))
}

/// The code by which LLVM replaced a loop: copies of its body, or a function that fills or moves memory.
pub(crate) fn replacement(remark: &str) -> Option<String> {
    if remark.starts_with("completely unrolled loop") {
        return Some("unrolled: no loop is left".to_owned());
    }
    let name = ["memset", "memcpy", "memmove"].into_iter().find(|name| remark.contains(&format!("llvm.{name}")))?;
    Some(format!("one call of {name} instead of a loop"))
}

/// Elements at a time and vectors at a time of a loop that was vectorised.
pub(crate) fn widths(remark: &str) -> (u32, u32) {
    let number = |name: &str| {
        let rest = remark.split_once(name)?.1;
        let digits: String =
            rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    (number("vectorization width:").unwrap_or(1), number("interleaved count:").unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_reasons_are_translated() {
        let text = "loop not vectorized: cannot prove it is safe to reorder floating-point operations";
        assert!(reason(text).is_some_and(|(place, t)| place == 0 && t.contains("fastmath={'reassoc'}")));
        let text = "loop not vectorized: unsafe dependent memory operations in loop. Use #pragma clang loop distribute(enable)\n\
                    Backward loop carried data dependence. Memory location is the same as accessed at f.py:55:16";
        assert_eq!(reason(text).map(|r| r.1).as_deref(), Some("an iteration reads what an earlier one wrote"));
    }

    #[test]
    fn unknown_reasons_are_passed_on() {
        let text = "loop not vectorized: a new obstacle. Use #pragma clang loop";
        assert_eq!(reason(text).map(|r| r.1).as_deref(), Some("a new obstacle"));
        assert_eq!(reason("loop not vectorized"), None);
    }

    #[test]
    fn widths_are_read() {
        assert_eq!(widths("vectorized loop (vectorization width: 8, interleaved count: 4)"), (8, 4));
        assert_eq!(widths("vectorized loop (vectorization width: vscale x 2, interleaved count: 1)"), (2, 1));
    }
}
