//! Blocks, parameters and terminators of one function.

use super::cx::{Declared, Lowering, Returns};
use super::device_calls::Printed;
use super::index::Looping;
use super::parts::{self, Part, Way};
use crate::ir::loop_metadata;
use crate::ir::{Bb, Module, Type, Val};
use crate::passes::polls;
use crate::unit::Abi;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{
    BlockData, Device, Entry, Function, GANG, Gangs, Inst, InstData, LatchHint, LoopHint, Pragma, Semantics, Target,
    Term, fastmath,
};
use lh_ir::runtime::{Memory, Role};
use lh_ir::types::Prim;
use lh_ir::{Block, Span, Ty, Value};
use lh_ops::{runtime, symbols};
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE, LLVMIntULE};
use llvm_sys::prelude::LLVMMetadataRef;
use std::collections::HashSet;
use std::ops::Deref;

/// The function being lowered.
pub(crate) struct FnCx<'a, 'u> {
    pub(super) cx: &'a mut Lowering<'u>,
    pub(super) func: &'a Function,
    cfg: &'a Cfg,
    pub(super) decl: Declared,
    /// The primitives of all values, with the index of each value's first one and the end.
    prims: Vec<Prim>,
    base: Vec<u32>,
    vals: Vec<Val>,
    blocks: Vec<Option<Bb>>,
    /// The block before the first, at whose start stack slots are allocated.
    frame: Bb,
    /// The block that jumps to the first: `frame`, unless the stack is checked.
    frame_end: Bb,
    pub(super) slots: Vec<Vec<Val>>,
    /// The current block of the function.
    pub(super) block: Block,
    /// The current place in the source.
    pub(super) span: Span,
    /// The landing of the current block: an LLVM block for its exceptions, with a phi for their lines; made on first
    /// use.
    landing: Option<(Bb, Option<Val>)>,
    /// The block that returns to the caller with an exception, whose line has been recorded.
    exit: Option<Bb>,
    /// The landing of all blocks without a handler.
    exit_landing: Option<(Bb, Option<Val>)>,
    /// Stack memory for results of run-time functions.
    pub(super) scratch: Option<Val>,
    /// The access group of memory accesses that are independent between iterations of parallel loops.
    pub(super) group: Option<LLVMMetadataRef>,
    /// Whether arrays may have no owner.
    pub(super) may_be_nobody: bool,
    /// Blocks that run only after an exception.
    pub(super) unwinding: Vec<bool>,
    /// Whether threads have local arrays on the stack, which the next thread reuses.
    pub(super) has_own_memory: bool,
    /// The function's description for tracebacks.
    pub(super) info: Option<Val>,
    /// Text to print, on a GPU.
    pub(super) printed: Printed,
    /// Blocks in which functions are as exact as can be, although floats may be approximate.
    exact: HashSet<Block>,
    /// The loops of a whole function, if it has any.
    pub(super) looping: Option<Looping>,
    /// The part that is being lowered; `None` for the whole function.
    part: Option<&'a Part>,
}

impl Deref for FnCx<'_, '_> {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.cx.m
    }
}

/// Lowers function `index` of the unit, after its outlined parts.
pub(super) fn lower(cx: &mut Lowering<'_>, func: &Function, index: usize) {
    let decl = cx.functions[index].clone();
    let cfg = Cfg::new(func);
    let is_whole = func.options.debug || cx.target.is_gpu();
    let parts = if is_whole { Vec::new() } else { Part::all(cx, func, &cfg) };
    let apart: Vec<_> = parts.iter().map(|p| parts::lower(cx, func, &cfg, &decl, p)).collect();
    let inside: HashSet<Block> = parts.iter().flat_map(|p| &p.blocks[1..]).copied().collect();
    let blocks: Vec<Block> = cfg.rpo().iter().copied().filter(|b| !inside.contains(b)).collect();
    let mut f = FnCx::new(cx, func, &cfg, decl, None);
    f.make_blocks(&blocks);
    let phis = f.take_params();
    f.make_slots();
    if f.cx.recursive[index] && !f.cx.target.is_gpu() {
        f.check_stack();
    }
    for b in &blocks {
        match parts.iter().position(|p| p.blocks[0] == *b) {
            Some(p) => {
                f.begin_block(*b);
                f.call_part(&parts[p], apart[p]);
            }
            None => f.lower_block(*b),
        }
    }
    f.enter_with(blocks[0], &phis);
    f.drop_empty_phis(&blocks);
}

/// Finds the blocks to which only exceptional edges lead, directly or through such blocks.
fn unwinding(func: &Function, cfg: &Cfg) -> Vec<bool> {
    let mut found = vec![false; func.blocks.len()];
    for b in cfg.rpo().iter().skip(1) {
        found[b.index()] = cfg.preds(*b).iter().all(|e| e.target.is_none() || found[e.from.index()]);
    }
    found
}

impl<'a, 'u> FnCx<'a, 'u> {
    /// Begins a function, or a part of one.
    pub(super) fn new(
        cx: &'a mut Lowering<'u>,
        func: &'a Function,
        cfg: &'a Cfg,
        decl: Declared,
        part: Option<&'a Part>,
    ) -> Self {
        let frame = cx.m.block(decl.value);
        let mut base = Vec::with_capacity(func.values.len() + 1);
        let mut prims = Vec::with_capacity(func.values.len() * 2);
        for ty in &func.values {
            base.push(prims.len() as u32);
            prims.extend(ty.flatten());
        }
        base.push(prims.len() as u32);
        if let Some(d) = &mut cx.debug {
            d.enter(&cx.m, decl.value, func);
        }
        let is_nobody =
            |d: &InstData| matches!(d.inst, Inst::Zero) && d.result.is_some_and(|r| func.ty(r) == Ty::meminfo());
        let may_be_nobody = func.is_library || func.blocks.iter().flat_map(|b| &b.insts).any(is_nobody);
        FnCx {
            may_be_nobody,
            unwinding: unwinding(func, cfg),
            vals: vec![std::ptr::null_mut(); prims.len()],
            prims,
            base,
            blocks: vec![None; func.blocks.len()],
            frame,
            frame_end: frame,
            slots: Vec::new(),
            block: Block(0),
            span: Span::default(),
            landing: None,
            exit: None,
            exit_landing: None,
            scratch: None,
            has_own_memory: has_own_memory(func),
            group: (has_independent_accesses(func) && !cx.target.is_gpu()).then(|| cx.m.access_group()),
            info: None,
            printed: Printed::default(),
            exact: exact_blocks(func, cfg),
            looping: if part.is_none() { Looping::new(func, cfg) } else { None },
            part,
            cx,
            func,
            cfg,
            decl,
        }
    }
}

impl FnCx<'_, '_> {
    /// The primitives of a value.
    pub(super) fn prims(&self, v: Value) -> &[Prim] {
        &self.prims[self.base[v.index()] as usize..self.base[v.index() + 1] as usize]
    }
    /// The LLVM values of a value.
    pub(super) fn get(&self, v: Value) -> &[Val] {
        &self.vals[self.base[v.index()] as usize..self.base[v.index() + 1] as usize]
    }
    /// The LLVM value of a value of one primitive.
    pub(super) fn one(&self, v: Value) -> Val {
        match self.get(v) {
            [x] => *x,
            other => lh_ir::bug!("{v} of {} has {} primitives, not one", self.func.name, other.len()),
        }
    }
    pub(super) fn set(&mut self, v: Value, vals: &[Val]) {
        let (from, to) = (self.base[v.index()] as usize, self.base[v.index() + 1] as usize);
        if to - from != vals.len() {
            lh_ir::bug!("{v}: {} of {} needs {} primitives, not {}", self.ty(v), self.func.name, to - from, vals.len());
        }
        self.vals[from..to].copy_from_slice(vals);
    }
    pub(super) fn ty(&self, v: Value) -> Ty {
        self.func.ty(v)
    }
    pub(super) fn new_block(&self) -> Bb {
        self.block(self.decl.value)
    }
    /// Stack memory for the duration of the call.
    pub(super) fn stack(&self, ty: Type, align: usize) -> Val {
        let here = self.here();
        self.at_start(self.frame);
        let v = self.alloca(ty, align);
        self.at_end(here);
        v
    }

    /// Creates LLVM blocks with phis for the parameters.
    pub(super) fn make_blocks(&mut self, blocks: &[Block]) {
        for b in blocks {
            let bb = self.new_block();
            self.blocks[b.index()] = Some(bb);
            self.at_end(bb);
            for p in &self.func.blocks[b.index()].params {
                let vals: Vec<Val> = self.prims(*p).iter().map(|prim| self.phi(self.prim(*prim))).collect();
                self.set(*p, &vals);
            }
        }
    }

    /// Sets the function's parameters. If the first block is a loop header, answers with pairs of phis and parameters.
    fn take_params(&mut self) -> Vec<(Val, Val)> {
        let shift = usize::from(self.decl.returns == Returns::Memory);
        let function = self.decl.value;
        let phis: Vec<Val> = self.func.params().iter().flat_map(|p| self.get(*p)).copied().collect();
        let pairs: Vec<(Val, Val)> =
            phis.into_iter().enumerate().map(|(i, phi)| (phi, self.param(function, i + shift))).collect();
        if !self.cfg.preds(self.cfg.rpo()[0]).is_empty() {
            return pairs;
        }
        let mut params = pairs.into_iter();
        for p in self.func.params() {
            let vals: Vec<Val> = params
                .by_ref()
                .take(self.prims(*p).len())
                .map(|(phi, param)| {
                    self.drop_if_empty_phi(phi);
                    param
                })
                .collect();
            self.set(*p, &vals);
        }
        Vec::new()
    }

    /// Allocates the stack slots.
    fn make_slots(&mut self) {
        self.at_end(self.frame);
        let memory = |t: &Ty| t.flatten().iter().map(|p| self.alloca(self.prim(*p), p.size())).collect();
        self.slots = self.func.slots.iter().map(memory).collect();
    }

    /// Jumps from the frame to the first block, whose phis get these values.
    pub(super) fn enter_with(&mut self, first: Block, phis: &[(Val, Val)]) {
        self.at_end(self.frame_end);
        let to = self.bb(first);
        self.br(to);
        phis.iter().for_each(|(phi, v)| self.add_incoming(*phi, *v, self.frame_end));
    }

    /// Drops phis of unreachable handlers, whose blocks cannot raise.
    pub(super) fn drop_empty_phis(&self, blocks: &[Block]) {
        for b in blocks {
            for v in self.func.blocks[b.index()].params.iter().flat_map(|p| self.get(*p)) {
                self.drop_if_empty_phi(*v);
            }
        }
    }

    /// Raises RecursionError when the stack is nearly exhausted, and KeyboardInterrupt for Ctrl-C, before anything is
    /// owned.
    ///
    /// Only frames in the first eighth of a 64 KiB region of the stack check; the entry stub leaves this window
    /// (`leave_window`). Deep recursion passes through several windows before it exhausts the reserve (256 KiB). A
    /// frame in the window looks its region up among those known to be far from the end of a stack; otherwise a call
    /// checks, once for each region. The flag for Ctrl-C is greater than all offsets, so that one comparison tests
    /// both.
    fn check_stack(&mut self) {
        self.place(Span { line: self.func.first_line, ..Span::default() });
        self.at_end(self.frame);
        let (address, f) = self.cx.m.intrinsic("llvm.addressofreturnaddress", self.t.ptr);
        let at = self.ptr_to_int(self.call(address, f, &[]));
        let (check, next) = (self.new_block(), self.new_block());
        if self.func.options.device == Device::Host {
            self.check_in_window(at, check, next);
        } else {
            // The stacks of a kernel's threads are smaller than a region.
            self.br(check);
        }
        self.at_end(check);
        let f = self.cx.external(runtime::lh_check_stack.name, &[self.t.i64], self.t.i32);
        let status = self.cx.call_external(f, &[at]);
        let ok = self.icmp(LLVMIntEQ, status, self.int(self.t.i32, 0));
        let landing = self.exit_landing();
        let br = self.cond_br(ok, next, landing);
        self.attach(br, "prof", self.cx.likely);
        self.frame_end = next;
    }

    /// See [`Self::check_stack`]: goes on to the check of an address where it is due.
    fn check_in_window(&mut self, at: Val, check: Bb, next: Bb) {
        const REGION: i64 = 16;
        let window = self.trunc(self.and(at, self.int(self.t.i64, lh_ir::STACK_WINDOW)), self.t.i32);
        let due = self.icmp(LLVMIntULE, window, polls::flag(self));
        let look_up = self.new_block();
        let br = self.cond_br(due, look_up, next);
        self.attach(br, "prof", self.cx.unlikely);
        self.at_end(look_up);
        let region = self.lshr(at, self.int(self.t.i64, REGION));
        let slot = self.and(region, self.int(self.t.i64, lh_ir::STACK_REGIONS as i64 - 1));
        let regions = self.external(symbols::STACK_REGIONS, self.t.i64);
        let known = self.load(self.t.i64, self.gep(self.t.i64, regions, slot), 8);
        self.make_monotonic(known);
        let unknown = self.icmp(LLVMIntNE, known, region);
        let unknown = self.or(unknown, polls::ask(self));
        let br = self.cond_br(unknown, check, next);
        self.attach(br, "prof", self.cx.unlikely);
    }

    /// Whether the current block may use functions that are less exact.
    pub(super) fn is_approximate(&self) -> bool {
        self.func.options.fastmath & fastmath::AFN != 0 && !self.exact.contains(&self.block)
    }

    pub(super) fn is_cold(&self, b: Block) -> bool {
        self.func.blocks[b.index()].cold
    }

    pub(super) fn bb(&self, b: Block) -> Bb {
        self.blocks[b.index()].unwrap_or_else(|| lh_ir::bug!("{b} of {} is not reachable", self.func.name))
    }

    fn begin_block(&mut self, b: Block) {
        self.block = b;
        self.landing = None;
        self.at_end(self.bb(b));
        self.place(self.func.blocks[b.index()].term_span);
    }

    pub(super) fn lower_block(&mut self, b: Block) {
        let func = self.func;
        let data = &func.blocks[b.index()];
        self.begin_block(b);
        for inst in &data.insts {
            self.place(inst.span);
            self.lower_inst(inst);
        }
        self.flush_print();
        self.place(data.term_span);
        self.lower_term(data);
        self.close_landing(data);
    }

    fn lower_inst(&mut self, inst: &InstData) {
        let vals = self.inst(&inst.inst, inst.result);
        if let Some(r) = inst.result {
            self.set(r, &vals);
        }
    }

    /// Sets the place of the following instructions.
    fn place(&mut self, span: Span) {
        if span.line != 0 {
            self.span = span;
        }
        if let Some(d) = &self.cx.debug {
            d.place(&self.cx.m, self.span);
        }
    }

    /// Passes the arguments of an edge to the phis of its target.
    fn feed(&mut self, t: &Target) {
        let from = self.here();
        let func = self.func;
        for (p, a) in func.blocks[t.block.index()].params.iter().zip(&t.args) {
            let (phis, vals) = (self.get(*p).to_vec(), self.get(*a).to_vec());
            for (phi, v) in phis.into_iter().zip(vals) {
                self.add_incoming(phi, v, from);
            }
        }
    }

    fn jump(&mut self, t: &Target) {
        if self.blocks[t.block.index()].is_none() {
            return self.leave_to(t);
        }
        self.feed(t);
        let to = self.bb(t.block);
        let br = self.br(to);
        self.describe_loop(br, &[t], false);
    }

    /// Attaches metadata to a branch from the current block if it closes a loop.
    fn describe_loop(&self, branch: Val, ways: &[&Target], threads: bool) {
        let here = self.cfg.position(self.block);
        let Some(t) = ways.iter().find(|t| self.cfg.position(t.block) <= here) else { return };
        let header = &self.func.blocks[t.block.index()];
        let says = |text: &str, value: LLVMMetadataRef| self.node(&[self.md_text(text), value]);
        let mut parts = vec![loop_metadata::poll(self, header.poll_free)];
        match header.hint {
            LoopHint::None => {}
            LoopHint::Elementwise => parts.extend(self.group.map(|g| says("llvm.loop.parallel_accesses", g))),
            // The pragma overrides the compiler's own hint.
            LoopHint::Unroll | LoopHint::UnrollFull if header.pragma.unroll != 0 => {}
            LoopHint::NoVectorize | LoopHint::VectorizeJammed | LoopHint::SlpOnly | LoopHint::SumInOrder
                if header.pragma.lanes != 0 => {}
            LoopHint::NoVectorize | LoopHint::VectorizeJammed | LoopHint::SlpOnly => {
                parts.push(says("llvm.loop.vectorize.enable", self.md_int(self.t.i1, 0)));
            }
            // In other words than above, so that LLVM's remarks tell both apart.
            LoopHint::SumInOrder => {
                parts.push(says("llvm.loop.vectorize.width", self.md_int(self.t.i32, 1)));
                parts.push(says("llvm.loop.interleave.count", self.md_int(self.t.i32, 1)));
            }
            LoopHint::Unroll => parts.push(self.node(&[self.md_text("llvm.loop.unroll.enable")])),
            LoopHint::UnrollFull => parts.push(self.node(&[self.md_text("llvm.loop.unroll.full")])),
        }
        parts.extend(self.pragma(header.pragma));
        if header.hint.wants_slp() {
            parts.push(self.node(&[self.md_text(loop_metadata::SLP)]));
        }
        if let (true, Some(group)) = (threads, self.group) {
            parts.push(says("llvm.loop.parallel_accesses", group));
            // Rows of threads are short: no interleaving of several vectors.
            parts.push(says("llvm.loop.interleave.count", self.md_int(self.t.i32, 1)));
            if self.func.blocks[self.block.index()].latch == LatchHint::VectorizeLanes {
                // No iteration may be peeled off the lanes.
                parts.push(self.node(&[self.md_text("llvm.loop.unroll.disable")]));
                parts.push(says("llvm.loop.vectorize.width", self.md_int(self.t.i32, GANG)));
                parts.push(says("llvm.loop.vectorize.enable", self.md_int(self.t.i1, 1)));
            }
        }
        self.attach(branch, "llvm.loop", self.loop_node(&parts));
    }

    /// The metadata of a loop pragma.
    fn pragma(&self, pragma: Pragma) -> Vec<LLVMMetadataRef> {
        let flag = |text: &str| self.node(&[self.md_text(text)]);
        let number = |text: &str, ty, n: i64| self.node(&[self.md_text(text), self.md_int(ty, n)]);
        let mut parts = Vec::new();
        match pragma.unroll {
            0 => {}
            1 => parts.push(flag("llvm.loop.unroll.disable")),
            n => parts.push(number("llvm.loop.unroll.count", self.t.i32, n.into())),
        }
        if pragma.lanes > 1 && pragma.lanes != Pragma::ANY {
            parts.push(number("llvm.loop.vectorize.width", self.t.i32, pragma.lanes.into()));
        }
        if pragma.lanes > 0 {
            parts.push(number("llvm.loop.vectorize.enable", self.t.i1, i64::from(pragma.lanes > 1)));
        }
        parts
    }

    /// Leaves the current part for a block outside.
    fn leave_to(&mut self, t: &Target) {
        let Some(part) = self.part else { lh_ir::bug!("{} of {} is not reachable", t.block, self.func.name) };
        let vals: Vec<Val> = t.args.iter().flat_map(|a| self.get(*a)).copied().collect();
        self.leave_part(part, Way::To(t.block), &vals);
    }

    /// The block to branch to for a target: its own, or a new one that leaves the part.
    fn way_to(&mut self, t: &Target) -> Bb {
        if self.blocks[t.block.index()].is_some() {
            self.feed(t);
            return self.bb(t.block);
        }
        let (here, way) = (self.here(), self.new_block());
        self.at_end(way);
        self.leave_to(t);
        self.at_end(here);
        way
    }

    fn lower_term(&mut self, data: &BlockData) {
        let term =
            data.term.as_ref().unwrap_or_else(|| lh_ir::bug!("{} of {} has no terminator", self.block, self.func.name));
        match term {
            Term::Jump(t) => {
                self.jump(t);
                if data.latch.is_parallel() {
                    self.describe_loop(self.last(self.here()), &[t], true);
                }
            }
            Term::Branch { cond, then, els } => self.branch(*cond, then, els),
            Term::Return(v) => self.give(*v),
            Term::Raise { exc, args } => {
                self.raise(*exc, args);
                let to = self.landing();
                self.br(to);
            }
            Term::Propagate => self.propagate(data),
            Term::Unreachable => self.unreachable(),
        }
    }

    fn branch(&mut self, cond: Value, then: &Target, els: &Target) {
        let c = self.one(cond);
        if then.block != els.block {
            let (a, b) = (self.way_to(then), self.way_to(els));
            let br = self.cond_br(c, a, b);
            self.describe_loop(br, &[then, els], false);
            match (self.is_cold(then.block), self.is_cold(els.block)) {
                _ if self.is_cold(self.block) => {}
                (false, true) => self.attach(br, "prof", self.cx.likely),
                (true, false) => self.attach(br, "prof", self.cx.unlikely),
                (false, false) | (true, true) => self.expect_difference(br, c, [then.block, els.block]),
            }
            return;
        }
        // A phi has one value for each predecessor block, so the second edge needs a block of its own.
        let (a, detour) = (self.way_to(then), self.new_block());
        self.cond_br(c, a, detour);
        self.at_end(detour);
        self.jump(els);
    }

    /// Tells LLVM that a loop finds integers equal less often than not, so that the code for others comes next. LLVM
    /// assumes this, with these weights, of comparisons with zero. Branches out of loops are left to it.
    fn expect_difference(&self, branch: Val, cond: Val, ways: [Block; 2]) {
        let stays = |l: &Looping| ways.iter().all(|b| l.stays(self.block, *b));
        if self.func.is_library || self.cx.target.is_gpu() || !self.looping.as_ref().is_some_and(stays) {
            return;
        }
        match self.compares_integers(cond) {
            Some(LLVMIntEQ) => self.attach(branch, "prof", self.cx.less_often),
            Some(LLVMIntNE) => self.attach(branch, "prof", self.cx.more_often),
            _ => {}
        }
    }

    /// Returns a value with status 0.
    fn give(&mut self, v: Value) {
        let vals = self.get(v).to_vec();
        match self.part {
            Some(part) => self.leave_part(part, Way::Return, &vals),
            None => self.give_values(&vals),
        }
    }

    /// Returns values with status 0.
    pub(super) fn give_values(&mut self, vals: &[Val]) {
        let ok = self.int(self.t.i32, 0);
        if self.decl.returns == Returns::Memory {
            let (offsets, ..) = self.decl.ret.mem_layout();
            let (prims, to) = (self.decl.ret.flatten(), self.param(self.decl.value, 0));
            for ((val, prim), at) in vals.iter().zip(prims).zip(offsets) {
                self.store_prim(*val, prim, self.offset(to, at));
            }
        }
        let result = self.with_status(ok, if self.decl.returns == Returns::Memory { &[] } else { vals });
        self.ret(result);
    }

    /// The returned struct of status and primitives; without values, the primitives are poison.
    fn with_status(&self, status: Val, vals: &[Val]) -> Val {
        let ty = self.cx.result_type(&self.decl.ret.flatten(), self.decl.returns);
        if ty == self.t.i32 {
            return status;
        }
        let start = self.insert(self.poison(ty), status, 0);
        vals.iter().enumerate().fold(start, |agg, (i, v)| self.insert(agg, *v, i + 1))
    }

    /// The landing for an exception that is pending at the current place.
    pub(super) fn landing(&mut self) -> Bb {
        if self.func.blocks[self.block.index()].unwind.is_none() {
            return self.exit_landing();
        }
        let slot = self.landing.unwrap_or_else(|| self.new_landing());
        self.landing = Some(slot);
        self.note_landing(slot)
    }

    /// As [`FnCx::landing`], for exceptions that leave the function.
    fn exit_landing(&mut self) -> Bb {
        if let Some(slot) = self.exit_landing {
            return self.note_landing(slot);
        }
        let (here, slot) = (self.here(), self.new_landing());
        self.exit_landing = Some(slot);
        self.fill_exit_landing(slot.0, slot.1);
        self.at_end(here);
        self.note_landing(slot)
    }

    fn new_landing(&self) -> (Bb, Option<Val>) {
        let (here, to) = (self.here(), self.new_block());
        self.at_end(to);
        let line = (!self.func.is_library).then(|| self.phi(self.t.i32));
        self.at_end(here);
        (to, line)
    }

    /// Passes the current line to a landing.
    fn note_landing(&self, (to, phi): (Bb, Option<Val>)) -> Bb {
        if let Some(phi) = phi {
            self.add_incoming(phi, self.int(self.t.i32, i64::from(self.span.line)), self.here());
        }
        to
    }

    fn fill_exit_landing(&mut self, landing: Bb, line: Option<Val>) {
        self.at_end(landing);
        self.note_line(line);
        let exit = self.exit();
        self.br(exit);
    }

    /// The block that returns to the caller with the pending exception.
    pub(super) fn exit(&mut self) -> Bb {
        if let Some(b) = self.exit {
            return b;
        }
        let (here, b) = (self.here(), self.new_block());
        self.at_end(b);
        if matches!(self.cx.unit.abi, Abi::Kernel(_)) {
            self.cx.end_thread();
        } else {
            let raised = self.int(self.t.i32, 1);
            let status = if self.part.is_some() { raised } else { self.with_status(raised, &[]) };
            self.ret(status);
        }
        self.at_end(here);
        self.exit = Some(b);
        b
    }

    /// Completes the landing of the current block: records the line and jumps to the handler.
    fn close_landing(&mut self, data: &BlockData) {
        if let (Some((landing, line)), Some(handler)) = (self.landing.take(), &data.unwind) {
            self.at_end(landing);
            self.note_line(line);
            self.jump(handler);
        }
    }

    /// Continues with a pending exception whose line has been recorded.
    pub(super) fn propagate(&mut self, data: &BlockData) {
        match &data.unwind {
            Some(t) => self.jump(t),
            None => {
                let exit = self.exit();
                self.br(exit);
            }
        }
    }

    /// Branches to the landing if a status shows a pending exception, and continues in a new block.
    pub(super) fn check_status(&mut self, status: Val) {
        let failed = self.icmp(LLVMIntNE, status, self.int(self.t.i32, 0));
        self.unlikely_landing(failed);
    }

    /// Branches to the landing if `failed`, and continues in a new block.
    pub(super) fn unlikely_landing(&mut self, failed: Val) {
        let (next, landing) = (self.new_block(), self.landing());
        let ok = self.not(failed);
        let br = self.cond_br(ok, next, landing);
        self.attach(br, "prof", self.cx.likely);
        self.at_end(next);
    }

    /// Branches to a cold block, which becomes the current one, if `cond`, else to the block to continue in.
    pub(super) fn unlikely(&mut self, cond: Val) -> (Bb, Bb) {
        let (next, rare) = (self.new_block(), self.new_block());
        let not = self.not(cond);
        let br = self.cond_br(not, next, rare);
        self.attach(br, "prof", self.cx.likely);
        self.at_end(rare);
        (next, rare)
    }
}

/// Whether there are loops whose iterations do not access memory that others write: over threads of a kernel, or of
/// elementwise computations.
fn has_independent_accesses(func: &Function) -> bool {
    func.kernel.entry == Entry::Blocks || func.blocks.iter().any(|b| b.hint == LoopHint::Elementwise)
}

fn has_own_memory(func: &Function) -> bool {
    let mut insts = func.blocks.iter().flat_map(|b| &b.insts);
    func.kernel.gangs == Gangs::None
        && insts.any(|d| matches!(&d.inst, Inst::Runtime(f, _) if f.role == Role::Memory(Memory::Local)))
}

/// In Numba's semantics only loops, which may become vectors, use less exact functions: those of its vector library.
fn exact_blocks(func: &Function, cfg: &Cfg) -> HashSet<Block> {
    if func.options.semantics == Semantics::Python || func.options.fastmath & fastmath::AFN == 0 {
        return HashSet::new();
    }
    let loops = Loops::new(func, cfg, &DomTree::new(cfg));
    cfg.rpo().iter().copied().filter(|b| !loops.loops.iter().any(|l| l.blocks.contains(b))).collect()
}
