//! The form of exceptions that is reversed: an instruction that may raise where a handler catches it is the only one of
//! its block, so that all before it has run when the handler begins, and the edge to the handler leads to a landing
//! block of its own, which is where loops are left.

use crate::builder::to;
use crate::memory::Memory;
use lh_ir::Block;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{BlockData, Function, Inst, Term};
use lh_ops::runtime as rt;

/// Brings the blocks with handlers to this form.
pub(crate) fn add(func: &mut Function) {
    for i in 0..func.blocks.len() {
        if func.blocks[i].unwind.is_some() {
            split(func, Block::new(i));
        }
    }
}

/// Splits a block with a handler.
fn split(func: &mut Function, block: Block) {
    let data = &mut func.blocks[block.index()];
    let (insts, term, unwind) = (std::mem::take(&mut data.insts), data.term.take(), data.unwind.take());
    let (span, cold, latch) = (data.term_span, data.cold, std::mem::take(&mut data.latch));
    let unwind = unwind.expect("it has a handler");
    let mut at = block;
    for d in insts {
        if !d.inst.can_raise() {
            func.blocks[at.index()].insts.push(d);
            continue;
        }
        let landing = func.new_block();
        let place = d.span;
        let jump = Some(Term::Jump(unwind.clone()));
        func.blocks[landing.index()] = BlockData { term: jump, term_span: place, cold: true, ..Default::default() };
        let [alone, rest] = [func.new_block(), func.new_block()];
        let before = &mut func.blocks[at.index()];
        (before.term, before.term_span) = (Some(Term::Jump(to(alone, vec![]))), place);
        func.blocks[alone.index()] = BlockData {
            insts: vec![d],
            term: Some(Term::Jump(to(rest, vec![]))),
            term_span: place,
            unwind: Some(to(landing, vec![])),
            cold,
            ..Default::default()
        };
        func.blocks[rest.index()].cold = cold;
        at = rest;
    }
    if matches!(term, Some(Term::Raise { .. } | Term::Propagate)) {
        let landing = func.new_block();
        let jump = Some(Term::Jump(unwind));
        func.blocks[landing.index()] = BlockData { term: jump, term_span: span, cold: true, ..Default::default() };
        let alone = func.new_block();
        let handler = Some(to(landing, vec![]));
        func.blocks[alone.index()] =
            BlockData { term, term_span: span, unwind: handler, cold: true, ..Default::default() };
        let before = &mut func.blocks[at.index()];
        (before.term, before.term_span) = (Some(Term::Jump(to(alone, vec![]))), span);
        return;
    }
    let last = &mut func.blocks[at.index()];
    (last.term, last.term_span, last.latch) = (term, span, latch);
}

/// Refuses numbers that derivatives flow through and that exceptions carry to a handler.
///
/// # Errors
/// A handler reads a number of an exception, and there is one that is active.
pub(crate) fn check(func: &Function, memory: &Memory) -> Result<()> {
    let reads = |inst: &Inst| matches!(inst, Inst::Runtime(f, _) if std::ptr::eq(*f, &rt::lh_exc_float));
    let Some(read) = func.insts().find(|d| reads(&d.inst)) else { return Ok(()) };
    let puts = |inst: &Inst| match inst {
        Inst::Runtime(f, args)
            if std::ptr::eq(*f, &rt::lh_exc_put_float) || std::ptr::eq(*f, &rt::lh_exc_put_complex) =>
        {
            args.iter().any(|a| memory.is_active(*a))
        }
        _ => false,
    };
    let raised = func.blocks.iter().any(|b| match &b.term {
        Some(Term::Raise { args, .. }) => args.iter().any(|a| memory.is_active(*a)),
        _ => false,
    });
    if raised || func.insts().any(|d| puts(&d.inst)) {
        let text = "a number that an exception carries has no derivative";
        return Err(Diagnostic::new(diag::NO_DERIVATIVE, text)
            .note("keep it in a variable, which the handler can read")
            .at(&func.file, read.span));
    }
    Ok(())
}
