//! Closures and the variables that they capture, and what of it needs a better [`Plan`].
//!
//! ```python
//! for i in range(n):
//!     s += sum(x * i for x in a)    # fine: the closure is dead when `i` is assigned again
//! f = lambda: i
//! i = 3                             # if `f` is used below, `i` has to be a cell
//! ```

use crate::plan::{Closure, Named, Plan, replace_free};
use crate::stack::Origin;
use crate::visit::edges;
use hashbrown::{HashMap, HashSet};
use lh_ir::untyped::{Code, Inst, InstData, PyConst};
use lh_ir::{Block, Value};
use std::sync::Arc;

/// An assignment to a variable that inner functions capture.
pub(crate) struct Store {
    /// Block and number of instructions before it.
    pub(crate) at: (Block, usize),
    /// The variable.
    pub(crate) var: u32,
    /// The new value.
    pub(crate) value: Value,
}

/// A function that calls itself captures its own name before that is assigned. It will not call the value that the name
/// has until then, which in a loop is the function of the iteration before. It is its own sibling, and captures its
/// defaults too, which are read where it is made.
pub(crate) fn forget_own_names(code: &mut Code, closures: &[Closure], stores: &[Store], unbound: Value) {
    let names = closures.iter().map(|c| {
        let is_own =
            |var: &Option<Origin>| stores.iter().any(|s| Some(Origin::Var(s.var)) == *var && s.value == c.func);
        (c.func, c.vars.iter().map(is_own).collect::<Vec<_>>())
    });
    let own: HashMap<Value, Vec<bool>> = names.filter(|(_, own)| own.contains(&true)).collect();
    if own.is_empty() {
        return;
    }
    let mut changed: HashMap<u32, bool> = HashMap::new();
    for data in code.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        let own = data.result.and_then(|r| own.get(&r));
        let Inst::MakeFunction { code: index, defaults, kwdefaults, captures } = &mut data.inst else { continue };
        let Some(own) = own else { continue };
        captures.iter_mut().zip(own).filter(|(_, own)| **own).for_each(|(v, _)| *v = unbound);
        let inner = &mut code.inner[*index as usize];
        changed.entry(*index).or_insert_with(|| know_itself(inner, *index, own, *defaults, kwdefaults));
    }
    for data in code.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if let Inst::MakeFunction { code: index, defaults, kwdefaults, captures } = &mut data.inst
            && changed.get(index) == Some(&true)
        {
            captures.extend(*defaults);
            captures.extend(kwdefaults.iter().map(|(_, v)| *v));
        }
    }
}

/// Makes reads of captured variables that hold an inner function itself into [`Inst::Sibling`], with captured defaults.
/// Tells whether there are any.
fn know_itself(
    inner: &mut Arc<Code>,
    index: u32,
    own: &[bool],
    defaults: Option<Value>,
    kwdefaults: &[(String, Value)],
) -> bool {
    let is_own = |n: u32| own.get(n as usize) == Some(&true);
    let mut reads = inner.blocks.iter().flat_map(|b| &b.insts);
    if !reads.any(|data| matches!(data.inst, Inst::Free(n) if is_own(n))) {
        return false;
    }
    let code = Arc::make_mut(inner);
    let first = code.freevars.len() as u32;
    // These are no names of variables.
    code.freevars.extend(defaults.map(|_| ".defaults".to_owned()));
    code.freevars.extend(kwdefaults.iter().map(|(name, _)| format!(".{name}")));
    replace_free(code, |n, values| {
        is_own(n).then(|| {
            let own_defaults = defaults.map(|_| values.make(Inst::Free(first)));
            let next = first + u32::from(defaults.is_some());
            let named = kwdefaults.iter().zip(next..).map(|((name, _), n)| (name.clone(), values.make(Inst::Free(n))));
            Inst::Sibling { code: index, defaults: own_defaults, kwdefaults: named.collect() }
        })
    });
    true
}

/// The plan with all that the translation has found out.
pub(crate) fn improved(plan: &Plan, code: &Code, closures: &[Closure], stores: &[Store], params: u32) -> Plan {
    let mut plan = plan.clone();
    let named = named(code, closures, stores, params);
    let mut late = Vec::new();
    for data in code.blocks.iter().flat_map(|b| &b.insts) {
        let (Inst::MakeFunction { captures, .. }, Some(func)) = (&data.inst, data.result) else { continue };
        let Some(closure) = closures.iter().find(|c| c.func == func) else { continue };
        for (value, var) in captures.iter().zip(&closure.vars) {
            let Some(Origin::Var(var)) = var else { continue };
            if let Some((other, made)) = named.get(var)
                && made != value
                && other.code != closure.code
            {
                late.push((closure.code, other.code));
            }
        }
    }
    plan.add_late(&late, &named, closures);
    let is_named = |var: u32| plan.groups.iter().any(|g| g.names.contains_key(&var));
    let seen: Vec<u32> = seen_stores(code, closures, stores).into_iter().filter(|var| !is_named(*var)).collect();
    plan.shared.extend(seen);
    plan
}

/// Variables that are assigned once, to an inner function whose defaults are constants: it, and the function.
fn named(code: &Code, closures: &[Closure], stores: &[Store], params: u32) -> HashMap<u32, (Named, Value)> {
    let insts = code.blocks.iter().flat_map(|b| &b.insts);
    let plain = insts.filter_map(|i| Some((i.result?, with_constants(code, &i.inst)?)));
    let plain: HashMap<Value, Named> = plain.collect();
    let mut found = HashMap::new();
    for store in stores.iter().filter(|s| s.var >= params) {
        let is_only = stores.iter().filter(|s| s.var == store.var).count() == 1;
        if let Some(of) = plain.get(&store.value)
            && let Some(c) = closures.iter().find(|c| c.func == store.value && is_only)
        {
            found.insert(store.var, (of.clone(), c.func));
        }
    }
    found
}

/// An inner function that an instruction makes, if its defaults are constants.
fn with_constants(code: &Code, inst: &Inst) -> Option<Named> {
    let Inst::MakeFunction { code: index, defaults, kwdefaults, .. } = inst else { return None };
    let defaults = match defaults {
        Some(d) => Some(constant_of(code, *d)?),
        None => None,
    };
    let kwdefaults = kwdefaults.iter().map(|(name, v)| Some((name.clone(), constant_of(code, *v)?)));
    Some(Named { code: *index, defaults, kwdefaults: kwdefaults.collect::<Option<_>>()? })
}

/// The constant that a value is.
fn constant_of(code: &Code, value: Value) -> Option<PyConst> {
    let made = code.blocks.iter().flat_map(|b| &b.insts).find(|i| i.result == Some(value))?;
    match &made.inst {
        Inst::Const(c) => Some(c.clone()),
        Inst::Tuple(parts) => parts.iter().map(|v| constant_of(code, *v)).collect::<Option<_>>().map(PyConst::Tuple),
        _ => None,
    }
}

/// Variables that are assigned while a closure is in use that captured them.
fn seen_stores(code: &Code, closures: &[Closure], stores: &[Store]) -> Vec<u32> {
    let mut found = Vec::new();
    if closures.is_empty() || stores.is_empty() {
        return found;
    }
    let mut users = None;
    for closure in closures {
        for var in &closure.vars {
            // A function that calls itself captures its own name before that is assigned.
            let is_seen = |s: &&Store| Some(Origin::Var(s.var)) == *var && s.value != closure.func;
            let seen: Vec<&Store> = stores.iter().filter(is_seen).collect();
            if seen.is_empty() {
                continue;
            }
            let users = users.get_or_insert_with(|| Users::of(code));
            let held = users.holders(code, closure.func);
            for value in held {
                let live = users.live_range(value);
                found.extend(seen.iter().find(|s| live.contains(s.at)).map(|s| s.var));
            }
        }
    }
    found
}

/// Where a value is used: block and instruction, the terminator counting as `usize::MAX`.
type Place = (Block, usize);

struct Users {
    places: HashMap<Value, Vec<Place>>,
    defs: HashMap<Value, Place>,
    preds: Vec<Vec<Block>>,
}

/// Where a value is alive.
struct Live<'u> {
    def: Place,
    uses: &'u [Place],
    live_in: HashSet<Block>,
    live_out: HashSet<Block>,
}

impl Live<'_> {
    /// Whether the value is alive after the first `at.1` instructions of a block.
    fn contains(&self, at: Place) -> bool {
        let begun = if self.def.0 == at.0 { self.def.1 < at.1 } else { self.live_in.contains(&at.0) };
        let goes_on = self.live_out.contains(&at.0) || self.uses.iter().any(|u| u.0 == at.0 && u.1 >= at.1);
        begun && goes_on
    }
}

impl Users {
    fn of(code: &Code) -> Users {
        let mut users =
            Users { places: HashMap::new(), defs: HashMap::new(), preds: vec![Vec::new(); code.blocks.len()] };
        let needed = needed(code);
        for (b, block) in code.blocks.iter().enumerate() {
            let b = Block::new(b);
            users.defs.extend(block.params.iter().map(|&p| (p, (b, 0))));
            for (i, data) in block.insts.iter().enumerate() {
                data.inst.for_each_operand(|v| users.places.entry(v).or_default().push((b, i)));
                users.defs.extend(data.result.map(|r| (r, (b, i))));
            }
            let term = block.term.iter().flat_map(crate::visit::term_operands);
            let mut at_end: Vec<Value> = term.collect();
            for (target, skip) in edges(block) {
                users.preds[target.block.index()].push(b);
                // A variable that meets others only to be forgotten is not used.
                let params = code.blocks[target.block.index()].params.iter().skip(skip);
                at_end.extend(target.args.iter().zip(params).filter(|(_, p)| needed.contains(*p)).map(|(arg, _)| *arg));
            }
            for value in at_end {
                users.places.entry(value).or_default().push((b, usize::MAX));
            }
        }
        users
    }

    /// Values that hold a closure: itself, and what it is put into.
    fn holders(&self, code: &Code, closure: Value) -> Vec<Value> {
        let mut held = vec![closure];
        let mut seen: HashSet<Value> = HashSet::from([closure]);
        let mut next = 0;
        while let Some(&value) = held.get(next) {
            next += 1;
            for &(block, index) in self.places.get(&value).map_or(&[][..], Vec::as_slice) {
                let data = &code.blocks[block.index()];
                if index != usize::MAX {
                    let data = &data.insts[index];
                    let kept = keeper(&data.inst, value, |func| self.made_by(code, func));
                    let kept = kept.flat_map(|r| self.sources(code, r));
                    held.extend(kept.filter(|&r| seen.insert(r)));
                    held.extend(data.result.filter(|&r| holds(code, data, value, self) && seen.insert(r)));
                    continue;
                }
                for (target, skip) in edges(data) {
                    let params = &code.blocks[target.block.index()].params;
                    let given = target.args.iter().zip(params.iter().skip(skip));
                    held.extend(given.filter(|(arg, p)| **arg == value && seen.insert(**p)).map(|(_, p)| *p));
                }
            }
        }
        held
    }

    /// A value, and those that it was before it was checked or met others.
    fn sources(&self, code: &Code, value: Value) -> Vec<Value> {
        let mut found = vec![value];
        let mut next = 0;
        while let Some(&value) = found.get(next) {
            next += 1;
            let mut before = Vec::new();
            if let Some(Inst::CheckBound { value, .. }) = self.made_by(code, value) {
                before.push(*value);
            }
            let Some(&(block, _)) = self.defs.get(&value) else { continue };
            if let Some(at) = code.blocks[block.index()].params.iter().position(|p| *p == value) {
                for (target, skip) in code.blocks.iter().flat_map(edges).filter(|(t, _)| t.block == block) {
                    before.extend(at.checked_sub(skip).and_then(|at| target.args.get(at)));
                }
            }
            for v in before {
                if !found.contains(&v) {
                    found.push(v);
                }
            }
        }
        found
    }

    /// The instruction that makes a value.
    fn made_by<'c>(&self, code: &'c Code, value: Value) -> Option<&'c Inst> {
        let &(b, i) = self.defs.get(&value)?;
        code.blocks[b.index()].insts.get(i).filter(|data| data.result == Some(value)).map(|data| &data.inst)
    }

    /// Whether a value is called.
    fn is_called(&self, code: &Code, value: Value) -> bool {
        self.places.get(&value).into_iter().flatten().any(|&(b, i)| {
            let inst = code.blocks[b.index()].insts.get(i).map(|data| &data.inst);
            matches!(inst, Some(Inst::Call { func, .. } | Inst::CallStar { func, .. }) if *func == value)
        })
    }

    fn live_range(&self, value: Value) -> Live<'_> {
        let uses = self.places.get(&value).map_or(&[][..], Vec::as_slice);
        let def = self.defs.get(&value).copied().unwrap_or((Block(0), 0));
        let mut live = Live { def, uses, live_in: HashSet::new(), live_out: HashSet::new() };
        let mut work: Vec<Block> = uses.iter().map(|u| u.0).collect();
        while let Some(block) = work.pop() {
            if block == def.0 || !live.live_in.insert(block) {
                continue;
            }
            for &pred in &self.preds[block.index()] {
                live.live_out.insert(pred);
                work.push(pred);
            }
        }
        live
    }
}

/// Values that an instruction or a condition needs, be it after they were passed from block to block.
fn needed(code: &Code) -> HashSet<Value> {
    let mut needed: HashSet<Value> = HashSet::new();
    for block in &code.blocks {
        for data in &block.insts {
            data.inst.for_each_operand(|v| needed.extend([v]));
        }
        needed.extend(block.term.iter().flat_map(crate::visit::term_operands));
    }
    loop {
        let before = needed.len();
        for block in &code.blocks {
            for (target, skip) in edges(block) {
                let params = code.blocks[target.block.index()].params.iter().skip(skip);
                let passed = target.args.iter().zip(params).filter(|(_, p)| needed.contains(*p));
                let passed: Vec<Value> = passed.map(|(arg, _)| *arg).collect();
                needed.extend(passed);
            }
        }
        if needed.len() == before {
            return needed;
        }
    }
}

/// Whether the result of an instruction holds on to an operand that is, or holds, a closure.
fn holds(code: &Code, data: &InstData, value: Value, users: &Users) -> bool {
    let result = data.result;
    match &data.inst {
        Inst::Binary { .. }
        | Inst::Tuple(_)
        | Inst::List(_)
        | Inst::Set(_)
        | Inst::Dict(_)
        | Inst::Iter(_)
        | Inst::CheckBound { .. }
        | Inst::CellGet { .. }
        | Inst::MakeFunction { .. } => true,
        Inst::Call { .. } if result.is_some_and(|r| users.is_called(code, r)) => true,
        Inst::Call { func, .. } => {
            match users.made_by(code, *func) {
                // A generator, or a function that makes functions, returns a value that holds its variables.
                Some(Inst::MakeFunction { code: index, .. }) => {
                    let inner = &code.inner[*index as usize];
                    *func == value && (inner.is_generator || !inner.inner.is_empty())
                }
                Some(Inst::Global(name)) => {
                    matches!(name.as_str(), "map" | "filter" | "zip" | "enumerate" | "iter" | "reversed")
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// The value into which an instruction puts an operand that is, or holds, a closure.
fn keeper<'c>(inst: &Inst, value: Value, made_by: impl Fn(Value) -> Option<&'c Inst>) -> std::option::IntoIter<Value> {
    let into = match inst {
        Inst::ListAppend(into, x)
        | Inst::ListExtend(into, x)
        | Inst::SetAdd(into, x)
        | Inst::MapAdd(into, _, x)
        | Inst::SetItem(into, _, x)
        | Inst::SetAttr(into, _, x)
        | Inst::CellSet(into, x) => (*x == value).then_some(*into),
        // A method that takes it: `functions.append(f)`.
        Inst::Call { func, args, .. } if args.contains(&value) => match made_by(*func) {
            Some(Inst::GetAttr(object, _)) => Some(*object),
            _ => None,
        },
        _ => None,
    };
    into.into_iter()
}
