//! Memory that a function reads and writes, as far as its typed form tells.
//!
//! An access has a root, which is the array or container that it addresses, and for each dimension of the root an
//! index: an expression, or any. A root is a parameter, a value of the function, memory that the function has
//! allocated, memory that only containers hold, or unknown.
//!
//! [`summary`] gives the effects of a function in terms of its parameters, for its callers.

pub(crate) mod expr;
mod place;

use crate::analysis::cost;
use crate::analysis::counted::Defs;
use expr::{Expr, Sym, expr};
use lh_ir::cfg::Cfg;
use lh_ir::func::{Inst, InstData, Term};
use lh_ir::runtime::{Effect, Memory, Rmw, Role, RuntimeFn, Threads};
use lh_ir::types::Holds;
use lh_ir::{Block, Function, Meaning, Span, SpecId, Ty, Value};
use lh_ops::runtime as rt;
use place::{Answers, Place, PlaceFinder};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::Arc;

/// The allocation that an access addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// This array, container or address.
    Value(Value),
    /// Memory that is reached through this container only: none that the function itself has a value for.
    Inside(Value),
    /// None: the value refers to no memory.
    Fresh,
    /// An unknown allocation.
    Unknown,
}

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    Read,
    Write,
    /// The length of a container, or its storage, changes.
    Resize,
}

/// An access to memory.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) root: Root,
    /// An index for each dimension of the root; `None` is any index.
    pub(crate) index: Vec<Option<Expr>>,
    /// The indices as the program wrote them, before they are simplified.
    pub(crate) written: Vec<Option<Expr>>,
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    pub(crate) block: Block,
    /// Position of the instruction in the block.
    pub(crate) at: usize,
}

/// Effects of a function on its parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Parameter, index in terms of parameters, and kind.
    uses: Vec<(u32, Vec<Option<ParamExpr>>, Kind)>,
    /// Accesses to memory that is reached through a parameter, which is a container.
    inside: Vec<(u32, Kind)>,
    /// Parameters that the result may alias.
    returns: Vec<u32>,
    /// Parameters that the result may hold, and those through which it, or what it holds, may be reached.
    reaches: Vec<u32>,
    /// The result may be or hold memory of unknown origin.
    returns_unknown: bool,
    /// It accesses memory whose root is unknown.
    unknown: Option<Kind>,
    pub(crate) meaning: Option<Meaning>,
    /// Its result depends on the number of the thread that runs it.
    uses_thread: bool,
    /// It calls Python.
    enters_python: bool,
    /// Where it returns, it is a pure function of its parameters, without memory.
    deterministic: bool,
    /// Where it returns, it has no side effect; it may raise.
    no_effect: bool,
    /// It does nothing but read memory, atomically in part.
    polls: bool,
    /// It may raise.
    raises: bool,
    /// The estimated time of a call; `None` if it may run for long.
    pub(crate) picoseconds: Option<i64>,
}

/// The meaning that the library declares for a function, if it holds for its types.
pub(crate) fn meaning(func: &Function) -> Option<Meaning> {
    let all = |is: fn(Ty) -> bool| func.params().iter().all(|v| is(func.ty(*v)));
    func.meaning.filter(|meaning| match meaning {
        Meaning::Quotient => all(Ty::is_int),
        Meaning::ComplexSum | Meaning::ComplexDifference | Meaning::ComplexProduct => all(Ty::is_complex),
        Meaning::Extreme => func.params().iter().all(|v| Some(func.ty(*v)) == func.ret),
        Meaning::Fill | Meaning::Selection | Meaning::SliceBounds | Meaning::Statistic => true,
    })
}

impl Summary {
    /// The summary of a function of which nothing is known.
    pub fn unknown() -> Summary {
        Summary { unknown: Some(Kind::Write), returns_unknown: true, uses_thread: true, ..Summary::default() }
    }
    /// Parameters whose memory it may write, as [`lh_ir::func::Foreign`] has it.
    pub fn writes(&self) -> u32 {
        if matches!(self.unknown, Some(Kind::Write | Kind::Resize)) {
            return u32::MAX;
        }
        let of_params = self.uses.iter().map(|(param, _, kind)| (*param, *kind));
        let written = of_params.chain(self.inside.iter().copied()).filter(|(_, kind)| *kind != Kind::Read);
        written.fold(0, |mask, (param, _)| mask | 1 << param.min(31))
    }
    /// Whether its result may be a parameter, or hold it.
    pub(crate) fn may_return(&self, param: u32) -> bool {
        self.returns.contains(&param) || self.reaches.contains(&param)
    }
    /// Whether it may change memory of its callers.
    fn changes_memory(&self) -> bool {
        self.writes() != 0
    }
}

/// An expression over the callee's parameters.
type ParamExpr = Expr;

/// Summaries of callees.
pub type Callees<'a> = &'a dyn Fn(SpecId) -> Option<Arc<Summary>>;

/// The effects of one function's instructions.
pub(crate) struct Effects<'a> {
    pub(crate) func: &'a Function,
    pub(crate) defs: &'a Defs,
    pub(crate) callees: Callees<'a>,
    /// If given, by value, whether a loop defines it: arrays out of fields that are read before the loop are roots, and
    /// so are contiguous arrays that are made before it of others in a way that is not known.
    inside: Option<&'a [bool]>,
    /// Answers that further questions need again.
    answers: Answers,
}

impl<'a> Effects<'a> {
    pub(crate) fn new(func: &'a Function, defs: &'a Defs, callees: Callees<'a>) -> Effects<'a> {
        Effects { func, defs, callees, inside: None, answers: Answers::default() }
    }

    /// The effects as a loop sees them, of which `inside` tells which values it defines.
    pub(crate) fn within(self, inside: &'a [bool]) -> Effects<'a> {
        Effects { inside: Some(inside), ..self }
    }

    fn finder(&self) -> PlaceFinder<'_> {
        PlaceFinder {
            func: self.func,
            defs: self.defs,
            callees: self.callees,
            inside: self.inside,
            answers: &self.answers,
            in_stores: Cell::default(),
            steps: Cell::default(),
        }
    }

    /// All accesses of a block.
    pub(crate) fn of_block(&self, b: Block) -> Vec<Access> {
        let mut out = Vec::new();
        for (at, d) in self.func.blocks[b.index()].insts.iter().enumerate() {
            self.of_inst(d, &mut |place, kind| {
                out.push(Access {
                    root: place.root,
                    index: place.index,
                    written: Vec::new(),
                    kind,
                    span: d.span,
                    block: b,
                    at,
                });
            });
        }
        out
    }

    /// All memory that a value refers to.
    pub(crate) fn of_value(&self, v: Value) -> Vec<Place> {
        self.finder().of_value(v)
    }

    /// Whether an array is a root that may be a view of others.
    pub(crate) fn is_lent(&self, v: Value) -> bool {
        self.finder().is_lent(v)
    }

    /// The element at an address.
    pub(crate) fn of_address(&self, p: Value) -> Vec<Place> {
        self.finder().of_address(p)
    }

    /// Whether two arrays are the same part of one root.
    pub(crate) fn same_view(&self, a: Value, b: Value) -> bool {
        let extent = |v: Value| expr(self.func, self.defs, v);
        let views = self.finder().view(a).zip(self.finder().view(b));
        views.is_some_and(|(a, b)| a.is_same(&b, &extent))
    }

    /// The root's dimension that each dimension of an array runs along; `None`: any.
    pub(crate) fn along(&self, v: Value) -> Vec<Option<usize>> {
        self.finder().view(v).map_or_else(Vec::new, |view| view.dimensions())
    }

    /// Indices of all accesses of a callee, in terms of the caller's values.
    pub(crate) fn indices_of_call(&self, spec: SpecId, args: &[Value]) -> Vec<Expr> {
        let of = |s: Sym| self.argument(s, args);
        let summary = (self.callees)(spec);
        let uses = summary.iter().flat_map(|s| &s.uses).flat_map(|(_, index, _)| index);
        uses.filter_map(|e| e.as_ref()?.replace(&of)).collect()
    }

    fn of_inst(&self, d: &InstData, emit: &mut dyn FnMut(Place, Kind)) {
        let finder = self.finder();
        let mut whole = |v: Value, kind: Kind| {
            for place in finder.of_value(v) {
                emit(place, kind);
            }
        };
        match &d.inst {
            Inst::Load(p) | Inst::Take(p) => finder.of_address(*p).into_iter().for_each(|pl| emit(pl, Kind::Read)),
            Inst::Store(p, _) => finder.of_address(*p).into_iter().for_each(|pl| emit(pl, Kind::Write)),
            Inst::Map(_, args) => args.iter().for_each(|v| whole(*v, Kind::Read)),
            Inst::MapInto(_, args) => {
                args[1..].iter().for_each(|v| whole(*v, Kind::Read));
                whole(args[0], Kind::Write);
            }
            Inst::Runtime(f, _) if is_apart(f) => {}
            Inst::Runtime(f, args) => {
                let mut at = 0;
                for a in args {
                    whole(*a, kind_of_use(f, at));
                    at += self.func.ty(*a).flatten().len();
                }
                if f.memory == Effect::Unknown {
                    emit(Place { root: Root::Unknown, index: Vec::new() }, Kind::Write);
                }
            }
            Inst::Call(spec, args) => self.of_call(*spec, args, emit),
            Inst::Foreign(f, args) => {
                for (i, v) in args.iter().skip(1).enumerate() {
                    self.of_all(*v, if f.may_write(i) { Kind::Write } else { Kind::Read }, emit);
                }
            }
            Inst::ParFor(_, args) => args.iter().for_each(|v| self.of_all(*v, Kind::Write, emit)),
            Inst::Const(_)
            | Inst::Zero
            | Inst::Op(..)
            | Inst::Cast(_)
            | Inst::Pack(_)
            | Inst::Field(..)
            | Inst::Some(_)
            | Inst::IsSome(_)
            | Inst::Unwrap(_)
            | Inst::SlotGet(_)
            | Inst::SlotSet(..)
            | Inst::ArrayMake { .. }
            | Inst::ArrayOwner(_)
            | Inst::ArrayData(_)
            | Inst::ArrayShape(..)
            | Inst::ArrayStride(..)
            | Inst::ElemPtr { .. }
            | Inst::PtrAdd(..)
            | Inst::New(_)
            | Inst::ItemsData(_)
            | Inst::FieldPtr(..)
            // A length changes only by a resize, which the judge refuses in any case.
            | Inst::ItemsLen(_)
            | Inst::IncRef(_)
            | Inst::Extern(_)
            | Inst::DecRef(_) => {}
        }
    }

    fn of_call(&self, spec: SpecId, args: &[Value], emit: &mut dyn FnMut(Place, Kind)) {
        let finder = self.finder();
        let Some(summary) = (self.callees)(spec) else {
            // The callee is being compiled: the function is recursive.
            args.iter().for_each(|v| self.of_all(*v, Kind::Write, emit));
            return;
        };
        if let Some(kind) = summary.unknown {
            emit(Place { root: Root::Unknown, index: Vec::new() }, kind);
        }
        for (param, index, kind) in &summary.uses {
            let Some(arg) = args.get(*param as usize) else { continue };
            let of = |s: Sym| self.argument(s, args);
            let index: Vec<Option<Expr>> = index.iter().map(|e| e.as_ref().and_then(|e| e.replace(&of))).collect();
            for place in finder.of_view(*arg, &index) {
                emit(place, *kind);
            }
        }
        for (param, kind) in &summary.inside {
            args.get(*param as usize).into_iter().for_each(|arg| self.inside_of(*arg, *kind, emit));
        }
    }

    /// An access to the memory of a value and to what is reached through it.
    fn of_all(&self, v: Value, kind: Kind, emit: &mut dyn FnMut(Place, Kind)) {
        self.finder().of_value(v).into_iter().for_each(|p| emit(p, kind));
        self.inside_of(v, kind, emit);
    }

    /// An access to memory that is reached through a value.
    fn inside_of(&self, v: Value, kind: Kind, emit: &mut dyn FnMut(Place, Kind)) {
        for root in self.finder().inside(v) {
            emit(Place { root, index: Vec::new() }, kind);
        }
    }

    /// The caller's expression for a quantity of a callee's summary, in which parameters are numbered as values.
    fn argument(&self, s: Sym, args: &[Value]) -> Option<Expr> {
        match s {
            Sym::Val(p) => args.get(p.index()).map(|v| expr(self.func, self.defs, *v)),
            Sym::Shape(p, d) => args.get(p.index()).map(|v| Expr::sym(Sym::Shape(*v, d))),
            Sym::Stride(..) | Sym::Within(_) | Sym::Overflow => None,
        }
    }
}

/// How a run-time function uses the memory behind its operand whose first primitive is at a place.
fn kind_of_use(f: &RuntimeFn, at: usize) -> Kind {
    match f.memory {
        Effect::Unknown => Kind::Write,
        Effect::Operands { resizes, .. } if resizes >> at & 1 == 1 => Kind::Resize,
        Effect::Operands { writes, .. } if writes >> at & 1 == 1 => Kind::Write,
        Effect::Operands { .. } => Kind::Read,
    }
}

/// The effects of a function on its parameters. Recursive calls of `me` have the effects that are being computed: the
/// least fixed point.
pub(crate) fn summary(func: &Function, me: SpecId, callees: Callees<'_>) -> Summary {
    let all = func.blocks.iter().flat_map(|b| &b.insts);
    if !all.into_iter().any(|d| matches!(d.inst, Inst::Call(spec, _) if spec == me)) {
        return summarize_once(func, callees);
    }
    // Iteration starts without effects. Without indices the lattice is small.
    let mut known = Arc::new(Summary::default());
    loop {
        let mut next = summarize_once(func, &|s| if s == me { Some(known.clone()) } else { callees(s) });
        next.uses.iter_mut().for_each(|(_, index, _)| index.fill(None));
        next.uses.sort_by_key(|(param, index, kind)| (*param, index.len(), *kind));
        next.uses.dedup();
        next.inside.sort_unstable();
        next.returns.sort_unstable();
        next.reaches.sort_unstable();
        if next == *known {
            return next;
        }
        known = Arc::new(next);
    }
}

/// Whether equal operands give an equal result: `Some(true)` if memory must be equal, too, `None` if they do not.
pub(crate) fn deterministic(inst: &Inst, callees: Callees<'_>) -> Option<bool> {
    match inst {
        Inst::Call(f, _) => callees(*f).is_some_and(|s| s.deterministic).then_some(false),
        Inst::ElemPtr { .. } => Some(false),
        Inst::Load(_) | Inst::ItemsLen(_) | Inst::ItemsData(_) => Some(true),
        Inst::Runtime(..) | Inst::SlotGet(_) | Inst::New(_) => None,
        _ => inst.is_pure().then_some(false),
    }
}

/// Whether an instruction has no side effect, though it may raise.
pub(crate) fn has_no_effect(inst: &Inst, callees: Callees<'_>) -> bool {
    match inst {
        Inst::Call(f, _) => callees(*f).is_some_and(|s| s.no_effect),
        Inst::Runtime(f, _) => f.has_no_effect(),
        Inst::Map(..) => true,
        _ => inst.is_pure() || deterministic(inst, callees).is_some(),
    }
}

/// As [`has_no_effect`], in kernels.
pub(crate) fn only_reads(inst: &Inst, callees: Callees<'_>) -> bool {
    matches!(inst, Inst::Runtime(f, _) if f.is_launch_shape()) || has_no_effect(inst, callees)
}

/// Whether an instruction reads memory atomically, and changes none as long as a loop goes on that waits for it.
pub(crate) fn polls(func: &Function, defs: &Defs, inst: &Inst, callees: Callees<'_>) -> bool {
    match inst {
        Inst::Call(f, _) => callees(*f).is_some_and(|s| s.polls),
        Inst::Runtime(f, args) => match f.role {
            Role::Memory(Memory::Fence) => true,
            Role::Atomic(Rmw::Add | Rmw::Or | Rmw::Xor, _) => defs.int(func, args[1]) == Some(0),
            // Where it changes something, as a lock does, the loop ends.
            Role::Atomic(Rmw::CompareExchange, _) => true,
            _ => false,
        },
        _ => false,
    }
}

/// Whether a call has no side effect and cannot raise.
pub(crate) fn is_total(func: &Function, defs: &Defs, inst: &Inst, callees: Callees<'_>) -> bool {
    let Inst::Call(f, args) = inst else { return false };
    let divides = |v: Value| defs.int(func, v).is_some_and(|n| n != 0);
    callees(*f)
        .is_some_and(|s| s.no_effect && (!s.raises || (s.meaning == Some(Meaning::Quotient) && divides(args[1]))))
}

fn summarize_once(func: &Function, callees: Callees<'_>) -> Summary {
    let defs = Defs::new(func);
    let effects = Effects::new(func, &defs, callees);
    let params = func.params();
    let number = |v: Value| params.iter().position(|p| *p == v);
    let picoseconds = cost::of_call(func, callees);
    let mut out = Summary { meaning: meaning(func), picoseconds, ..Summary::default() };
    let note = |out: &mut Summary, kind: Kind| {
        if out.unknown != Some(Kind::Write) {
            out.unknown = Some(kind);
        }
    };
    for b in 0..func.blocks.len() {
        out.raises |=
            func.blocks[b].insts.iter().any(|d| d.inst.can_raise() && !is_total(func, &defs, &d.inst, callees));
        out.raises |= matches!(func.blocks[b].term, Some(Term::Raise { .. } | Term::Propagate));
        out.uses_thread |= func.blocks[b].insts.iter().any(|d| uses_thread(&d.inst, callees));
        out.enters_python |= func.blocks[b].insts.iter().any(|d| enters_python(&d.inst, callees));
        for a in effects.of_block(Block::new(b)) {
            let v = match a.root {
                Root::Value(v) | Root::Inside(v) => v,
                Root::Fresh => continue,
                Root::Unknown => {
                    note(&mut out, a.kind);
                    continue;
                }
            };
            let Some(p) = number(v) else {
                // Memory that the function has allocated is private.
                if defs.inst(func, v).is_none_or(|i| !makes_memory(i)) {
                    note(&mut out, a.kind);
                }
                continue;
            };
            if a.root == Root::Inside(v) {
                add(&mut out.inside, (p as u32, a.kind));
                continue;
            }
            let of = |s: Sym| match s {
                Sym::Val(v) => number(v).map(|i| Expr::sym(Sym::Val(Value::new(i)))),
                Sym::Shape(v, d) => number(v).map(|i| Expr::sym(Sym::Shape(Value::new(i), d))),
                Sym::Stride(..) | Sym::Within(_) | Sym::Overflow => None,
            };
            let index: Vec<Option<Expr>> = a.index.iter().map(|e| e.as_ref().and_then(|e| e.replace(&of))).collect();
            add(&mut out.uses, (p as u32, index, a.kind));
        }
        if let Some(Term::Return(v)) = &func.blocks[b].term {
            summarize_result(&effects, *v, &mut out);
        }
    }
    // An access to any element subsumes accesses to particular ones.
    let is_any = |index: &[Option<ParamExpr>]| index.iter().all(Option::is_none);
    let any: Vec<(u32, Kind)> = out.uses.iter().filter(|u| is_any(&u.1)).map(|u| (u.0, u.2)).collect();
    out.uses.retain(|(param, index, kind)| is_any(index) || !any.contains(&(*param, *kind)));
    let is_deterministic = |d: &InstData| deterministic(&d.inst, callees) == Some(false);
    out.deterministic = holds_on_return(func, &out, is_deterministic);
    out.no_effect = out.deterministic || holds_on_return(func, &out, |d| has_no_effect(&d.inst, callees));
    let insts = || func.blocks.iter().flat_map(|b| &b.insts);
    let polls = |d: &InstData| polls(func, &defs, &d.inst, callees);
    out.polls = insts().any(polls) && insts().all(|d| polls(d) || only_reads(&d.inst, callees));
    out
}

/// Whether all instructions are of a kind, but for those after which the function cannot return. These often make the
/// message of an exception. They must not write memory, which the caller's handler could read.
fn holds_on_return(func: &Function, known: &Summary, is_of_kind: impl Fn(&InstData) -> bool) -> bool {
    let others: Vec<usize> =
        (0..func.blocks.len()).filter(|b| !func.blocks[*b].insts.iter().all(&is_of_kind)).collect();
    if others.is_empty() || known.changes_memory() || !known.raises {
        return others.is_empty();
    }
    let cfg = Cfg::new(func);
    let mut returns = vec![false; func.blocks.len()];
    let mut todo: Vec<Block> =
        cfg.rpo().iter().copied().filter(|b| matches!(func.blocks[b.index()].term, Some(Term::Return(_)))).collect();
    while let Some(b) = todo.pop() {
        if !std::mem::replace(&mut returns[b.index()], true) {
            todo.extend(cfg.preds(b).iter().map(|e| e.from));
        }
    }
    !others.iter().any(|b| returns[*b])
}

/// Notes the parameters that a result may alias, hold or come out of.
fn summarize_result(effects: &Effects<'_>, result: Value, out: &mut Summary) {
    let params = effects.func.params();
    let number = |v: Value| params.iter().position(|p| *p == v).map(|p| p as u32);
    let finder = effects.finder();
    let is_result = finder.of_value(result).into_iter().map(|place| (place.root, true));
    for (root, is_result) in is_result.chain(finder.inside(result).into_iter().map(|root| (root, false))) {
        match root {
            Root::Value(v) => {
                let list = if is_result { &mut out.returns } else { &mut out.reaches };
                number(v).into_iter().for_each(|p| add(list, p));
            }
            Root::Inside(v) => number(v).into_iter().for_each(|p| add(&mut out.reaches, p)),
            Root::Unknown => {
                out.returns = (0..params.len() as u32).collect();
                out.reaches.clone_from(&out.returns);
                out.returns_unknown = true;
                return;
            }
            Root::Fresh => {}
        }
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Whether the result of an instruction depends on the thread that runs it.
pub(crate) fn uses_thread(inst: &Inst, callees: Callees<'_>) -> bool {
    match inst {
        Inst::Runtime(f, _) => f.role == Role::Threads(Threads::ThreadId),
        Inst::Call(spec, _) => callees(*spec).is_some_and(|s| s.uses_thread),
        _ => false,
    }
}

/// Whether an instruction calls Python, for which a thread needs the interpreter's lock.
pub(crate) fn enters_python(inst: &Inst, callees: Callees<'_>) -> bool {
    match inst {
        Inst::Runtime(f, _) => [&rt::lh_call_python, &rt::lh_call_function].contains(f),
        Inst::Call(spec, _) => callees(*spec).is_some_and(|s| s.enters_python),
        _ => false,
    }
}

/// Whether a function only touches the results that `functools` keeps, each of which one thread uses at a time. Where
/// these refer to memory, the way in is not among them.
fn is_apart(f: &RuntimeFn) -> bool {
    [&rt::lh_memo_enter_plain, &rt::lh_memo_leave, &rt::lh_memo_count].contains(&f)
}

/// Whether an instruction's result is freshly allocated memory.
fn makes_memory(inst: &Inst) -> bool {
    matches!(inst, Inst::Map(..) | Inst::New(_) | Inst::Runtime(..) | Inst::Call(..) | Inst::Foreign(..))
}

/// Whether values of a type refer to memory that can be written.
pub(crate) fn has_memory(ty: Ty) -> bool {
    ty.any_part(&|t| !matches!(t.holds(), Holds::Nothing))
}
