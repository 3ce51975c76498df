//! Containers and instances that Python code got as copies of native ones: what it changes in them is written back.

use crate::call::boxing::{Boxer, release};
use crate::call::decode::tags_of;
use crate::call::item::Item;
use crate::call::lists::{self, Lists};
use crate::call::tags::kind;
use crate::call::{tables, unbox};
use crate::object::class_names::short_text;
use lh_ir::Ty;
use lh_runtime::MemInfo;
use lh_runtime::alloc::incref;
use lh_runtime::items::{Items, ItemsRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The copies of one call.
pub struct Given<'py> {
    containers: Vec<Container<'py>>,
    instances: Vec<Instance<'py>>,
}

struct Container<'py> {
    native: ItemsRef,
    ty: Ty,
    object: Bound<'py, PyAny>,
    before: Vec<Bound<'py, PyAny>>,
}

struct Instance<'py> {
    native: *mut MemInfo,
    ty: Ty,
    object: Bound<'py, PyAny>,
    before: Vec<Option<Bound<'py, PyAny>>>,
}

impl<'py> Given<'py> {
    /// The objects that a boxer has made of values, which live until the changes are written back.
    pub fn new(boxer: Boxer<'_, 'py>) -> Given<'py> {
        let containers = boxer.made.into_iter().map(|(native, (ty, object))| {
            let before = parts_of(&object);
            // SAFETY: the value that was boxed holds it.
            Container { native: unsafe { ItemsRef::from_borrowed(native as *mut Items) }, ty, object, before }
        });
        let instances = boxer.instances.into_iter().map(|(native, (ty, object))| {
            let before = attributes_of(&object, ty);
            Instance { native: native as *mut MemInfo, ty, object, before }
        });
        Given { containers: containers.collect(), instances: instances.collect() }
    }

    /// Writes back what was changed; nothing if a part of it is of another type now.
    pub fn write_back(&self) -> PyResult<()> {
        let mut containers = Vec::new();
        for container in &self.containers {
            if !same(&container.before, &parts_of(&container.object)) {
                let words = self.words(&container.object, container.ty, Some(container))?;
                // SAFETY: the word is a reference to a native container.
                containers.push((container, unsafe { ItemsRef::from_owned(words[0] as *mut Items) }));
            }
        }
        let mut fields = Fields(Vec::new());
        for instance in &self.instances {
            let now = attributes_of(&instance.object, instance.ty);
            for ((field, before), now) in instance.ty.fields().iter().zip(&instance.before).zip(now) {
                let Some(now) = now.filter(|now| before.as_ref().is_none_or(|b| !b.is(now))) else { continue };
                fields.0.push((instance.native, field.offset, field.ty, self.words(&now, field.ty, None)?));
            }
        }
        for (container, mut new) in containers {
            let size = if container.ty.as_list().is_some() { 0 } else { tables::fields_size(container.ty) };
            // SAFETY: both have the container's type.
            unsafe { container.native.clone().exchange(&mut new, size) };
        }
        for (native, offset, ty, words) in &mut fields.0 {
            let Some(item) = Item::new(*ty) else { continue };
            // SAFETY: a field of an instance, which holds a value of this type; that is released in its place.
            unsafe {
                let old = item.slots(native.cast::<u8>().add(*offset));
                lists::write(*native, *offset, *ty, words);
                *words = old.to_vec();
            }
        }
        Ok(())
    }

    /// The words of an object as a value of a type, with references of their own.
    fn words(&self, object: &Bound<'py, PyAny>, ty: Ty, but: Option<&Container<'py>>) -> PyResult<Vec<u64>> {
        unbox::words_with(object, ty, Some(self.known_but(but)), |why| {
            let wanted = ty.numba();
            PyTypeError::new_err(format!(
                "a block of objmode leaves {} in place of a {wanted}: {why}",
                short_text(object)
            ))
        })
    }

    /// The native objects that stand for the copies.
    pub fn known(&self) -> Box<Lists> {
        self.known_but(None)
    }

    fn known_but(&self, but: Option<&Container<'py>>) -> Box<Lists> {
        let mut known = Box::<Lists>::default();
        for c in self.containers.iter().filter(|c| but.is_none_or(|but| !c.object.is(&but.object))) {
            known.know(&c.object, c.native.clone(), &tags_of_arguments(c.ty));
        }
        for i in &self.instances {
            // SAFETY: the instance lives.
            unsafe { incref(i.native) };
            known.copies.know(&i.object, i.native, i.ty, &tags_of_arguments(i.ty));
        }
        known
    }
}

/// The tags of the types that a class was given.
fn tags_of_arguments(ty: Ty) -> Vec<u64> {
    let mut tags = Vec::new();
    for ty in ty.as_class().map_or(&[][..], |class| &class.args) {
        let mark = tags.len();
        if tags_of(*ty, &mut tags).is_none() {
            tags.truncate(mark);
            tags.push(kind::TYPE | (ty.number() as u64) << 8);
        }
    }
    tags
}

/// Values for fields, of which each holds its references.
struct Fields(Vec<(*mut MemInfo, usize, Ty, Vec<u64>)>);

impl Drop for Fields {
    fn drop(&mut self) {
        self.0.iter().for_each(|(_, _, ty, words)| release(*ty, words));
    }
}

fn parts_of<'py>(object: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    object.cast::<PyList>().map_or_else(|_| tables::parts_of(object), |list| list.iter().collect())
}

fn attributes_of<'py>(object: &Bound<'py, PyAny>, ty: Ty) -> Vec<Option<Bound<'py, PyAny>>> {
    ty.fields().iter().map(|field| object.getattr(&*field.name).ok()).collect()
}

fn same(a: &[Bound<'_, PyAny>], b: &[Bound<'_, PyAny>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is(b))
}
