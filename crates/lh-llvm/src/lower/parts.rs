//! Outlines parts of functions: cold code, and the nests of elementwise computations in large units.
//!
//! ```text
//! f(a, n):                               f(a, n):
//!     if <every index is in range>:          if <every index is in range>:
//!         <loops without checks>                 <loops without checks>
//!     else:                          ->      else:
//!         <the same with checks>                 which = f.cold(&out, a, n)
//!     ...                                        <the exit that `which` names, with the values in `out`>
//! ```
//!
//! A cold part is the set of blocks that one block dominates which is marked as cold or leads to an exception, if it
//! is large enough to repay a call. Outlined, it gets few passes, and hot code is optimised and allocated to registers
//! without it. If the object is not cached ([`Rare::Later`]), it is only compiled on its first call: its address comes
//! from the run-time library, which requests it once from the driver.
//!
//! A nest is the outermost loop of an elementwise computation. In a function of many statements on arrays, addresses,
//! strides and extents of all of them would be live at once, and the time of register allocation and strength reduction
//! grows faster than the number of statements. Outlined, each nest costs what it would cost alone.
//!
//! The function of a part gets memory for its live-out values, the parameters of its first block, and its live-in
//! values and stack slots. It returns 1 if an exception leaves the whole function (its line has been recorded), and
//! otherwise 2 plus the number of its exit.

use super::cx::{Declared, Lowering, size};
use super::function::FnCx;
use crate::ir::walk::name_of;
use crate::ir::{Type, Val};
use crate::outside::Outside;
use crate::unit::{Rare, Unit};
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, targets};
use lh_ir::func::{BlockData, Device, Function, Inst, InstData, LoopHint, Term};
use lh_ir::types::Prim;
use lh_ir::{Block, SpecId, Value};
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use llvm_sys::LLVMLinkage;
use std::collections::{HashMap, HashSet};

/// Smaller parts are not outlined, unless they run a parallel loop, whose body is outlined with them.
const MIN_SIZE: usize = 24;

/// The same for parts with a loop, whose passes cost more than those of a call.
const MIN_LOOP: usize = 8;

/// Nests are outlined in units of more instructions.
const LARGE_UNIT: usize = 1_200;

/// The reason for which a part is outlined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Cold,
    Nest,
}

/// A part of a function that is outlined.
pub(super) struct Part {
    kind: Kind,
    /// Its blocks, the entry first.
    pub(super) blocks: Vec<Block>,
    /// Live-in values.
    inputs: Vec<Value>,
    /// Stack slots that it accesses.
    slots: Vec<usize>,
    /// Its exits.
    ways: Vec<Way>,
}

/// An exit of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To a block, with arguments for its parameters.
    To(Block),
    /// Out of the whole function, with its result.
    Return,
}

impl Part {
    /// The parts of a function.
    pub(super) fn all(cx: &Lowering<'_>, func: &Function, cfg: &Cfg) -> Vec<Part> {
        let is_host = func.options.device == Device::Host;
        let has_nests = is_host && cx.is_large && func.blocks.iter().any(|b| b.hint == LoopHint::Elementwise);
        let has_raises = func.blocks.len() > 2 && func.blocks.iter().any(is_return);
        // GPUs have no hot code to protect: cold code there consists of exceptions.
        if func.options.device == Device::Gpu || !(has_raises || has_nests || func.blocks.iter().any(|b| b.cold)) {
            return Vec::new();
        }
        let dom = DomTree::new(cfg);
        let doomed = if has_raises { doomed(cx, func, cfg, &dom) } else { vec![false; func.blocks.len()] };
        let mut taken: HashSet<Block> = HashSet::new();
        let mut parts = Part::cold(func, cfg, &dom, &doomed, &mut taken);
        if has_nests {
            parts.extend(Part::nests(func, cfg, &dom, &taken));
        }
        parts
    }

    fn cold(func: &Function, cfg: &Cfg, dom: &DomTree, doomed: &[bool], taken: &mut HashSet<Block>) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let loops = Loops::new(func, cfg, dom);
        let has_loop = |of: &[Block]| loops.loops.iter().any(|l| of.contains(&l.header));
        // The entry block cannot be outlined.
        for (at, first) in cfg.rpo().iter().enumerate().skip(1) {
            let is_doomed = doomed[first.index()];
            if (func.blocks[first.index()].cold || is_doomed) && !taken.contains(first) {
                let blocks: Vec<Block> =
                    cfg.rpo()[at..].iter().copied().filter(|b| dom.dominates(*first, *b)).collect();
                taken.extend(&blocks);
                let size: usize = blocks.iter().map(|b| func.blocks[b.index()].insts.len() + 1).sum();
                let mut insts = blocks.iter().flat_map(|b| &func.blocks[b.index()].insts);
                // Code that only makes the text of an exception is not compiled before it is raised.
                let repays = |d: &InstData| match d.inst {
                    Inst::ParFor(..) => true,
                    Inst::Call(..) => is_doomed,
                    _ => false,
                };
                let is_loop = func.blocks[first.index()].cold && has_loop(&blocks);
                if size >= if is_loop { MIN_LOOP } else { MIN_SIZE } || insts.any(repays) {
                    parts.push(Part::new(func, Kind::Cold, blocks));
                }
            }
        }
        parts
    }

    /// The outermost loops of elementwise computations; blocks of cold parts are `taken`.
    fn nests(func: &Function, cfg: &Cfg, dom: &DomTree, taken: &HashSet<Block>) -> Vec<Part> {
        let loops = Loops::new(func, cfg, dom);
        let is_elementwise = |l: &Loop| func.blocks[l.header.index()].hint == LoopHint::Elementwise;
        let is_nest = |l: &Loop| {
            is_elementwise(l)
                && !l.parent.is_some_and(|p| is_elementwise(&loops.loops[p]))
                && !l.blocks.iter().any(|b| taken.contains(b))
        };
        let nests: Vec<&Loop> = loops.loops.iter().filter(|l| is_nest(l)).collect();
        let mut nest_of = vec![None; func.blocks.len()];
        for (n, l) in nests.iter().enumerate() {
            l.blocks.iter().for_each(|b| nest_of[b.index()] = Some(n));
        }
        let live_out = with_live_out(func, &nest_of, nests.len());
        let closed = nests.iter().zip(live_out).filter(|(_, live_out)| !live_out);
        closed.map(|(l, _)| Part::new(func, Kind::Nest, l.blocks.clone())).collect()
    }

    fn new(func: &Function, kind: Kind, blocks: Vec<Block>) -> Part {
        let mut part = Part { kind, blocks, inputs: Vec::new(), slots: Vec::new(), ways: Vec::new() };
        let inside: HashSet<Block> = part.blocks.iter().copied().collect();
        let mut seen: HashSet<Value> = HashSet::new();
        for b in &part.blocks {
            let data = &func.blocks[b.index()];
            seen.extend(data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result)));
        }
        let mut input = |v: Value| {
            if seen.insert(v) {
                part.inputs.push(v);
            }
        };
        for b in &part.blocks {
            let data = &func.blocks[b.index()];
            for d in &data.insts {
                d.inst.for_each_operand(&mut input);
                if let Inst::SlotGet(s) | Inst::SlotSet(s, _) = &d.inst
                    && !part.slots.contains(&s.index())
                {
                    part.slots.push(s.index());
                }
            }
            for (_, t) in targets(func, *b) {
                t.args.iter().for_each(|v| input(*v));
                if !inside.contains(&t.block) && !part.ways.contains(&Way::To(t.block)) {
                    part.ways.push(Way::To(t.block));
                }
            }
            own_operands(data.term.as_ref()).iter().for_each(|v| input(*v));
            if matches!(data.term, Some(Term::Return(_))) && !part.ways.contains(&Way::Return) {
                part.ways.push(Way::Return);
            }
        }
        part
    }

    /// The number of an exit.
    fn number(&self, way: Way) -> i64 {
        let at = self.ways.iter().position(|w| *w == way).unwrap_or_else(|| lh_ir::bug!("a way out that is none"));
        2 + at as i64
    }
    /// The types of the values that an exit passes.
    fn handed(way: Way, func: &Function) -> Vec<Prim> {
        match way {
            Way::To(b) => func.blocks[b.index()].params.iter().flat_map(|p| func.ty(*p).flatten()).collect(),
            Way::Return => func.ret.map(|t| t.flatten()).unwrap_or_default().to_vec(),
        }
    }
    /// The inputs: parameters of the first block, then live-in values.
    fn values<'a>(&'a self, func: &'a Function) -> impl Iterator<Item = Value> + 'a {
        func.blocks[self.blocks[0].index()].params.iter().chain(&self.inputs).copied()
    }
}

/// By block: whether it leads to an exception without passing a loop.
fn doomed(cx: &Lowering<'_>, func: &Function, cfg: &Cfg, dom: &DomTree) -> Vec<bool> {
    let never_returns = |d: &InstData| is_raising(d, &cx.specs, &cx.always_raise);
    let raises: Vec<bool> = func.blocks.iter().map(|b| b.insts.iter().any(never_returns)).collect();
    let mut work: Vec<Block> = cfg.rpo().iter().filter(|b| is_return(&func.blocks[b.index()])).copied().collect();
    work.extend(Loops::new(func, cfg, dom).loops.iter().map(|l| l.header));
    let mut doomed = vec![true; func.blocks.len()];
    while let Some(b) = work.pop() {
        if raises[b.index()] || !std::mem::take(&mut doomed[b.index()]) {
            continue;
        }
        work.extend(cfg.preds(b).iter().filter(|e| e.target.is_some()).map(|e| e.from));
    }
    doomed
}

fn is_return(data: &BlockData) -> bool {
    matches!(data.term, Some(Term::Return(_)))
}

/// By function of a unit: whether every way through it ends in an exception.
pub(super) fn always_raise(unit: &Unit<'_>, specs: &HashMap<SpecId, usize>) -> Vec<bool> {
    // A function returns if it has a way to a `return` without a call that never does.
    let returns = |f: &Function, raising: &[bool]| {
        let (mut seen, mut work) = (vec![false; f.blocks.len()], vec![Block::new(0)]);
        while let Some(b) = work.pop() {
            let data = &f.blocks[b.index()];
            if std::mem::replace(&mut seen[b.index()], true) || data.insts.iter().any(|d| is_raising(d, specs, raising))
            {
                continue;
            }
            if is_return(data) {
                return true;
            }
            work.extend(targets(f, b).map(|(_, t)| t.block));
        }
        false
    };
    let mut raising = vec![false; unit.functions.len()];
    // Callees mostly come after callers.
    loop {
        let before = raising.clone();
        for (i, f) in unit.functions.iter().enumerate().rev() {
            raising[i] = raising[i] || !returns(f, &raising);
        }
        if raising == before {
            return raising;
        }
    }
}

/// Whether an instruction calls a function that always raises.
fn is_raising(d: &InstData, specs: &HashMap<SpecId, usize>, raising: &[bool]) -> bool {
    match &d.inst {
        Inst::Call(spec, _) => specs.get(spec).is_some_and(|f| raising[*f]),
        _ => false,
    }
}

/// The operands of a terminator that are not arguments of targets.
fn own_operands(term: Option<&Term>) -> &[Value] {
    match term {
        Some(Term::Branch { cond: v, .. } | Term::Return(v)) => std::slice::from_ref(v),
        Some(Term::Raise { args, .. }) => args,
        Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => &[],
    }
}

/// By nest: whether a value of it is used outside. `nest_of`: the nest of each block.
fn with_live_out(func: &Function, nest_of: &[Option<usize>], nests: usize) -> Vec<bool> {
    let mut home = vec![None; func.values.len()];
    for (data, nest) in func.blocks.iter().zip(nest_of) {
        let results = data.insts.iter().filter_map(|d| d.result);
        data.params.iter().copied().chain(results).for_each(|v| home[v.index()] = *nest);
    }
    let mut out = vec![false; nests];
    for (b, data) in func.blocks.iter().enumerate() {
        let mut see = |v: Value| {
            if let Some(n) = home[v.index()].filter(|n| nest_of[b] != Some(*n)) {
                out[n] = true;
            }
        };
        data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut see));
        targets(func, Block::new(b)).flat_map(|(_, t)| &t.args).for_each(|v| see(*v));
        own_operands(data.term.as_ref()).iter().for_each(|v| see(*v));
    }
    out
}

/// The outlined function of a part.
#[derive(Clone, Copy)]
pub(super) enum Apart {
    /// It is in the module.
    Made(Val),
    /// It is compiled on its first call: its number among those of the unit.
    Later(usize),
}

/// Whether the nests of a unit are outlined.
pub(super) fn has_large(unit: &Unit<'_>) -> bool {
    unit.functions.iter().map(|f| size(f)).sum::<usize>() > LARGE_UNIT
}

/// Outlines a part, or leaves a cold one for its first call.
pub(super) fn lower(cx: &mut Lowering<'_>, func: &Function, cfg: &Cfg, ret: &Declared, part: &Part) -> (Type, Apart) {
    let t = cx.m.t;
    let mut args = vec![t.ptr];
    args.extend(part.values(func).flat_map(|v| func.ty(v).flatten()).map(|p| cx.m.prim(p)));
    args.extend(part.slots.iter().flat_map(|s| func.slots[*s].flatten()).map(|_| t.ptr));
    let ty = cx.m.fn_type(&args, t.i32);
    let is_cold = part.kind == Kind::Cold;
    let name = format!("{}.{}{}", name_of(ret.value), if is_cold { "cold" } else { "nest" }, part.blocks[0].0);
    if is_cold {
        cx.rare.push(name.clone());
        if cx.unit.rare == Rare::Later {
            return (ty, Apart::Later(cx.rare.len() - 1));
        }
    }
    let value = cx.m.declare(&name, ty);
    if !is_cold || cx.unit.rare == Rare::Here {
        cx.m.set_linkage(value, LLVMLinkage::LLVMInternalLinkage);
    }
    cx.attributes(value, false);
    cx.m.attribute(value, "noinline");
    if is_cold {
        cx.m.attribute(value, "cold");
    }
    let decl = Declared { value, ty, ..ret.clone() };
    let mut f = FnCx::new(cx, func, cfg, decl, Some(part));
    f.make_blocks(&part.blocks);
    let mut next = 1;
    let mut arg = || {
        next += 1;
        next - 1
    };
    let first = part.blocks[0];
    let is_header = cfg.preds(first).iter().any(|e| part.blocks.contains(&e.from));
    let params = &func.blocks[first.index()].params;
    let mut phis = Vec::new();
    for v in part.values(func) {
        let vals: Vec<Val> = func.ty(v).flatten().iter().map(|_| f.param(value, arg())).collect();
        if is_header && params.contains(&v) {
            phis.extend(f.get(v).iter().copied().zip(vals));
        } else {
            if params.contains(&v) {
                // No edge leads to its block here.
                f.get(v).iter().for_each(|phi| f.drop_if_empty_phi(*phi));
            }
            f.set(v, &vals);
        }
    }
    f.slots = vec![Vec::new(); func.slots.len()];
    for s in &part.slots {
        f.slots[*s] = func.slots[*s].flatten().iter().map(|_| f.param(value, arg())).collect();
    }
    for b in &part.blocks {
        f.lower_block(*b);
    }
    f.enter_with(first, &phis);
    f.drop_empty_phis(&part.blocks);
    (ty, Apart::Made(value))
}

impl FnCx<'_, '_> {
    /// Leaves the current part by an exit.
    pub(super) fn leave_part(&mut self, part: &Part, way: Way, vals: &[Val]) {
        let out = self.param(self.decl.value, 0);
        for (i, (v, p)) in vals.iter().zip(Part::handed(way, self.func)).enumerate() {
            self.cx.store_own(*v, p, self.offset(out, 8 * i));
        }
        self.ret(self.int(self.t.i32, part.number(way)));
    }

    /// Calls the function of a part in place of its first block, and continues at the exit that it returns.
    pub(super) fn call_part(&mut self, part: &Part, (ty, function): (Type, Apart)) {
        let t = self.t;
        let func = self.func;
        let function = match function {
            Apart::Made(f) => f,
            Apart::Later(n) => {
                let code = self.cx.cold(symbols::RARE_CODE, &[t.ptr], t.ptr);
                self.cx.call_external(code, &[self.external(&Outside::Rare(n).symbol(), t.i8)])
            }
        };
        let size = part.ways.iter().map(|w| 8 * Part::handed(*w, func).len()).max().unwrap_or(0);
        let out = if size == 0 { self.null(t.ptr) } else { self.stack(self.array_type(t.i8, size), 8) };
        let mut args = vec![out];
        for v in part.values(func) {
            args.extend(self.get(v));
        }
        args.extend(part.slots.iter().flat_map(|s| &self.slots[*s]));
        let status = self.call(ty, function, &args);
        for way in &part.ways {
            let (taken, next) = (self.new_block(), self.new_block());
            self.cond_br(self.icmp(LLVMIntEQ, status, self.int(t.i32, part.number(*way))), taken, next);
            self.at_end(taken);
            self.go_on(*way, out);
            self.at_end(next);
        }
        let exit = self.exit();
        self.br(exit);
    }

    fn go_on(&mut self, way: Way, out: Val) {
        let handed = Part::handed(way, self.func);
        let load = |(i, p): (usize, Prim)| self.cx.load_own(p, self.offset(out, 8 * i));
        let vals: Vec<Val> = handed.into_iter().enumerate().map(load).collect();
        match way {
            Way::To(b) => {
                let params = &self.func.blocks[b.index()].params;
                let phis: Vec<Val> = params.iter().flat_map(|p| self.get(*p)).copied().collect();
                phis.into_iter().zip(vals).for_each(|(phi, v)| self.add_incoming(phi, v, self.here()));
                let to = self.bb(b);
                self.br(to);
            }
            Way::Return => self.give_values(&vals),
        }
    }
}
