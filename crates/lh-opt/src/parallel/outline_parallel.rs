//! Outlines the bodies of parallel loops into functions, which the thread pool runs on blocks of iterations.
//!
//! ```text
//! block1(v3: float64, v4: int) parallel:          block1(v3: float64):
//!     v5 = lt v4, v1: bool                            v8 = runtime lh_parallel_grain(v1, 1): int
//!     branch v5, block2(), block3()                   par_for body0(v1, v8, v0, <address>, v8, v1)
//! block2():                                  ->       <combines the results of the blocks>
//!     ...                                             jump block3()
//!     v7 = add v3, v6: float64                    body0 function %f.par0(..., low, high, thread) -> none {
//!     jump block1(v7, v9)                             <the loop, from low to high; stores v3>
//! ```
//!
//! A block starts its reductions with the neutral element (0 for sums) or, for idempotent operators, with the value
//! before the loop. Results are combined in the order of blocks, whose number depends only on the trip count.
//!
//! Of nested parallel loops, usually only the outermost runs on the pool. If its trip count at run time is small, a
//! second version of the body runs, in which inner loops use the pool, too, so that idle threads help. The choice of
//! version, and thus the result, does not depend on the number of threads. A loop that leaves early, or carries a
//! variable that is no reduction, runs on one thread; the function's notes say why.
//!
//! Requires counted loops from 0 (inference and `lower_array` make them) and implicit reference counting.

mod arrays;
mod body;
mod conditions;
mod cost;
mod definite_loops;
mod hoist_fields;
mod in_place_arrays;
mod partial_results;
mod plan;
mod scalarize;
mod value_numbering;

use crate::analysis::effects::Callees;
use crate::analysis::effects::expr::{Expr, Sym};
use crate::edit::{Cursor, row, to};
use crate::parallel::carried::{self, Carried};
use crate::parallel::races::{self, ArrayReduce, Conflict, Judgement, Need};
use crate::parallel::region::{self, Reason};
use lh_ir::func::{Fate, Inst, LoopNote, ParFor, Parallel, Term, parallel};
use lh_ir::op::Lower;
use lh_ir::{Const, Function, Ty, Value};
use lh_ops::runtime as rt;
use partial_results::Partials;
use plan::{Plan, flags, next_loop, plan};

/// Outlines the loops that the compiler has marked.
pub(crate) fn run(func: &mut Function) -> bool {
    let mut changed = false;
    while let Some((l, what)) = next_loop(func, |p| !p.is_tested()) {
        changed = true;
        let plan = plan(func, &l, &|_| None, &[]);
        note(func, &l, what, &plan);
        if let Ok(plan) = plan {
            outline(func, plan, None);
        }
        func.blocks[l.header.index()].parallel = None;
    }
    changed
}

/// Outlines the loops that the program declares parallel, after the dependence test.
pub(crate) fn run_asked(func: &mut Function, callees: Callees<'_>) -> Result<bool, Conflict> {
    run_with(func, callees, true)
}

/// As [`run_asked`]; whether users are told of loops that run in order.
fn run_with(func: &mut Function, callees: Callees<'_>, warns: bool) -> Result<bool, Conflict> {
    let mut changed = func.blocks.iter().any(|b| b.parallel.is_some_and(Parallel::is_tested));
    if changed {
        if scalarize::run(func, callees) {
            // Folds the fields of tuples that are now scalars.
            crate::core::fold::run(func);
            crate::core::dce::run(func);
        }
        definite_loops::run(func);
        hoist_fields::run(func, callees);
        in_place_arrays::run(func, callees);
        value_numbering::run(func, callees);
        crate::core::dce::run(func);
    }
    while let Some((l, what)) = next_loop(func, Parallel::is_tested) {
        changed = true;
        let flags = flags(func, &l, callees);
        let judged = match judged(func, &l, callees, &flags) {
            Err(_) if sums_are_checked(func, &l, callees, &flags) => Ok(Err(region::CHECKED)),
            judged => judged,
        };
        let plan = match judged {
            Err(_) if what == Parallel::Derived => Err(region::UNPROVEN),
            Err(conflict) if conflict.may_run_in_order(&func.options) => {
                func.races.extend(warns.then_some(conflict.race));
                Err(region::UNPROVEN)
            }
            judged => judged?.map(|plan| Plan { warns, ..plan }),
        };
        note(func, &l, what, &plan);
        if let Ok(plan) = plan {
            outline(func, plan, Some(callees));
        }
        func.blocks[l.header.index()].parallel = None;
    }
    Ok(changed)
}

/// Records the fate of a loop and of the parallel loops in it, for reports.
fn note(func: &mut Function, l: &lh_ir::cfg::Loop, what: Parallel, plan: &Result<Plan, Reason>) {
    let span = func.blocks[l.header.index()].term_span;
    let fate = match plan {
        Ok(plan) => Fate::Pool {
            variables: plan.carried.iter().filter(|c| c.combines_after()).count() - plan.flags,
            arrays: plan.arrays.len(),
            trusted: plan.trusted,
            ordered: plan.needs.iter().find(|(need, _)| depends_on_values(need)).map(|(_, span)| *span),
        },
        Err(reason) => Fate::Serial(reason),
    };
    func.notes.push(LoopNote { span, what, fate });
    if plan.is_ok() {
        for b in l.blocks.iter().filter(|b| **b != l.header) {
            let data = &func.blocks[b.index()];
            // All loops of one elementwise computation share a note.
            if let Some(inner) = data.parallel.filter(|_| data.term_span != span) {
                let fate = Fate::Inside(span);
                func.notes.push(LoopNote { span: func.blocks[b.index()].term_span, what: inner, fate });
            }
        }
    }
}

/// Whether a loop runs in order for certain numbers.
fn depends_on_values(need: &Need) -> bool {
    match need {
        Need::NonNegative(_) | Need::Distinct { .. } | Need::InTurn(..) => true,
        Need::Fits(..) | Need::Apart(..) => false,
    }
}

/// Whether only the checks of `overflow="check"` need the order of iterations: they ask for the sum so far.
fn sums_are_checked(func: &Function, l: &lh_ir::cfg::Loop, callees: Callees<'_>, flags: &carried::Flags) -> bool {
    if !func.options.overflow_check {
        return false;
    }
    let mut unchecked = func.clone();
    for d in unchecked.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if matches!(&d.inst, Inst::Op(op, _) if matches!(op.host, Lower::Overflow { .. })) {
            d.inst = Inst::Const(Const::Bool(false));
        }
    }
    matches!(judged(&unchecked, l, callees, flags), Ok(Ok(_)))
}

/// Plans a loop that the program declares parallel; answers with the reason if it must run on one thread.
fn judged(
    func: &Function,
    l: &lh_ir::cfg::Loop,
    callees: Callees<'_>,
    flags: &carried::Flags,
) -> Result<Result<Plan, Reason>, Conflict> {
    if let Some(conflict) = races::python_conflict(func, l, callees) {
        return Err(conflict);
    }
    let mut plan = match plan(func, l, callees, flags) {
        Ok(plan) => plan,
        Err(region::CARRIED) if func.options.parallel & parallel::UNSAFE == 0 => {
            return Err(races::carried_conflict(func, l, callees));
        }
        Err(reason) => return Ok(Err(reason)),
    };
    plan.checked = func.options.parallel & parallel::RACE != 0;
    match races::judge(func, &plan.region, callees) {
        Ok(Judgement { arrays, mut needs, doubt }) => {
            // A checked loop runs in order, and what the program vouches for is not tested.
            let vouched = func.options.parallel & parallel::UNSAFE != 0;
            let trusts = vouched || func.options.parallel & parallel::TRUST != 0;
            let is_of_tables = |need: &Need| matches!(need, Need::Distinct { .. } | Need::InTurn(..));
            plan.trusted = trusts && needs.iter().any(|(need, _)| is_of_tables(need));
            let untested = plan.checked || vouched;
            needs.retain(|(need, _)| !((untested || trusts) && is_of_tables(need)));
            // Copies of an array that overlaps itself could not be combined.
            let is_copied = |a: &Value| arrays.iter().any(|of| of.array == *a);
            needs.retain(|(need, _)| !matches!(need, Need::Apart(a, b, _) if untested && !(a == b && is_copied(a))));
            (plan.needs, plan.doubt) = (needs, doubt);
            // An array that gets private copies must not be reachable under another name.
            let names = |a: Value| {
                plan.captured.iter().filter(|v| races::points_into(func, &plan.region, callees, **v, a)).count()
            };
            let can_copy = |a: &ArrayReduce| {
                plan.captured.contains(&a.array) && names(a.array) == 1 && arrays::can_copy(func, a.array)
            };
            match arrays.iter().find(|a| !can_copy(a)) {
                Some(a) if func.options.parallel & parallel::UNSAFE == 0 => {
                    return Err(races::shared_conflict(func, a, plan.span));
                }
                Some(_) => plan.trusted = true,
                None => plan.arrays = arrays,
            }
        }
        Err(conflict) if conflict.is_of_length() && !plan.checked => return Err(conflict),
        Err(_) if func.options.parallel & parallel::UNSAFE != 0 => plan.trusted = true,
        // A checked loop runs in order, too, and the check tells whether its iterations meet.
        Err(conflict) if plan.checked && !conflict.is_proven => plan.trusted = true,
        Err(conflict) if func.options.parallel & parallel::TRUST != 0 && !conflict.is_proven => plan.trusted = true,
        Err(conflict) => return Err(conflict),
    }
    Ok(Ok(plan))
}

/// With fewer iterations, an outer loop leaves processors idle.
const FEW: i64 = 64;

fn outline(func: &mut Function, mut plan: Plan, callees: Option<Callees<'_>>) {
    // Reductions without a neutral element start with the value before the loop.
    let needs_initial = |k: &Carried| match k {
        Carried::Reduced(how) => !how.has_neutral(),
        Carried::Conditional { .. } => true,
        Carried::Index | Carried::Last => false,
    };
    let starts: Vec<Value> =
        plan.initial.iter().zip(&plan.carried).filter(|(_, k)| needs_initial(k)).map(|(v, _)| *v).collect();
    let partials = plan.has_results().then(|| Partials::new(func, &plan));
    let header = plan.region.header;
    // The body captures the initial values like other values of the function.
    let before: Vec<Value> = starts.iter().map(|v| func.new_value(func.ty(*v))).collect();
    plan.captured.extend(&before);
    for (v, b) in starts.iter().zip(&before) {
        let place = plan.initial.iter().position(|p| p == v).unwrap_or_else(|| lh_ir::bug!("a parameter"));
        plan.initial[place] = *b;
    }
    let number = func.bodies.len() as u32;
    func.bodies.push(body::make(func, &plan, partials.as_ref(), false));
    let nested = callees.and_then(|callees| nested(func, &plan, partials.as_ref(), callees));
    for inner in nested.iter().flat_map(|body| &body.notes).filter(|n| matches!(n.fate, Fate::Pool { .. })) {
        let told = func.notes.iter_mut().find(|n| n.span == inner.span && matches!(n.fate, Fate::Inside(_)));
        told.into_iter().for_each(|n| n.fate = Fate::Nested(plan.span, FEW));
    }
    let bodies = Bodies { many: number, few: nested.is_some().then_some(number + 1) };
    func.bodies.extend(nested);
    let params = func.blocks[header.index()].params.clone();
    let args: Vec<Value> =
        plan.captured.iter().map(|v| before.iter().position(|b| b == v).map_or(*v, |i| starts[i])).collect();
    replace(func, &plan, &params, &args, bodies, partials.as_ref());
}

/// The versions of an outlined body.
#[derive(Clone, Copy)]
struct Bodies {
    many: u32,
    /// The version for small trip counts, in which inner loops are parallel.
    few: Option<u32>,
}

/// The body for small trip counts, if it has inner parallel loops.
fn nested(func: &Function, plan: &Plan, partials: Option<&Partials>, callees: Callees<'_>) -> Option<Function> {
    let inner = || plan.region.blocks.iter().filter(|b| **b != plan.region.header).map(|b| &func.blocks[b.index()]);
    // The thread's number identifies a thread of the outer loop.
    let asks =
        |d: &lh_ir::func::BlockData| d.insts.iter().any(|d| crate::analysis::effects::uses_thread(&d.inst, callees));
    if inner().all(|d| !d.parallel.is_some_and(Parallel::is_tested))
        || plan.checked
        || !plan.arrays.is_empty()
        || inner().any(asks)
    {
        return None;
    }
    let mut body = body::make(func, plan, partials, true);
    // A conflict in an inner loop is no error: it may run serially.
    run_with(&mut body, callees, false).ok()?;
    crate::core::dce::run(&mut body);
    (!body.bodies.is_empty()).then_some(body)
}

/// Runs the loop; with two versions, the one for its trip count.
fn run_bodies(c: &mut Cursor<'_>, bodies: Bodies, operands: Vec<Value>) {
    let Bodies { many, few } = bodies;
    let Some(body) = few else { return c.effect(Inst::ParFor(ParFor { body: many }, operands)) };
    let limit = c.int(FEW);
    let is_few = c.lt(operands[0], limit);
    let (join, _) = c.new_block(&[]);
    let other = c.branch(is_few);
    c.func.blocks[c.block.index()].cold = true;
    c.effect(Inst::ParFor(ParFor { body }, operands.clone()));
    c.end(Term::Jump(to(join, &[])), other);
    c.effect(Inst::ParFor(ParFor { body: many }, operands));
    c.end(Term::Jump(to(join, &[])), join);
}

fn replace(
    func: &mut Function,
    plan: &Plan,
    params: &[Value],
    args: &[Value],
    bodies: Bodies,
    partials: Option<&Partials>,
) {
    let r = &plan.region;
    let data = &mut func.blocks[r.header.index()];
    data.insts.clear();
    data.unwind.clone_from(&r.unwind);
    let cold = data.cold;
    let mut c = Cursor { func, block: r.header, span: plan.span, unwind: r.unwind.clone(), cold };
    let n = r.counted.limit;
    let mut grain = conditions::grain(&mut c, plan, n);
    let mut operands = vec![n, grain];
    operands.extend(args);
    let Some(partials) = partials else {
        announce(&mut c, plan);
        run_bodies(&mut c, bodies, operands);
        let finals = finals(&mut c, plan, params, n, None);
        return finish(func, plan, params, &finals);
    };
    let one = c.int(1);
    grain = at_least_one(&mut c, grain, one);
    operands[1] = grain;
    if !plan.arrays.is_empty() {
        grain = arrays::coarse(&mut c, plan, n, grain);
        operands[1] = grain;
    }
    let n1 = c.sub(n, one);
    let more = c.op(row("sdiv"), &[n1, grain], Ty::int());
    let more = c.add(more, one);
    let single = c.le(n, grain);
    let mut blocks = c.select(single, one, more);
    if plan.checked {
        // Without iterations, no block runs.
        let none = c.lt(n, one);
        blocks = c.select(none, n, blocks);
    }
    let (record, last) = (c.int(partials.record), c.int(partials.last));
    let bytes = c.mul(blocks, record);
    let bytes = c.add(bytes, last);
    let pair = c.inst(Inst::Runtime(&rt::lh_alloc, vec![bytes]), Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]));
    let memory = c.inst(Inst::Field(pair, 1), Ty::ptr());
    let base = c.inst(Inst::PtrAdd(memory, last), Ty::ptr());
    operands.extend([base, grain, n]);
    let copies: Vec<arrays::PrivateCopies> =
        plan.arrays.iter().map(|a| arrays::allocate(&mut c, plan, a, n, blocks)).collect();
    operands.extend(copies.iter().map(|copies| copies.base));
    announce(&mut c, plan);
    if plan.checked {
        c.effect(Inst::Runtime(&rt::lh_race_own, vec![memory, bytes]));
        for copies in &copies {
            c.effect(Inst::Runtime(&rt::lh_race_own, vec![copies.data, copies.bytes]));
        }
    }
    run_bodies(&mut c, bodies, operands);
    for (a, copies) in plan.arrays.iter().zip(&copies) {
        arrays::combine(&mut c, a, copies);
    }
    let results = partials.combine(&mut c, plan, params, base, blocks, n);
    let finals = finals(&mut c, plan, params, n, Some(results));
    finish(func, plan, params, &finals);
}

/// Computes an expression of loop-invariant values.
fn emit(c: &mut Cursor<'_>, e: &Expr) -> Value {
    let mut sum = c.int(e.constant);
    for (product, factor) in &e.terms {
        let mut term = c.int(*factor);
        for s in product {
            let v = match *s {
                Sym::Shape(a, d) => c.inst(Inst::ArrayShape(a, d), Ty::int()),
                Sym::Stride(a, d) => c.inst(Inst::ArrayStride(a, d), Ty::int()),
                Sym::Val(v) | Sym::Within(v) if c.func.ty(v).strong() == Ty::int() => v,
                Sym::Val(v) | Sym::Within(v) => c.inst(Inst::Cast(v), Ty::int()),
                Sym::Overflow => lh_ir::bug!("a proof needs a number of which nothing is known"),
            };
            term = c.mul(term, v);
        }
        sum = c.add(sum, term);
    }
    sum
}

/// Announces a loop to the race checker.
fn announce(c: &mut Cursor<'_>, plan: &Plan) {
    if plan.checked {
        let file = Const::Str(c.func.file.clone());
        let (file, line) = (c.inst(Inst::Const(file), Ty::str()), c.int(plan.span.line.into()));
        c.effect(Inst::Runtime(&rt::lh_race_loop, vec![file, line]));
    }
}

fn at_least_one(c: &mut Cursor<'_>, v: Value, one: Value) -> Value {
    let less = c.lt(v, one);
    c.select(less, one, v)
}

/// The final values of the header parameters; ends with a jump to the loop's exit.
fn finals(c: &mut Cursor<'_>, plan: &Plan, params: &[Value], n: Value, results: Option<Vec<Value>>) -> Vec<Value> {
    let mut finals = results.unwrap_or_else(|| params.to_vec());
    let place = plan.region.counted.place;
    let ran = c.lt(params[place], n);
    finals[place] = c.select(ran, n, params[place]);
    let mut exit = plan.region.exit.clone();
    let of = |v: Value| params.iter().position(|p| *p == v).map_or(v, |i| finals[i]);
    exit.args.iter_mut().for_each(|v| *v = of(*v));
    let end = c.block;
    c.end(Term::Jump(exit), end);
    finals
}

/// Replaces the header parameters outside of the loop by their final values.
fn finish(func: &mut Function, plan: &Plan, params: &[Value], finals: &[Value]) {
    let r = &plan.region;
    let mut outside: Vec<bool> = r.inside.iter().map(|inside| !inside).collect();
    outside.resize(func.blocks.len(), false);
    for b in r.blocks.iter().filter(|b| **b != r.header) {
        func.blocks[b.index()] = lh_ir::func::BlockData { term: Some(Term::Unreachable), ..Default::default() };
    }
    let of = |v: Value| params.iter().position(|p| *p == v).map_or(v, |i| finals[i]);
    for (b, _) in outside.iter().enumerate().filter(|(_, o)| **o) {
        let data = &mut func.blocks[b];
        let mut f = |v: &mut Value| *v = of(*v);
        data.insts.iter_mut().for_each(|d| d.inst.for_each_operand_mut(&mut f));
        if let Some(t) = &mut data.unwind {
            t.args.iter_mut().for_each(&mut f);
        }
        if let Some(t) = &mut data.term {
            t.for_each_operand_mut(&mut f);
        }
    }
}
