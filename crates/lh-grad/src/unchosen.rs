//! Values that nothing may depend on: what a selection or a branch leaves unused, as `np.where` does with elements, and
//! so do functions of the library with rules that are declared to (`@prim.means("selection")`).
//! Their adjoints are zero then, and what they were computed of may be infinite or NaN: products of the two are cut
//! (`partial.rs`).

use crate::memory::Memory;
use crate::normal::Flow;
use crate::shadow::{RuleCall, Saved};
use hashbrown::{HashMap, HashSet};
use lh_ir::algebra::{Algebra, Grad};
use lh_ir::cfg::{def_blocks, targets};
use lh_ir::func::{Function, Inst, InstData, Term};
use lh_ir::runtime::{Memory as Mem, Role};
use lh_ir::{Block, Value};

/// The active values that are unused on some path, or that a selection may not choose, and all active values that those
/// are computed of, also by way of memory.
pub(crate) fn unchosen(func: &Function, flow: &Flow, memory: &Memory, saved: &Saved) -> HashSet<Value> {
    let mut found = Found { memory, saved, values: HashSet::new(), classes: HashSet::new() };
    found.unused(func, flow);
    loop {
        let before = (found.values.len(), found.classes.len());
        for i in (0..func.blocks.len()).rev() {
            for (_, t) in targets(func, Block::new(i)) {
                for (a, p) in t.args.iter().zip(&func.blocks[t.block.index()].params) {
                    if found.values.contains(p) {
                        found.add(*a);
                    }
                }
            }
            func.blocks[i].insts.iter().rev().for_each(|d| found.inst(d));
        }
        if before == (found.values.len(), found.classes.len()) {
            return found.values;
        }
    }
}

struct Found<'a> {
    memory: &'a Memory,
    saved: &'a Saved,
    values: HashSet<Value>,
    /// Classes of memory that such values are loaded from.
    classes: HashSet<u32>,
}

impl Found<'_> {
    fn add(&mut self, v: Value) {
        if self.memory.is_active(v) {
            self.values.insert(v);
        }
    }

    fn is_loaded(&self, p: Value) -> bool {
        self.memory.class(p).is_some_and(|k| self.classes.contains(&k))
    }

    /// The arguments of a call that a rule differentiates.
    fn call(&mut self, r: Value, call: &RuleCall) {
        if call.rule.selects || self.values.contains(&r) || self.is_loaded(r) {
            for a in &call.args {
                self.add(*a);
                self.classes.extend(self.memory.of(*a));
            }
        }
    }

    fn inst(&mut self, d: &InstData) {
        let saved = self.saved;
        if let Some((r, call)) = d.result.and_then(|r| Some((r, saved.get(&r)?))) {
            return self.call(r, call);
        }
        match (&d.inst, d.result) {
            (Inst::Op(op, args), Some(_)) if op.algebra == Algebra::Select => {
                args[1..].iter().for_each(|v| self.add(*v));
            }
            (Inst::Op(op, args), Some(_)) if matches!(op.algebra, Algebra::Max(_) | Algebra::Min(_)) => {
                args.iter().for_each(|v| self.add(*v));
            }
            (Inst::Store(p, v), _) if self.is_loaded(*p) => self.add(*v),
            (Inst::Load(p) | Inst::Take(p), Some(r)) if self.values.contains(&r) => {
                self.classes.extend(self.memory.class(*p));
            }
            (Inst::Runtime(f, args), _)
                if matches!(f.role, Role::Memory(Mem::Move | Mem::Moved | Mem::CopyRow)) && self.is_loaded(args[0]) =>
            {
                args[1..].iter().for_each(|p| self.classes.extend(self.memory.class(*p)));
            }
            (inst, Some(r)) if self.values.contains(&r) => inst.for_each_operand(|v| self.add(v)),
            _ => {}
        }
    }

    /// Adds the values that are unused on a path from their definition to the end of the iteration or function.
    fn unused(&mut self, func: &Function, flow: &Flow) {
        let mut uses: HashMap<Value, HashSet<Block>> = HashMap::new();
        for (i, data) in func.blocks.iter().enumerate() {
            let mut note = |v: Value| {
                if self.memory.is_active(v) {
                    uses.entry(v).or_default().insert(Block::new(i));
                }
            };
            for d in &data.insts {
                if !matches!(&d.inst, Inst::Op(op, _) if op.grad == Grad::Zero) {
                    d.inst.for_each_operand(&mut note);
                }
            }
            if let Some(Term::Return(v)) = data.term {
                note(v);
            }
        }
        let defined = def_blocks(func);
        for (v, at) in defined.iter().enumerate().filter_map(|(v, at)| Some((Value::new(v), (*at)?))) {
            let of = uses.get(&v);
            if self.memory.is_active(v) && of.is_none_or(|of| !of.contains(&at)) && is_unused(func, flow, v, at, of) {
                self.values.insert(v);
            }
        }
    }
}

/// Whether a path leads from the end of the block that defines a value past all its uses. Loops are taken to run.
fn is_unused(func: &Function, flow: &Flow, v: Value, at: Block, uses: Option<&HashSet<Block>>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![at]);
    while let Some(b) = work.pop() {
        if b == flow.ret {
            return true;
        }
        let entered = flow.loops.loops.iter().find(|l| l.header == b && !l.blocks.contains(&at));
        for (_, t) in targets(func, b) {
            let to = t.block;
            let params = &func.blocks[to.index()].params;
            let is_passed = t.args.iter().zip(params).any(|(a, _)| *a == v);
            let is_skipped = entered.is_some_and(|l| !l.blocks.contains(&to));
            if is_passed || is_skipped || !flow.returns[to.index()] || uses.is_some_and(|of| of.contains(&to)) {
                continue;
            }
            if to == at {
                return true;
            }
            if seen.insert(to) {
                work.push(to);
            }
        }
    }
    false
}
