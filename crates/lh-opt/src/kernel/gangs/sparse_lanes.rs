//! Sparse paths: code behind a comparison for equality, which few lanes of a full gang run, often one that stores a
//! common result. A loop over all lanes would cost as much as if all of them ran it.
//!
//! ```text
//!                                          for lane in 0..32: is[lane] = v[lane] == 1
//! if v == 1:                               left = bits of is
//!     atomic.add(a, v)             ->      while left != 0:
//!                                              lane = cttz(left)
//!                                              atomic.add(a, v[lane])
//!                                              left = left & (left - 1)
//! ```

use super::build::GangBuilder;
use super::piece::{Choice, Piece};
use super::plan::{self, Sparse};
use crate::edit::{row, to};
use lh_ir::algebra::Algebra;
use lh_ir::cfg::targets;
use lh_ir::func::{GANG, Inst, Term};
use lh_ir::runtime::{Axis, Geometry, Role};
use lh_ir::{Block, Const, Ty, Value};
use lh_ops::runtime as rt;
use std::collections::HashSet;

impl Choice {
    pub(super) fn sparse_path(self) -> Sparse {
        match self {
            Choice::Others(few, _) | Choice::Guarded(few) => few,
        }
    }
}

impl GangBuilder<'_> {
    /// The sparse path at the start of a piece that otherwise only computes.
    pub(super) fn sparse_path(&self, blocks: &[Block]) -> Option<Sparse> {
        let few = plan::sparse_path(self.old, blocks[0]).filter(|f| self.plan.varies[f.cond.index()])?;
        let (theirs, rest) = self.paths(blocks, few);
        let alone: Vec<Block> = theirs[1..].iter().copied().filter(|b| !rest.contains(b)).collect();
        (!alone.is_empty() && self.only_computes(&rest) && !self.only_computes(&alone)).then_some(few)
    }
    /// The blocks reachable over the sparse path, and those over the common one.
    fn paths(&self, blocks: &[Block], few: Sparse) -> (Vec<Block>, Vec<Block>) {
        let side = |from: Block| {
            let mut seen = HashSet::from([blocks[0]]);
            let mut work = vec![from];
            while let Some(b) = work.pop() {
                if blocks.contains(&b) && seen.insert(b) {
                    let ways = targets(self.old, b).filter(|(n, _)| n.is_some());
                    work.extend(ways.map(|(_, t)| t.block));
                }
            }
            blocks.iter().copied().filter(|b| seen.contains(b)).collect()
        };
        (side(few.guarded), side(few.other))
    }

    /// Builds the piece for all lanes on the common path, then for the lanes of the sparse path.
    pub(super) fn build_sparse(&mut self, p: Piece<'_>, few: Sparse) -> Option<()> {
        let (theirs, rest) = self.paths(p.blocks, few);
        let truth = self.array(1);
        self.all_lanes(Piece { blocks: &rest, choice: Some(Choice::Others(few, truth)), ..p }, false)?;
        let own = Piece { blocks: &theirs, choice: Some(Choice::Guarded(few)), ..p };
        // A single lane with a constant number needs no loop.
        if let Some(n) = self.single_lane(few) {
            let lane = self.cursor(|c| c.int(n));
            return self.body(own, lane, false);
        }
        let (bits, mask) = (Inst::Runtime(&rt::lh_cuda_lanes_bits, vec![truth]), self.start.mask);
        let mut left = self.inst(bits, Ty::int());
        if !self.exact {
            left = self.cursor(|c| c.and_int(left, mask));
        }
        let (none, some) = self.branch_if_empty(left);
        let (head, params) = self.cursor(|c| c.new_block(&[Ty::int()]));
        let done = self.out.new_block();
        self.at = none;
        self.end(Term::Jump(to(done, &[])));
        self.at = some;
        self.vectors = false;
        let read: Vec<Value> = p.live.iter().chain(p.keys.iter().filter(|k| !p.live.contains(k))).copied().collect();
        self.copy_arrays(&read, false);
        self.end(Term::Jump(to(head, &[left])));
        self.at = head;
        let (end, body) = self.branch_if_empty(params[0]);
        self.at = body;
        let lane = self.cursor(|c| c.op(row("cttz"), &[params[0]], Ty::int()));
        self.body(own, lane, false)?;
        let next = self.cursor(|c| {
            let one = c.int(1);
            let less = c.sub(params[0], one);
            c.and_int(params[0], less)
        });
        self.end(Term::Jump(to(head, &[next])));
        self.at = end;
        self.copy_arrays(p.keys, true);
        self.end(Term::Jump(to(done, &[])));
        self.at = done;
        Some(())
    }

    /// Branches on `left == 0`; the blocks for true and false.
    pub(super) fn branch_if_empty(&mut self, left: Value) -> (Block, Block) {
        let (yes, no) = (self.out.new_block(), self.out.new_block());
        let cond = self.cursor(|c| {
            let zero = c.int(0);
            c.eq(left, zero)
        });
        self.end(Term::Branch { cond, then: to(yes, &[]), els: to(no, &[]) });
        (yes, no)
    }

    /// The constant with which a sparse path compares the lane.
    fn single_lane(&self, few: Sparse) -> Option<i64> {
        let constant = |v: Value| match self.defs.get(&v)?.inst {
            Inst::Const(Const::Int(n, _)) => {
                i64::try_from(n).ok().filter(|n| *n == 0 || self.exact && (0..GANG).contains(n))
            }
            _ => None,
        };
        let is_lane = |v: Value| self.defs.get(&v).is_some_and(|d| self.is_lane(&d.inst));
        let [a, b] = few.sides;
        if is_lane(a) { constant(b) } else { constant(a).filter(|_| is_lane(b)) }
    }

    /// Whether an instruction computes the number of the lane, modulo 32: from the thread's number in the block; or
    /// from its first index where rows consist of full gangs, to which multiples of the row's length may be added.
    pub(super) fn is_lane(&self, inst: &Inst) -> bool {
        let is_mask = |v: Value| matches!(self.defs.get(&v).map(|d| &d.inst), Some(Inst::Const(Const::Int(31, _))));
        let x = self.old.params()[1];
        let is_number = |v: Value| self.is_linear(v) || self.exact && (v == x || !self.by_gang && self.is_index(v));
        self.commutes(inst, Algebra::And, &|a, b| is_number(a) && is_mask(b))
    }
    /// Whether a property holds for the operands in either order.
    fn commutes(&self, inst: &Inst, algebra: Algebra, of: &dyn Fn(Value, Value) -> bool) -> bool {
        matches!(inst, Inst::Op(op, args) if op.is(algebra) && (of(args[0], args[1]) || of(args[1], args[0])))
    }
    fn is(&self, v: Value, algebra: Algebra, of: &dyn Fn(Value, Value) -> bool) -> bool {
        self.defs.get(&v).is_some_and(|d| self.commutes(&d.inst, algebra, of))
    }
    /// Whether a value is `x + dim.x * (y + dim.y * z)`.
    fn is_linear(&self, v: Value) -> bool {
        let [x, y, z] = [1, 2, 3].map(|i| self.old.params()[i]);
        let dim = |v: Value, axis| {
            let role = Role::Geometry(Geometry::BlockDim, axis);
            matches!(self.defs.get(&v).map(|d| &d.inst), Some(Inst::Runtime(f, _)) if f.role == role)
        };
        let row =
            |v| self.is(v, Algebra::Add, &|a, b| a == y && self.is(b, Algebra::Mul, &|d, c| dim(d, Axis::Y) && c == z));
        self.is(v, Algebra::Add, &|a, b| a == x && self.is(b, Algebra::Mul, &|d, r| dim(d, Axis::X) && row(r)))
    }
    /// Whether a value is the thread's first index plus multiples of the row's length.
    fn is_index(&self, v: Value) -> bool {
        if v == self.old.params()[1] {
            return true;
        }
        let Some(Inst::Op(op, args)) = self.defs.get(&v).map(|d| &d.inst) else { return false };
        let either = |a: Value, b: Value| self.is_index(a) && self.is_row_multiple(b);
        op.is(Algebra::Add) && (either(args[0], args[1]) || either(args[1], args[0]))
    }
    fn is_row_multiple(&self, v: Value) -> bool {
        match self.defs.get(&v).map(|d| &d.inst) {
            Some(Inst::Runtime(f, _)) => f.role == Role::Geometry(Geometry::BlockDim, Axis::X),
            Some(Inst::Op(op, args)) if op.is(Algebra::Mul) => args.iter().any(|a| self.is_row_multiple(*a)),
            Some(Inst::Op(op, args)) if op.is(Algebra::Add) => args.iter().all(|a| self.is_row_multiple(*a)),
            _ => false,
        }
    }
}
