//! Finds the counted values that are loaded from objects of classes and need no reference of their own.
//!
//! An object keeps what it holds alive until some object changes. A load is *lasting* if no such change lies on a path
//! from the computation of the object's address over the load to a use of the value or of a value derived from it.

use lh_ir::cfg::{Cfg, targets};
use lh_ir::func::{Inst, InstData, Term};
use lh_ir::types::Prim;
use lh_ir::{Block, Function, Value};
use smallvec::SmallVec;

/// Functions with more candidates are skipped: the sets would grow quadratically.
const MAX_CANDIDATES: usize = 512;

/// For each value, whether it is a load that borrows.
pub(super) fn lasting_loads(func: &Function, cfg: &Cfg) -> Vec<bool> {
    let mut lasting = vec![false; func.values.len()];
    let candidates = candidates(func, cfg);
    if candidates.is_empty() || candidates.len() > MAX_CANDIDATES {
        return lasting;
    }
    let mut s = StaleLoads::new(func, &candidates, cfg);
    s.solve(cfg);
    for (i, v) in candidates.iter().enumerate() {
        lasting[v.index()] = !s.failed[i];
    }
    lasting
}

/// Loads of counted values whose address comes from an object within the same function.
fn candidates(func: &Function, cfg: &Cfg) -> Vec<Value> {
    let mut in_object = vec![false; func.values.len()];
    let mut out = Vec::new();
    for b in cfg.rpo() {
        for d in &func.blocks[b.index()].insts {
            let Some(r) = d.result else { continue };
            match &d.inst {
                Inst::ItemsData(_) | Inst::FieldPtr(..) => in_object[r.index()] = true,
                Inst::PtrAdd(p, _) => in_object[r.index()] = in_object[p.index()],
                Inst::Load(p) if in_object[p.index()] && func.ty(r).is_counted() => out.push(r),
                _ => {}
            }
        }
    }
    out
}

/// Whether the instruction may change what an object holds or release an object.
fn changes_objects(func: &Function, d: &InstData) -> bool {
    match &d.inst {
        Inst::Call(..) | Inst::Foreign(..) | Inst::ParFor(..) | Inst::Take(_) => true,
        Inst::Store(_, v) => func.ty(*v).is_counted(),
        Inst::Runtime(f, _) => !f.pure && f.args.iter().any(|p| matches!(p, Prim::Object | Prim::Mem | Prim::Ptr)),
        _ => false,
    }
}

/// The candidates from which a value is derived, by number.
type BaseLoads = SmallVec<[u32; 2]>;

struct StaleLoads<'a> {
    func: &'a Function,
    number: Vec<u32>,
    bases: Vec<BaseLoads>,
    /// For each block, the candidates after whose load an object may have changed, at the start of the block.
    at_start: Vec<Bits>,
    failed: Vec<bool>,
}

const NONE: u32 = u32::MAX;

impl<'a> StaleLoads<'a> {
    fn new(func: &'a Function, candidates: &[Value], cfg: &Cfg) -> StaleLoads<'a> {
        let mut number = vec![NONE; func.values.len()];
        for (i, v) in candidates.iter().enumerate() {
            number[v.index()] = i as u32;
        }
        let mut bases = vec![BaseLoads::new(); func.values.len()];
        for b in cfg.rpo() {
            for d in &func.blocks[b.index()].insts {
                let Some(r) = d.result else { continue };
                let ty = func.ty(r);
                if number[r.index()] != NONE || ty.is_counted() || ty == lh_ir::Ty::ptr() {
                    let mut set = BaseLoads::new();
                    if is_derivation(&d.inst) {
                        d.inst.for_each_operand(|v| set.extend(bases[v.index()].iter().copied()));
                    }
                    set.extend((number[r.index()] != NONE).then_some(number[r.index()]));
                    set.sort_unstable();
                    set.dedup();
                    bases[r.index()] = set;
                }
            }
        }
        let at_start = vec![Bits::new(candidates.len()); func.blocks.len()];
        StaleLoads { func, number, bases, at_start, failed: vec![false; candidates.len()] }
    }
    fn solve(&mut self, cfg: &Cfg) {
        let mut changed = true;
        while changed {
            changed = false;
            for &b in cfg.rpo() {
                let (end, anywhere) = self.walk(b, false);
                for (target, t) in targets(self.func, b) {
                    let from = if target.is_some() { &end } else { &anywhere };
                    changed |= self.at_start[t.block.index()].add(from);
                }
            }
        }
        cfg.rpo().iter().for_each(|b| drop(self.walk(*b, true)));
    }
    /// Runs the transfer function of a block: the stale candidates at its end, and those stale anywhere in it. With
    /// `check`, stale candidates that are used fail.
    fn walk(&mut self, b: Block, check: bool) -> (Bits, Bits) {
        let func = self.func;
        let data = &func.blocks[b.index()];
        let mut now = self.at_start[b.index()].clone();
        let mut anywhere = now.clone();
        for d in &data.insts {
            if check {
                d.inst.for_each_operand(|v| self.use_of(v, &now));
            }
            if changes_objects(func, d) {
                now.fill();
                anywhere.fill();
                // Operands of a call must outlive it, whatever the callee does to objects.
                if check && matches!(d.inst, Inst::Call(..) | Inst::Foreign(..) | Inst::ParFor(..) | Inst::Runtime(..))
                {
                    d.inst.for_each_operand(|v| self.use_of(v, &now));
                }
            }
            if let Some(r) = d.result.filter(|r| self.number[r.index()] != NONE) {
                now.clear(self.number[r.index()]);
            }
        }
        if check {
            if let Some(t) = &data.unwind {
                t.args.iter().for_each(|v| self.use_of(*v, &anywhere));
            }
            let mut term = data.term.clone().unwrap_or(Term::Unreachable);
            term.for_each_operand_mut(&mut |v| self.use_of(*v, &now));
        }
        (now, anywhere)
    }
    fn use_of(&mut self, v: Value, now: &Bits) {
        for &c in &self.bases[v.index()] {
            if now.has(c) {
                self.failed[c as usize] = true;
            }
        }
    }
}

/// Whether the result points into memory of the operands, or is made of them.
fn is_derivation(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Load(_)
            | Inst::ItemsData(_)
            | Inst::FieldPtr(..)
            | Inst::PtrAdd(..)
            | Inst::Pack(_)
            | Inst::Field(..)
            | Inst::Some(_)
            | Inst::Unwrap(_)
            | Inst::ArrayMake { .. }
            | Inst::ArrayOwner(_)
            | Inst::ArrayData(_)
            | Inst::ElemPtr { .. }
    )
}

#[derive(Clone)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn new(n: usize) -> Bits {
        Bits { words: vec![0; n.div_ceil(64)] }
    }
    fn has(&self, i: u32) -> bool {
        self.words[i as usize / 64] >> (i % 64) & 1 == 1
    }
    fn clear(&mut self, i: u32) {
        self.words[i as usize / 64] &= !(1 << (i % 64));
    }
    fn fill(&mut self) {
        self.words.fill(u64::MAX);
    }
    fn add(&mut self, other: &Bits) -> bool {
        let mut changed = false;
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }
}
