//! The effects of the instructions for containers, strings, calls and functions on the abstract stack.

use crate::decode::MAX_SPREAD;
use crate::instr::Instr;
use crate::plan::{Closure, regrouped};
use crate::raw::{RawCode, RawConst};
use crate::stack::{Kind, Origin, Slot, Source};
use crate::translate::{Build, GENERATOR, Inner};
use lh_ir::Value;
use lh_ir::diag::{Result, TOO_LARGE, UNSUPPORTED_BYTECODE};
use lh_ir::untyped::{Inst, InstData, PyConst};
use std::sync::Arc;

/// Attributes of a function, as the flags of `MAKE_FUNCTION`.
const DEFAULTS: u32 = 1;
const KWDEFAULTS: u32 = 2;
const ANNOTATIONS: u32 = 4;
const CLOSURE: u32 = 8;
/// Annotations as a function (3.14).
const ANNOTATE: u32 = 16;

impl<'a> Build<'a, '_> {
    /// Runs an instruction for a container or string; passes others on.
    pub(crate) fn step_container(&mut self, instr: &Instr<'a>) -> Result<()> {
        match *instr {
            Instr::Tuple(n) => self.tuple(n)?,
            Instr::List(n) => {
                let values = self.pop_many(n)?;
                self.emit_push(Inst::List(values));
            }
            Instr::Set(n) => {
                let values = self.pop_many(n)?;
                self.emit_push(Inst::Set(values));
            }
            Instr::Map(n) => {
                let values = self.pop_many(n.saturating_mul(2))?;
                self.emit_push(Inst::Dict(values.chunks_exact(2).map(|kv| (kv[0], kv[1])).collect()));
            }
            Instr::ConstKeyMap(n) => self.const_key_map(n)?,
            Instr::Concat(n) => {
                let values = self.pop_many(n)?;
                self.emit_push(Inst::ConcatStr(values));
            }
            Instr::ListAppend(n) => {
                let item = self.pop()?;
                let list = self.peek(n)?;
                self.act(Inst::ListAppend(list, item));
            }
            Instr::ListExtend(n) => self.extend(n, false)?,
            Instr::SetUpdate(n) => self.extend(n, true)?,
            Instr::SetAdd(n) => {
                let item = self.pop()?;
                let set = self.peek(n)?;
                self.act(Inst::SetAdd(set, item));
            }
            Instr::MapAdd(n) => {
                let value = self.pop()?;
                let key = self.pop()?;
                let map = self.peek(n)?;
                // A long display is made in parts.
                match self.display_at_end(map).filter(|_| n == 1) {
                    Some(pairs) => pairs.push((key, value)),
                    None => self.act(Inst::MapAdd(map, key, value)),
                }
            }
            Instr::MapUpdate(n) => {
                let other = self.pop()?;
                let map = self.peek(n)?;
                if n == 1 && self.join_displays(map, other) {
                    return Ok(());
                }
                // Not `update`: the map is new here, which inference relies on.
                self.call_method(map, "__merge__", other);
            }
            Instr::ListToTuple => {
                let list = self.pop()?;
                self.emit_push(Inst::ListToTuple(list));
            }
            Instr::Convert(_) | Instr::Format { .. } => self.format(instr)?,
            Instr::Unpack(n) => self.unpack(n, None)?,
            Instr::UnpackEx(before, after) => self.unpack(before, Some(after))?,
            _ => self.step_call(instr)?,
        }
        Ok(())
    }

    fn tuple(&mut self, n: u32) -> Result<()> {
        let origins: Vec<Option<Origin>> =
            (1..=n.min(self.stack.depth())).rev().map(|i| self.stack.peek(i).and_then(|s| s.origin)).collect();
        let values = self.pop_many(n)?;
        let tuple = self.emit(Inst::Tuple(values));
        if origins.iter().any(Option::is_some) {
            self.cells.insert(tuple, origins);
        }
        self.push(tuple);
        Ok(())
    }

    /// Moves an instruction of the current block to its end.
    fn move_to_end(&mut self, value: Value) -> Option<&mut InstData> {
        self.made_here(value)?;
        let (block, at) = self.made[value.index()];
        let insts = &mut self.blocks[block as usize].insts;
        let data = insts.remove(at as usize);
        insts.push(data);
        for (i, data) in insts.iter().enumerate().skip(at as usize) {
            if let Some(r) = data.result {
                self.made[r.index()] = (block, i as u32);
            }
        }
        insts.last_mut()
    }

    /// Whether a value is a dictionary display of this block that nothing uses yet.
    fn is_fresh_display(&mut self, map: Value) -> bool {
        if !self.made_here(map).is_some_and(|data| matches!(data.inst, Inst::Dict(_))) {
            return false;
        }
        let mut is_used = false;
        let after = self.blocks[self.block.index()].insts.iter().skip(self.made[map.index()].1 as usize);
        after.for_each(|data| data.inst.for_each_operand(|v| is_used |= v == map));
        !is_used
    }

    /// The pairs of a dictionary display of this block, which moves behind what they are made of.
    fn display_at_end(&mut self, map: Value) -> Option<&mut Vec<(Value, Value)>> {
        if !self.is_fresh_display(map) {
            return None;
        }
        match &mut self.move_to_end(map)?.inst {
            Inst::Dict(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// Adds a display that was made just now to another that is being made, if their keys are constants and no key is
    /// in both.
    fn join_displays(&mut self, map: Value, other: Value) -> bool {
        let is_last =
            |build: &Self| build.blocks[build.block.index()].insts.last().is_some_and(|i| i.result == Some(other));
        let has_name = self.ssa.names[map.index()].is_some() || self.ssa.names[other.index()].is_some();
        if has_name || !is_last(self) || !self.is_fresh_display(map) || !self.is_fresh_display(other) {
            return false;
        }
        let (Some(own), Some(more)) = (self.constant_keys(map), self.constant_keys(other)) else { return false };
        if own.iter().any(|k| more.contains(k)) {
            return false;
        }
        let last = self.blocks[self.block.index()].insts.pop().map(|data| data.inst);
        match (last, self.display_at_end(map)) {
            (Some(Inst::Dict(pairs)), Some(own)) => {
                own.extend(pairs);
                true
            }
            _ => false,
        }
    }

    /// The keys of a dictionary display of this block, if all are constants.
    fn constant_keys(&mut self, map: Value) -> Option<Vec<PyConst>> {
        let Inst::Dict(pairs) = &self.made_here(map)?.inst else { return None };
        let keys: Vec<Value> = pairs.iter().map(|(k, _)| *k).collect();
        keys.into_iter().map(|k| self.constant_here(k).cloned()).collect()
    }

    fn const_key_map(&mut self, n: u32) -> Result<()> {
        let keys = self.pop()?;
        let values = self.pop_many(n)?;
        let Some(PyConst::Tuple(keys)) = self.constant_here(keys).cloned() else {
            return Err(self.malformed("the keys of a dict are not constant"));
        };
        if keys.len() != values.len() {
            return Err(self.malformed("a dict has as many keys as values"));
        }
        let keys: Vec<Value> = keys.into_iter().map(|k| self.emit(Inst::Const(k))).collect();
        self.emit_push(Inst::Dict(keys.into_iter().zip(values).collect()));
        Ok(())
    }

    /// `[*a, *b]`. A literal of constants is an empty list extended by a tuple: it becomes a list of these constants.
    fn extend(&mut self, n: u32, is_set: bool) -> Result<()> {
        let other = self.pop()?;
        let list = self.peek(n)?;
        if let Some(items) = self.literal(list, other, is_set)? {
            let insts = &mut self.blocks[self.block.index()].insts;
            insts.remove(insts.len() - 2);
            self.made[other.index()].1 -= 1;
            let values = items.into_iter().map(|item| self.emit(Inst::Const(item))).collect();
            self.emit_as(list, if is_set { Inst::Set(values) } else { Inst::List(values) });
        } else if is_set {
            self.call_method(list, "update", other);
        } else {
            self.act(Inst::ListExtend(list, other));
        }
        Ok(())
    }

    /// The items of a literal, if the last two instructions are an empty list (or set) and a constant tuple.
    fn literal(&mut self, list: Value, other: Value, is_set: bool) -> Result<Option<Vec<PyConst>>> {
        let insts = &self.blocks[self.block.index()].insts;
        let [.., empty, items] = &insts[..] else { return Ok(None) };
        let is_empty = match &empty.inst {
            Inst::List(values) => !is_set && values.is_empty(),
            Inst::Set(values) => is_set && values.is_empty(),
            _ => false,
        };
        let Inst::Const(PyConst::Tuple(constants)) = &items.inst else { return Ok(None) };
        if !is_empty || empty.result != Some(list) || items.result != Some(other) {
            return Ok(None);
        }
        if constants.len() > MAX_SPREAD as usize {
            let text = format!("a literal of {} items is too large", constants.len());
            return Err(self.refuse(TOO_LARGE, &text, "make it an array, and pass that or use it as a global"));
        }
        Ok(Some(constants.clone()))
    }

    fn call_method(&mut self, object: Value, name: &str, arg: Value) {
        let func = self.emit(Inst::GetAttr(object, name.to_owned()));
        self.emit(Inst::Call { func, args: vec![arg], kwargs: Vec::new() });
    }

    fn format(&mut self, instr: &Instr<'a>) -> Result<()> {
        match *instr {
            Instr::Convert(c) => {
                let value = self.pop()?;
                let text = self.emit(Inst::Format { value, conversion: Some(c), spec: None });
                self.converted.insert(text, (value, c));
                self.push(text);
            }
            Instr::Format { conversion, spec } => {
                let spec = if spec { Some(self.pop()?) } else { None };
                let mut value = self.pop()?;
                let mut conversion = conversion;
                if let Some(&(original, c)) = self.converted.get(&value) {
                    if spec.is_none() {
                        self.push(value);
                        return Ok(());
                    }
                    (value, conversion) = (original, Some(c));
                }
                self.emit_push(Inst::Format { value, conversion, spec });
            }
            _ => {}
        }
        Ok(())
    }

    fn unpack(&mut self, before: u32, after: Option<u32>) -> Result<()> {
        let seq = self.pop()?;
        let count = after.map_or(before, |a| before.saturating_add(a).saturating_add(1));
        if count > MAX_SPREAD {
            return Err(self.refuse(TOO_LARGE, "too many items are unpacked", ""));
        }
        if let Some(Inst::Tuple(values)) = self.made_here(seq).map(|data| &data.inst)
            && after.is_none()
            && values.len() == before as usize
        {
            // `a, b, c, d = w, x, y, z` makes no tuple.
            for value in values.clone().into_iter().rev() {
                self.push(value);
            }
            return Ok(());
        }
        let items = self.emit(Inst::Unpack { seq, before, after });
        let values: Vec<Value> = (0..count).map(|i| self.emit(Inst::UnpackItem(items, i))).collect();
        values.into_iter().rev().for_each(|value| self.push(value));
        Ok(())
    }

    fn step_call(&mut self, instr: &Instr<'a>) -> Result<()> {
        match *instr {
            Instr::Call { argc, names } => {
                let names = match names {
                    None => Vec::new(),
                    Some(RawConst::Value(names)) => self.names(names)?,
                    Some(_) => return Err(self.malformed("keyword names are not a tuple")),
                };
                self.call(argc, names)?;
            }
            Instr::CallKw(argc) => {
                let names = self.pop()?;
                let names = self.constant_here(names).cloned().unwrap_or(PyConst::None);
                let names = self.names(&names)?;
                self.call(argc, names)?;
            }
            Instr::CallStar { kwargs } => self.call_star(kwargs)?,
            Instr::MakeFunction(flags) => self.make_function(flags)?,
            Instr::SetFunctionAttr(flag) => {
                let slot = self.pop_slot()?;
                if slot.kind == Some(Kind::Junk) {
                    self.pop_slot()?;
                } else {
                    let func = self.slot_value(slot)?;
                    self.set_function_attr(func, flag)?;
                }
                self.stack.push(slot);
            }
            Instr::Iter => {
                let value = self.pop()?;
                self.emit_push(Inst::Iter(value));
            }
            Instr::Yield | Instr::YieldFrom if self.raw.flags & GENERATOR == 0 => {
                return Err(self.malformed("it yields, and is no generator"));
            }
            Instr::Yield => {
                let value = self.pop()?;
                self.emit_push(Inst::Yield(value));
            }
            Instr::YieldFrom => {
                self.pop()?;
                let iterable = self.pop()?;
                self.emit_push(Inst::YieldFrom(iterable));
            }
            _ => return self.step_match(instr),
        }
        Ok(())
    }

    fn step_match(&mut self, instr: &Instr<'a>) -> Result<()> {
        match *instr {
            Instr::GetLen => {
                let value = self.peek(1)?;
                let func = self.emit(Inst::Global("len".to_owned()));
                self.emit_push(Inst::Call { func, args: vec![value], kwargs: Vec::new() });
            }
            Instr::MatchSequence => {
                let value = self.pop()?;
                let func = self.emit(Inst::Global("isinstance".to_owned()));
                let classes = ["tuple", "list"].map(|name| self.emit(Inst::Global(name.to_owned())));
                let classes = self.emit(Inst::Tuple(classes.to_vec()));
                self.push(value);
                self.emit_push(Inst::Call { func, args: vec![value, classes], kwargs: Vec::new() });
            }
            Instr::MatchMapping => {
                let value = self.peek(1)?;
                let func = self.emit(Inst::Global("isinstance".to_owned()));
                let class = self.emit(Inst::Global("dict".to_owned()));
                self.emit_push(Inst::Call { func, args: vec![value, class], kwargs: Vec::new() });
            }
            Instr::MatchKeys => {
                let (subject, keys) = (self.peek(2)?, self.peek(1)?);
                self.emit_push(Inst::MatchKeys { subject, keys });
            }
            Instr::MatchClass(count) => {
                let names = self.pop()?;
                let names = self.constant_here(names).cloned().unwrap_or(PyConst::None);
                let names = self.names(&names)?;
                let class = self.pop()?;
                let subject = self.pop()?;
                self.emit_push(Inst::MatchClass { subject, class, count, names });
            }
            _ => return Err(self.malformed("an instruction has no meaning")),
        }
        Ok(())
    }

    fn names(&self, names: &PyConst) -> Result<Vec<String>> {
        let PyConst::Tuple(names) = names else { return Err(self.malformed("keyword names are not a tuple")) };
        let text = |name: &PyConst| match name {
            PyConst::Str(s) => Ok(s.clone()),
            _ => Err(self.malformed("a keyword is not a name")),
        };
        names.iter().map(text).collect()
    }

    fn call(&mut self, argc: u32, names: Vec<String>) -> Result<()> {
        let mut args = self.pop_many(argc)?;
        let Some(positional) = args.len().checked_sub(names.len()) else {
            return Err(self.malformed("a call has more keywords than arguments"));
        };
        let keywords = args.split_off(positional);
        let func = self.pop_callable(&mut args)?;
        self.emit_push(Inst::Call { func, args, kwargs: names.into_iter().zip(keywords).collect() });
        Ok(())
    }

    /// Pops `callable, NULL`, `NULL, callable` or `callable, self`; `self` becomes the first argument.
    fn pop_callable(&mut self, args: &mut Vec<Value>) -> Result<Value> {
        let second = self.pop_slot()?;
        let first = self.pop_slot()?;
        if first.kind == Some(Kind::Null) {
            return self.slot_value(second);
        }
        if second.kind != Some(Kind::Null) {
            args.insert(0, self.slot_value(second)?);
        }
        self.slot_value(first)
    }

    fn call_star(&mut self, with_kwargs: bool) -> Result<()> {
        let mut kwargs = None;
        if with_kwargs {
            let slot = self.pop_slot()?;
            if slot.kind != Some(Kind::Null) {
                kwargs = Some(self.slot_value(slot)?);
            }
        }
        let args = self.pop()?;
        let mut bound = Vec::new();
        let func = self.pop_callable(&mut bound)?;
        if !bound.is_empty() {
            return Err(self.malformed("a call with `*` has a self"));
        }
        self.emit_push(Inst::CallStar { func, args, kwargs });
        Ok(())
    }

    fn make_function(&mut self, flags: u32) -> Result<()> {
        let Some(Kind::Code(code)) = self.pop_slot()?.kind else {
            return Err(self.malformed("a function is made without code"));
        };
        if code.name == "__annotate__" {
            // Annotations of 3.14: a function that nobody calls.
            self.stack.push(Slot::special(Kind::Junk));
            return Ok(());
        }
        let origins = self.origins_below();
        let index = self.inner_code(code, &origins)?;
        let func =
            self.emit(Inst::MakeFunction { code: index, defaults: None, kwdefaults: Vec::new(), captures: Vec::new() });
        // The parts were pushed in the order of the flags.
        for flag in [CLOSURE, ANNOTATIONS, KWDEFAULTS, DEFAULTS] {
            if flags & flag != 0 {
                self.set_function_attr(func, flag)?;
            }
        }
        if code.freevars.is_empty() {
            self.capture(func, index, Vec::new(), &[])?;
        }
        self.push(func);
        Ok(())
    }

    /// The variables of the closure that is on top of the stack, if it is one.
    fn origins_below(&mut self) -> Vec<Option<Origin>> {
        let top = self.stack.peek(1).map(|slot| slot.source);
        match top {
            Some(Source::Value(v)) => self.cells.get(&v).cloned().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn inner_code(&mut self, code: &'a RawCode, origins: &[Option<Origin>]) -> Result<u32> {
        if let Some(&index) = self.inner_index.get(&std::ptr::from_ref(code)) {
            return Ok(index);
        }
        let is_shared = |origin: &Option<Origin>| match origin {
            Some(Origin::Var(var)) => self.plan.shares(*var),
            Some(Origin::Free(index)) => self.plan.shares_free(*index),
            None => false,
        };
        let shared = (0..code.freevars.len()).map(|i| origins.get(i).is_some_and(is_shared)).collect();
        let Inner { code: translated, assigned } = (self.translate_inner)(code, shared)?;
        for (at, span) in assigned {
            match origins.get(at as usize).copied().flatten() {
                Some(Origin::Var(var)) => _ = self.conflicts.insert(var),
                Some(Origin::Free(index)) => _ = self.assigned.entry(index).or_insert(span),
                None => return Err(self.malformed("a closure has no variable")),
            }
        }
        let index = self.inner.len() as u32;
        self.inner.push(match self.plan.group_of(index) {
            Some(group) => Arc::new(regrouped(&translated, origins, group)),
            None => translated,
        });
        self.inner_index.insert(std::ptr::from_ref(code), index);
        Ok(index)
    }

    /// Gives a function that was just made what it captures.
    fn capture(&mut self, func: Value, code: u32, values: Vec<Value>, origins: &[Option<Origin>]) -> Result<()> {
        let mut own = values;
        let mut vars = origins.to_vec();
        if let Some(group) = self.plan.group_of(code) {
            vars = group.captured.iter().map(|(origin, _)| Some(*origin)).collect();
            own = Vec::new();
            for (origin, _) in &group.captured {
                let value = match origin {
                    Origin::Var(var) => self.read_raw(*var),
                    Origin::Free(index) => self.emit(Inst::Free(*index)),
                };
                own.push(value);
            }
        }
        let names = self.inner[code as usize].freevars.clone();
        // Captured values are made before the function.
        if let Some(Inst::MakeFunction { captures, .. }) = self.move_to_end(func).map(|data| &mut data.inst) {
            *captures = own;
        }
        self.closures.push(Closure { func, code, vars, names });
        Ok(())
    }

    /// Pops one attribute of a function that was just made.
    fn set_function_attr(&mut self, func: Value, flag: u32) -> Result<()> {
        let slot: Slot<'a> = self.pop_slot()?;
        if matches!(flag, ANNOTATIONS | ANNOTATE) {
            return Ok(());
        }
        let value = self.slot_value(slot)?;
        let part = self.made_here(value).map(|data| data.inst.clone());
        let named = match (&part, flag) {
            (Some(Inst::Dict(pairs)), KWDEFAULTS) => self.named(pairs.clone())?,
            _ => Vec::new(),
        };
        if let (CLOSURE, Some(InstData { inst: Inst::Tuple(values), .. })) = (flag, self.made_here(value)) {
            // The function takes them over: else they would seem to be in use for longer.
            values.clear();
        }
        let origins = self.cells.get(&value).cloned().unwrap_or_default();
        let Some(Inst::MakeFunction { code, defaults, kwdefaults, .. }) = self.made_here(func).map(|d| &mut d.inst)
        else {
            return Err(self.malformed("an attribute is set on something that is no function"));
        };
        match (flag, part) {
            (DEFAULTS, _) => *defaults = Some(value),
            (KWDEFAULTS, Some(Inst::Dict(_))) => *kwdefaults = named,
            (CLOSURE, Some(Inst::Tuple(values))) => {
                let code = *code;
                self.capture(func, code, values, &origins)?;
            }
            _ => {
                let text = "this form of an inner function is not supported in compiled code";
                return Err(self.refuse(UNSUPPORTED_BYTECODE, text, "define it outside of the function"));
            }
        }
        Ok(())
    }

    fn named(&mut self, pairs: Vec<(Value, Value)>) -> Result<Vec<(String, Value)>> {
        let mut named = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let Some(PyConst::Str(name)) = self.constant_here(key) else {
                return Err(self.malformed("a default has no name"));
            };
            named.push((name.clone(), value));
        }
        Ok(named)
    }
}
