//! Globals and captured variables that functions of Numba's semantics have read, by the types that they were compiled
//! for: another function that calls them for these types later gets the same.

use crate::object::canonical::canonical;
use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_ir::{ObjId, Ty};
use std::sync::{LazyLock, Mutex};

/// Values of names, by function and types of arguments.
type Frozen = HashMap<ObjId, HashMap<Vec<Ty>, HashMap<String, Option<ObjId>>>>;
static FROZEN: LazyLock<Mutex<Frozen>> = LazyLock::new(Default::default);

/// The value that a name had when the function was first compiled for the types; that of now if it was not.
pub fn value(
    function: ObjId,
    args: &[Ty],
    name: &str,
    now: Option<ObjId>,
    is_alive: fn(ObjId) -> bool,
) -> Option<ObjId> {
    let args = args.iter().map(|t| canonical(t.unliteral())).collect();
    let mut all = lock(&FROZEN);
    let known = all.entry(function).or_default().entry(args).or_default().entry(name.to_owned()).or_insert(now);
    // Code that did not compile holds nothing of what it has read.
    if known.is_some_and(|o| !is_alive(o)) {
        *known = now;
    }
    *known
}

/// Forgets what a function has read: it is compiled anew, or is gone.
pub fn forget(function: ObjId) {
    lock(&FROZEN).remove(&function);
}
