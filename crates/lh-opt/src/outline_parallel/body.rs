//! Makes the function that runs a block of iterations.

use super::carried::Carried;
use super::partial::{Partials, identity};
use super::{Plan, arrays};
use crate::counted::Defs;
use crate::edit::{Cursor, row, runtime, to};
use lh_ir::func::{BlockData, Inst, InstData, Options, Target, Term, parallel};
use lh_ir::{Block, Function, Ty, Value};

/// Copies a region into a function of its own: `body(captured..., low, high, thread)`.
///
/// The captured values come first, in the order of the plan; what serves results follows.
pub(super) fn make(func: &Function, plan: &Plan, partials: Option<&Partials>) -> Function {
    let mut out = Function {
        name: format!("{}.par{}", func.name, func.bodies.len()),
        qualname: func.qualname.clone(),
        file: func.file.clone(),
        first_line: func.first_line,
        ret: Some(Ty::none()),
        // What is inside is serial: the loop makes enough work.
        options: Options { parallel: func.options.parallel & parallel::RACE, ..func.options },
        is_library: func.is_library,
        ..Function::default()
    };
    let entry = out.new_block();
    let mut copy =
        Copy { func, plan, out, values: vec![None; func.values.len()], blocks: vec![None; func.blocks.len()] };
    copy.parameters(entry);
    let block = copy.begin(entry);
    copy.region();
    copy.names();
    copy.ends(entry, partials.zip(block));
    copy.out
}

struct Copy<'a> {
    func: &'a Function,
    plan: &'a Plan,
    out: Function,
    /// New values and blocks, by old ones.
    values: Vec<Option<Value>>,
    blocks: Vec<Option<Block>>,
}

impl Copy<'_> {
    fn value(&mut self, old: Value) -> Value {
        if let Some(v) = self.values[old.index()] {
            return v;
        }
        let v = self.out.new_value(self.func.ty(old));
        self.values[old.index()] = Some(v);
        v
    }

    fn block(&mut self, old: Block) -> Block {
        self.blocks[old.index()].unwrap_or_else(|| lh_ir::bug!("{old} is not part of the loop"))
    }

    /// Parameters of the entry; captured constants are made there.
    fn parameters(&mut self, entry: Block) {
        for v in &self.plan.captured {
            let new = self.value(*v);
            self.out.blocks[entry.index()].params.push(new);
        }
        for ty in self.plan.own_parameters() {
            let v = self.out.new_value(ty);
            self.out.blocks[entry.index()].params.push(v);
        }
        let defs = Defs::new(self.func);
        for v in &self.plan.constants {
            let inst = defs.inst(self.func, *v).unwrap_or_else(|| lh_ir::bug!("a constant")).clone();
            let result = Some(self.value(*v));
            self.out.blocks[entry.index()].insts.push(InstData { result, inst, span: self.plan.span });
        }
    }

    /// The block's number, if it has to be known; arrays that all iterations update give way to copies.
    fn begin(&mut self, entry: Block) -> Option<Value> {
        if !self.plan.has_results() {
            return None;
        }
        let params = self.out.blocks[entry.index()].params.clone();
        let (first, low) = (self.plan.captured.len(), params[params.len() - 3]);
        let mut c = Cursor { func: &mut self.out, block: entry, span: self.plan.span, unwind: None, cold: false };
        let block = c.op(row("sdiv"), &[low, params[first + 1]], Ty::int());
        for (k, what) in self.plan.arrays.iter().enumerate() {
            let array = self.values[what.array.index()].unwrap_or_else(|| lh_ir::bug!("a captured array"));
            let copy = arrays::begin(&mut c, what, array, params[first + 3 + k], block);
            self.values[what.array.index()] = Some(copy);
        }
        Some(block)
    }

    fn region(&mut self) {
        let r = &self.plan.region;
        for b in &r.blocks {
            self.blocks[b.index()] = Some(self.out.new_block());
        }
        for b in &r.blocks {
            let data = &self.func.blocks[b.index()];
            let mut new = BlockData { cold: data.cold, term_span: data.term_span, ..BlockData::default() };
            new.params = data.params.iter().map(|p| self.value(*p)).collect();
            for d in &data.insts {
                // The header's condition is made anew.
                if *b == r.header && r.is_condition(self.func, d.result) {
                    continue;
                }
                let mut d = d.clone();
                d.inst.for_each_operand_mut(&mut |v| *v = self.value(*v));
                if d.result.is_some_and(|v| self.plan.free.contains(&v)) {
                    free_order(&mut d.inst);
                }
                d.result = d.result.map(|v| self.value(v));
                new.insts.push(d);
            }
            new.unwind = data.unwind.as_ref().filter(|t| r.inside[t.block.index()]).map(|t| self.target(t));
            if *b != r.header {
                let mut term = data.term.clone().unwrap_or(Term::Unreachable);
                for t in term.targets_mut() {
                    t.block = self.block(t.block);
                }
                term.for_each_operand_mut(&mut |v| *v = self.value(*v));
                new.term = Some(term);
            }
            let at = self.block(*b);
            self.out.blocks[at.index()] = new;
        }
    }

    fn names(&mut self) {
        for (v, name) in &self.func.names {
            if let Some(new) = self.values[v.index()] {
                self.out.names.push((new, name.clone()));
            }
        }
    }

    fn target(&mut self, t: &Target) -> Target {
        Target { block: self.block(t.block), args: t.args.iter().map(|v| self.value(*v)).collect() }
    }

    /// The way in, the header's branch, and the way out, which stores the results.
    fn ends(&mut self, entry: Block, results: Option<(&Partials, Value)>) {
        let params = self.out.blocks[entry.index()].params.clone();
        let [.., low, high, _thread] = params[..] else { lh_ir::bug!("a body has parameters") };
        let r = &self.plan.region;
        let header = self.block(r.header);
        let carried = self.out.blocks[header.index()].params.clone();
        let values = std::mem::take(&mut self.values);
        let mut c = Cursor { func: &mut self.out, block: entry, span: self.plan.span, unwind: None, cold: false };
        let mut start = Vec::new();
        for (p, kind) in carried.iter().zip(&self.plan.carried) {
            let ty = c.func.ty(*p);
            start.push(match kind {
                Carried::Index => low,
                Carried::Last => c.inst(Inst::Zero, ty),
                Carried::Reduced(how) => identity(&mut c, *how, ty).unwrap_or_else(|| {
                    let place = self.plan.carried_place(*p, &carried);
                    values[self.plan.initial[place].index()].unwrap_or_else(|| lh_ir::bug!("a captured value"))
                }),
            });
        }
        c.end(Term::Jump(to(header, &start)), header);
        let index = carried[r.counted.place];
        let more = c.lt(index, high);
        let exit = c.new_block(&[]).0;
        let old = if let Some(Term::Branch { then, els, .. }) = &self.func.blocks[r.header.index()].term {
            if r.counted.body_first { then } else { els }
        } else {
            lh_ir::bug!("a loop begins with a branch")
        };
        let first = self.blocks[old.block.index()].unwrap_or_else(|| lh_ir::bug!("a body"));
        let args: Vec<Value> = old.args.iter().map(|v| values[v.index()].unwrap_or(*v)).collect();
        if self.plan.checked {
            let (begin, _) = c.new_block(&[]);
            c.end(Term::Branch { cond: more, then: to(begin, &[]), els: to(exit, &[]) }, begin);
            c.effect(Inst::Runtime(runtime("lh_race_iteration"), vec![index]));
            c.end(Term::Jump(to(first, &args)), exit);
        } else {
            c.end(Term::Branch { cond: more, then: to(first, &args), els: to(exit, &[]) }, exit);
        }
        if let Some((partials, block)) = results {
            let first = self.plan.captured.len();
            let (base, n) = (params[first], params[first + 2]);
            partials.store(&mut c, self.plan, &carried, base, block, high, n);
        }
        let none = c.inst(Inst::Zero, Ty::none());
        let end = c.block;
        c.end(Term::Return(none), end);
    }
}

impl Plan {
    fn carried_place(&self, p: Value, carried: &[Value]) -> usize {
        carried.iter().position(|v| *v == p).unwrap_or_else(|| lh_ir::bug!("a parameter of the header"))
    }
    /// Parameters of the body after the captured ones: for results, the address of the records, iterations of a block and
    /// of all, and the addresses of the copies of arrays; then where to begin and end, and the thread.
    fn own_parameters(&self) -> Vec<Ty> {
        let mut out = Vec::new();
        if self.has_results() {
            out.extend([Ty::ptr(), Ty::int(), Ty::int()]);
            out.extend(self.arrays.iter().map(|_| Ty::ptr()));
        }
        out.extend([Ty::int(); 3]);
        out
    }
    /// Whether blocks give results.
    pub(super) fn has_results(&self) -> bool {
        !self.arrays.is_empty() || self.carried.iter().any(|k| *k != Carried::Index)
    }
}

/// Lets sums and products be made in any order: vector code can keep several of them.
fn free_order(inst: &mut Inst) {
    if let Inst::Op(op, _) = inst {
        match op.name {
            "add" => *op = row("add_any_order"),
            "sub" => *op = row("sub_any_order"),
            "mul" => *op = row("mul_any_order"),
            _ => {}
        }
    }
}

/// Whether an instruction makes the same value wherever it stands.
pub(super) fn is_constant(inst: &Inst) -> bool {
    matches!(inst, Inst::Const(_) | Inst::Zero)
}
