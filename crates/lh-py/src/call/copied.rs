//! The native copies of lists, dictionaries and sets that one call makes, found by object and by native header.

use crate::object::strong_ref::StrongRef;
use hashbrown::HashMap;
use lh_runtime::items::{Items, ItemsRef};
use pyo3::ffi;
use smallvec::SmallVec;
use std::cell::OnceCell;

/// So many copies are found by looking at all of them.
const FEW: usize = 8;

/// A Python list, dictionary or set and its native copy.
pub struct Copied {
    /// The Python object. The reference is needed: another thread may remove it from the list that contains it.
    pub object: StrongRef,
    /// The copy.
    pub list: ItemsRef,
    /// The tags of its items.
    pub tags: SmallVec<[u64; 4]>,
    /// The number of items before the call.
    pub count: usize,
    /// Their bytes before the call.
    pub before: SmallVec<[u8; 32]>,
}

/// All of them, in the order in which they were made.
#[derive(Default)]
pub struct AllCopied {
    all: Vec<Copied>,
    /// Where they are by their objects, if there are more than a few.
    by_object: HashMap<usize, usize>,
    /// The same by their headers, once that is asked for.
    by_native: OnceCell<HashMap<usize, usize>>,
}

impl AllCopied {
    /// Adds a copy of an object that has none.
    pub fn push(&mut self, copied: Copied) {
        let at = self.all.len();
        let key = |copied: &Copied| copied.object.as_ptr() as usize;
        if at > FEW {
            self.by_object.insert(key(&copied), at);
        } else if at == FEW {
            let keys = self.all.iter().chain([&copied]).map(key);
            self.by_object = keys.enumerate().map(|(at, key)| (key, at)).collect();
        }
        self.by_native.take();
        self.all.push(copied);
    }

    fn place(&self, o: *mut ffi::PyObject) -> Option<usize> {
        match self.by_object.is_empty() {
            false => self.by_object.get(&(o as usize)).copied(),
            true => self.all.iter().position(|c| c.object.as_ptr() == o),
        }
    }

    /// The copy of an object.
    pub fn of(&self, o: *mut ffi::PyObject) -> Option<&Copied> {
        self.place(o).map(|at| &self.all[at])
    }

    /// The same, to change it.
    pub fn of_mut(&mut self, o: *mut ffi::PyObject) -> Option<&mut Copied> {
        self.place(o).map(|at| &mut self.all[at])
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The copy with this header.
    pub fn with_header(&self, header: *mut Items) -> Option<&Copied> {
        if self.all.len() <= FEW {
            return self.all.iter().find(|c| c.list.as_ptr() == header);
        }
        let headers = || self.all.iter().enumerate().map(|(at, c)| (c.list.as_ptr() as usize, at)).collect();
        self.by_native.get_or_init(headers).get(&(header as usize)).map(|at| &self.all[*at])
    }

    /// All copies, in the order in which they were made.
    pub fn as_mut_slice(&mut self) -> &mut [Copied] {
        &mut self.all
    }

    /// Forgets the copy of an object.
    pub fn take(&mut self, o: *mut ffi::PyObject) -> Option<ItemsRef> {
        let at = self.place(o)?;
        let taken = self.all.swap_remove(at);
        self.by_native.take();
        if self.by_object.remove(&(o as usize)).is_some()
            && let Some(moved) = self.all.get(at)
        {
            self.by_object.insert(moved.object.as_ptr() as usize, at);
        }
        Some(taken.list)
    }

    /// All copies.
    pub fn iter(&self) -> std::slice::Iter<'_, Copied> {
        self.all.iter()
    }

    /// All copies, to change what they remember.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Copied> {
        self.all.iter_mut()
    }
}
