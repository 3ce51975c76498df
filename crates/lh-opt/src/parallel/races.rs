//! Dependence test for parallel loops: proves that iterations do not depend on each other through memory.
//!
//! ```text
//! for i in prange(n):
//!     a[i] = a[i] + b[i + 1]      ; independent: the index of `a` differs between iterations
//!     c[i * w + j] = 0            ; independent if `j` stays below `w`
//!     h[k[i]] += 1                ; an array reduction
//!     d[i] = d[i - 1]             ; a conflict
//! ```
//!
//! Two accesses to one array, one of them a write, are independent if the index along some dimension differs between
//! iterations: both have the same multiple of the induction variable, plus invariant terms or indices of inner loops
//! that stay below that multiple. They are also independent if each iteration's interval begins where that of the
//! iteration before ends, if they address disjoint parts ([`disjoint_windows`]), or if both store the same value. Other
//! accesses conflict, unless all of them are updates by one operator (`h[k[i]] += 1`): blocks of iterations then work
//! on private copies of the array, which are combined.
//!
//! The rest may be excluded when the loop begins ([`run_time_tests`]): that indices which an array holds repeat,
//! that arrays in different variables overlap, and that an array overlaps itself.

use crate::analysis::counted::{Counted, Defs, counted, target_of};
use crate::analysis::effects::expr::{Expr, Sym, expr};
use crate::analysis::effects::{Access, Callees, Effects, Kind, Root, enters_python};
use crate::parallel::carried::{Reduce, order_dependent, uses};
use crate::parallel::region::{Region, region};
use lh_ir::algebra::Algebra;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, targets};
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic};
use lh_ir::func::{Inst, Options, Race, Semantics, parallel};
use lh_ir::types::TyKind;
use lh_ir::{Block, Function, Span, Value};

mod assumptions;
mod disjoint_windows;
mod private_arrays;
pub(crate) mod reduction_updates;
mod run_time_tests;

pub(crate) use run_time_tests::Table;

/// An array that all iterations update.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArrayReduce {
    pub(crate) array: Value,
    pub(crate) how: Reduce,
    /// The updates of single elements, which atomic operations can do.
    pub(crate) updates: Vec<Update>,
    /// Whether each update is of many elements.
    pub(crate) is_whole: bool,
}

/// The store of `a[k] op= x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Update {
    pub(crate) block: Block,
    /// Position of the instruction.
    pub(crate) at: usize,
    pub(crate) operand: Value,
    /// Whether the operand is subtracted.
    pub(crate) negative: bool,
}

/// Two accesses that may depend on each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conflict {
    pub(crate) race: Race,
    /// Whether iterations depend on each other for certain, not only perhaps.
    pub(crate) is_proven: bool,
}

impl Conflict {
    fn of_elements(text: String, first: Span, is_proven: bool) -> Conflict {
        Conflict { race: Race { text, way: ELEMENTS.into(), first, second: None }, is_proven }
    }

    /// The diagnostic for the user.
    pub(crate) fn diagnostic(self, func: &Function) -> Box<Diagnostic> {
        if self.race.way == PYTHON {
            let d = Diagnostic::new(diag::UNSUPPORTED_CALL, &self.race.text);
            return d.at(&func.file, self.race.first).note(PYTHON);
        }
        self.race.diagnostic("iterations of this parallel loop depend on each other", &func.file)
    }

    /// Whether the loop cannot run in parallel even if the program vouches for it: memory that one thread uses would
    /// be moved by another one.
    pub(crate) fn is_of_length(&self) -> bool {
        self.race.way == LENGTH
    }

    /// Whether the loop may run in order instead of being refused.
    pub(crate) fn may_run_in_order(&self, options: &Options) -> bool {
        let is_lenient = options.parallel & parallel::REFUSE == 0;
        self.race.way != PYTHON && is_lenient && (!self.is_proven || options.semantics == Semantics::Numba)
    }
}

const PYTHON: &str = "use `range`, or call Python before or after the loop";
const ELEMENTS: &str = "write to elements that the loop's index tells apart, combine by one operation (`h[k] += x`, `h[k] = min(h[k], x)`), \
     use `range`, or say `parallel={\"unsafe\": True}`";
const LENGTH: &str = "make an array before the loop and write `out[i] = ...`, or use `range`";
const FIRST: &str =
    "write the variable first (`m = min(m, x)`, `if x < m: m = x`), use `range`, or say `fastmath={\"nnan\", \"nsz\"}`";
const VARIABLES: &str = "combine by one operation (`s += x`, `m = max(m, x)`, `if x < m: m = x; at = i`), keep the variable to the iteration, \
                         use `range`, or say `parallel={\"unsafe\": True}`";

/// A call of Python in a loop: the thread that runs the loop has the interpreter's lock.
pub(crate) fn python_conflict(func: &Function, l: &Loop, callees: Callees<'_>) -> Option<Conflict> {
    let mut insts = l.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts);
    let call = insts.find(|d| enters_python(&d.inst, callees))?;
    let text = "a parallel loop calls Python, in a block of `objmode` or by a function that is an item or field";
    let race = Race { text: text.to_owned(), way: PYTHON.into(), first: call.span, second: None };
    Some(Conflict { race, is_proven: true })
}

/// The variable of a value in the program, or a description.
fn name_of(func: &Function, v: Value, what: &str) -> String {
    func.names.iter().find(|(of, _)| *of == v).map_or_else(|| what.to_owned(), |(_, name)| format!("`{name}`"))
}

/// An assumption of a proof, which the loop tests at run time; if it fails, iterations run in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Need {
    /// The value is non-negative.
    NonNegative(Expr),
    /// The product does not overflow.
    Fits(Expr, Expr),
    /// The indices in a table are different places along a dimension of an array; whether all accesses are to the whole
    /// array, so that they may count from its end.
    Distinct { table: Table, array: Value, dim: u32, counts_back: bool },
    /// The intervals between the numbers of two tables follow each other.
    InTurn(Table, Table),
    /// The arrays do not overlap; whether they may also be the same. Of an array and itself: no two of its elements do.
    Apart(Value, Value, bool),
}

/// Why the iterations of a loop may run in any order.
pub(crate) struct Judgement {
    /// Arrays to privatise.
    pub(crate) arrays: Vec<ArrayReduce>,
    /// Assumptions with the access that needs each.
    pub(crate) needs: Vec<(Need, Span)>,
    /// The first conflict that a test of tables excludes.
    pub(crate) doubt: Option<Race>,
}

/// Tests a loop.
pub(crate) fn judge(func: &Function, r: &Region, callees: Callees<'_>) -> Result<Judgement, Conflict> {
    let first = judge_by(func, r, callees, true)?;
    // Slices that are computed before the loop may need fewer assumptions if their bounds are opaque values.
    let other = if first.needs.is_empty() { None } else { judge_by(func, r, callees, false).ok() };
    Ok(other.filter(|o| o.arrays == first.arrays && o.needs.len() < first.needs.len()).unwrap_or(first))
}

fn judge_by(func: &Function, r: &Region, callees: Callees<'_>, expand_slices: bool) -> Result<Judgement, Conflict> {
    let defs = Defs::new(func);
    let judge = Judge::new(func, &defs, r, callees, expand_slices);
    let effects = judge.effects();
    let mut accesses: Vec<Access> = r.blocks.iter().flat_map(|b| effects.of_block(*b)).collect();
    for a in &mut accesses {
        let block = a.block;
        a.written.clone_from(&a.index);
        for at in &mut a.index {
            *at = at.take().map(|e| judge.expand_slices(&e)).filter(|e| judge.bounds_hold(e, block));
        }
    }
    accesses.retain(|a| !judge.is_private(a) && !reduction_updates::stores_into_itself(&effects, a));
    // A loop that is checked runs in order.
    if func.options.parallel & (parallel::UNSAFE | parallel::RACE) == parallel::UNSAFE
        && let Some(conflict) = accesses.iter().find_map(|a| resized(func, a))
    {
        return Err(conflict);
    }
    judge.check_fields(&accesses)?;
    let (mut arrays, uses, mut needs): (Vec<ArrayReduce>, _, _) = (Vec::new(), uses(func, r), Vec::new());
    let mut doubt = None;
    for (i, w) in accesses.iter().enumerate().filter(|(_, a)| a.kind != Kind::Read) {
        let Root::Value(root) = w.root else {
            let text = "writes to memory of which it is not known where it belongs".to_owned();
            return Err(Conflict::of_elements(text, w.span, false));
        };
        if arrays.iter().any(|a| a.array == root) {
            continue;
        }
        if let Some(conflict) = resized(func, w) {
            return Err(conflict);
        }
        for (j, x) in accesses.iter().enumerate() {
            let is_other = x.root != w.root || (x.kind != Kind::Read && j < i);
            if is_other || judge.store_same(w, x) {
                continue;
            }
            if let Some(e) = judge.are_independent(w, x) {
                needs.extend(e.into_iter().map(|e| (e, w.span)));
                continue;
            }
            let updated = reduction_updates::reduction(&effects, &uses, &accesses, root);
            match updated.or_else(|| judge.privatize(&accesses, root)) {
                Some(a) => arrays.push(a),
                None => {
                    let race = conflict(w, x, &name_of(func, root, "an array"));
                    let Some(test) = judge.test_of(w, x, &accesses) else {
                        return Err(Conflict { race, is_proven: judge.meet(w, x) });
                    };
                    doubt.get_or_insert(race);
                    needs.push((test, w.span));
                    continue;
                }
            }
            break;
        }
    }
    needs.extend(judge.alias_tests(&accesses, &arrays)?);
    needs.sort_by_cached_key(|e| format!("{e:?}"));
    needs.dedup_by(|a, b| a.0 == b.0);
    Ok(Judgement { arrays, needs, doubt })
}

/// The conflict of an access that changes the length of a container, if it is known which.
fn resized(func: &Function, a: &Access) -> Option<Conflict> {
    let (Kind::Resize, Root::Value(root)) = (a.kind, a.root) else { return None };
    let container = format!("a {}", func.ty(root).class().map_or("container", Class::name));
    let text = format!("changes the length of {}, which all iterations share", name_of(func, root, &container));
    let race = Race { text, way: LENGTH.into(), first: a.span, second: None };
    Some(Conflict { race, is_proven: true })
}

/// Whether a value points into an array's memory.
pub(crate) fn points_into(func: &Function, r: &Region, callees: Callees<'_>, v: Value, array: Value) -> bool {
    let (defs, inside) = (Defs::new(func), r.defined(func));
    let effects = Effects::new(func, &defs, callees).within(&inside);
    effects.of_value(v).iter().any(|p| p.root == Root::Value(array))
}

/// The conflict of a loop with variables that need the order of iterations.
pub(crate) fn carried_conflict(func: &Function, l: &lh_ir::cfg::Loop, callees: Callees<'_>) -> Conflict {
    let defs = Defs::new(func);
    let cfg = Cfg::new(func);
    let header = &func.blocks[l.header.index()];
    let mut first = header.term_span;
    let region = region(func, &cfg, &DomTree::new(&cfg), l);
    let order_dependent = region.map_or_else(|_| Vec::new(), |r| order_dependent(func, &cfg, &r, callees));
    // The place of the assignment that the next iteration reads, if it is in the body.
    for e in cfg.preds(l.header).iter().filter(|e| l.blocks.contains(&e.from)) {
        for (place, _) in order_dependent.iter().rev() {
            let (v, p) = (&target_of(func, *e).args[*place], &header.params[*place]);
            let b = defs.block(*v).filter(|b| l.blocks.contains(b) && v != p);
            let made = b.and_then(|b| func.blocks[b.index()].insts.iter().find(|d| d.result == Some(*v)));
            if let Some(d) = made.filter(|d| d.span.line != header.term_span.line && d.span.line != 0) {
                first = d.span;
            }
        }
    }
    let name =
        order_dependent.iter().map(|(place, _)| name_of(func, header.params[*place], "")).find(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "a variable".to_owned());
    if !order_dependent.is_empty() && order_dependent.iter().all(|(_, is_for_nan)| *is_for_nan) {
        let text = format!("keeps {name} where a comparison holds: a NaN is taken, and all before it forgotten");
        return Conflict { race: Race { text, way: FIRST.into(), first, second: None }, is_proven: false };
    }
    let is_proven = order_dependent.iter().any(|(place, _)| is_needed(func, &cfg, &defs, l, *place));
    let text = format!("gives {name} a value that the next iteration needs");
    Conflict { race: Race { text, way: VARIABLES.into(), first, second: None }, is_proven }
}

/// Whether every iteration gives a variable of the loop another value, and every iteration reads what the one before
/// has given.
fn is_needed(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop, place: usize) -> bool {
    let dom = DomTree::new(cfg);
    let p = func.blocks[l.header.index()].params[place];
    // It may be that only the first iteration asks whether it is assigned.
    if matches!(func.ty(p).kind(), TyKind::MaybeUnbound(_)) {
        return false;
    }
    let is_kept = |v: &Value| {
        let (mut all, mut at) = (vec![*v], 0);
        while at < all.len() {
            match defs.inst(func, all[at]) {
                Some(Inst::Const(_) | Inst::Zero) => return true,
                Some(Inst::Op(op, args)) if op.is(Algebra::Select) => all.extend_from_slice(&args[1..]),
                Some(Inst::Cast(x) | Inst::Some(x)) => all.push(*x),
                Some(_) => {}
                None if all[at] == p || !defs.block(all[at]).is_some_and(|b| l.blocks.contains(&b)) => return true,
                None => {
                    let Some(b) = defs.block(all[at]) else { return true };
                    let Some(which) = func.blocks[b.index()].params.iter().position(|x| *x == all[at]) else {
                        return true;
                    };
                    let from = cfg.preds(b).iter().map(|e| target_of(func, *e).args[which]);
                    let new: Vec<Value> = from.filter(|x| !all.contains(x)).collect();
                    all.extend(new);
                }
            }
            at += 1;
        }
        false
    };
    let mut latches = cfg.preds(l.header).iter().filter(|e| l.blocks.contains(&e.from));
    let is_read = |b: &Block| {
        let is_operand = |d: &lh_ir::func::InstData| {
            let mut found = false;
            d.inst.for_each_operand(|v| found |= v == p);
            found && !matches!(&d.inst, Inst::Op(op, _) if op.is(Algebra::Select))
        };
        l.latches.iter().all(|end| dom.dominates(*b, *end)) && func.blocks[b.index()].insts.iter().any(is_operand)
    };
    latches.all(|e| !is_kept(&target_of(func, *e).args[place])) && l.blocks.iter().any(is_read)
}

/// The conflict of an array that all iterations update and that cannot have private copies.
pub(crate) fn shared_conflict(func: &Function, a: &ArrayReduce, first: Span) -> Conflict {
    let text = format!("updates elements of {} that all iterations share", name_of(func, a.array, "an array"));
    Conflict::of_elements(text, first, false)
}

fn conflict(w: &Access, x: &Access, name: &str) -> Race {
    let same = w.span == x.span && x.kind != Kind::Read;
    let text = match (same, x.kind) {
        (true, _) => format!("may write the same element of {name} in different iterations"),
        (false, Kind::Read) => format!("may write an element of {name} that another iteration reads"),
        (false, Kind::Write | Kind::Resize) => {
            format!("may write an element of {name} that another iteration writes too")
        }
    };
    Race { text, way: ELEMENTS.into(), first: w.span, second: (!same).then_some(x.span) }
}

/// The induction variable of an inner loop.
struct InnerLoop {
    index: Value,
    low: Expr,
    /// Its exclusive upper bound.
    limit: Expr,
    /// Blocks in which the bounds hold.
    body: Vec<Block>,
    header: Block,
    latches: Vec<Block>,
    step: i64,
}

struct Judge<'a> {
    func: &'a Function,
    defs: &'a Defs,
    dom: DomTree,
    region: &'a Region,
    index: Value,
    limit: Expr,
    /// By value: whether the loop defines it.
    inside: Vec<bool>,
    inner: Vec<InnerLoop>,
    callees: Callees<'a>,
    /// Whether bounds of slices from before the loop are expanded to the program's expressions.
    expand_slices: bool,
}

/// An index as a linear function of induction variables.
#[derive(PartialEq)]
struct LinearIndex {
    /// Coefficient of the loop's induction variable.
    factor: Expr,
    /// Loop-invariant terms.
    fixed: Expr,
    /// Induction variables of inner loops with their coefficients.
    inner: Vec<(Value, i64)>,
}

impl<'a> Judge<'a> {
    fn new(func: &'a Function, defs: &'a Defs, r: &'a Region, callees: Callees<'a>, expand_slices: bool) -> Judge<'a> {
        let cfg = Cfg::new(func);
        let dom = DomTree::new(&cfg);
        let mut inner = Vec::new();
        for l in
            Loops::new(func, &cfg, &dom).loops.iter().filter(|l| r.inside[l.header.index()] && l.header != r.header)
        {
            let Some(Counted { index, limit, step, place, .. }) = counted(func, &cfg, defs, l) else { continue };
            let mut outside = cfg.preds(l.header).iter().filter(|e| !l.blocks.contains(&e.from));
            let (Some(edge), None) = (outside.next(), outside.next()) else { continue };
            let start = expr(func, defs, target_of(func, *edge).args[place]);
            let limit = expr(func, defs, limit);
            let one = Expr::int(1);
            let (low, limit) = if step > 0 { (start, limit) } else { (limit.add(&one), start.add(&one)) };
            let body = l.blocks.iter().copied().filter(|b| *b != l.header).collect();
            let (header, latches) = (l.header, l.latches.clone());
            inner.push(InnerLoop { index, low, limit, body, header, latches, step });
        }
        let limit = expr(func, defs, r.counted.limit);
        Judge {
            func,
            defs,
            dom,
            region: r,
            index: r.counted.index,
            limit,
            inside: r.defined(func),
            inner,
            callees,
            expand_slices,
        }
    }

    fn is_invariant(&self, s: &Sym) -> bool {
        match s {
            Sym::Val(v) | Sym::Shape(v, _) | Sym::Stride(v, _) => !self.inside[v.index()],
            Sym::Within(_) | Sym::Overflow => false,
        }
    }

    /// Whether the bounds of all inner induction variables in an index hold in a block.
    fn bounds_hold(&self, e: &Expr, b: Block) -> bool {
        e.all(|s| self.inner.iter().all(|i| *s != Sym::Val(i.index) || i.body.contains(&b)))
    }

    /// Whether an access is to memory that the iteration has allocated.
    fn is_private(&self, a: &Access) -> bool {
        match a.root {
            Root::Fresh => true,
            // A part of a parameter is no new memory, wherever it is read.
            Root::Value(v) => self.inside[v.index()] && !matches!(self.defs.inst(self.func, v), Some(Inst::Field(..))),
            Root::Inside(v) => self.inside[v.index()] || a.kind == Kind::Read,
            Root::Unknown => a.kind == Kind::Read,
        }
    }

    fn split(&self, e: &Expr) -> Option<LinearIndex> {
        let mut out = LinearIndex { factor: Expr::default(), fixed: Expr::int(e.constant), inner: Vec::new() };
        let index = Sym::Val(self.index);
        for (product, c) in &e.terms {
            if let Some(factor) = Expr::factor(product, *c, index) {
                if !self.all_fixed(&factor) {
                    return None;
                }
                out.factor = out.factor.add(&factor);
            } else if product.iter().all(|s| self.is_invariant(s)) {
                out.fixed = out.fixed.add(&Expr { terms: vec![(product.clone(), *c)], constant: 0 });
            } else {
                match product[..] {
                    [Sym::Val(v)] if self.inner.iter().any(|i| i.index == v) => out.inner.push((v, *c)),
                    _ => return None,
                }
            }
        }
        Some(out)
    }

    /// Assumptions under which two accesses never meet in different iterations; `None` if there is no proof.
    fn are_independent(&self, w: &Access, x: &Access) -> Option<Vec<Need>> {
        let all: Vec<usize> = (0..w.index.len().min(x.index.len())).collect();
        let is_apart = |d: &usize| match (&w.index[*d], &x.index[*d]) {
            (Some(a), Some(b)) => self.differs(a, b) || self.follow_in_order(a, b),
            _ => false,
        };
        let by_one = all.iter().filter(|d| is_apart(d)).map(|d| vec![*d]);
        let mut proofs: Vec<Vec<usize>> = by_one.chain(self.is_unravelled(w, x).then_some(all.clone())).collect();
        if proofs.is_empty() {
            proofs = self.disjoint(w, x);
        }
        proofs.into_iter().filter_map(|along| self.needs(w, x, &along)).min_by_key(Vec::len)
    }

    /// Effects in which an array out of a field, read before the loop, is an array of its own.
    fn effects(&self) -> Effects<'_> {
        Effects::new(self.func, self.defs, self.callees).within(&self.inside)
    }

    /// Refuses a loop that writes to an array out of a field, or to one made of others, if it also reaches memory
    /// through objects: that may be the same, and no test would tell.
    fn check_fields(&self, accesses: &[Access]) -> Result<(), Conflict> {
        let effects = self.effects();
        let is_load = |v: Value| matches!(self.defs.inst(self.func, v), Some(Inst::Load(_)));
        let is_field = |v: Value| is_load(v) || effects.is_lent(v);
        let writes = |a: &&Access| match a.root {
            Root::Value(v) => a.kind != Kind::Read && is_field(v) && !self.inside[v.index()],
            Root::Inside(_) | Root::Fresh | Root::Unknown => false,
        };
        let Some(w) = accesses.iter().find(writes) else { return Ok(()) };
        let hides = |a: &&Access| match a.root {
            Root::Inside(v) => !self.inside[v.index()],
            Root::Value(v) => is_field(v) && !self.defs.reaches(&self.dom, v, self.region.header),
            Root::Unknown => true,
            Root::Fresh => false,
        };
        let Some(x) = accesses.iter().find(hides) else { return Ok(()) };
        let text = "writes to an array out of an object, which may be one that it reaches through another".to_owned();
        let mut conflict = Conflict::of_elements(text, w.span, false);
        conflict.race.second = (x.span != w.span).then_some(x.span);
        Err(conflict)
    }

    /// Whether every iteration makes an access, if inner loops have iterations: one of the program itself, under no
    /// condition.
    fn is_unconditional(&self, a: &Access) -> bool {
        let is_call = matches!(self.func.blocks[a.block.index()].insts[a.at].inst, Inst::Call(..) | Inst::Foreign(..));
        let ends = |header: Block, latches: &[Block], b: Block| {
            b == header || latches.iter().all(|l| self.dom.dominates(b, *l))
        };
        let mut around: Vec<&InnerLoop> = self.inner.iter().filter(|l| l.body.contains(&a.block)).collect();
        around.sort_by_key(|l| l.body.len());
        let mut at = a.block;
        for l in around {
            let is_within = |to: Block| to == l.header || l.body.contains(&to) || !self.region.inside[to.index()];
            let leaves_early = l.body.iter().any(|b| targets(self.func, *b).any(|(_, t)| !is_within(t.block)));
            if leaves_early || !ends(l.header, &l.latches, at) {
                return false;
            }
            at = l.header;
        }
        let header = self.region.header;
        let is_latch = |b: &&Block| targets(self.func, **b).any(|(_, t)| t.block == header);
        let latches: Vec<Block> = self.region.blocks.iter().filter(is_latch).copied().collect();
        !is_call && ends(header, &latches, at)
    }

    /// Whether two accesses meet in different iterations for certain: their indices are known, and at one distance of
    /// iterations along all dimensions.
    fn meet(&self, w: &Access, x: &Access) -> bool {
        let mut distance = None;
        let mut along = w.index.iter().zip(&x.index);
        let is_whole = |s: &Sym| match s {
            Sym::Within(v) => !self.inside[v.index()],
            s => self.is_invariant(s),
        };
        // Inner loops over the same elements in each iteration.
        let is_fixed = |(v, _): &(Value, i64)| {
            let bounds = self.inner.iter().find(|l| l.index == *v).map(|l| [&l.low, &l.limit]);
            bounds.is_some_and(|bounds| bounds.iter().all(|e| self.all_fixed(e)))
        };
        let Root::Value(root) = w.root else { return false };
        let rank = self.func.ty(root).as_array().map_or(0, |(_, ndim, ..)| ndim);
        let is_same_place = rank > 0 || (w.block, w.at) == (x.block, x.at);
        w.index.len() == rank
            && x.index.len() == rank
            && is_same_place
            && self.is_unconditional(w)
            && self.is_unconditional(x)
            && along.all(|(a, b)| {
                let (Some(a), Some(b)) = (a, b) else { return false };
                if a == b && a.all(is_whole) {
                    return true;
                }
                let (Some(a), Some(b)) = (self.split(a), self.split(b)) else { return false };
                let (factor, apart) = (a.factor.as_int(), a.fixed.sub(&b.fixed).as_int());
                let (Some(factor), Some(apart)) = (factor, apart) else { return false };
                if a.factor != b.factor || a.inner != b.inner || !a.inner.iter().all(is_fixed) {
                    return false;
                }
                if factor == 0 {
                    return apart == 0;
                }
                let iterations = apart / factor;
                apart % factor == 0 && iterations != 0 && *distance.get_or_insert(iterations) == iterations
            })
            && distance.is_none_or(|d| self.limit.as_int().is_none_or(|n| d.abs() < n))
    }

    /// Whether both accesses store one invariant value, as in a sieve: their order does not matter.
    fn store_same(&self, w: &Access, x: &Access) -> bool {
        let stored = |a: &Access| match self.func.blocks[a.block.index()].insts[a.at].inst {
            Inst::Store(_, v) => Some(v),
            _ => None,
        };
        stored(w).zip(stored(x)).is_some_and(|(a, b)| self.is_same(a, b))
    }

    fn is_same(&self, a: Value, b: Value) -> bool {
        let inst = |v| self.defs.inst(self.func, v);
        match (inst(a), inst(b)) {
            (Some(Inst::Const(x)), Some(Inst::Const(y))) => x.same(y),
            (Some(Inst::Zero), Some(Inst::Zero)) => true,
            (Some(Inst::Cast(x)), Some(Inst::Cast(y))) => self.func.ty(a) == self.func.ty(b) && self.is_same(*x, *y),
            (Some(Inst::Field(x, i)), Some(Inst::Field(y, j))) => i == j && self.is_same(*x, *y),
            (Some(Inst::Pack(x)), Some(Inst::Pack(y))) => x.iter().zip(y).all(|(x, y)| self.is_same(*x, *y)),
            _ => a == b && !self.inside[a.index()],
        }
    }

    /// Whether an index differs between any two iterations, for all values of inner induction variables.
    fn differs(&self, a: &Expr, b: &Expr) -> bool {
        let (Some(a), Some(b)) = (self.split(a), self.split(b)) else { return false };
        if a.factor != b.factor || a.factor == Expr::default() {
            return false;
        }
        let distance = a.fixed.sub(&b.fixed);
        if a.inner.is_empty() && b.inner.is_empty() {
            return match (a.factor.as_int(), distance.as_int()) {
                (_, Some(0)) => true,
                // Accesses at a distance that is a multiple of the coefficient meet, unless the loop has too few
                // iterations.
                (Some(c), Some(d)) => {
                    let (c, d) = (i128::from(c), i128::from(d));
                    d % c != 0 || self.limit.as_int().is_some_and(|n| (d / c).abs() >= n.into())
                }
                _ => false,
            };
        }
        // Disjoint windows: in `i * w + j`, `j` is below `w`.
        let (Some(low_a), Some(low_b)) = (self.inner_maximum(&a), self.inner_maximum(&b)) else { return false };
        match (a.factor.as_int(), low_a.as_int(), low_b.as_int(), distance.as_int()) {
            (Some(c), Some(m), Some(n), Some(d)) => {
                let [c, m, n, d] = [c, m, n, d].map(i128::from);
                let (low, high) = (0.min(d), (d + m).max(n));
                high - low < c.abs()
            }
            _ => {
                // The coefficient itself is the width of the window, and both windows begin at its start.
                let fits = |s: &LinearIndex, last: &Expr| s.factor.sub(last).as_int().is_some_and(|room| room >= 1);
                distance.as_int() == Some(0) && fits(&a, &low_a) && fits(&b, &low_b)
            }
        }
    }

    /// The maximum of the inner induction variables' terms, whose minimum is 0.
    fn inner_maximum(&self, s: &LinearIndex) -> Option<Expr> {
        let mut sum = Expr::int(0);
        for (v, c) in &s.inner {
            let InnerLoop { low, limit, .. } = self.inner.iter().find(|i| i.index == *v)?;
            low.as_int().filter(|l| *l >= 0)?;
            let fixed = self.all_fixed(limit);
            if *c <= 0 || !fixed {
                return None;
            }
            sum = sum.add(&limit.sub(&Expr::int(1)).scale(*c));
        }
        Some(sum)
    }

    /// Whether both indices are equal and consist of quotients and remainders that together determine the induction
    /// variable, as an index of `pndindex` does.
    fn is_unravelled(&self, w: &Access, x: &Access) -> bool {
        if w.index != x.index {
            return false;
        }
        let single = |e: &Option<Expr>| match e.as_ref().map(|e| &e.terms[..]) {
            Some([(product, 1 | -1)]) => match product[..] {
                [Sym::Val(v)] => Some(v),
                _ => None,
            },
            _ => None,
        };
        let parts: Vec<Value> = w.index.iter().filter_map(single).collect();
        self.determines(&parts, self.index)
    }

    fn determines(&self, parts: &[Value], v: Value) -> bool {
        if parts.contains(&v) {
            return true;
        }
        let by = |algebra, p: Value| match self.defs.inst(self.func, p) {
            Some(Inst::Op(op, args)) if op.is(algebra) && args[0] == v => Some(expr(self.func, self.defs, args[1])),
            _ => None,
        };
        let remainders = parts.iter().filter_map(|p| by(Algebra::Remainder, *p));
        let all = self.func.blocks.iter().flat_map(|b| &b.insts).filter_map(|d| d.result);
        let quotients: Vec<(Value, Expr)> = all.filter_map(|q| by(Algebra::Quotient, q).map(|n| (q, n))).collect();
        remainders.into_iter().any(|n| quotients.iter().any(|(q, m)| *m == n && self.determines(parts, *q)))
    }
}
