//! Constant folding: evaluates operations on constants by the rows' `eval`, forwards fields of aggregates that the
//! function builds, resolves branches on constants; then merges blocks with their only successors.
//!
//! ```text
//! v0 = const 9.0: float64
//! v1 = sqrt v0: float64         ->     v1 = const 3.0: float64
//! v2 = pack(v1, v0): tuple(...)
//! v3 = field v2, 0: float64     ->     (uses of v3 become uses of v1)
//! ```
//!
//! Instructions that become unused are left to `dce`, all other simplification to LLVM.

mod convert;
mod merge;

use crate::edit::Replacements;
use lh_ir::algebra::Algebra;
use lh_ir::cfg::Cfg;
use lh_ir::func::{Inst, Term};
use lh_ir::op::Op;
use lh_ir::verify::{agree, parts};
use lh_ir::{Const, Function, Ty, Value};

pub(crate) fn run(func: &mut Function) -> bool {
    let mut changed = fold_values(func);
    changed |= fold_branches(func);
    changed | merge::merge_blocks(func)
}

fn fold_values(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    let mut with = Replacements::new(func);
    let mut defs: Vec<Option<Inst>> = vec![None; func.values.len()];
    let mut changed = false;
    for &b in cfg.rpo() {
        let mut insts = std::mem::take(&mut func.blocks[b.index()].insts);
        for d in &mut insts {
            let Some(r) = d.result else { continue };
            d.inst.for_each_operand_mut(&mut |v| *v = with.get(*v));
            let folder = Folder { func, defs: &defs, result: func.ty(r) };
            match folder.simplify(&d.inst) {
                Some(Simplified::Const(c)) => {
                    changed |= !matches!(d.inst, Inst::Const(_));
                    d.inst = Inst::Const(c);
                }
                Some(Simplified::Value(v)) => {
                    with.set(r, v);
                    changed = true;
                }
                None => {}
            }
            if is_looked_through(&d.inst) {
                defs[r.index()] = Some(d.inst.clone());
            }
        }
        func.blocks[b.index()].insts = insts;
    }
    with.apply(func);
    changed
}

/// Whether simplification of other instructions looks at this one.
fn is_looked_through(inst: &Inst) -> bool {
    matches!(inst, Inst::Const(_) | Inst::Zero | Inst::Pack(_) | Inst::Some(_) | Inst::ArrayMake { .. })
}

enum Simplified {
    Const(Const),
    Value(Value),
}

struct Folder<'a> {
    func: &'a Function,
    defs: &'a [Option<Inst>],
    result: Ty,
}

impl Folder<'_> {
    fn def(&self, v: Value) -> Option<&Inst> {
        self.defs[v.index()].as_ref()
    }
    fn constant(&self, v: Value) -> Option<&Const> {
        match self.def(v) {
            Some(Inst::Const(c)) => Some(c),
            _ => None,
        }
    }
    fn constant_result(&self, op: &Op, args: &[Value]) -> Option<Simplified> {
        let args = args.iter().map(|v| self.constant(*v).cloned()).collect::<Option<Vec<_>>>()?;
        convert::with_type((op.eval)(&args)?, self.result).map(Simplified::Const)
    }
    /// Simplifies an operation of which one operand is a neutral or an absorbing element, or a select on a constant.
    fn fold_identity(&self, algebra: Algebra, args: &[Value]) -> Option<Simplified> {
        if let (&[cond, yes, no], Algebra::Select) = (args, algebra) {
            let Const::Bool(c) = self.constant(cond)? else { return None };
            let v = if *c { yes } else { no };
            return agree(self.func.ty(v), self.result).then_some(Simplified::Value(v));
        }
        let &[a, b] = args else { return None };
        let (known, other) = match (self.constant(a), self.constant(b)) {
            (None, Some(k)) => (k, a),
            (Some(k), None) if algebra != Algebra::Sub => (k, b),
            _ => return None,
        };
        let same = agree(self.func.ty(other), self.result);
        match (algebra, known) {
            (Algebra::Mul, Const::Int(1, _)) | (Algebra::Add | Algebra::Sub, Const::Int(0, _)) if same => {
                Some(Simplified::Value(other))
            }
            (Algebra::Or, Const::Bool(false)) | (Algebra::And, Const::Bool(true)) if same => {
                Some(Simplified::Value(other))
            }
            (Algebra::Mul, Const::Int(0, _)) if self.result.is_int() => {
                Some(Simplified::Const(Const::Int(0, self.result)))
            }
            (Algebra::Or, Const::Bool(true)) | (Algebra::And, Const::Bool(false)) if self.result.is_bool() => {
                Some(Simplified::Const(known.clone()))
            }
            _ => None,
        }
    }
    fn simplify(&self, inst: &Inst) -> Option<Simplified> {
        match inst {
            Inst::Op(op, args) => self.constant_result(op, args).or_else(|| self.fold_identity(op.algebra, args)),
            Inst::Cast(v) if self.func.ty(*v).strong() == self.result.strong() => Some(Simplified::Value(*v)),
            Inst::Cast(v) => convert::cast(self.constant(*v)?, self.result).map(Simplified::Const),
            Inst::Field(v, i) => self.field(*v, *i),
            Inst::Unwrap(v) => match self.def(*v)? {
                Inst::Some(inner) if agree(self.func.ty(*inner), self.result) => Some(Simplified::Value(*inner)),
                _ => None,
            },
            Inst::IsSome(v) => match self.def(*v)? {
                Inst::Some(_) => Some(Simplified::Const(Const::Bool(true))),
                Inst::Zero => Some(Simplified::Const(Const::Bool(false))),
                _ => None,
            },
            Inst::ArrayOwner(v) => self.array_part(*v, |owner, _, _, _| owner),
            Inst::ArrayData(v) => self.array_part(*v, |_, data, _, _| data),
            Inst::ArrayShape(v, i) => self.array_part(*v, |_, _, shape, _| shape[*i as usize]),
            Inst::ArrayStride(v, i) => self.array_part(*v, |_, _, _, strides| strides[*i as usize]),
            Inst::PtrAdd(p, n) => match self.constant(*n)? {
                Const::Int(0, _) => Some(Simplified::Value(*p)),
                _ => None,
            },
            Inst::Const(_)
            | Inst::Zero
            | Inst::Extern(_)
            | Inst::Pack(_)
            | Inst::Some(_)
            | Inst::Call(..)
            | Inst::ParFor(..)
            | Inst::Foreign(..)
            | Inst::Runtime(..)
            | Inst::SlotGet(_)
            | Inst::SlotSet(..)
            | Inst::ArrayMake { .. }
            | Inst::ElemPtr { .. }
            | Inst::Load(_)
            | Inst::Take(_)
            | Inst::Store(..)
            | Inst::New(_)
            | Inst::ItemsLen(_)
            | Inst::ItemsData(_)
            | Inst::FieldPtr(..)
            | Inst::Map(..)
            | Inst::MapInto(..)
            | Inst::IncRef(_)
            | Inst::DecRef(_) => None,
        }
    }
    fn field(&self, v: Value, index: u32) -> Option<Simplified> {
        match self.def(v)? {
            Inst::Const(Const::Complex(re, im, _)) => {
                let x = if index == 0 { *re } else { *im };
                Some(Simplified::Const(Const::Float(x, self.result)))
            }
            Inst::Pack(packed) => {
                let p = (packed.len() == parts(self.func.ty(v)).count()).then(|| packed[index as usize])?;
                agree(self.func.ty(p), self.result).then_some(Simplified::Value(p))
            }
            _ => None,
        }
    }
    fn array_part(&self, v: Value, get: impl Fn(Value, Value, &[Value], &[Value]) -> Value) -> Option<Simplified> {
        match self.def(v)? {
            Inst::ArrayMake { owner, data, shape, strides } => {
                Some(Simplified::Value(get(*owner, *data, shape, strides)))
            }
            _ => None,
        }
    }
}

fn fold_branches(func: &mut Function) -> bool {
    let mut truth = vec![None; func.values.len()];
    for d in func.blocks.iter().flat_map(|b| &b.insts) {
        if let (Some(r), Inst::Const(Const::Bool(b))) = (d.result, &d.inst) {
            truth[r.index()] = Some(*b);
        }
    }
    let mut changed = false;
    for data in &mut func.blocks {
        let Some(Term::Branch { cond, then, els }) = &data.term else { continue };
        let to = match truth[cond.index()] {
            Some(true) => then,
            Some(false) => els,
            None if then == els => then,
            None => continue,
        };
        data.term = Some(Term::Jump(to.clone()));
        changed = true;
    }
    changed
}
