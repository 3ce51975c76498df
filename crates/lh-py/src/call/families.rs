//! Instances in containers: if they are of several classes with a common base, each item has the type of all of them.

use crate::call::args::ArgBuf;
use crate::call::choices::Family;
use crate::call::collections::is_deque;
use crate::call::decode::Decoder;
use crate::call::instance;
use crate::call::lists::Lists;
use crate::call::tags::{Refused, kind};
use crate::host::classes;
use lh_ir::Ty;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// The deepest nesting of containers in which instances are looked for.
const MAX_DEPTH: u32 = 50;

/// One instance of each class in a container, and the other classes that are there.
#[derive(Default)]
struct Found<'py> {
    instances: Vec<Bound<'py, PyAny>>,
    others: Vec<usize>,
    /// The class of the last object that is no container: most are of the same.
    last: usize,
}

impl<'py> Found<'py> {
    fn look_into(&mut self, o: &Bound<'py, PyAny>, depth: u32) -> PyResult<()> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        if let Ok(list) = o.cast::<PyList>() {
            return if begins_plain(list) { Ok(()) } else { list.iter().try_for_each(|x| self.look_at(&x, depth)) };
        }
        if let Ok(tuple) = o.cast::<PyTuple>() {
            return tuple.iter().try_for_each(|x| self.look_at(&x, depth));
        }
        if let Ok(dict) = o.cast::<PyDict>() {
            return dict.iter().try_for_each(|(k, v)| self.look_at(&k, depth).and_then(|()| self.look_at(&v, depth)));
        }
        if is_deque(o) {
            return o.try_iter()?.try_for_each(|x| self.look_at(&x?, depth));
        }
        Ok(())
    }

    fn look_at(&mut self, o: &Bound<'py, PyAny>, depth: u32) -> PyResult<()> {
        let class = o.get_type_ptr();
        if class.addr() == self.last || is_plain(o) || o.cast_exact::<PyList>().is_ok_and(begins_plain) {
            return Ok(());
        }
        if o.is_instance_of::<PyTuple>() || o.is_instance_of::<PyDict>() || o.is_instance_of::<PyList>() || is_deque(o)
        {
            return self.look_into(o, depth + 1);
        }
        self.last = class.addr();
        if self.others.contains(&class.addr()) || self.instances.iter().any(|x| x.get_type_ptr() == class) {
            return Ok(());
        }
        if instance::is_class(class) || classes::find(&o.get_type())?.is_some() {
            self.instances.push(o.clone());
        } else {
            self.others.push(class.addr());
        }
        Ok(())
    }
}

/// Whether the first item is a number or a text: the others are, then.
fn begins_plain(list: &Bound<'_, PyList>) -> bool {
    list.is_empty() || list.get_item(0).is_ok_and(|x| is_plain(&x))
}

fn is_plain(o: &Bound<'_, PyAny>) -> bool {
    let class = o.get_type_ptr();
    [&raw mut ffi::PyLong_Type, &raw mut ffi::PyFloat_Type, &raw mut ffi::PyUnicode_Type].contains(&class)
}

impl Lists {
    /// Imports a container, whose instances have one type if they are of several classes with a common base.
    pub fn with_family<T>(
        &mut self,
        container: &Bound<'_, PyAny>,
        buf: &mut ArgBuf,
        import: impl FnOnce(&mut Lists, &mut ArgBuf) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        if self.family.is_some() {
            return import(self, buf);
        }
        self.family = Some(self.family_of(container, buf)?);
        let made = import(self, buf);
        self.family = None;
        made
    }

    fn family_of(&mut self, container: &Bound<'_, PyAny>, buf: &mut ArgBuf) -> Result<Option<Arc<Family>>, Refused> {
        let mut found = Found::default();
        found.look_into(container, 0).map_err(|e| {
            e.restore(container.py());
            Refused::Raised
        })?;
        if found.instances.len() < 2 {
            return Ok(None);
        }
        let mut all = Vec::new();
        for x in &found.instances {
            let (tags, slots) = (buf.tags.len(), buf.slots.len());
            // SAFETY: the instance is held while it is looked at.
            unsafe { self.push_item(x.as_ptr(), buf)? };
            let own = buf.tags[tags..].to_vec();
            let ty = Decoder::new(x.py(), &own).next_ty();
            all.push((ty, x.get_type_ptr().addr(), own));
            buf.tags.truncate(tags);
            buf.slots.truncate(slots);
        }
        let types: Vec<Ty> = all.iter().map(|(ty, ..)| *ty).collect();
        let Some(order) = Ty::one_of(&types).and_then(Ty::several) else { return Ok(None) };
        all.sort_by_key(|(ty, ..)| order.iter().position(|t| t == ty));
        let (classes, tags) = all.into_iter().map(|(_, class, tags)| (class, tags)).unzip();
        Ok(Some(Arc::new(Family { classes, tags })))
    }

    /// Pushes an instance in a container as one of the classes of the others there, if these are several.
    pub fn push_one_of(
        &mut self,
        o: &Bound<'_, PyAny>,
        buf: &mut ArgBuf,
        push: impl FnOnce(&mut Lists, &mut ArgBuf) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        // Its fields have types of their own.
        let family = self.family.take();
        let (tags, slots) = (buf.tags.len(), buf.slots.len());
        let pushed = push(self, buf);
        self.family = family;
        pushed?;
        let Some((family, at)) = self.family.iter().flatten().find_map(|f| Some((f.clone(), f.place(o)?))) else {
            return Ok(());
        };
        if buf.tags[tags..] != family.tags[at] {
            return Err(Refused::MixedList);
        }
        let word = buf.slots[slots];
        buf.slots[slots] = at as u64;
        buf.slots.extend((0..family.classes.len()).map(|i| if i == at { word } else { 0 }));
        buf.tags.truncate(tags);
        buf.tags.push(kind::CHOICE | (family.classes.len() as u64) << 8);
        family.tags.iter().for_each(|tags| buf.tags.extend_from_slice(tags));
        Ok(())
    }
}
