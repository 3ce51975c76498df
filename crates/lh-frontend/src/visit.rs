//! Walking over edges and operands of untyped code.

use lh_ir::untyped::{BlockData, Inst, Target, Term, UnOp};
use lh_ir::{Block, Value};
use smallvec::SmallVec;

/// Edges out of a block with the number of leading parameters of the target that are not arguments (the item of a
/// `for`): the handler first, then the terminator's targets from the last to the first.
pub(crate) fn edges(block: &BlockData) -> SmallVec<[(&Target, usize); 3]> {
    let mut out: SmallVec<[(&Target, usize); 3]> = SmallVec::new();
    out.extend(block.unwind.as_ref().map(|t| (t, 0)));
    match &block.term {
        Some(Term::Jump(t)) => out.push((t, 0)),
        Some(Term::Branch { then, els, .. }) => out.extend([(els, 0), (then, 0)]),
        Some(Term::ForIter { body, done, .. }) => out.extend([(done, 0), (body, 1)]),
        Some(Term::Return(_) | Term::Raise { .. } | Term::Reraise(_) | Term::Unreachable) | None => {}
    }
    out
}

/// Targets of a terminator.
pub(crate) fn edges_mut(term: &mut Term) -> SmallVec<[&mut Target; 3]> {
    let mut out: SmallVec<[&mut Target; 3]> = SmallVec::new();
    match term {
        Term::Jump(t) => out.push(t),
        Term::Branch { then, els, .. } => out.extend([els, then]),
        Term::ForIter { body, done, .. } => out.extend([done, body]),
        Term::Return(_) | Term::Raise { .. } | Term::Reraise(_) | Term::Unreachable => {}
    }
    out
}

/// Every edge out of a block, in the order of [`edges`].
pub(crate) fn block_edges_mut(block: &mut BlockData) -> SmallVec<[&mut Target; 3]> {
    let mut out: SmallVec<[&mut Target; 3]> = SmallVec::new();
    out.extend(block.unwind.as_mut());
    out.extend(block.term.iter_mut().flat_map(edges_mut));
    out
}

/// Operands of a terminator, without the arguments of its targets.
pub(crate) fn term_operands(term: &Term) -> SmallVec<[Value; 2]> {
    match term {
        Term::Jump(_) | Term::Unreachable => SmallVec::new(),
        Term::Branch { cond: v, .. } | Term::ForIter { iter: v, .. } | Term::Return(v) | Term::Reraise(v) => {
            SmallVec::from_slice(&[*v])
        }
        Term::Raise { exc, cause } => [*exc].into_iter().chain(*cause).collect(),
    }
}

/// Rewrites every value that a block uses.
pub(crate) fn map_block(block: &mut BlockData, map: &mut impl FnMut(Value) -> Value) {
    for data in &mut block.insts {
        data.inst.for_each_operand_mut(|v| *v = map(*v));
    }
    match &mut block.term {
        Some(Term::Branch { cond: v, .. } | Term::ForIter { iter: v, .. } | Term::Return(v) | Term::Reraise(v)) => {
            *v = map(*v)
        }
        Some(Term::Raise { exc, cause }) => {
            *exc = map(*exc);
            cause.iter_mut().for_each(|v| *v = map(*v));
        }
        Some(Term::Jump(_) | Term::Unreachable) | None => {}
    }
    for target in block_edges_mut(block) {
        target.args.iter_mut().for_each(|v| *v = map(*v));
    }
}

/// Blocks in reverse post-order from the first: each before those it leads to (loops aside), handlers late.
pub(crate) fn reverse_postorder(blocks: &[BlockData]) -> Vec<Block> {
    let mut seen = vec![false; blocks.len()];
    let mut order = Vec::with_capacity(blocks.len());
    let mut stack: Vec<(Block, usize)> = vec![(Block(0), 0)];
    seen[0] = true;
    while let Some((block, next)) = stack.last_mut() {
        let edges = edges(&blocks[block.index()]);
        if let Some((target, _)) = edges.get(*next) {
            *next += 1;
            let target = target.block;
            if !std::mem::replace(&mut seen[target.index()], true) {
                stack.push((target, 0));
            }
        } else {
            order.push(*block);
            stack.pop();
        }
    }
    order.reverse();
    order
}

/// Whether an operation may raise an exception that Python code could catch. Names are resolved while compiling.
pub(crate) fn may_raise(inst: &Inst) -> bool {
    !matches!(
        inst,
        Inst::Const(_)
            | Inst::Global(_)
            | Inst::Free(_)
            | Inst::Import { .. }
            | Inst::Tuple(_)
            | Inst::Slice(_)
            | Inst::Is { .. }
            | Inst::UnpackItem(..)
            | Inst::MakeFunction { .. }
            | Inst::Cell(_)
            | Inst::Sibling { .. }
            | Inst::CatchExc
            | Inst::ExcMatch(..)
            | Inst::Chain(..)
            | Inst::EndCatch(_)
    )
}

/// Whether anything in a block may raise an exception that Python code could catch.
pub(crate) fn block_may_raise(block: &BlockData) -> bool {
    let is_truth = |cond: &Value| {
        let def = block.insts.iter().rev().find(|data| data.result == Some(*cond));
        def.is_some_and(|data| matches!(data.inst, Inst::Is { .. } | Inst::ExcMatch(..) | Inst::Unary(UnOp::Not, _)))
    };
    let ends_quietly = match &block.term {
        Some(Term::Jump(_) | Term::Return(_) | Term::Unreachable) | None => true,
        Some(Term::Branch { cond, .. }) => is_truth(cond),
        Some(Term::ForIter { .. } | Term::Raise { .. } | Term::Reraise(_)) => false,
    };
    !ends_quietly || block.insts.iter().any(|i| may_raise(&i.inst))
}
