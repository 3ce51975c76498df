//! Results and items of results that are numbers, truth values, texts, None and tuples of these, made straight from
//! memory. `rows.rs` reads arguments of these kinds.

use crate::call::arrays;
use crate::call::copied::Copied;
use crate::call::kept::{Cursor, Kept};
use crate::call::texts;
use crate::host::table;
use crate::object::attach::attach;
use crate::object::int;
use crate::object::words::{float, read_word};
use lh_ir::types::{Buffer, InstanceOf};
use lh_ir::{Ty, TyKind};
use lh_runtime::StrValue;
use lh_runtime::items::ItemsRef;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ptr::{null, null_mut};

/// The form of an item, and where its parts lie in memory.
pub enum Form {
    /// Bits and whether they have a sign.
    Int(usize, u8, bool),
    Float(usize, Ty),
    /// The places of both parts.
    Complex([usize; 2], Ty),
    Bool(usize),
    Text(usize),
    Bytes(usize),
    /// None, or the value, if there is one.
    Optional(usize, Box<Form>),
    None,
    Tuple(Vec<Form>),
    /// A tuple with names, by its class.
    Named(Py<PyAny>, Vec<Form>),
}

impl Form {
    /// The forms of the parts of items, if all have one.
    pub fn all(parts: &[Ty], offsets: &mut &[usize]) -> Option<Vec<Form>> {
        parts.iter().map(|part| Form::nested(*part, offsets)).collect()
    }
    /// The form of items of a type.
    pub fn of(ty: Ty) -> Option<Form> {
        Form::nested(ty, &mut &ty.mem_layout().0[..])
    }
    /// The form of a result of a type, each part of which is a word of its own.
    pub fn of_words(ty: Ty) -> Option<Form> {
        let offsets: Vec<usize> = (0..ty.flatten().len()).map(|k| k * size_of::<u64>()).collect();
        Form::nested(ty, &mut &offsets[..])
    }
    fn nested(ty: Ty, offsets: &mut &[usize]) -> Option<Form> {
        let mut take = |count: usize| {
            let (own, rest) = offsets.split_at_checked(count)?;
            *offsets = rest;
            own.first().copied()
        };
        Some(match ty.kind() {
            TyKind::Int { bits, signed, .. } => Form::Int(take(1)?, *bits, *signed),
            TyKind::Float { .. } => Form::Float(take(1)?, ty),
            TyKind::Complex { .. } => Form::Complex([take(1)?, take(1)?], ty.real_part()),
            TyKind::Bool => Form::Bool(take(1)?),
            TyKind::None => Form::None,
            TyKind::Optional(of) => Form::Optional(take(1)?, Box::new(Form::nested(*of, offsets)?)),
            TyKind::Str => Form::Text(take(3)?),
            TyKind::Instance { class: InstanceOf::Buffer(Buffer::Bytes), of } if of.flatten().len() == 4 => {
                Form::Bytes(take(4)?)
            }
            TyKind::Tuple { elems, name: None } => Form::Tuple(Form::all(elems, offsets)?),
            TyKind::Tuple { elems, name: Some(name) } => {
                let class = attach(|py| table::object(py, name.class).unbind());
                Form::Named(class, Form::all(elems, offsets)?)
            }
            _ => return None,
        })
    }
    /// The numbers in an item.
    fn numbers(&self) -> usize {
        match self {
            Form::Int(..) | Form::Float(..) => 1,
            Form::Complex(..) | Form::Bool(_) | Form::Text(_) | Form::Bytes(_) | Form::None => 0,
            Form::Optional(_, of) => of.numbers(),
            Form::Tuple(parts) | Form::Named(_, parts) => parts.iter().map(Form::numbers).sum(),
        }
    }
}

/// Makes the items of one container.
pub struct Maker {
    ints: Kept,
    floats: Kept,
    /// Of the parts at each place.
    cursors: [Cursor; 8],
    /// The address and the length of the last text, and a reference to its object.
    last: (*const u8, i64, *mut ffi::PyObject),
}

impl Maker {
    /// Makes so many items of these forms; objects of numbers in these lists are used again.
    pub fn new<'a>(lists: impl Iterator<Item = &'a Copied> + Clone, forms: &[Form], count: usize) -> Maker {
        let wanted = count * forms.iter().map(Form::numbers).sum::<usize>();
        let kept = |class| Kept::new(lists.clone(), class, wanted);
        Maker {
            ints: kept(&raw mut ffi::PyLong_Type),
            floats: kept(&raw mut ffi::PyFloat_Type),
            cursors: [Cursor::default(); 8],
            last: (null(), 0, null_mut()),
        }
    }

    /// Makes the items that lie one after the other from an address on, and puts each to its place; false with an
    /// exception set if one cannot be made.
    ///
    /// # Safety
    /// So many items of that form and size lie there; the thread is attached. Places take new references.
    pub unsafe fn all(
        &mut self,
        form: &Form,
        (items, count, size): (*const u8, usize, usize),
        put: impl Fn(isize, *mut ffi::PyObject),
    ) -> bool {
        /// A loop of its own for each form.
        #[inline(always)]
        fn each(
            count: usize,
            mut make: impl FnMut(usize) -> *mut ffi::PyObject,
            put: impl Fn(isize, *mut ffi::PyObject),
        ) -> bool {
            (0..count).all(|i| {
                let object = make(i);
                put(i as isize, object);
                !object.is_null()
            })
        }
        // SAFETY: as promised.
        unsafe {
            match form {
                Form::Int(at, 64, true) => each(count, |i| self.int(*at, items.add(i * size)), put),
                Form::Text(at) => each(count, |i| self.text(items.add(i * size + at)), put),
                _ => each(count, |i| self.object(form, items.add(i * size)), put),
            }
        }
    }

    /// The object of an item: a new reference, or null with an exception set.
    ///
    /// # Safety
    /// An item of that form lies there; the thread is attached.
    pub unsafe fn object(&mut self, form: &Form, item: *const u8) -> *mut ffi::PyObject {
        // SAFETY: as promised.
        unsafe {
            match form {
                Form::Int(at, 64, true) => self.int(*at, item),
                Form::Int(at, bits, signed) => {
                    let shift = 64 - u32::from(*bits);
                    let word = read_word(item.add(*at), usize::from(*bits).div_ceil(8)) << shift;
                    match signed {
                        true => int::object(word as i64 >> shift),
                        false if *bits == 64 => ffi::PyLong_FromUnsignedLongLong(word),
                        false => int::object((word >> shift) as i64),
                    }
                }
                Form::Float(at, ty) => {
                    let word = read_word(item.add(*at), ty.itemsize());
                    let cursor = &mut self.cursors[*at / 8 % 8];
                    match if ty.bits() == 64 { self.floats.find(cursor, word) } else { null_mut() } {
                        found if found.is_null() => ffi::PyFloat_FromDouble(float(word, *ty)),
                        found => found,
                    }
                }
                Form::Complex(at, part) => {
                    let [re, im] = at.map(|at| float(read_word(item.add(at), part.itemsize()), *part));
                    ffi::PyComplex_FromDoubles(re, im)
                }
                Form::Optional(at, of) if item.add(*at).read() & 1 != 0 => self.object(of, item),
                Form::Optional(..) | Form::None => ffi::Py_NewRef(ffi::Py_None()),
                Form::Bool(at) => ffi::PyBool_FromLong((item.add(*at).read() & 1).into()),
                Form::Text(at) => self.text(item.add(*at)),
                Form::Bytes(at) => {
                    let words = item.add(*at).cast::<[u64; 4]>().read();
                    texts::bytes(words).unwrap_or_else(|| arrays::bytes_of_array(words))
                }
                Form::Tuple(parts) => self.fill(ffi::PyTuple_New(parts.len() as isize), parts, item),
                Form::Named(class, parts) => {
                    // As `tuple.__new__` makes an instance of a class that derives from it.
                    let class = class.as_ptr().cast::<ffi::PyTypeObject>();
                    let alloc = (*class).tp_alloc.unwrap_or(ffi::PyType_GenericAlloc);
                    self.fill(alloc(class, parts.len() as isize), parts, item)
                }
            }
        }
    }

    /// # Safety
    /// As of [`Maker::object`]; a new tuple with places for these parts, or null with an exception set.
    unsafe fn fill(&mut self, tuple: *mut ffi::PyObject, parts: &[Form], item: *const u8) -> *mut ffi::PyObject {
        // SAFETY: as promised; places that are not filled are null, which dropping allows.
        unsafe {
            for (i, part) in parts.iter().enumerate() {
                let object = if tuple.is_null() { break } else { self.object(part, item) };
                if object.is_null() {
                    ffi::Py_DECREF(tuple);
                    return object;
                }
                ffi::PyTuple_SET_ITEM(tuple, i as isize, object);
            }
            tuple
        }
    }

    /// # Safety
    /// As of [`Maker::object`], of an integer of 64 bits.
    #[inline(always)]
    unsafe fn int(&mut self, at: usize, item: *const u8) -> *mut ffi::PyObject {
        // SAFETY: as promised.
        unsafe {
            let word = item.add(at).cast::<i64>().read();
            if let Some(small) = int::small(word) {
                return small;
            }
            match self.ints.find(&mut self.cursors[at / 8 % 8], word as u64) {
                found if found.is_null() => ffi::PyLong_FromLongLong(word),
                found => found,
            }
        }
    }

    /// # Safety
    /// As of [`Maker::object`], of a text.
    #[inline(always)]
    unsafe fn text(&mut self, at: *const u8) -> *mut ffi::PyObject {
        // SAFETY: as promised.
        unsafe {
            let text = at.cast::<StrValue>().read();
            // An empty text may have no address, as there is no text before the first one.
            if self.last.0 == text.data && self.last.1 == text.len && !self.last.2.is_null() {
                return ffi::Py_NewRef(self.last.2);
            }
            let object = texts::object(text);
            if !object.is_null() {
                ffi::Py_XDECREF(self.last.2);
                self.last = (text.data, text.len, ffi::Py_NewRef(object));
            }
            object
        }
    }
}

/// A list of the items of a native one: a new reference, or null with an exception set. Objects of numbers in other
/// lists are used again.
///
/// # Safety
/// Items of that form; the thread is attached.
pub unsafe fn list<'a>(
    form: &Form,
    native: &ItemsRef,
    others: impl Iterator<Item = &'a Copied> + Clone,
) -> *mut ffi::PyObject {
    let n = native.len();
    let mut maker = Maker::new(others, std::slice::from_ref(form), n);
    // SAFETY: a new list, of which each place is filled once; places not filled are null, which dropping allows.
    unsafe {
        let list = ffi::PyList_New(n as isize);
        if list.is_null() {
            return list;
        }
        let items = ((*native.as_ptr()).mem.data.cast_const(), n, native.elem_size());
        if !maker.all(form, items, |i, item| ffi::PyList_SET_ITEM(list, i, item)) {
            ffi::Py_DECREF(list);
            return null_mut();
        }
        list
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        // SAFETY: the reference is its own, or null; the thread is attached.
        unsafe { ffi::Py_XDECREF(self.last.2) };
    }
}
