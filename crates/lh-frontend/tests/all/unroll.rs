//! Unrolled loops: well-formed for every loop of the recorded functions, and printed for some of them in
//! `code/unrolled.txt`, rewritten by `LH_BLESS=1`.

use crate::support::{VERSIONS, path, recorded};
use lh_frontend::{translate, unroll, verify};
use lh_ir::Block;
use lh_ir::untyped::{Code, Inst, Term};
use std::fmt::Write;
use std::fs;

/// Loops over what `iter` gives: one over a generator itself is only on a way that is never taken.
fn headers(code: &Code) -> Vec<Block> {
    let all = code.blocks.iter().flat_map(|b| &b.insts);
    let iterators: Vec<_> = all.filter(|d| matches!(d.inst, Inst::Iter(_))).filter_map(|d| d.result).collect();
    let is_header =
        |b: &lh_ir::untyped::BlockData| matches!(&b.term, Some(Term::ForIter { iter, .. }) if iterators.contains(iter));
    (0..code.blocks.len()).filter(|b| is_header(&code.blocks[*b])).map(Block::new).collect()
}

fn count(code: &Code, wanted: impl Fn(&Inst) -> bool) -> usize {
    code.blocks.iter().flat_map(|b| &b.insts).filter(|d| wanted(&d.inst)).count()
}

#[test]
fn every_loop_can_be_unrolled() {
    let mut unrolled = 0;
    for version in VERSIONS {
        for raw in recorded(version) {
            let Ok(code) = translate(&raw, version) else { continue };
            for header in headers(&code) {
                for times in 0..4 {
                    let result = unroll(&code, header, times).expect("the loop can be unrolled");
                    verify(&result).expect("the result is well-formed");
                    unrolled += 1;
                }
            }
        }
    }
    assert!(unrolled > 100);
}

#[test]
fn loops_vanish_one_by_one() {
    let raw = recorded((3, 11)).into_iter().find(|f| f.name == "invariant").expect("it is recorded");
    let code = translate(&raw, (3, 11)).expect("it translates");
    let outer = unroll(&code, headers(&code)[0], 3).expect("the loop can be unrolled");
    assert_eq!(headers(&outer).len(), 3);
    assert_eq!(count(&outer, |i| matches!(i, Inst::UnpackItem(..))), 3);
    assert_eq!(count(&outer, |i| matches!(i, Inst::Iter(_))), 3);
    let mut inner = outer;
    while let Some(&header) = headers(&inner).first() {
        inner = unroll(&inner, header, 2).expect("the loop can be unrolled");
    }
    assert_eq!(count(&inner, |i| matches!(i, Inst::Iter(_))), 0);
}

#[test]
fn other_blocks_are_no_loops() {
    let raw = recorded((3, 11)).into_iter().find(|f| f.name == "while_true").expect("it is recorded");
    let code = translate(&raw, (3, 11)).expect("it translates");
    for b in 0..=code.blocks.len() {
        assert!(unroll(&code, Block::new(b), 2).is_none());
    }
}

#[test]
fn unrolled_loops_look_as_expected() {
    let mut text = String::new();
    for raw in recorded((3, 11)) {
        if !["unrolled", "unrolled_break", "try_loop"].contains(&raw.name.as_str()) {
            continue;
        }
        let code = translate(&raw, (3, 11)).expect("it translates");
        let unrolled = unroll(&code, headers(&code)[0], 2).expect("the loop can be unrolled");
        write!(text, "{code}\n; two times\n{unrolled}\n").expect("writing to a string");
    }
    let file = path("unrolled.txt");
    if std::env::var_os("LH_BLESS").is_some() {
        fs::write(&file, &text).expect("the file can be written");
    }
    assert!(text == fs::read_to_string(&file).unwrap_or_default(), "unrolled.txt differs; LH_BLESS=1 rewrites it");
}
