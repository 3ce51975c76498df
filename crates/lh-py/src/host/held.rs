//! The owners of objects in the table.
//!
//! An object that a compilation asks about belongs to the code that is made: the innermost [`Scope`] of the thread
//! notes it, and [`Held`] keeps it as long as the code. Without a scope the table keeps an object for ever. A
//! dispatcher is in the table as long as it lives; its own code does not keep it.

use crate::host::table;
use crate::object::attach::release;
use crate::object::lock::lock;
use hashbrown::{HashMap, HashSet};
use lh_ir::ObjId;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use std::cell::RefCell;
use std::mem::take;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

/// The objects that some code was compiled with.
#[pyclass(frozen, weakref, module = "lancehead._core")]
pub struct Held {
    /// Numbers of the scopes that noted them.
    scopes: Vec<u64>,
    all: Mutex<Objects>,
}

#[derive(Default)]
struct Objects {
    own: Vec<(ObjId, Py<PyAny>)>,
    /// Those of functions that were typed before and that the code calls.
    others: Vec<Py<Held>>,
}

/// The objects that the scopes of a thread have noted.
struct Noted {
    scopes: Vec<u64>,
    /// The dispatcher that is compiled.
    own: Option<usize>,
    seen: HashSet<ObjId>,
    objects: Objects,
}

thread_local! {
    static OPEN: RefCell<Vec<Noted>> = const { RefCell::new(Vec::new()) };
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// By the numbers of scopes.
static ALL: LazyLock<Mutex<HashMap<u64, Py<PyWeakrefReference>>>> = LazyLock::new(Default::default);

/// How many scopes have noted objects that nobody holds any more.
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// While this exists, objects that the thread asks about are noted.
pub struct Scope(());

impl Scope {
    /// Begins a scope; `own`: the dispatcher that is compiled.
    pub fn new(own: Option<&Bound<'_, PyAny>>) -> Scope {
        let scopes = vec![NUMBERS.fetch_add(1, Ordering::Relaxed)];
        let own = own.map(|o| o.as_ptr().addr());
        OPEN.with_borrow_mut(|open| {
            open.push(Noted { scopes, own, seen: HashSet::new(), objects: Objects::default() });
        });
        Scope(())
    }

    /// Ends the scope; the result holds what it has noted.
    pub fn hold(self, py: Python<'_>) -> PyResult<Py<Held>> {
        let noted = OPEN.with_borrow_mut(|open| open.last_mut().map(|n| (take(&mut n.scopes), take(&mut n.objects))));
        let (scopes, objects) = noted.unwrap_or_default();
        let made = Py::new(py, Held { scopes: scopes.clone(), all: Mutex::new(objects) })?;
        let weak = PyWeakrefReference::new(made.bind(py))?.unbind();
        lock(&ALL).extend(scopes.into_iter().map(|n| (n, weak.clone_ref(py))));
        Ok(made)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let Some(Noted { scopes, mut objects, .. }) = OPEN.with_borrow_mut(Vec::pop) else { return };
        // The scope around this one may go on with it.
        let left = OPEN.with_borrow_mut(|open| match open.last_mut() {
            Some(outer) => {
                outer.scopes.extend(scopes);
                outer.objects.others.append(&mut objects.others);
                let is_new =
                    |(id, o): &(ObjId, Py<PyAny>)| outer.own != Some(o.as_ptr().addr()) && outer.seen.insert(*id);
                let (new, twice) = take(&mut objects.own).into_iter().partition(is_new);
                outer.objects.own.extend::<Vec<_>>(new);
                Objects { own: twice, others: Vec::new() }
            }
            None => {
                ENDED.fetch_add(scopes.len(), Ordering::Relaxed);
                objects
            }
        });
        release(left);
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        table::release(self.own.iter().map(|(id, _)| *id));
    }
}

/// The number of the innermost scope; 0 if there is none.
pub fn scope() -> u64 {
    OPEN.with_borrow(|open| open.last().and_then(|n| n.scopes.first().copied()).unwrap_or(0))
}

/// Notes an object of the table; whether it was not noted before.
pub fn note(id: ObjId, object: &Bound<'_, PyAny>) -> bool {
    OPEN.with_borrow_mut(|open| {
        let Some(top) = open.last_mut().filter(|n| n.own != Some(object.as_ptr().addr())) else { return false };
        let is_new = top.seen.insert(id);
        if is_new {
            top.objects.own.push((id, object.clone().unbind()));
        }
        is_new
    })
}

/// Whether the objects that a scope has noted are still held.
pub fn is_held(py: Python<'_>, scope: u64) -> bool {
    scope == 0 || OPEN.with_borrow(|open| open.iter().any(|n| n.scopes.contains(&scope))) || find(py, scope).is_some()
}

/// Lets the innermost scope hold what another one has noted; false if that is gone.
pub fn hold(py: Python<'_>, scope: u64) -> bool {
    let at = OPEN.with_borrow(|open| open.iter().position(|n| n.scopes.contains(&scope)).map(|at| (at, open.len())));
    if let Some((at, count)) = at {
        if at + 1 < count {
            let own = OPEN.with_borrow(|open| open[at].objects.own.iter().map(|(id, _)| *id).collect::<Vec<_>>());
            own.into_iter().for_each(|id| drop(table::object(py, id)));
            let others = OPEN.with_borrow(|open| open[at].objects.others.iter().map(|o| o.clone_ref(py)).collect());
            add(others);
        }
        return true;
    }
    let found = if scope == 0 { return true } else { find(py, scope) };
    found.map(|found| add(vec![found.unbind()])).is_some()
}

fn add(others: Vec<Py<Held>>) {
    OPEN.with_borrow_mut(|open| {
        let Some(top) = open.last_mut() else { return };
        for o in others {
            if !top.objects.others.iter().any(|known| known.is(&o)) {
                top.objects.others.push(o);
            }
        }
    });
}

fn find(py: Python<'_>, scope: u64) -> Option<Bound<'_, Held>> {
    let weak = lock(&ALL).get(&scope)?.clone_ref(py);
    weak.bind(py).upgrade_as::<Held>().ok()?
}

/// How many scopes have noted objects that nobody holds any more.
pub fn ended() -> usize {
    ENDED.load(Ordering::Relaxed)
}

#[pymethods]
impl Held {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // No thread keeps the lock while it runs Python code.
        let all = lock(&self.all);
        all.own.iter().try_for_each(|(_, o)| visit.call(o))?;
        all.others.iter().try_for_each(|o| visit.call(o))
    }

    fn __clear__(&self) {
        let all = take(&mut *lock(&self.all));
        drop(all);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut known = lock(&ALL);
        let weak: Vec<_> = self.scopes.iter().filter_map(|n| known.remove(n)).collect();
        drop(known);
        drop(weak);
        ENDED.fetch_add(self.scopes.len(), Ordering::Relaxed);
    }
}
