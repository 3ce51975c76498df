//! Instructions to untyped IR: blocks are cut, then each is run once on an abstract stack.
//!
//! Locals and positions of the stack are variables of [`Ssa`]. Block 0 holds the function's parameters and leads to the
//! block of the first instruction. A protected region's handler is entered through a landing block, which begins with
//! `CatchExc`; a store to a variable inside a region ends a block, so that along an unwind edge every variable has the
//! value that it had at the start of the block.

use crate::closures::{self, Store};
use crate::instr::{Op, Program, Region};
use crate::plan::{Closure, Plan};
use crate::raw::RawCode;
use crate::ssa::Ssa;
use crate::stack::{Kind, Origin, Shape, Slot, Source, Stack};
use crate::visit::block_may_raise;
use crate::{tidy, verify};
use hashbrown::{HashMap, HashSet};
use lh_ir::diag::{Diagnostic, Result, UNSUPPORTED_BYTECODE};
use lh_ir::untyped::{BlockData, Code, Inst, InstData, Param, ParamKind, PyConst, Target, Term};
use lh_ir::{Block, Span, Value};
use std::rc::Rc;
use std::sync::Arc;

const NO_BLOCK: u32 = u32::MAX;

/// Flags of `co_flags`.
const VARARGS: u32 = 0x4;
const VARKEYWORDS: u32 = 0x8;
pub(crate) const GENERATOR: u32 = 0x20;

/// State of translating one code object.
pub(crate) struct Build<'a, 'p> {
    pub(crate) raw: &'a RawCode,
    pub(crate) program: &'p Program<'a>,
    /// Translates the code of an inner function.
    pub(crate) translate_inner: &'p dyn Fn(&'a RawCode, Vec<bool>) -> Result<Inner>,
    /// Facts about captured variables.
    pub(crate) plan: &'p Plan,
    pub(crate) ssa: Ssa,
    pub(crate) blocks: Vec<BlockData>,
    /// Block that begins at an instruction.
    starts: Vec<u32>,
    /// Shape of the stack at the start of a block, once known.
    shapes: Vec<Option<Shape<'a>>>,
    /// Landing blocks, by handler, depth and whether the place is pushed.
    landings: HashMap<(u32, u32, bool), Block>,
    /// Blocks to translate: number and range of instructions.
    work: Vec<(Block, u32)>,
    /// The block being translated, its stack and place.
    pub(crate) block: Block,
    pub(crate) stack: Stack<'a>,
    pub(crate) span: Span,
    /// Values of variables in the block so far, and which were checked there.
    current: Vec<Option<Value>>,
    checked: Vec<Option<Value>>,
    touched: Vec<u32>,
    /// Place of the instruction that makes a value.
    pub(crate) made: Vec<(u32, u32)>,
    /// Value of unassigned variables.
    pub(crate) unbound: Value,
    pub(crate) inner: Vec<Arc<Code>>,
    pub(crate) inner_index: HashMap<*const RawCode, u32>,
    /// Modules that were imported from packages, by value.
    pub(crate) modules: HashMap<Value, String>,
    /// Operands of `CONVERT_VALUE`, by result.
    pub(crate) converted: HashMap<Value, (Value, char)>,
    /// Variables in the closure tuples made so far.
    pub(crate) cells: HashMap<Value, Vec<Option<Origin>>>,
    pub(crate) closures: Vec<Closure>,
    stores: Vec<Store>,
    /// Variables that inner functions assign, and that are no cells.
    pub(crate) conflicts: HashSet<u32>,
    /// Captured variables that are assigned, and where.
    pub(crate) assigned: HashMap<u32, Span>,
}

/// A translated function, and the captured variables that it assigns.
#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) code: Arc<Code>,
    pub(crate) assigned: Vec<(u32, Span)>,
}

/// Whether the block goes on after an instruction.
#[derive(PartialEq)]
pub(crate) enum Flow {
    Next,
    End,
}

/// Attempts at a plan before all captured variables become cells.
const ATTEMPTS: usize = 5;

/// Translates a decoded program; `shared_free` says which captured variables are cells.
pub(crate) fn translate<'a>(
    raw: &'a RawCode,
    program: &Program<'a>,
    translate_inner: &dyn Fn(&'a RawCode, Vec<bool>) -> Result<Inner>,
    shared_free: Vec<bool>,
) -> Result<Inner> {
    let mut plan = Plan { shared_free, ..Plan::default() };
    for attempt in 0.. {
        let (inner, better) = translate_as(raw, program, translate_inner, &plan)?;
        if better == plan {
            return Ok(inner);
        }
        plan = better;
        if attempt == ATTEMPTS {
            let captured = (0..program.vars.len() as u32).filter(|v| program.vars[*v as usize].is_cell);
            plan = Plan { shared: captured.collect(), groups: Vec::new(), ..plan };
        } else if attempt > ATTEMPTS {
            return Ok(inner);
        }
    }
    unreachable!("the loop ends")
}

/// One attempt: the function, and a plan that is better than this one, or the same.
fn translate_as<'a>(
    raw: &'a RawCode,
    program: &Program<'a>,
    translate_inner: &dyn Fn(&'a RawCode, Vec<bool>) -> Result<Inner>,
    plan: &Plan,
) -> Result<(Inner, Plan)> {
    let params = parameters(raw, program)?;
    if program.ops.is_empty() {
        let text = format!("the bytecode of `{}` is malformed: there is none", raw.name);
        return Err(Diagnostic::new(UNSUPPORTED_BYTECODE, text).at(&raw.filename, Span::default()));
    }
    let mut build = Build::new(raw, program, translate_inner, plan);
    build.entry(&params);
    while let Some((block, first)) = build.work.pop() {
        build.run_block(block, first)?;
    }
    let mut ssa = std::mem::take(&mut build.ssa);
    let mut renames = ssa.finish(&mut build.blocks);
    build.stores.iter_mut().for_each(|store| store.value = renames.find(store.value));
    let count = params.len() as u32;
    let mut code = Code {
        name: raw.name.clone(),
        qualname: raw.qualname.clone(),
        file: raw.filename.clone(),
        first_line: raw.firstlineno,
        params: params.into_iter().map(|p| p.1).collect(),
        posonly: raw.posonlyargcount as usize,
        freevars: raw.freevars.clone(),
        inner: build.inner,
        blocks: build.blocks,
        value_count: ssa.names.len(),
        value_names: ssa.names,
        is_generator: raw.flags & GENERATOR != 0,
    };
    closures::forget_own_names(&mut code, &build.closures, &build.stores, build.unbound);
    let mut better = closures::improved(plan, &code, &build.closures, &build.stores, count);
    better.shared.extend(build.conflicts);
    if better == *plan {
        tidy::run(&mut code);
        verify::verify_if_debug(&code);
    }
    let mut assigned: Vec<(u32, Span)> = build.assigned.into_iter().collect();
    assigned.sort_by_key(|(index, _)| *index);
    Ok((Inner { code: Arc::new(code), assigned }, better))
}

/// Parameters with their variables, in the order of [`Code::params`].
fn parameters(raw: &RawCode, program: &Program<'_>) -> Result<Vec<(u32, Param)>> {
    let mut order: Vec<(u32, ParamKind)> = (0..raw.argcount).map(|v| (v, ParamKind::Positional)).collect();
    let mut after = raw.argcount.saturating_add(raw.kwonlyargcount);
    if raw.flags & VARARGS != 0 {
        order.push((after, ParamKind::VarArgs));
        after += 1;
    }
    order.extend((raw.argcount..raw.argcount.saturating_add(raw.kwonlyargcount)).map(|v| (v, ParamKind::KeywordOnly)));
    if raw.flags & VARKEYWORDS != 0 {
        order.push((after, ParamKind::VarKeywords));
    }
    let named = order.into_iter().map(|(v, kind)| {
        let var = program.vars.get(v as usize)?;
        Some((v, Param { name: var.name.to_owned(), kind }))
    });
    named.collect::<Option<_>>().ok_or_else(|| {
        let text = format!("the bytecode of `{}` is malformed: a parameter has no variable", raw.name);
        Diagnostic::new(UNSUPPORTED_BYTECODE, text).at(&raw.filename, Span::default())
    })
}

impl<'a, 'p> Build<'a, 'p> {
    fn new(
        raw: &'a RawCode,
        program: &'p Program<'a>,
        translate_inner: &'p dyn Fn(&'a RawCode, Vec<bool>) -> Result<Inner>,
        plan: &'p Plan,
    ) -> Self {
        let mut ssa = Ssa::default();
        ssa.vars = program.vars.iter().map(|v| Arc::from(v.name)).collect();
        let unbound = ssa.value(None);
        ssa.suspicious[unbound.index()] = true;
        ssa.unbound = Some(unbound);
        let starts = cut(program);
        let mut block_count = 1;
        let starts: Vec<u32> = starts.into_iter().map(|s| number(s, &mut block_count)).collect();
        let nothing = Shape { depth: 0, kinds: Rc::default() };
        let vars = program.vars.len();
        Build {
            raw,
            program,
            translate_inner,
            plan,
            ssa,
            blocks: vec![BlockData::default(); block_count as usize],
            starts,
            shapes: vec![None; block_count as usize],
            landings: HashMap::new(),
            work: Vec::new(),
            block: Block(0),
            stack: Stack::new(nothing),
            span: Span::default(),
            current: vec![None; vars],
            checked: vec![None; vars],
            touched: Vec::new(),
            made: Vec::new(),
            unbound,
            inner: Vec::new(),
            inner_index: HashMap::new(),
            modules: HashMap::new(),
            converted: HashMap::new(),
            cells: HashMap::new(),
            closures: Vec::new(),
            stores: Vec::new(),
            conflicts: HashSet::new(),
            assigned: HashMap::new(),
        }
    }

    /// Fills block 0.
    fn entry(&mut self, params: &[(u32, Param)]) {
        for (var, param) in params {
            let value = self.ssa.value(Some(Arc::from(param.name.as_str())));
            self.ssa.assign(0, *var, value);
            self.blocks[0].params.push(value);
        }
        let inst = Inst::Const(PyConst::Unbound);
        self.blocks[0].insts.push(InstData { result: Some(self.unbound), inst, span: Span::default() });
        let first = Block(self.starts[0]);
        self.shapes[first.index()] = Some(self.stack.found().clone());
        self.work.push((first, 0));
        self.blocks[0].term = Some(Term::Jump(Target { block: first, args: Vec::new() }));
    }

    fn run_block(&mut self, block: Block, first: u32) -> Result<()> {
        self.block = block;
        let shape = self.shapes[block.index()].clone();
        self.stack = Stack::new(shape.unwrap_or_else(|| self.stack.found().clone()));
        for var in self.touched.drain(..) {
            self.current[var as usize] = None;
            self.checked[var as usize] = None;
        }
        let program = self.program;
        let mut next = first;
        loop {
            let Some(Op { instr, span }) = program.ops.get(next as usize) else {
                return Err(self.malformed("it does not end with `return`"));
            };
            self.span = *span;
            next += 1;
            if self.step(instr, next)? == Flow::End {
                break;
            }
            if self.starts.get(next as usize).is_some_and(|&s| s != NO_BLOCK) {
                let target = self.go(next)?;
                self.end(Term::Jump(target));
                break;
            }
        }
        self.protect(first)
    }

    /// Gives the finished block its handler.
    fn protect(&mut self, first: u32) -> Result<()> {
        let regions = &self.program.regions;
        let after = regions.partition_point(|r| r.start <= first);
        let region = after.checked_sub(1).map(|i| regions[i]).filter(|r| first < r.end);
        if let Some(region) = region
            && block_may_raise(&self.blocks[self.block.index()])
        {
            let block = self.landing(region)?;
            self.blocks[self.block.index()].unwind = Some(Target { block, args: Vec::new() });
        }
        Ok(())
    }

    /// The block at which exceptions of a region arrive.
    fn landing(&mut self, region: Region) -> Result<Block> {
        let found = self.stack.found().clone();
        if found.depth < region.depth {
            return Err(self.malformed("an exception handler expects more on the stack"));
        }
        let mut shape = found.cut(region.depth);
        if region.lasti {
            Rc::make_mut(&mut shape.kinds).push((shape.depth, Kind::Junk));
            shape.depth += 1;
        }
        shape.depth += 1;
        let key = (region.target, region.depth, region.lasti);
        if let Some(&block) = self.landings.get(&key) {
            self.arrive(region.target, shape)?;
            return Ok(block);
        }
        let block = self.new_block();
        self.landings.insert(key, block);
        let span = self.program.ops[region.target as usize].span;
        let exc = self.ssa.value(None);
        self.ssa.assign(block.0, self.position(shape.depth - 1), exc);
        let target = self.arrive(region.target, shape)?;
        let data = &mut self.blocks[block.index()];
        data.insts.push(InstData { result: Some(exc), inst: Inst::CatchExc, span });
        data.term = Some(Term::Jump(target));
        data.term_span = span;
        Ok(block)
    }

    /// A further block.
    pub(crate) fn new_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        self.shapes.push(None);
        Block::new(self.blocks.len() - 1)
    }

    /// The variable for a position of the stack.
    pub(crate) fn position(&self, position: u32) -> u32 {
        self.program.vars.len() as u32 + position
    }

    /// Control goes to an instruction with the stack as it is now.
    pub(crate) fn go(&mut self, index: u32) -> Result<Target> {
        self.flush();
        let shape = self.stack.shape();
        self.arrive(index, shape)
    }

    /// Notes the values of the block's own slots as those at its end.
    pub(crate) fn flush(&mut self) {
        let own: Vec<(u32, Source)> = self.stack.own().map(|(p, slot)| (p, slot.source)).collect();
        for (position, source) in own {
            let value = match source {
                Source::None => continue,
                Source::Value(value) => value,
                Source::Entry(from) if from == position => continue,
                Source::Entry(from) => self.ssa.entry(self.block.0, self.position(from)),
            };
            self.ssa.assign(self.block.0, self.position(position), value);
        }
    }

    /// Control goes to an instruction with a stack of this shape.
    pub(crate) fn arrive(&mut self, index: u32, shape: Shape<'a>) -> Result<Target> {
        let Some(&start) = self.starts.get(index as usize) else {
            return Err(self.malformed("it does not end with `return`"));
        };
        let block = Block(start);
        match &self.shapes[block.index()] {
            Some(known) if *known == shape => {}
            Some(_) => return Err(self.malformed("the stack differs on two ways to an instruction")),
            None => {
                self.shapes[block.index()] = Some(shape);
                self.work.push((block, index));
            }
        }
        Ok(Target { block, args: Vec::new() })
    }

    /// Ends the block.
    pub(crate) fn end(&mut self, term: Term) {
        for &var in &self.touched {
            if let Some(value) = self.current[var as usize]
                && !self.ssa.is_entry(self.block.0, var, value)
            {
                self.ssa.assign(self.block.0, var, value);
            }
        }
        let data = &mut self.blocks[self.block.index()];
        data.term = Some(term);
        data.term_span = self.span;
    }

    /// Adds an instruction without a result.
    pub(crate) fn act(&mut self, inst: Inst) {
        let data = InstData { result: None, inst, span: self.span };
        self.blocks[self.block.index()].insts.push(data);
    }

    /// Adds an instruction with a result.
    pub(crate) fn emit(&mut self, inst: Inst) -> Value {
        let value = self.ssa.value(None);
        self.emit_as(value, inst);
        value
    }

    /// Adds the instruction that makes a value.
    pub(crate) fn emit_as(&mut self, value: Value, inst: Inst) {
        let insts = &mut self.blocks[self.block.index()].insts;
        if self.made.len() <= value.index() {
            self.made.resize(value.index() + 1, (NO_BLOCK, 0));
        }
        self.made[value.index()] = (self.block.0, insts.len() as u32);
        insts.push(InstData { result: Some(value), inst, span: self.span });
    }

    /// The instruction that makes a value, if it stands in the current block.
    pub(crate) fn made_here(&mut self, value: Value) -> Option<&mut InstData> {
        let &(block, index) = self.made.get(value.index())?;
        let insts = &mut self.blocks[self.block.index()].insts;
        let here = block == self.block.0;
        insts.get_mut(index as usize).filter(|i| here && i.result == Some(value))
    }

    /// The constant that a value is, if it was loaded in the current block.
    pub(crate) fn constant_here(&mut self, value: Value) -> Option<&PyConst> {
        match &self.made_here(value)?.inst {
            Inst::Const(c) => Some(c),
            _ => None,
        }
    }

    /// A variable's value, which may be unbound.
    pub(crate) fn read_raw(&mut self, var: u32) -> Value {
        if let Some(value) = self.current[var as usize] {
            return value;
        }
        let value = self.ssa.entry(self.block.0, var);
        self.touched.push(var);
        self.current[var as usize] = Some(value);
        value
    }

    /// A variable's value, checked for being bound. `tidy` removes the checks that cannot fail.
    pub(crate) fn read(&mut self, var: u32) -> Value {
        if let Some(value) = self.checked[var as usize] {
            return value;
        }
        let value = self.read_raw(var);
        if !self.ssa.suspicious[value.index()] {
            return value;
        }
        let name = self.program.vars[var as usize].name.to_owned();
        let checked = self.emit(Inst::CheckBound { value, name });
        self.checked[var as usize] = Some(checked);
        checked
    }

    /// Assigns to a variable.
    pub(crate) fn write(&mut self, var: u32, value: Value) {
        self.touched.push(var);
        self.current[var as usize] = Some(value);
        self.checked[var as usize] = None;
        if value != self.unbound && !self.ssa.vars[var as usize].starts_with('.') {
            let name = &mut self.ssa.names[value.index()];
            name.get_or_insert_with(|| self.ssa.vars[var as usize].clone());
        }
        if self.program.vars[var as usize].is_cell && !self.plan.shares(var) {
            let at = (self.block, self.blocks[self.block.index()].insts.len());
            self.stores.push(Store { at, var, value });
        }
    }

    /// Whether a variable is a parameter.
    pub(crate) fn is_parameter(&self, var: u32) -> bool {
        let stars = [VARARGS, VARKEYWORDS].into_iter().filter(|flag| self.raw.flags & flag != 0).count() as u32;
        var < self.raw.argcount.saturating_add(self.raw.kwonlyargcount).saturating_add(stars)
    }

    /// Pops a slot.
    pub(crate) fn pop_slot(&mut self) -> Result<Slot<'a>> {
        self.stack.pop().ok_or_else(|| self.malformed("the stack is empty"))
    }

    /// The value of a slot.
    pub(crate) fn slot_value(&mut self, slot: Slot<'a>) -> Result<Value> {
        match slot.source {
            Source::Value(value) => Ok(value),
            Source::Entry(position) => Ok(self.ssa.entry(self.block.0, self.position(position))),
            Source::None => Err(self.malformed("a value is missing on the stack")),
        }
    }

    /// Pops a value.
    pub(crate) fn pop(&mut self) -> Result<Value> {
        let slot = self.pop_slot()?;
        self.slot_value(slot)
    }

    /// The n-th value from the top.
    pub(crate) fn peek(&mut self, n: u32) -> Result<Value> {
        let slot = self.stack.peek(n).copied();
        let slot = slot.ok_or_else(|| self.malformed("the stack is not deep enough"))?;
        self.slot_value(slot)
    }

    /// Pops values; the first pushed comes first.
    pub(crate) fn pop_many(&mut self, count: u32) -> Result<Vec<Value>> {
        if count > self.stack.depth() {
            return Err(self.malformed("the stack is not deep enough"));
        }
        let mut values = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>>>()?;
        values.reverse();
        Ok(values)
    }

    /// Pushes a value.
    pub(crate) fn push(&mut self, value: Value) {
        self.stack.push(Slot::value(value));
    }

    /// A diagnostic at the current instruction for bytes that no compiler of Python makes.
    pub(crate) fn malformed(&self, why: &str) -> Box<Diagnostic> {
        let text = format!("the bytecode of `{}` is malformed: {why}", self.raw.name);
        Diagnostic::new(UNSUPPORTED_BYTECODE, text).at(&self.raw.filename, self.place())
    }

    /// Place of the current instruction, or the function's if that has none.
    pub(crate) fn place(&self) -> Span {
        let function = Span { line: self.raw.firstlineno, ..Span::default() };
        if self.span.line == 0 { function } else { self.span }
    }
}

fn number(is_start: bool, next: &mut u32) -> u32 {
    if !is_start {
        return NO_BLOCK;
    }
    *next += 1;
    *next - 1
}

/// Whether each instruction begins a block.
fn cut(program: &Program<'_>) -> Vec<bool> {
    let mut starts = vec![false; program.ops.len()];
    let mut mark = |index: u32| {
        if let Some(start) = starts.get_mut(index as usize) {
            *start = true;
        }
    };
    mark(0);
    let mut regions = program.regions.iter().peekable();
    for (i, op) in program.ops.iter().enumerate() {
        let next = i as u32 + 1;
        while regions.next_if(|r| r.end <= i as u32).is_some() {}
        let protected = regions.peek().is_some_and(|r| r.start <= i as u32);
        if let Some(target) = op.instr.target() {
            mark(target);
            mark(next);
        } else if op.instr.ends_flow() || protected && op.instr.is_store() {
            mark(next);
        }
    }
    for region in &program.regions {
        [region.start, region.end, region.target].into_iter().for_each(&mut mark);
    }
    starts
}
