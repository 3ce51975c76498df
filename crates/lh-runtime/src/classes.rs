//! Exception classes: Python's builtin ones with fixed numbers, and those registered while compiling.

pub use lh_ir::ExcId;
pub use lh_ops::exceptions::*;
use std::sync::{LazyLock, RwLock};

/// A class that is not builtin.
struct Class {
    name: String,
    /// All of them, not only the bases.
    ancestors: Vec<ExcId>,
}

/// Classes by number, from `ALL.len()` on.
static REGISTERED: RwLock<Vec<Class>> = RwLock::new(Vec::new());

fn with_registered<R>(class: ExcId, f: impl FnOnce(&Class) -> R) -> Option<R> {
    let index = class.index().checked_sub(ALL.len())?;
    // A panic elsewhere cannot leave the table half written.
    REGISTERED.read().unwrap_or_else(|e| e.into_inner()).get(index).map(f)
}

/// Registers a class that is not builtin. `ancestors` may be its bases only, or all of its base classes.
pub fn register_class(name: &str, ancestors: &[ExcId]) -> ExcId {
    let mut all = Vec::new();
    for a in ancestors {
        add_with_ancestors(*a, &mut all);
    }
    let mut table = REGISTERED.write().unwrap_or_else(|e| e.into_inner());
    table.push(Class { name: name.to_owned(), ancestors: all });
    ExcId::new(ALL.len() + table.len() - 1)
}

fn add_with_ancestors(class: ExcId, all: &mut Vec<ExcId>) {
    let mut add = |c| {
        if !all.contains(&c) {
            all.push(c);
        }
    };
    add(class);
    if let Some(more) = with_registered(class, |c| c.ancestors.clone()) {
        more.into_iter().for_each(&mut add);
    }
    let mut at = class;
    while let Some(base) = base(at) {
        add(base);
        at = base;
    }
}

/// Base of a builtin class.
fn base(class: ExcId) -> Option<ExcId> {
    static BASES: LazyLock<Vec<Option<ExcId>>> =
        LazyLock::new(|| ALL.iter().map(|(id, _, base)| builtin(base).filter(|b| b != id)).collect());
    BASES.get(class.index()).copied().flatten()
}

/// The builtin class of a name.
pub fn builtin(name: &str) -> Option<ExcId> {
    ALL.iter().find(|(_, n, _)| *n == name).map(|(id, ..)| *id)
}

/// Name of a class.
pub fn class_name(class: ExcId) -> String {
    match ALL.get(class.index()) {
        Some((_, name, _)) => (*name).to_owned(),
        None => with_registered(class, |c| c.name.clone()).unwrap_or_default(),
    }
}

/// Whether class `a` is `b` or derives from it.
pub fn is_subclass(a: ExcId, b: ExcId) -> bool {
    let mut at = a;
    loop {
        if at == b {
            return true;
        }
        match base(at) {
            Some(base) => at = base,
            None => return with_registered(at, |c| c.ancestors.contains(&b)).unwrap_or(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtin_classes_are_numbered_in_order() {
        assert!(ALL.iter().enumerate().all(|(i, (id, ..))| id.index() == i));
    }

    #[test]
    fn builtin_hierarchy() {
        assert!(is_subclass(ZERO_DIVISION_ERROR, ARITHMETIC_ERROR));
        assert!(is_subclass(INDEX_ERROR, EXCEPTION));
        assert!(is_subclass(VALUE_ERROR, VALUE_ERROR));
        assert!(!is_subclass(KEYBOARD_INTERRUPT, EXCEPTION));
        assert!(!is_subclass(EXCEPTION, VALUE_ERROR));
        assert_eq!(builtin("KeyError"), Some(KEY_ERROR));
        assert_eq!(class_name(OS_ERROR), "OSError");
    }

    #[test]
    fn registered_classes_inherit() {
        let a = register_class("A", &[VALUE_ERROR]);
        let b = register_class("B", &[a, KEY_ERROR]);
        assert!(is_subclass(b, a) && is_subclass(b, VALUE_ERROR) && is_subclass(b, LOOKUP_ERROR));
        assert!(is_subclass(b, BASE_EXCEPTION));
        assert!(!is_subclass(a, b) && !is_subclass(a, KEY_ERROR) && !is_subclass(VALUE_ERROR, a));
        assert_eq!(class_name(b), "B");
        assert!(!is_subclass(ExcId(1_000_000), EXCEPTION));
    }
}
