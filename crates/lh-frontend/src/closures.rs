//! Captured variables are captured by value. This finds where that would show.
//!
//! Python's closures share their variables with the enclosing function. Here a closure holds the values its variables
//! had when it was made, so an assignment to such a variable while the closure is still in use is refused.
//!
//! ```python
//! for i in range(n):
//!     s += sum(x * i for x in a)    # fine: the closure is dead when `i` is assigned again
//! f = lambda: i
//! i = 3                             # refused if `f` is used below
//! ```

use crate::visit::edges;
use hashbrown::{HashMap, HashSet};
use lh_ir::diag::{Diagnostic, Result, UNSUPPORTED_SYNTAX};
use lh_ir::untyped::{Code, Inst};
use lh_ir::{Block, Span, Value};

/// A closure where it is made.
pub(crate) struct Closure {
    /// The function value.
    pub(crate) func: Value,
    /// Index of its code.
    pub(crate) code: u32,
    /// The captured variables, as far as they are the enclosing function's own.
    pub(crate) vars: Vec<Option<u32>>,
    /// Where.
    pub(crate) span: Span,
}

/// An assignment to a variable that inner functions capture.
pub(crate) struct Store {
    /// Block and number of instructions before it.
    pub(crate) at: (Block, usize),
    /// The variable.
    pub(crate) var: u32,
    /// The new value.
    pub(crate) value: Value,
    /// Where.
    pub(crate) span: Span,
}

/// A function that calls itself captures its own name before that is assigned. It will not call the value that the name
/// has until then, which in a loop is the function of the iteration before.
pub(crate) fn forget_own_names(code: &mut Code, closures: &[Closure], stores: &[Store], unbound: Value) {
    let names = closures.iter().map(|c| {
        let is_own =
            |var: &Option<u32>| var.is_some() && stores.iter().any(|s| Some(s.var) == *var && s.value == c.func);
        (c.func, c.vars.iter().map(is_own).collect::<Vec<_>>())
    });
    let own: HashMap<Value, Vec<bool>> = names.filter(|(_, own)| own.contains(&true)).collect();
    if own.is_empty() {
        return;
    }
    for data in code.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        let own = data.result.and_then(|r| own.get(&r));
        if let (Some(own), Inst::MakeFunction { captures, .. }) = (own, &mut data.inst) {
            captures.iter_mut().zip(own).filter(|(_, own)| **own).for_each(|(v, _)| *v = unbound);
        }
    }
}

/// Refuses assignments to captured variables that a closure in use would see.
pub(crate) fn check(code: &Code, closures: &[Closure], stores: &[Store]) -> Result<()> {
    if closures.is_empty() || stores.is_empty() {
        return Ok(());
    }
    let mut users = None;
    for closure in closures {
        let Some(inner) = code.inner.get(closure.code as usize) else { continue };
        for (name, var) in inner.freevars.iter().zip(&closure.vars) {
            // A function that calls itself captures its own name before that is assigned.
            let seen = stores.iter().filter(|s| Some(s.var) == *var && s.value != closure.func);
            let seen: Vec<&Store> = seen.collect();
            if seen.is_empty() {
                continue;
            }
            let users = users.get_or_insert_with(|| Users::of(code));
            let held = users.holders(code, closure.func);
            for value in held {
                let live = users.live_range(value);
                if let Some(store) = seen.iter().find(|s| live.contains(s.at)) {
                    return Err(refuse(code, closure, store, name));
                }
            }
        }
    }
    Ok(())
}

fn refuse(code: &Code, closure: &Closure, store: &Store, name: &str) -> Box<Diagnostic> {
    let text = format!("`{name}` is assigned after an inner function captured it");
    let inner = &code.inner[closure.code as usize].name;
    Diagnostic::new(UNSUPPORTED_SYNTAX, text)
        .at(&code.file, store.span)
        .label(format!("`{inner}`, made at line {}, would not see this", closure.span.line))
        .note(format!("inner functions capture values: pass `{name}` to `{inner}` as an argument"))
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
                    held.extend(data.result.filter(|&r| holds(code, &data.inst, value, self) && seen.insert(r)));
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
fn holds(code: &Code, inst: &Inst, value: Value, users: &Users) -> bool {
    match inst {
        Inst::Tuple(_)
        | Inst::List(_)
        | Inst::Set(_)
        | Inst::Dict(_)
        | Inst::Iter(_)
        | Inst::CheckBound { .. }
        | Inst::MakeFunction { .. } => true,
        Inst::Call { func, .. } => {
            let made_by = users.defs.get(func).and_then(|&(b, i)| code.blocks[b.index()].insts.get(i));
            match made_by.filter(|data| data.result == Some(*func)).map(|data| &data.inst) {
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
