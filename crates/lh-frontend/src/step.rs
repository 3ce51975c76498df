//! The effects of instructions on the abstract stack: values, operators and control flow. `build.rs` has containers,
//! calls and functions.

use crate::instr::Instr;
use crate::raw::RawConst;
use crate::stack::{Kind, Origin, Slot};
use crate::translate::{Build, Flow};
use lh_ir::Value;
use lh_ir::diag::{Diagnostic, Id, Result, UNSUPPORTED_SYNTAX, UNSUPPORTED_TYPE};
use lh_ir::untyped::{Inst, PyConst, Target, Term};

impl<'a> Build<'a, '_> {
    /// Runs one instruction; `next` is the index of the following one.
    pub(crate) fn step(&mut self, instr: &Instr<'a>, next: u32) -> Result<Flow> {
        match instr {
            Instr::Nop => {}
            Instr::Const(constant) => self.load_const(constant)?,
            Instr::Int(i) => self.emit_push(Inst::Const(PyConst::Int(i128::from(*i)))),
            Instr::Null => self.stack.push(Slot::special(Kind::Null)),
            Instr::Junk => self.stack.push(Slot::special(Kind::Junk)),
            Instr::Pop => drop(self.pop_slot()?),
            Instr::Copy(n) => {
                let slot = self.stack.peek(*n).copied();
                let slot = slot.ok_or_else(|| self.malformed("the stack is not deep enough"))?;
                self.stack.push(slot);
            }
            Instr::Swap(n) => self.stack.swap(*n).ok_or_else(|| self.malformed("the stack is not deep enough"))?,
            Instr::Load(_)
            | Instr::LoadRaw(_)
            | Instr::LoadClear(_)
            | Instr::Store(_)
            | Instr::StoreRaw(_)
            | Instr::MakeCell(_)
            | Instr::Delete(_)
            | Instr::LoadFree(_)
            | Instr::LoadFreeRaw(_)
            | Instr::StoreFree(_)
            | Instr::DeleteFree(_)
            | Instr::Global(_)
            | Instr::Import(_)
            | Instr::ImportFrom(_) => self.step_name(instr)?,
            Instr::Jump(_)
            | Instr::JumpIf(..)
            | Instr::JumpIfNone(..)
            | Instr::JumpIfOrPop(..)
            | Instr::ForIter(_)
            | Instr::Return
            | Instr::Raise(_)
            | Instr::Reraise => return self.step_flow(instr, next),
            Instr::PushExcInfo | Instr::PopExcept | Instr::ExcMatch | Instr::BeforeWith | Instr::WithExceptStart(_) => {
                self.step_exception(instr)?
            }
            Instr::Unsupported(problem) => {
                let text = problem.text.as_str();
                return Err(self.refuse(problem.id, text, problem.note));
            }
            _ => self.step_operator(instr)?,
        }
        Ok(Flow::Next)
    }

    /// A diagnostic at the current instruction.
    pub(crate) fn refuse(&self, id: Id, text: &str, note: &str) -> Box<Diagnostic> {
        let diagnostic = Diagnostic::new(id, text).at(&self.raw.filename, self.place());
        if note.is_empty() { diagnostic } else { diagnostic.note(note) }
    }

    /// Adds an instruction and pushes its result.
    pub(crate) fn emit_push(&mut self, inst: Inst) {
        let value = self.emit(inst);
        self.push(value);
    }

    fn load_const(&mut self, constant: &'a RawConst) -> Result<()> {
        match constant {
            RawConst::Value(value) => {
                let value = self.constant(value);
                self.push(value);
            }
            RawConst::Code(code) => self.stack.push(Slot::special(Kind::Code(code))),
            RawConst::Other(kind) => {
                let text = format!("a constant of type `{kind}` is not supported in compiled code");
                return Err(self.refuse(UNSUPPORTED_TYPE, &text, ""));
            }
        }
        Ok(())
    }

    /// A constant. Constant slices (3.14), alone or as an index for several axes, are made as other slices are.
    fn constant(&mut self, value: &PyConst) -> Value {
        match value {
            PyConst::Slice(parts) => {
                let parts = parts.each_ref().map(|part| self.emit(Inst::Const(part.clone())));
                self.emit(Inst::Slice(parts))
            }
            PyConst::Tuple(items) if items.iter().any(|item| matches!(item, PyConst::Slice(_))) => {
                let items = items.iter().map(|item| match item {
                    PyConst::Tuple(_) => self.emit(Inst::Const(item.clone())),
                    _ => self.constant(item),
                });
                let items = items.collect();
                self.emit(Inst::Tuple(items))
            }
            _ => self.emit(Inst::Const(value.clone())),
        }
    }

    fn step_name(&mut self, instr: &Instr<'a>) -> Result<()> {
        match *instr {
            Instr::Load(var) if self.plan.shares(var) => {
                let (cell, name) = (self.read_raw(var), self.name_of(var));
                self.emit_push(Inst::CellGet { cell, name });
            }
            Instr::Load(var) | Instr::LoadRaw(var) => {
                let value = if matches!(instr, Instr::Load(_)) { self.read(var) } else { self.read_raw(var) };
                let origin = self.program.vars[var as usize].is_cell.then_some(Origin::Var(var));
                self.stack.push(Slot { origin, ..Slot::value(value) });
            }
            Instr::LoadClear(var) => {
                let value = self.read_raw(var);
                self.push(value);
                self.write(var, self.unbound);
            }
            Instr::Store(var) if self.plan.shares(var) => {
                let value = self.pop()?;
                let cell = self.read_raw(var);
                self.act(Inst::CellSet(cell, value));
            }
            Instr::Store(var) | Instr::StoreRaw(var) => {
                let value = self.pop()?;
                self.write(var, value);
            }
            Instr::MakeCell(var) => self.make_cell(var),
            Instr::Delete(var) if self.plan.shares(var) => {
                let (cell, name) = (self.read_raw(var), self.name_of(var));
                self.act(Inst::CellDelete { cell, name });
            }
            Instr::Delete(var) => {
                self.read(var);
                self.write(var, self.unbound);
            }
            Instr::LoadFree(index) if self.plan.shares_free(index) => {
                let cell = self.emit(Inst::Free(index));
                let name = self.free_name(index)?;
                self.emit_push(Inst::CellGet { cell, name });
            }
            Instr::LoadFree(index) => self.emit_push(Inst::Free(index)),
            Instr::LoadFreeRaw(index) => {
                let value = self.emit(Inst::Free(index));
                self.stack.push(Slot { origin: Some(Origin::Free(index)), ..Slot::value(value) });
            }
            Instr::StoreFree(index) => {
                let value = self.pop()?;
                self.share_free(index)?;
                let cell = self.emit(Inst::Free(index));
                self.act(Inst::CellSet(cell, value));
            }
            Instr::DeleteFree(index) => {
                let name = self.share_free(index)?;
                let cell = self.emit(Inst::Free(index));
                self.act(Inst::CellDelete { cell, name });
            }
            Instr::Global(name) => self.emit_push(Inst::Global(name.to_owned())),
            Instr::Import(name) => self.import(name)?,
            Instr::ImportFrom(name) => self.import_from(name)?,
            _ => {}
        }
        Ok(())
    }

    fn name_of(&self, var: u32) -> String {
        self.program.vars[var as usize].name.to_owned()
    }

    fn free_name(&self, index: u32) -> Result<String> {
        let name = self.raw.freevars.get(index as usize).cloned();
        name.ok_or_else(|| self.malformed("a cell is out of range"))
    }

    /// A captured variable that is assigned has to be a cell, for which the enclosing function is asked.
    fn share_free(&mut self, index: u32) -> Result<String> {
        let name = self.free_name(index)?;
        self.assigned.entry(index).or_insert(self.span);
        Ok(name)
    }

    fn make_cell(&mut self, var: u32) {
        if !self.plan.shares(var) {
            return;
        }
        let before = self.read_raw(var);
        let cell = self.emit(Inst::Cell(self.name_of(var)));
        if self.is_parameter(var) && before != self.unbound {
            self.act(Inst::CellSet(cell, before));
        }
        self.write(var, cell);
    }

    fn import(&mut self, name: &'a str) -> Result<()> {
        let from = self.pop()?;
        let level = self.pop()?;
        if !matches!(self.constant_here(level), Some(PyConst::Int(0))) {
            return Err(self.refuse(
                UNSUPPORTED_SYNTAX,
                "a relative import is not supported in compiled code",
                "name the whole module",
            ));
        }
        // `import a.b` binds `a`; `from a.b import c` takes from `a.b`.
        let whole = !matches!(self.constant_here(from), Some(PyConst::None));
        let bound = if whole { name } else { name.split('.').next().unwrap_or(name) };
        let value = self.emit(Inst::Import { name: bound.to_owned(), attr: None });
        // Imported names may be stored in several blocks: the stack remembers the module.
        self.stack.push(Slot { kind: Some(Kind::Module(bound)), ..Slot::value(value) });
        Ok(())
    }

    fn import_from(&mut self, name: &str) -> Result<()> {
        let module = self.peek(1)?;
        let path = match self.stack.peek(1).and_then(|slot| slot.kind) {
            Some(Kind::Module(path)) => path.to_owned(),
            _ => self.modules.get(&module).cloned().ok_or_else(|| self.malformed("an import is not from a module"))?,
        };
        let value = self.emit(Inst::Import { name: path.clone(), attr: Some(name.to_owned()) });
        self.modules.insert(value, format!("{path}.{name}"));
        self.push(value);
        Ok(())
    }

    fn step_operator(&mut self, instr: &Instr<'a>) -> Result<()> {
        match *instr {
            Instr::Unary(op) => {
                let a = self.pop()?;
                self.emit_push(Inst::Unary(op, a));
            }
            Instr::Binary(..) | Instr::Compare(_) | Instr::Is(_) | Instr::Contains(_) | Instr::Item => {
                let b = self.pop()?;
                let a = self.pop()?;
                self.emit_push(match *instr {
                    Instr::Binary(op, inplace) => Inst::Binary { op, a, b, inplace },
                    Instr::Compare(op) => Inst::Compare(op, a, b),
                    Instr::Is(negate) => Inst::Is { a, b, negate },
                    Instr::Contains(negate) => Inst::Contains { item: a, container: b, negate },
                    _ => Inst::GetItem(a, b),
                });
            }
            Instr::Attr(name) => {
                let a = self.pop()?;
                self.emit_push(Inst::GetAttr(a, name.to_owned()));
            }
            Instr::StoreAttr(name) => {
                let object = self.pop()?;
                let value = self.pop()?;
                self.act(Inst::SetAttr(object, name.to_owned(), value));
            }
            Instr::StoreItem => {
                let key = self.pop()?;
                let object = self.pop()?;
                let value = self.pop()?;
                self.act(Inst::SetItem(object, key, value));
            }
            Instr::DeleteItem => {
                let key = self.pop()?;
                let object = self.pop()?;
                self.act(Inst::DelItem(object, key));
            }
            Instr::LoadSlice => {
                let key = self.slice(2)?;
                let object = self.pop()?;
                self.emit_push(Inst::GetItem(object, key));
            }
            Instr::StoreSlice => {
                let key = self.slice(2)?;
                let object = self.pop()?;
                let value = self.pop()?;
                self.act(Inst::SetItem(object, key, value));
            }
            Instr::Slice(parts) => {
                let key = self.slice(parts)?;
                self.push(key);
            }
            _ => return self.step_container(instr),
        }
        Ok(())
    }

    fn slice(&mut self, parts: u32) -> Result<Value> {
        let values = self.pop_many(parts)?;
        let values: [Value; 3] = match values[..] {
            [a, b] => [a, b, self.emit(Inst::Const(PyConst::None))],
            [a, b, c] => [a, b, c],
            _ => return Err(self.malformed("a slice has two or three parts")),
        };
        Ok(self.emit(Inst::Slice(values)))
    }

    fn step_flow(&mut self, instr: &Instr<'a>, next: u32) -> Result<Flow> {
        match *instr {
            Instr::Jump(target) => {
                let target = self.go(target)?;
                self.end(Term::Jump(target));
            }
            Instr::JumpIf(sense, target) => {
                let cond = self.pop()?;
                self.branch(cond, sense, target, next)?;
            }
            Instr::JumpIfNone(sense, target) => {
                let a = self.pop()?;
                let b = self.emit(Inst::Const(PyConst::None));
                let cond = self.emit(Inst::Is { a, b, negate: !sense });
                self.branch(cond, true, target, next)?;
            }
            Instr::JumpIfOrPop(sense, target) => {
                let cond = self.peek(1)?;
                let jump = self.go(target)?;
                self.pop_slot()?;
                let stay = self.go(next)?;
                self.end(choose(cond, sense, jump, stay));
            }
            Instr::ForIter(done) => self.for_iter(done, next)?,
            Instr::Return => {
                let value = self.pop()?;
                self.end(Term::Return(value));
            }
            Instr::Raise(count) => self.raise(count)?,
            _ => {
                let exc = self.pop()?;
                self.end(Term::Reraise(exc));
            }
        }
        Ok(Flow::End)
    }

    fn branch(&mut self, cond: Value, sense: bool, target: u32, next: u32) -> Result<()> {
        let jump = self.go(target)?;
        let stay = self.go(next)?;
        self.end(choose(cond, sense, jump, stay));
        Ok(())
    }

    /// The loop's item is a parameter of a block of its own, which leads to the body.
    fn for_iter(&mut self, done: u32, next: u32) -> Result<()> {
        let iter = self.peek(1)?;
        self.flush();
        let edge = self.new_block();
        let item = self.ssa.value(None);
        let mut shape = self.stack.shape();
        self.ssa.assign(edge.0, self.position(shape.depth), item);
        shape.depth += 1;
        let body = self.arrive(next, shape)?;
        let data = &mut self.blocks[edge.index()];
        data.params.push(item);
        data.term = Some(Term::Jump(body));
        data.term_span = self.span;
        self.pop_slot()?;
        let done = self.go(done)?;
        self.end(Term::ForIter { iter, body: Target { block: edge, args: Vec::new() }, done });
        Ok(())
    }

    fn raise(&mut self, count: u32) -> Result<()> {
        let term = match count {
            0 => match self.stack.handled() {
                Some(slot) => Term::Reraise(self.slot_value(slot)?),
                None => {
                    let class = self.emit(Inst::Global("RuntimeError".to_owned()));
                    let text = self.emit(Inst::Const(PyConst::Str("No active exception to reraise".to_owned())));
                    let exc = self.emit(Inst::Call { func: class, args: vec![text], kwargs: Vec::new() });
                    Term::Raise { exc, cause: None }
                }
            },
            1 => Term::Raise { exc: self.pop()?, cause: None },
            2 => {
                let cause = Some(self.pop()?);
                Term::Raise { exc: self.pop()?, cause }
            }
            _ => return Err(self.malformed("`raise` has at most two operands")),
        };
        self.end(term);
        Ok(())
    }

    fn step_exception(&mut self, instr: &Instr<'a>) -> Result<()> {
        match *instr {
            Instr::PushExcInfo => {
                let slot = self.pop_slot()?;
                let exc = self.slot_value(slot)?;
                if let Some(outer) = self.stack.handled() {
                    let outer = self.slot_value(outer)?;
                    self.act(Inst::Chain(exc, outer));
                }
                self.stack.push(Slot { kind: Some(Kind::Handled), ..Slot::value(exc) });
                self.push(exc);
            }
            Instr::PopExcept => {
                let slot = self.pop_slot()?;
                if slot.kind != Some(Kind::Handled) {
                    return Err(self.malformed("no exception is being handled"));
                }
                let exc = self.slot_value(slot)?;
                // A handler that was left by an exception drops a copy of the one that it handled.
                let handled = self.stack.handled().map(|slot| self.slot_value(slot)).transpose()?;
                if handled == Some(exc) {
                    let raised = self.peek(1)?;
                    self.act(Inst::Chain(raised, exc));
                }
                self.act(Inst::EndCatch(exc));
            }
            Instr::ExcMatch => {
                let class = self.pop()?;
                let exc = self.peek(1)?;
                self.emit_push(Inst::ExcMatch(exc, class));
            }
            Instr::BeforeWith => {
                let manager = self.pop()?;
                self.emit_push(Inst::GetAttr(manager, "__exit__".to_owned()));
                let enter = self.emit(Inst::GetAttr(manager, "__enter__".to_owned()));
                self.emit_push(Inst::Call { func: enter, args: Vec::new(), kwargs: Vec::new() });
            }
            Instr::WithExceptStart(n) => {
                let exit = self.peek(n)?;
                let exc = self.peek(1)?;
                let [class, place] =
                    ["__class__", "__traceback__"].map(|n| self.emit(Inst::GetAttr(exc, n.to_owned())));
                let args = vec![class, exc, place];
                self.emit_push(Inst::Call { func: exit, args, kwargs: Vec::new() });
            }
            _ => {}
        }
        Ok(())
    }
}

fn choose(cond: Value, sense: bool, jump: Target, stay: Target) -> Term {
    let (then, els) = if sense { (jump, stay) } else { (stay, jump) };
    Term::Branch { cond, then, els }
}
