//! Loops that LLVM cannot vectorise, because an iteration depends on the one before.
//!
//! ```text
//! for i in range(n):          for i in range(n):          for i in range(n):
//!     s += a[i]                   h[b[i]] += 1                d[i] = a[i] - p
//!                                                             p = a[i]
//! ```
//!
//! Floats that depend on their own value of the previous iteration (`s`, but not `p`) are computed in program order
//! unless `fastmath` allows reassociation or they are results of a parallel loop's block (`add_any_order`). Stores to
//! elements whose index is loaded (`h[b[i]]`) may alias between iterations.
//!
//! A plain sum can be added up in order from vectors of its terms, which pays if a term takes a function of the vector
//! math library: `s += exp(a[i])`.

use crate::analysis::counted::{Defs, in_loop, target_of};
use hashbrown::HashSet;
use lh_ir::algebra::{Algebra, Nan};
use lh_ir::cfg::{Cfg, Loop};
use lh_ir::func::{Entry, Inst, fastmath};
use lh_ir::op::{Lower, Op};
use lh_ir::types::Prim;
use lh_ir::{Function, Value};

/// The order in which a loop's iterations must run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They may run as vectors, for all that is known.
    Vectors,
    /// Terms may be computed as vectors, but adding them up in order takes as long as the scalar loop.
    Sums,
    /// Each iteration depends on the one before.
    Sequential,
}

/// Whether each iteration of a loop depends on the one before.
pub(crate) fn order(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop) -> Order {
    let seen = Recurrences { func, cfg, defs, l };
    let (sums, others): (Vec<Value>, Vec<Value>) = seen.ordered().partition(|p| seen.is_plain_sum(*p));
    if !others.is_empty() || seen.scatters() {
        Order::Sequential
    } else if sums.is_empty() || seen.has_function() {
        Order::Vectors
    } else {
        Order::Sums
    }
}

/// Whether a loop-carried float may be computed in any order.
pub(crate) fn may_reassociate(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop, param: Value) -> bool {
    func.options.fastmath & fastmath::REASSOC != 0 || !Recurrences { func, cfg, defs, l }.depends_on_itself(param)
}

/// Whether LLVM may reassociate an operation.
fn is_reassociable(op: &Op) -> bool {
    matches!(op.algebra, Algebra::AnyOrder(_) | Algebra::Max(Nan::Stays) | Algebra::Min(Nan::Stays))
}

struct Recurrences<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    defs: &'a Defs,
    l: &'a Loop,
}

impl Recurrences<'_> {
    /// The parameters of the header for which an iteration needs a result of the previous one, in program order.
    fn ordered(&self) -> impl Iterator<Item = Value> {
        let is_float = |p: &Prim| matches!(p, Prim::F32 | Prim::F64);
        let params = self.func.blocks[self.l.header.index()].params.iter().copied();
        params.filter(move |_| self.func.options.fastmath == 0).filter(move |p| {
            let ty = self.func.ty(*p);
            ty.is_counted() || (ty.flatten().iter().any(is_float) && self.is_latency_bound(*p))
        })
    }

    /// Whether a number is added to a header parameter in each iteration, and the sum has no other use in the loop.
    fn is_plain_sum(&self, param: Value) -> bool {
        self.func.ty(param).is_float()
            && self.incoming(param).into_iter().all(|next| match self.defs.inst(self.func, next) {
                Some(Inst::Op(op, args)) if op.is(Algebra::Add) => args.contains(&param) && args[0] != args[1],
                _ => false,
            })
            && self.uses(param) == 1
    }

    /// Number of uses of a value in the loop's instructions.
    fn uses(&self, v: Value) -> usize {
        let mut uses = 0;
        for d in self.l.blocks.iter().flat_map(|b| &self.func.blocks[b.index()].insts) {
            d.inst.for_each_operand(|o| uses += usize::from(o == v));
        }
        uses
    }

    /// Whether an iteration computes a function of the vector math library.
    fn has_function(&self) -> bool {
        let mut insts = self.l.blocks.iter().flat_map(|b| &self.func.blocks[b.index()].insts);
        insts.any(|d| matches!(&d.inst, Inst::Op(op, _) if matches!(op.host, Lower::Math(..))))
    }

    /// Whether a header parameter depends on itself through operations that cannot be reassociated.
    fn depends_on_itself(&self, param: Value) -> bool {
        self.reaches(self.incoming(param), &|v, _| v == param)
    }

    /// Whether a header parameter is computed from itself by operations that cannot be reassociated. A select adds no
    /// latency.
    fn is_latency_bound(&self, param: Value) -> bool {
        self.reaches(self.incoming(param), &|v, inst| match inst {
            Some(Inst::Op(op, _)) if op.is(Algebra::Select) || is_reassociable(op) => false,
            Some(inst @ (Inst::Op(..) | Inst::Call(..) | Inst::Runtime(..) | Inst::Foreign(..)))
                if !self.func.ty(v).is_bool() =>
            {
                let mut operands = Vec::new();
                inst.for_each_operand(|o| operands.push(o));
                self.reaches(operands, &|v, _| v == param)
            }
            _ => false,
        })
    }

    /// Whether the loop scatters: stores to addresses computed from loaded values. Threads of a kernel are
    /// independent by definition.
    fn scatters(&self) -> bool {
        let data = || self.l.blocks.iter().map(|b| &self.func.blocks[b.index()]);
        let reads = |_, inst: Option<&Inst>| matches!(inst, Some(Inst::Load(..)));
        let scatters = |inst: &Inst| match inst {
            Inst::Store(to, _) => match self.defs.inst(self.func, *to) {
                Some(Inst::ElemPtr { index, .. }) => self.reaches(index.to_vec(), &reads),
                _ => false,
            },
            _ => false,
        };
        self.func.kernel.entry != Entry::Blocks
            && data().all(|d| !d.latch.is_parallel())
            && data().flat_map(|d| &d.insts).any(|d| scatters(&d.inst))
    }

    /// Whether one of some values, or a value in the loop that it is computed from, has a property.
    fn reaches(&self, mut work: Vec<Value>, found: &dyn Fn(Value, Option<&Inst>) -> bool) -> bool {
        let mut seen: HashSet<Value> = HashSet::new();
        while let Some(v) = work.pop() {
            let inside = self.defs.block(v).is_some_and(|b| in_loop(self.cfg, self.l, b));
            if !inside || !seen.insert(v) {
                continue;
            }
            let inst = self.defs.inst(self.func, v);
            if found(v, inst) {
                return true;
            }
            match inst {
                Some(Inst::Op(op, _)) if is_reassociable(op) => {}
                Some(inst) => inst.for_each_operand(|o| work.push(o)),
                None => work.extend(self.incoming(v)),
            }
        }
        false
    }

    /// Arguments for a block parameter on edges from inside the loop.
    fn incoming(&self, param: Value) -> Vec<Value> {
        let Some(block) = self.defs.block(param) else { return Vec::new() };
        let place = self.func.blocks[block.index()].params.iter().position(|p| *p == param);
        let Some(place) = place else { return Vec::new() };
        let inside = self.cfg.preds(block).iter().filter(|e| in_loop(self.cfg, self.l, e.from));
        inside.map(|e| target_of(self.func, *e).args[place]).collect()
    }
}
