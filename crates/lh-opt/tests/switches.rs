//! The words of `LANCEHEAD_PASSES`.

use lh_opt::pipeline::{PIPELINE, enabled};

#[test]
fn words_choose_passes() {
    let all = enabled("");
    assert!(all.contains(&"bounds") && all.contains(&"single_latch"));
    assert!(!enabled("-bounds").contains(&"bounds") && enabled("-bounds").contains(&"fold"));
    assert_eq!(optional("only=bounds,only=unrotate"), ["unrotate", "bounds"]);
    assert_eq!(optional("until=unrotate").last(), Some(&"unrotate"));
    let needed: Vec<&str> = PIPELINE.iter().filter(|p| p.is_needed).map(|p| p.name).collect();
    assert!(needed.iter().all(|name| enabled("only=fold").contains(name)));
}

#[test]
fn a_limit_counts_runs() {
    assert_eq!(optional("limit=0"), [] as [&str; 0]);
}

/// The passes that the text leaves and that can be switched off.
fn optional(text: &str) -> Vec<&'static str> {
    let is_needed = |name: &str| PIPELINE.iter().any(|p| p.name == name && p.is_needed);
    enabled(text).into_iter().filter(|name| !is_needed(name)).collect()
}
