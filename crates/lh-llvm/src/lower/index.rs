//! Indices into dimensions: negative ones, which count from the end, and the check.
//!
//! In loops, most indices are not negative. One that the loop computes is compared first, as an unsigned number, and
//! only what is outside then counts from the end:
//!
//! ```text
//! at = index + size if index < 0 else index          if index <u size: at = index                    # likely
//! if at >=u size: raise IndexError              ->   elif index < 0 and index + size <u size: at = index + size
//!                                                    else: raise IndexError
//! ```
//!
//! Indices that do not vary in the loop have the select, which LLVM moves out of it.

use super::function::FnCx;
use crate::ir::Val;
use lh_ir::cfg::{Cfg, DomTree, Loops, def_blocks};
use lh_ir::func::Function;
use lh_ir::{Block, Value};
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::{LLVMIntSLT, LLVMIntUGE, LLVMIntULT};
use std::collections::HashMap;

/// The loops of a function, and indices that they compute.
pub(super) struct Looping {
    dom: DomTree,
    loops: Loops,
    /// The block that defines each value.
    defined: Vec<Option<Block>>,
    /// Where an index was compared with a size, and the position that it became: LLVM sees that a select is computed
    /// twice, but not that a second comparison has the same outcome.
    known: HashMap<(Val, Val), Vec<(Block, Val)>>,
}

impl Looping {
    /// Of a function that has loops.
    pub(super) fn new(func: &Function, cfg: &Cfg) -> Option<Looping> {
        let dom = DomTree::new(cfg);
        let loops = Loops::new(func, cfg, &dom);
        let defined = def_blocks(func);
        (!loops.loops.is_empty()).then(|| Looping { dom, loops, defined, known: HashMap::new() })
    }

    /// Whether the innermost loop around a block exists and has this block as well.
    pub(super) fn stays(&self, from: Block, to: Block) -> bool {
        let around = |b: Block| self.loops.innermost[b.index()];
        let outer = |l: &usize| self.loops.loops[*l].parent;
        around(from).is_some_and(|of| std::iter::successors(around(to), outer).any(|l| l == of))
    }

    /// Whether the innermost loop around a block computes a value.
    fn varies(&self, v: Value, at: Block) -> bool {
        self.defined[v.index()].is_some_and(|b| self.stays(at, b))
    }

    fn known(&self, of: (Val, Val), here: Block) -> Option<Val> {
        let known = self.known.get(&of)?;
        known.iter().find(|(b, _)| *b == here || self.dom.results_reach(*b, here)).map(|(_, at)| *at)
    }
}

impl FnCx<'_, '_> {
    /// The position in a dimension of this size.
    pub(super) fn checked_index(&mut self, index: Value, size: Val, axis: usize, wrap: bool, check: bool) -> Val {
        let is_hot = wrap && check && !self.cx.target.is_gpu() && !self.is_cold(self.block);
        let varies = is_hot && self.looping.as_ref().is_some_and(|l| l.varies(index, self.block));
        let index = self.one(index);
        if varies {
            return self.likely_index(index, size, axis);
        }
        let at = if wrap { self.wrapped(index, size) } else { index };
        if check {
            let outside = self.icmp(LLVMIntUGE, at, size);
            let (next, _) = self.unlikely(outside);
            self.raise_index(index, axis, size);
            self.at_end(next);
        }
        at
    }

    fn wrapped(&self, index: Val, size: Val) -> Val {
        let negative = self.icmp(LLVMIntSLT, index, self.int(self.t.i64, 0));
        self.select(negative, self.add_nsw(index, size), index)
    }

    /// As [`FnCx::checked_index`], for an index that is hardly ever negative.
    fn likely_index(&mut self, index: Val, size: Val, axis: usize) -> Val {
        let here = self.block;
        if let Some(at) = self.looping.as_ref().and_then(|l| l.known((index, size), here)) {
            return at;
        }
        let outside = self.icmp(LLVMIntUGE, index, size);
        let before = self.here();
        let (next, _) = self.unlikely(outside);
        let wrapped = self.add(index, size);
        // LLVM drops the whole where it knows the sign.
        let negative = self.icmp(LLVMIntSLT, index, self.int(self.t.i64, 0));
        let inside = self.and(negative, self.icmp(LLVMIntULT, wrapped, size));
        let (raises, counts) = (self.new_block(), self.here());
        self.cond_br(inside, next, raises);
        self.at_end(raises);
        self.raise_index(index, axis, size);
        self.at_end(next);
        let at = self.phi(self.t.i64);
        self.add_incoming(at, index, before);
        self.add_incoming(at, wrapped, counts);
        if let Some(l) = &mut self.looping {
            l.known.entry((index, size)).or_default().push((here, at));
        }
        at
    }

    /// Raises IndexError, from the current block.
    fn raise_index(&mut self, index: Val, axis: usize, size: Val) {
        if self.cx.target.is_gpu() {
            self.device_raise_index();
        } else {
            let t = self.t;
            let raise = self.cx.cold(symbols::RAISE_INDEX, &[t.i64; 3], t.i32);
            self.cx.call_external(raise, &[index, self.int(t.i64, axis as i64), size]);
        }
        let landing = self.landing();
        self.br(landing);
    }
}
