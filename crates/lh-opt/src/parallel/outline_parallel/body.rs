//! Builds the function for a block of iterations.

use super::arrays;
use super::partial_results::{Partials, identity};
use super::plan::Plan;
use crate::analysis::counted::Defs;
use crate::edit::{Cursor, row, to};
use crate::parallel::carried::Carried;
use crate::parallel::races::Update;
use lh_ir::algebra::Algebra;
use lh_ir::func::{BlockData, Inst, InstData, Options, Target, Term, parallel};
use lh_ir::{Block, Const, Function, Ty, Value};
use lh_ops::runtime as rt;

/// Copies a region into a function of its own: `body(captured..., results..., low, high, thread)`. Parallel loops
/// inside stay marked if it is `nested`.
pub(super) fn make(func: &Function, plan: &Plan, partials: Option<&Partials>, nested: bool) -> Function {
    let mut out = Function {
        name: format!("{}.par{}", func.name, func.bodies.len()),
        qualname: func.qualname.clone(),
        file: func.file.clone(),
        first_line: func.first_line,
        ret: Some(Ty::none()),
        // The outer loop has enough parallelism.
        options: if nested {
            func.options
        } else {
            Options { parallel: func.options.parallel & parallel::RACE, ..func.options }
        },
        is_library: func.is_library,
        ..Function::default()
    };
    let entry = out.new_block();
    let mut copy = Copy {
        func,
        plan,
        nested,
        out,
        values: vec![None; func.values.len()],
        blocks: vec![None; func.blocks.len()],
        atomic: Vec::new(),
    };
    copy.parameters(entry);
    let (block, begun) = copy.begin(entry);
    copy.region();
    copy.names();
    copy.ends(entry, begun, partials.zip(block));
    copy.out
}

struct Copy<'a> {
    func: &'a Function,
    plan: &'a Plan,
    nested: bool,
    out: Function,
    /// New values and blocks, by old ones.
    values: Vec<Option<Value>>,
    blocks: Vec<Option<Block>>,
    /// For each array reduction, whether its updates must be atomic.
    atomic: Vec<Value>,
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

    /// Adds the parameters of the entry, and the captured constants.
    fn parameters(&mut self, entry: Block) {
        for v in &self.plan.captured {
            let new = self.value(*v);
            self.out.blocks[entry.index()].params.push(new);
        }
        for ty in self.plan.own_parameters() {
            self.out.new_param(entry, ty);
        }
        let defs = Defs::new(self.func);
        for v in &self.plan.constants {
            let inst = defs.inst(self.func, *v).unwrap_or_else(|| lh_ir::bug!("a constant")).clone();
            let result = Some(self.value(*v));
            self.out.blocks[entry.index()].insts.push(InstData { result, inst, span: self.plan.span });
        }
    }

    /// Computes the number of the block of iterations if results need it, and replaces updated arrays by private
    /// copies. Answers with the number and the current block.
    fn begin(&mut self, entry: Block) -> (Option<Value>, Block) {
        if !self.plan.has_results() {
            return (None, entry);
        }
        let params = self.out.blocks[entry.index()].params.clone();
        let (first, low) = (self.plan.captured.len(), params[params.len() - 3]);
        let mut c = Cursor { func: &mut self.out, block: entry, span: self.plan.span, unwind: None, cold: false };
        let block = c.op(row("sdiv"), &[low, params[first + 1]], Ty::int());
        for (k, what) in self.plan.arrays.iter().enumerate() {
            let array = self.values[what.array.index()].unwrap_or_else(|| lh_ir::bug!("a captured array"));
            let (copy, atomic) = arrays::enter(&mut c, what, array, params[first + 3 + k], block);
            self.values[what.array.index()] = Some(copy);
            self.atomic.push(atomic);
        }
        (Some(block), c.block)
    }

    /// Emits the store of an update, or an atomic operation instead; answers with the block that follows.
    fn update(&mut self, at: Block, k: usize, update: &Update, store: InstData) -> Block {
        let (func, plan, atomic) = (self.func, self.plan, self.atomic[k]);
        let array = plan.arrays[k].array;
        let (Some(function), Some((dtype, ..)), Inst::Store(place, _)) =
            (arrays::atomics(func, plan, &plan.arrays[k]), func.ty(array).as_array(), &store.inst)
        else {
            self.out.blocks[at.index()].insts.push(store);
            return at;
        };
        let (place, operand) = (*place, self.value(update.operand));
        let BlockData { unwind, cold, .. } = &self.out.blocks[at.index()];
        let (unwind, cold) = (unwind.clone(), *cold);
        let mut c = Cursor { func: &mut self.out, block: at, span: store.span, unwind, cold };
        let (join, _) = c.new_block(&[]);
        let plain = c.branch(atomic);
        let mut x = c.inst(Inst::Cast(operand), dtype);
        if update.negative {
            let zero = c.inst(Inst::Const(Const::Int(0, dtype)), dtype);
            x = c.op(row("sub"), &[zero, x], dtype);
        }
        c.inst(Inst::Runtime(function, vec![place, x]), dtype);
        c.end(Term::Jump(to(join, &[])), plain);
        c.func.blocks[plain.index()].insts.push(store);
        c.end(Term::Jump(to(join, &[])), join);
        join
    }

    fn region(&mut self) {
        let r = &self.plan.region;
        for b in &r.blocks {
            self.blocks[b.index()] = Some(self.out.new_block());
        }
        for b in &r.blocks {
            let data = &self.func.blocks[b.index()];
            let mut new = BlockData { cold: data.cold, term_span: data.term_span, ..BlockData::default() };
            new.pragma = data.pragma;
            new.parallel = data.parallel.filter(|_| self.nested && *b != r.header);
            new.params = data.params.iter().map(|p| self.value(*p)).collect();
            new.unwind = data.unwind.as_ref().filter(|t| r.inside[t.block.index()]).map(|t| self.target(t));
            let mut at = self.block(*b);
            self.out.blocks[at.index()] = new;
            for (i, d) in data.insts.iter().enumerate() {
                let mut d = d.clone();
                // The header gets a new condition. That of the loop is known inside.
                if *b == r.header && r.is_loop_condition(self.func, d.result) {
                    if !d.result.is_some_and(|v| self.is_read_inside(v)) {
                        continue;
                    }
                    d.inst = Inst::Const(Const::Bool(r.counted.body_first));
                }
                d.inst.for_each_operand_mut(&mut |v| *v = self.value(*v));
                if d.result.is_some_and(|v| self.plan.free.contains(&v)) {
                    free_order(&mut d.inst);
                }
                d.result = d.result.map(|v| self.value(v));
                match self.plan.update_at(*b, i) {
                    Some((k, update)) => at = self.update(at, k, update, d),
                    None => self.out.blocks[at.index()].insts.push(d),
                }
            }
            if *b != r.header {
                let mut term = data.term.clone().unwrap_or(Term::Unreachable);
                for t in term.targets_mut() {
                    t.block = self.block(t.block);
                }
                term.for_each_operand_mut(&mut |v| *v = self.value(*v));
                let out = &mut self.out.blocks[at.index()];
                (out.term, out.term_span) = (Some(term), data.term_span);
            }
        }
    }

    /// Whether more than the header's branch reads the loop's condition.
    fn is_read_inside(&self, cond: Value) -> bool {
        let r = &self.plan.region;
        let mut found = false;
        for b in &r.blocks {
            let data = &self.func.blocks[b.index()];
            data.insts.iter().for_each(|d| d.inst.for_each_operand(|v| found |= v == cond));
            match &data.term {
                Some(t) if *b == r.header => found |= t.targets().iter().any(|t| t.args.contains(&cond)),
                Some(t) => t.clone().for_each_operand_mut(&mut |v| found |= *v == cond),
                None => {}
            }
        }
        found
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

    /// Builds the entry, the header's branch, and the exit, which stores the results.
    fn ends(&mut self, entry: Block, begun: Block, results: Option<(&Partials, Value)>) {
        let params = self.out.blocks[entry.index()].params.clone();
        let [.., low, high, _thread] = params[..] else { lh_ir::bug!("a body has parameters") };
        let r = &self.plan.region;
        let header = self.block(r.header);
        let carried = self.out.blocks[header.index()].params.clone();
        let values = std::mem::take(&mut self.values);
        let mut c = Cursor { func: &mut self.out, block: begun, span: self.plan.span, unwind: None, cold: false };
        let mut start = Vec::new();
        for (p, kind) in carried.iter().zip(&self.plan.carried) {
            let ty = c.func.ty(*p);
            start.push(match kind {
                Carried::Index => low,
                Carried::Last => c.inst(Inst::Zero, ty),
                Carried::Reduced(_) | Carried::Conditional { .. } => identity(&mut c, *kind, ty).unwrap_or_else(|| {
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
            c.effect(Inst::Runtime(&rt::lh_race_iteration, vec![index]));
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
    /// Types of the parameters after the captured values: for results, the address of the records, the grain, the trip
    /// count and the addresses of array copies; then first and last iteration, and the thread.
    fn own_parameters(&self) -> Vec<Ty> {
        let mut out = Vec::new();
        if self.has_results() {
            out.extend([Ty::ptr(), Ty::int(), Ty::int()]);
            out.extend(self.arrays.iter().map(|_| Ty::ptr()));
        }
        out.extend([Ty::int(); 3]);
        out
    }
    /// The update at an instruction, with the number of its array.
    fn update_at(&self, block: Block, at: usize) -> Option<(usize, &Update)> {
        let all = self.arrays.iter().enumerate().flat_map(|(k, a)| a.updates.iter().map(move |u| (k, u)));
        all.into_iter().find(|(_, u)| (u.block, u.at) == (block, at))
    }
    /// Whether blocks store results.
    pub(super) fn has_results(&self) -> bool {
        !self.arrays.is_empty() || self.carried.iter().any(|k| *k != Carried::Index)
    }
}

/// Lets LLVM reassociate an operation of a float reduction, so that vector lanes can have partial sums.
fn free_order(inst: &mut Inst) {
    if let Inst::Op(op, _) = inst {
        match op.algebra {
            Algebra::Add => *op = row("add_any_order"),
            Algebra::Sub => *op = row("sub_any_order"),
            Algebra::Mul => *op = row("mul_any_order"),
            _ => {}
        }
    }
}
