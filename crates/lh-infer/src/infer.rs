//! Typing one function: abstract interpretation that emits typed IR as it goes.
//!
//! The untyped blocks are visited in reverse postorder. Each visit types an instruction and emits its typed form at
//! once; branches on conditions known while typing are followed one way only, so the other way is never typed. Types
//! at loop headers start from what enters the loop; when a back edge brings more, the sweep is repeated with the
//! wider type. One sweep is the rule, two where a variable changes its type in a loop.

use crate::calls::containers;
use crate::convert::{Pending, has_pending, holds_generator};
use crate::cx::Infer;
use crate::operations::generator::{self, split};
use crate::shape::Shape;
use crate::val::Val;
use crate::world::{ArgTy, Object, Offsets, Taught, World};
use hashbrown::{HashMap, HashSet};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{self, Function, Options};
use lh_ir::types::TyKind;
use lh_ir::untyped;
use lh_ir::{Block, FuncId, Span, SpecId, Ty, Value};

/// The result of inference.
#[derive(Debug)]
pub struct Output {
    /// The typed function.
    pub func: Function,
    /// Its result type.
    pub ret: Ty,
    /// Types of the user's variables where they are assigned.
    pub annotations: Vec<(Span, String, Ty)>,
    /// Indices that it reads a stencil's arrays at.
    pub offsets: Vec<Offsets>,
    /// Of a generator, what gives its next item, and the number that it was given.
    pub next: Option<(SpecId, Function)>,
}

/// Result types that were assumed for a recursive function.
#[derive(Default)]
struct Guesses {
    made: usize,
    /// Sweeps since the last one.
    sweeps: usize,
}

impl Guesses {
    /// Whether the types should have settled by now: a list of the function's results is of no type.
    fn is_refuted(&mut self) -> bool {
        self.sweeps += 1;
        self.sweeps > 12
    }
}

/// Types a function for argument types.
///
/// # Errors
/// The diagnostic for the first thing that cannot be typed.
pub fn infer(world: &mut dyn World, id: FuncId, args: &[ArgTy], options: Options, name: &str) -> Result<Output> {
    let mut cx = Infer::new(world, id, args, options)?;
    cx.find_builders();
    let is_guessed = cx.sent.is_never();
    if is_guessed {
        cx.sent = Ty::none();
    }
    if !cx.code.is_generator || !cx.sent_is_open || !generator::receives(&cx.code) {
        return cx.run(name);
    }
    // Python may send anything; functions that send something say so.
    let guessed = |world: &mut dyn World| -> Result<Output> {
        let mut cx = Infer::new(world, id, args, options)?;
        cx.find_builders();
        cx.guess_sent(name)?;
        cx.run(name)
    };
    let nothing = |world: &mut dyn World| {
        let mut cx = Infer::new(world, id, args, options)?;
        cx.sent = Ty::none();
        cx.find_builders();
        cx.run(name)
    };
    if is_guessed {
        return guessed(world).or_else(|_| nothing(world));
    }
    nothing(world).or_else(|d| guessed(world).map_err(|_| d))
}

/// Finds what a function stores in those of its arguments whose types are undecided.
///
/// # Errors
/// There is no code for the function.
pub fn taught(world: &mut dyn World, id: FuncId, args: &[ArgTy], options: Options, name: &str) -> Result<Taught> {
    let mut cx = Infer::new(world, id, args, options)?;
    cx.find_builders();
    // A failure may be the consequence of an undecided type. If it is not, the function fails again when it is called
    // with types that are decided.
    let ret = cx.settle(name).unwrap_or(Ty::never());
    // The function that goes on with a generator is made again when the types are decided.
    let known = |t: &Ty| if has_pending(*t) || holds_generator(*t) { Ty::never() } else { *t };
    let of_site = |site: &u32| match cx.pending.ty(*site).kind() {
        TyKind::Class(c) => c.args.iter().map(known).collect(),
        _ => cx.pending.sites[*site as usize].1.iter().map(known).collect(),
    };
    let args = (0..args.len()).map(|at| cx.argument_sites.get(&at).map(of_site).unwrap_or_default()).collect();
    Ok(Taught { args, ret: known(&ret) })
}

impl Infer<'_> {
    /// Takes what is sent to a generator to be of the type of what it yields before anything is sent.
    fn guess_sent(&mut self, name: &str) -> Result<()> {
        self.sent = Ty::never();
        let item = match self.settle(name)?.kind() {
            TyKind::Generator(g) => g.item.weak(),
            _ => Ty::none(),
        };
        if !item.is_number() && item != Ty::str() && !item.is_tuple() {
            return Err(Diagnostic::new(diag::CANNOT_UNIFY, "what is sent cannot be guessed"));
        }
        self.sent = Ty::optional(item);
        self.forget_types();
        Ok(())
    }

    fn forget_types(&mut self) {
        self.sticky.clear();
        self.sites.clear();
        self.argument_sites.clear();
        self.inner_sites.clear();
        self.pending = Pending::default();
    }

    fn run(&mut self, name: &str) -> Result<Output> {
        let mut ret = self.settle(name)?;
        if self.decide_parameters() || self.decide_unreached() {
            ret = self.settle(name)?;
        }
        while !has_pending(ret) && self.decide_empty() {
            ret = self.settle(name)?;
        }
        self.check_lists()?;
        self.check_initialiser(ret)?;
        let annotations = self.annotations();
        self.name_shared();
        self.keep_frames();
        let (func, offsets) = (std::mem::take(&mut self.out), std::mem::take(&mut self.offsets));
        if !self.code.is_generator {
            return Ok(Output { func, ret, annotations, offsets, next: None });
        }
        let halves = split::split(func, &self.yields, ret);
        let split::Halves { make, next } = halves.map_err(|d| d.at(&self.code.file, self.span))?;
        Ok(Output { func: make, ret, annotations, offsets, next: self.next.map(|number| (number, next)) })
    }

    /// Repeats sweeps until the types no longer change; returns the result type.
    fn settle(&mut self, name: &str) -> Result<Ty> {
        let mut provisional = Ty::never();
        let mut guesses = Guesses::default();
        for _ in 0..100 {
            self.pending.changed = false;
            self.offsets.clear();
            let swept = self.sweep(name);
            if let Some((header, times)) = self.restart.take() {
                self.unroll(header, times)?;
                continue;
            }
            // A list whose element type was learnt in this sweep may explain the failure, or a wider type in a loop.
            if swept.is_err() && (self.pending.changed || self.widen_headers()) {
                continue;
            }
            if guesses.made > 0 && (swept.is_err() || guesses.is_refuted()) {
                provisional = self.guess_result(&mut guesses)?;
                continue;
            }
            let (ret, widened) = swept.map_err(|d| {
                let d = self.with_refusals(d);
                self.at_operation(d)
            })?;
            // The assumed type stands until a sweep has found one.
            let is_assumed = guesses.made > 0 && ret.is_never() && (widened || self.pending.changed);
            let ret = if is_assumed { provisional } else { ret };
            let used = self.world.provisional(ret);
            let again = widened || self.pending.changed || (used && ret != provisional);
            if guesses.made > 0 && ret != provisional {
                self.forget_types();
            }
            provisional = ret;
            if !again && !self.asks_callees && self.is_undecided() {
                self.asks_callees = true;
                continue;
            }
            if !again && used && ret.is_never() && self.world.is_outermost() {
                if !self.unknown_items && !self.is_undecided() {
                    return Err(self.endless());
                }
                provisional = self.guess_result(&mut guesses)?;
                continue;
            }
            if !again
                && self.is_open
                && matches!(ret.kind(), TyKind::Generator(g) if g.item.is_never())
                && self.world.is_outermost()
            {
                self.yields_nothing = true;
                continue;
            }
            if !again {
                return Ok(ret);
            }
        }
        let d = Diagnostic::new(diag::CANNOT_UNIFY, format!("the types in `{}` do not settle", self.code.name));
        Err(d.at(&self.code.file, self.span))
    }

    /// Assumes another result type of a function whose ways out all need what its own calls give as items: of `1 +
    /// max([f(c) for c in children], default=0)`. Sweeps show whether it is the type of the result then.
    fn guess_result(&mut self, guesses: &mut Guesses) -> Result<Ty> {
        let all = [Ty::int(), Ty::float(), Ty::str(), Ty::bool()];
        let Some(guess) = all.get(guesses.made).copied() else { return Err(self.endless()) };
        *guesses = Guesses { made: guesses.made + 1, sweeps: 0 };
        self.forget_types();
        self.world.provisional(guess);
        Ok(guess)
    }

    fn find_builders(&mut self) {
        self.keyword_maps = keyword_maps(&self.code);
        self.sized_lists.clear();
        let insts = self.code.blocks.iter().flat_map(|b| &b.insts);
        self.tuple_lists = insts
            .filter_map(|i| match i.inst {
                untyped::Inst::ListToTuple(v) => Some(v),
                _ => None,
            })
            .collect();
    }

    fn endless(&self) -> Box<Diagnostic> {
        let name = &self.code.name;
        let d = Diagnostic::new(diag::UNTYPED_RECURSION, format!("`{name}` calls itself on every way through it"));
        let span = Span { line: self.code.first_line, end_line: self.code.first_line, ..Span::default() };
        d.note("return a value without calling it on one way").at(&self.code.file, span)
    }

    fn unroll(&mut self, header: Block, times: u32) -> Result<()> {
        let Some(code) = self.world.unroll(&self.code, header, times) else {
            let d = Diagnostic::new(diag::UNSUPPORTED_SYNTAX, "this loop over a tuple cannot be unrolled");
            return Err(d.at(&self.code.file, self.span));
        };
        self.code = code;
        self.shape = Shape::of(&self.code);
        self.find_builders();
        self.forget_types();
        Ok(())
    }

    /// `__init__` of a class that a program defines returns nothing, as Python demands when it has returned.
    fn check_initialiser(&mut self, ret: Ty) -> Result<()> {
        let class = self.args.first().and_then(|a| a.ty.class()).and_then(|c| c.user());
        let (Some(user), "__init__", false) = (class, self.code.name.as_str(), ret.is_none() || ret.is_never()) else {
            return Ok(());
        };
        match self.world.attr(user.class, "__init__").map(|o| self.world.object(o)) {
            Some(Object::Func(init)) if init == self.id => {
                let text = format!("__init__() should return None, not `{ret}`");
                Err(Diagnostic::new(diag::CANNOT_UNIFY, text).at(&self.code.file, self.span))
            }
            _ => Ok(()),
        }
    }

    fn check_lists(&self) -> Result<()> {
        let Some((value, site)) = self.undecided_display() else { return Ok(()) };
        let value = containers::made_for(value);
        let span = self.code.blocks.iter().flat_map(|b| &b.insts).find(|i| i.result == Some(value));
        let (class, args) = &self.pending.sites[site as usize];
        let text = match &args[..] {
            [_] => format!("the type of this {}'s items cannot be found", class.name()),
            _ => format!("the types of what this {} holds cannot be found", class.name()),
        };
        let d = Diagnostic::new(diag::UNTYPED_LIST, text).note(match class.declaration().items {
            Some(_) => "append an item, or start from one: `[0][:0]` is an empty list of integers",
            None => "add something to it, here or in a function that it is given to",
        });
        Err(d.at(&self.code.file, span.map_or(self.span, |i| i.span)))
    }

    /// Whether something is used, or given as an argument, whose type is undecided.
    fn is_undecided(&self) -> bool {
        self.undecided_display().is_some() || self.given_sites().any(|s| !self.pending.is_decided(s))
    }

    /// The first display that is used and whose type is undecided, with its site.
    fn undecided_display(&self) -> Option<(Value, u32)> {
        let is_known = |v: Value| self.vals.get(v.index()).is_some_and(Option::is_some);
        // The product of a factory is used where its container is.
        let used = |v: &Value| is_known(containers::made_for(*v));
        let open = self.sites.iter().filter(|(v, s)| used(v) && !self.pending.is_decided(**s));
        open.map(|(v, s)| (*v, *s)).min_by_key(|(v, _)| v.index())
    }

    /// Names of what iterations of parallel loops may meet at.
    fn name_shared(&mut self) {
        if self.options.parallel & (func::parallel::PRANGE | func::parallel::RACE) == 0 || self.is_library {
            return;
        }
        for (name, val) in self.code.value_names.iter().zip(&self.vals) {
            if let (Some(name), Some(Val { ty, v: Some(v), .. })) = (name, val)
                && (ty.is_array() || ty.is_number() || matches!(ty.kind(), TyKind::Class(_) | TyKind::Tuple { .. }))
            {
                self.out.names.push((*v, name.to_string()));
            }
        }
    }

    /// Places where variables are assigned to and their types; the item of a loop is where the loop begins.
    fn annotations(&self) -> Vec<(Span, String, Ty)> {
        let mut out = Vec::new();
        let mut add = |value: Value, span: Span| {
            if let (Some(name), Some(Some(val))) = (&self.code.value_names[value.index()], self.vals.get(value.index()))
            {
                out.push((span, name.to_string(), val.ty));
            }
        };
        for b in &self.code.blocks {
            b.insts.iter().for_each(|i| i.result.into_iter().for_each(|r| add(r, i.span)));
            if let Some(untyped::Term::ForIter { body, .. }) = &b.term {
                self.code.blocks[body.block.index()].params.first().into_iter().for_each(|p| add(*p, b.term_span));
            }
        }
        out
    }

    /// Arguments whose use says nothing have integers as items; tells whether there are any.
    fn decide_parameters(&mut self) -> bool {
        let open: Vec<u32> = self.given_sites().filter(|s| !self.pending.is_decided(*s)).collect();
        self.decide_as_numbers(&open)
    }

    /// Sites of arguments, and of containers in them.
    fn given_sites(&self) -> impl Iterator<Item = u32> {
        self.argument_sites.values().chain(self.inner_sites.values().flatten()).copied()
    }

    /// Displays that are filled only where control never comes for these types have integers as items: they stay
    /// empty. Tells whether there are any.
    fn decide_unreached(&mut self) -> bool {
        let is_known = |v: Value| self.vals.get(v.index()).is_some_and(Option::is_some);
        let unreached = self.code.blocks.iter().filter(|b| !b.insts.iter().any(|i| i.result.is_some_and(is_known)));
        let insts = unreached.flat_map(|b| &b.insts);
        let fills: Vec<&str> = insts
            .filter_map(|i| match &i.inst {
                untyped::Inst::GetAttr(_, name) => Some(name.as_str()),
                untyped::Inst::SetItem(..) => Some("__setitem__"),
                _ => None,
            })
            .collect();
        let is_filled = |site: u32| {
            let infers = self.pending.sites[site as usize].0.declaration().infers.iter();
            infers.into_iter().any(|(method, _)| fills.contains(&method.as_str()))
        };
        let open = self.sites.values().copied().filter(|s| !self.pending.is_decided(*s) && is_filled(*s));
        let open: Vec<u32> = open.collect();
        self.decide_as_numbers(&open)
    }

    /// Displays to which nobody adds anything, so that all types of items give the same. Tells whether there are any.
    /// Those that are returned stay open: a caller may add something.
    fn decide_empty(&mut self) -> bool {
        let is_open = |s: &u32| !self.pending.is_decided(*s) && !self.pending.typed.contains(s);
        let open: Vec<u32> = self.sites.values().copied().filter(is_open).collect();
        self.decide_as_numbers(&open)
    }

    /// Decides types of items that are open: floats for NumPy, else integers.
    fn decide_as_numbers(&mut self, open: &[u32]) -> bool {
        for s in open {
            let t = if self.pending.of_arrays.contains(s) { Ty::float() } else { Ty::int() };
            for at in 0..self.pending.sites[*s as usize].1.len() {
                if self.pending.argument(*s, at).is_never() {
                    self.pending.guess(*s, at, t);
                }
            }
        }
        !open.is_empty()
    }
}

/// Dictionary displays that are unpacked in a call, or merged into such.
fn keyword_maps(code: &untyped::Code) -> HashSet<Value> {
    let insts = || code.blocks.iter().flat_map(|b| &b.insts);
    let mut found: HashSet<Value> = insts()
        .filter_map(|i| match i.inst {
            untyped::Inst::CallStar { kwargs, .. } => kwargs,
            _ => None,
        })
        .collect();
    if found.is_empty() {
        return found;
    }
    let merged: HashMap<Value, Value> = insts()
        .filter_map(|i| match &i.inst {
            untyped::Inst::GetAttr(map, name) if name == "__merge__" => Some((i.result?, *map)),
            _ => None,
        })
        .collect();
    loop {
        let before = found.len();
        for i in insts() {
            match &i.inst {
                untyped::Inst::Call { func, args, .. } if merged.get(func).is_some_and(|map| found.contains(map)) => {
                    found.extend(args.first());
                }
                untyped::Inst::CheckBound { value, .. } if i.result.is_some_and(|r| found.contains(&r)) => {
                    found.insert(*value);
                }
                _ => {}
            }
        }
        for t in code.blocks.iter().flat_map(|b| &b.term).flat_map(targets) {
            let params = &code.blocks[t.block.index()].params;
            // The first parameter of a loop's body is the item.
            let given = params.iter().skip(params.len() - t.args.len()).zip(&t.args);
            let flows: Vec<Value> = given.filter(|(p, _)| found.contains(*p)).map(|(_, a)| *a).collect();
            found.extend(flows);
        }
        if found.len() == before {
            return found;
        }
    }
}

fn targets(term: &untyped::Term) -> Vec<&untyped::Target> {
    match term {
        untyped::Term::Jump(t) => vec![t],
        untyped::Term::Branch { then, els, .. } => vec![then, els],
        untyped::Term::ForIter { body, done, .. } => vec![body, done],
        untyped::Term::Return(_)
        | untyped::Term::Raise { .. }
        | untyped::Term::Reraise(_)
        | untyped::Term::Unreachable => Vec::new(),
    }
}
