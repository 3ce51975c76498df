//! Values of code objects, or of others that weak references may have, as long as these live.

use crate::object::lock::lock;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use std::sync::Mutex;

/// Values by code objects.
pub struct ByCode<T> {
    all: HashMap<usize, (Py<PyWeakrefReference>, T)>,
    /// At so many it is looked which code objects are gone.
    limit: usize,
}

impl<T> Default for ByCode<T> {
    fn default() -> Self {
        ByCode { all: HashMap::new(), limit: 0 }
    }
}

impl<T> ByCode<T> {
    /// That of a code object.
    pub fn get_mut(&mut self, code: &Bound<'_, PyAny>) -> Option<&mut T> {
        let found = self.all.get_mut(&code.as_ptr().addr());
        found.filter(|(weak, _)| weak.bind(code.py()).upgrade().is_some_and(|c| c.is(code))).map(|(_, value)| value)
    }

    fn insert(&mut self, code: &Bound<'_, PyAny>, weak: Py<PyWeakrefReference>, value: T) -> Vec<T> {
        let py = code.py();
        let mut gone: Vec<T> =
            self.all.insert(code.as_ptr().addr(), (weak, value)).map(|(_, old)| old).into_iter().collect();
        if self.all.len() > self.limit {
            let is_gone = |weak: &Py<PyWeakrefReference>| weak.bind(py).upgrade().is_none();
            gone.extend(self.all.extract_if(|_, (weak, _)| is_gone(weak)).map(|(_, (_, value))| value));
            self.limit = 64 + 2 * self.all.len();
        }
        gone
    }
}

/// Sets the value of a code object. Nothing is made or dropped under the lock that may run code of Python's.
pub fn insert<T>(all: &Mutex<ByCode<T>>, code: &Bound<'_, PyAny>, value: T) -> PyResult<()> {
    let weak = PyWeakrefReference::new(code)?.unbind();
    let gone = lock(all).insert(code, weak, value);
    drop(gone);
    Ok(())
}

/// A reference to an object that may die.
pub struct Weak(Py<PyWeakrefReference>);

impl Weak {
    /// A reference to an object.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Weak> {
        Ok(Weak(PyWeakrefReference::new(object)?.unbind()))
    }

    /// The object, if it lives.
    pub fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.0.bind(py).upgrade()
    }

    /// Whether it is an object.
    pub fn is(&self, object: &Bound<'_, PyAny>) -> bool {
        self.get(object.py()).is_some_and(|o| o.is(object))
    }
}
