//! Closures as arguments. A function that is an argument is part of the type of a call, so that each new one would cost
//! a compilation. Where a call finds no specialisation, closures of a code that was an argument before are passed as
//! values: what they capture becomes data, under the type of a closure of the first of these functions
//! ([`TyKind::Closure`]). Captured variables whose values have to be known while compiling ([`lh_frontend::Uses`]) keep
//! a closure what it is; and so does a callee that does not compile for such a value, or that returns it.

use crate::call::args::ArgBuf;
use crate::call::decode::Decoder;
use crate::call::environment::{Held, contents, is_array, is_choice, is_data};
use crate::call::overload::Overload;
use crate::call::state::State;
use crate::call::tags::{kind, tags_of_one};
use crate::compile::compiler;
use crate::host::held::Scope;
use crate::host::parts::function_of;
use crate::host::{comptime, decorated, objmode, table};
use crate::object::by_code::{self, ByCode, Weak};
use crate::object::lock::lock;
use crate::object::numpy;
use lh_frontend::Uses;
use lh_ir::func::Device;
use lh_ir::types::Holds;
use lh_ir::{Ty, TyKind};
use pyo3::types::PyTuple;
use pyo3::{ffi, intern, prelude::*};
use std::sync::{LazyLock, Mutex};

/// A code object whose closures were arguments.
struct Known {
    /// The first function, which calls are compiled for as it is.
    first: Weak,
    uses: Option<Uses>,
    /// Functions by which others are typed, of different globals or options. Code that was compiled for one holds it.
    functions: Vec<Weak>,
}

static CODES: LazyLock<Mutex<ByCode<Known>>> = LazyLock::new(Default::default);

/// The arguments of a call as they were.
pub struct Before {
    tags: Vec<u64>,
    slots: Vec<u64>,
    owners: Vec<(u32, *mut ffi::PyObject)>,
    codes: Vec<Py<PyAny>>,
}

/// Passes closures among the first so many arguments as values; `None` if there are none that can be.
pub fn share<'py>(
    py: Python<'py>,
    state: &State,
    buf: &mut ArgBuf,
    argc: usize,
    held: &mut Held<'py>,
) -> Option<Before> {
    let (options, table) = (state.options(), state.table());
    let fits = state.can_compile() && options.ir.device == Device::Host && !options.cache;
    let is_plain = buf.lists.is_none() && buf.held.is_empty() && buf.made.is_empty() && !buf.undecided;
    if !fits || !is_plain || !table.literals.is_empty() || table.environment.is_some() {
        return None;
    }
    let _scope = Scope::new(None);
    let (mut made, mut codes, mut at, mut slot) = (ArgBuf::default(), Vec::new(), 0, 0);
    for _ in 0..argc {
        let tags = &buf.tags[at..at + tags_of_one(&buf.tags[at..])];
        let words = Decoder::new(py, tags).next_ty().flatten().len();
        at += tags.len();
        let moved = made.slots.len() as i64 - slot as i64;
        if let [kind::OBJECT, address] = *tags {
            // SAFETY: an argument of the call.
            let object = unsafe { Bound::from_borrowed_ptr(py, address as *mut ffi::PyObject) };
            if let Some(code) = push(&object, &mut made, held) {
                codes.push(code);
                continue;
            }
        }
        made.tags.extend_from_slice(tags);
        made.slots.extend_from_slice(&buf.slots[slot..slot + words]);
        let own = buf.owners.iter().filter(|(i, _)| (slot..slot + words).contains(&(*i as usize)));
        made.owners.extend(own.map(|(i, o)| ((i64::from(*i) + moved) as u32, *o)));
        slot += words;
    }
    if codes.is_empty() || at != buf.tags.len() {
        // The buffer of the call has the references of its own owners.
        made.owners.clear();
        return None;
    }
    let before = Before {
        tags: std::mem::replace(&mut buf.tags, std::mem::take(&mut made.tags)).to_vec(),
        slots: std::mem::replace(&mut buf.slots, std::mem::take(&mut made.slots)).to_vec(),
        owners: std::mem::replace(&mut buf.owners, std::mem::take(&mut made.owners)).to_vec(),
        codes,
    };
    Some(before)
}

impl Before {
    /// Passes the functions themselves, from now on.
    pub fn restore(self, py: Python<'_>, buf: &mut ArgBuf) {
        // References that only the values had are given back.
        let mut passed = ArgBuf::default();
        std::mem::swap(&mut passed.slots, &mut buf.slots);
        std::mem::swap(&mut passed.owners, &mut buf.owners);
        let kept: Vec<u64> = self.owners.iter().map(|(i, _)| self.slots[*i as usize]).collect();
        let words = &passed.slots;
        passed.owners.retain(|(i, _)| !kept.contains(&words[*i as usize]));
        (buf.tags, buf.slots) = (self.tags.into_iter().collect(), self.slots.into_iter().collect());
        buf.owners = self.owners.into_iter().collect();
        for code in self.codes {
            if let Some(known) = lock(&CODES).get_mut(code.bind(py)) {
                known.uses = Some(Uses { constant: u64::MAX, passed: 0 });
            }
        }
    }
}

/// Whether a result holds a closure that was passed as a value: it would be another object then.
pub fn is_returned(overload: &Overload) -> bool {
    let compiled = &overload.compiled;
    let passed: Vec<_> = compiled.args.iter().filter(|t| matches!(t.kind(), TyKind::Closure { .. })).collect();
    passed.iter().any(|t| is_in(**t, compiled.ret))
}

/// Whether values of a type may hold one of another.
fn is_in(part: Ty, whole: Ty) -> bool {
    let any = |all: &[Ty]| all.iter().any(|t| is_in(part, *t));
    part == whole
        || match (whole.kind(), whole.holds()) {
            (TyKind::Generator(g), _) => is_in(part, g.item) || is_in(part, g.ret),
            (TyKind::Class(c), _) => any(&c.args),
            (_, Holds::Parts(some, more)) => any(some) || any(more),
            _ => false,
        }
}

/// Adds a closure as a value: its code. `None`, and nothing is added, if it stays a function.
fn push<'py>(object: &Bound<'py, PyAny>, made: &mut ArgBuf, held: &mut Held<'py>) -> Option<Py<PyAny>> {
    let py = object.py();
    let function = function_of(object)?;
    let closure = function.getattr(intern!(py, "__closure__")).ok()?.cast_into::<PyTuple>().ok()?;
    if closure.len() > u64::BITS as usize || has_defaults(&function) || is_special(object) {
        return None;
    }
    let code = function.getattr(intern!(py, "__code__")).ok()?;
    let uses = uses_of(object, &function, &code)?;
    let mut captured = ArgBuf::default();
    let mut is_shared = false;
    for (i, cell) in closure.iter().enumerate() {
        let value = contents(&cell)?;
        if uses.constant >> i & 1 != 0 || uses.passed >> i & 1 != 0 && is_choice(&value) {
            return None;
        }
        let is_own = value.is(object) || value.is(&function);
        if is_own || !is_data(&value) && !comptime::is_comptime(&value) {
            return None;
        }
        is_shared |= is_data(&value);
        let tags = captured.tags.len();
        // SAFETY: `held` keeps the value alive.
        unsafe { captured.push(value.as_ptr()) }.ok()?;
        if is_array(&value) {
            // Captured arrays are read only; records and copies are for the ordinary way.
            if captured.tags.len() != tags + 1 {
                return None;
            }
            captured.tags[tags] &= !((numpy::WRITEABLE as u64) << 32);
        }
        held.push(value);
    }
    if !is_shared || captured.lists.is_some() || captured.undecided || !captured.made.is_empty() {
        return None;
    }
    let representative = representative(object, &function, &code)?;
    made.tags.extend([kind::CLOSURE | (closure.len() as u64) << 8, representative as u64]);
    made.tags.extend_from_slice(&captured.tags);
    let start = made.slots.len() as u32;
    // The references go with the words.
    made.owners.extend(std::mem::take(&mut captured.owners).iter().map(|(i, o)| (i + start, *o)));
    made.slots.extend_from_slice(&captured.slots);
    Some(code.unbind())
}

fn has_defaults(function: &Bound<'_, PyAny>) -> bool {
    let has = |name: &str| function.getattr(name).is_ok_and(|d| !d.is_none());
    has("__defaults__") || has("__kwdefaults__")
}

/// Whether the decorator of a function says more than how it is compiled.
fn is_special(object: &Bound<'_, PyAny>) -> bool {
    decorated::of(object)
        .is_some_and(|d| d.is_interpreted() || !d.limits().is_empty() || !d.locals(object.py()).is_empty())
}

/// How code uses what it captures; `None` for the first function of the code.
fn uses_of(object: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Option<Uses> {
    let py = object.py();
    let known = lock(&CODES).get_mut(code).map(|k| (k.first.is(function), k.uses));
    match known {
        None => {
            let first = Known { first: Weak::new(function).ok()?, uses: None, functions: Vec::new() };
            by_code::insert(&CODES, code, first).ok()?;
            None
        }
        Some((true, _)) => None,
        Some((_, Some(uses))) => Some(uses),
        Some((_, None)) => {
            let is_plain = objmode::as_compiled(function.clone()).is_ok_and(|f| f.is(function));
            let id = table::intern(object);
            let uses = compiler::with_compiler(py, |compiler, host| compiler.uses(host, id));
            let uses = uses.ok().filter(|_| is_plain).unwrap_or(Uses { constant: u64::MAX, passed: 0 });
            if let Some(known) = lock(&CODES).get_mut(code) {
                known.uses = Some(uses);
            }
            Some(uses)
        }
    }
}

/// The address of the function by which an object is typed: one of the same code, globals and options.
fn representative(object: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Option<usize> {
    let py = object.py();
    let candidates: Vec<Bound<'_, PyAny>> =
        lock(&CODES).get_mut(code)?.functions.iter().filter_map(|f| f.get(py)).collect();
    let is_same = |other: &Bound<'_, PyAny>, name: &str| match (function.getattr(name), other.getattr(name)) {
        (Ok(a), Ok(b)) => a.is(&b),
        _ => false,
    };
    let options = |o: &Bound<'_, PyAny>| decorated::of(o).map(decorated::Decorated::options);
    let fits = |candidate: &Bound<'_, PyAny>| {
        let Some(other) = function_of(candidate) else { return false };
        ["__code__", "__globals__", "__builtins__"].iter().all(|name| is_same(&other, name))
            && !has_defaults(&other)
            && !is_special(candidate)
            && options(candidate) == options(object)
    };
    if let Some(found) = candidates.iter().find(|c| fits(c)) {
        return Some(found.as_ptr().addr());
    }
    let new = Weak::new(object).ok()?;
    let mut codes = lock(&CODES);
    let known = &mut codes.get_mut(code)?.functions;
    known.retain(|f| f.get(py).is_some());
    known.push(new);
    Some(object.as_ptr().expose_provenance())
}
