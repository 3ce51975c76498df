//! The arguments of a call, in one pass over the Python objects: tags, which say which specialisation fits, and the
//! machine words that it is called with.
//!
//! The tags of a value determine its type exactly ([`crate::call::decode`] decodes them), so every call compares tags
//! instead of typing its arguments.

mod rare;

use crate::call::collections::{self, Table};
use crate::call::container;
use crate::call::decode::Decoder;
use crate::call::instance;
use crate::call::lists::Lists;
use crate::call::polynomials;
use crate::call::rows::bytes_tags;
use crate::call::tags::{Refused, first_tags, kind};
use crate::call::ways::{self, Way};
use crate::host::{classes, comptime, enums, extensions, parts};
use crate::object::array::{ArrayObject, is_masked};
use crate::object::int::{self, Machine};
use crate::object::record_dtype::{self, VoidScalar};
use crate::object::words::read_word;
use crate::object::{bit_generators, buffers, constant, numpy, owner, text};
use crate::runtime::render;
use lh_ir::Ty;
use lh_ir::class::Class;
use lh_ir::consts::ASCII;
use lh_ir::types::Prim;
use lh_runtime::MemInfo;
use lh_runtime::alloc::decref;
use lh_runtime::string_index::SHORT;
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// The deepest nesting of tuples and lists in an argument.
pub const MAX_DEPTH: u32 = 50;

/// The arguments of one call.
#[derive(Default)]
pub struct ArgBuf {
    /// Tags of the arguments.
    pub tags: SmallVec<[u64; 24]>,
    /// Machine words, in the order of `Ty::flatten`.
    pub slots: SmallVec<[u64; 80]>,
    /// Words that hold the owner of an array or string, with the object; null until [`ArgBuf::own`].
    pub owners: SmallVec<[(u32, *mut ffi::PyObject); 8]>,
    /// Owners whose words a conversion has moved.
    pub held: Vec<*mut MemInfo>,
    /// Native copies of Python lists.
    pub lists: Option<Box<Lists>>,
    /// Whether there is a list without items among the arguments.
    pub undecided: bool,
    /// Arrays made for this call.
    pub made: Vec<Py<PyAny>>,
    /// Bit generators among the arguments, which belong to this call while it runs.
    pub bit_generators: Vec<Py<PyAny>>,
    /// Whether NumPy's 64-bit scalars keep their types. Inside of containers they are always Python's numbers.
    pub has_numpy_scalars: bool,
    /// Whether objects whose classes have no type are taken as they are: as arguments and in tuples, not in containers.
    pub takes_objects: bool,
    depth: u32,
}

impl ArgBuf {
    /// Takes back all but the first arguments.
    pub fn keep(&mut self, py: Python<'_>, argc: usize) {
        self.tags.truncate(first_tags(&self.tags, argc));
        let words = Decoder::new(py, &self.tags).many(argc).iter().map(|t| t.flatten().len()).sum();
        // References of the rest are dropped with the buffer.
        let of_rest = self.owners.iter().filter(|(at, _)| *at as usize >= words);
        self.held.extend(of_rest.map(|(at, _)| self.slots[*at as usize] as *mut MemInfo));
        self.slots.truncate(words);
        self.owners.retain(|(at, _)| (*at as usize) < words);
    }

    /// Adds one argument.
    ///
    /// # Safety
    /// `o` is a live object that stays alive while the buffer is used, and the thread is attached.
    #[inline(always)]
    pub unsafe fn push(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: the exact types checked here fix the structs that are read.
        unsafe {
            let class = ffi::Py_TYPE(o);
            if class == &raw mut ffi::PyFloat_Type {
                self.tags.push(kind::FLOAT);
                self.slots.push((*o.cast::<ffi::PyFloatObject>()).ob_fval.to_bits());
                Ok(())
            } else if class == numpy::ndarray_type() {
                self.push_array(o)
            } else if class == &raw mut ffi::PyLong_Type {
                self.push_int(o)
            } else {
                self.push_other(o, class)
            }
        }
    }

    /// # Safety
    /// `o` is an instance of `int`.
    #[inline(always)]
    unsafe fn push_int(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: as promised by the caller.
        let (tag, word) = match unsafe { int::machine(o) } {
            Machine::Signed(v) => (kind::INT, v as u64),
            Machine::Unsigned(v) => (kind::UINT64, v),
            Machine::TooLarge => return Err(Refused::TooLarge),
        };
        self.tags.push(tag);
        self.slots.push(word);
        Ok(())
    }

    /// # Safety
    /// `o` is an instance of `numpy.ndarray`.
    #[inline(always)]
    unsafe fn push_array(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: the struct is NumPy's, `dimensions` and `strides` have `nd` items.
        unsafe {
            let a = o.cast::<ArrayObject>();
            let Some(num) = (*a).element_number().or_else(|| self.object_number(a)) else { return Err(Refused::Array) };
            let (flags, nd) = ((*a).flags, (*a).nd as usize);
            if !(*a).is_aligned() {
                return self.push_unaligned(o);
            }
            let record = if numpy::has_more(num) { Some(self.record_number((*a).descr, (*a).data)?) } else { None };
            let shape = (flags & (numpy::C_CONTIGUOUS | numpy::F_CONTIGUOUS | numpy::WRITEABLE)) as u64;
            self.tags.push(kind::ARRAY | (num as u64) << 8 | (nd as u64) << 16 | shape << 32);
            self.tags.extend(record);
            self.owners.push((self.slots.len() as u32, o));
            self.slots.reserve(2 + 2 * nd);
            let at = self.slots.len();
            let p = self.slots.as_mut_ptr().add(at);
            *p = 0;
            *p.add(1) = (*a).data as u64;
            for i in 0..nd {
                *p.add(2 + i) = *(*a).dimensions.add(i) as u64;
                *p.add(2 + nd + i) = *(*a).strides.add(i) as u64;
            }
            self.slots.set_len(at + 2 + 2 * nd);
            Ok(())
        }
    }

    /// The type number of an array of objects, where such are taken.
    ///
    /// # Safety
    /// The struct is that of a live array.
    #[cold]
    unsafe fn object_number(&self, a: *const ArrayObject) -> Option<std::ffi::c_int> {
        // SAFETY: as promised.
        let num = unsafe { numpy::number_of((*a).descr) };
        (self.takes_objects && num == numpy::OBJECT).then_some(num)
    }

    /// An object whose class has no type.
    fn push_object(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        if !self.takes_objects {
            return Err(Refused::Type);
        }
        self.tags.push(kind::PYOBJECT);
        self.owners.push((self.slots.len() as u32, o));
        self.slots.extend([0, o as u64]);
        Ok(())
    }

    /// Pushes what objects without a type cannot be in.
    fn without_objects(&mut self, push: impl FnOnce(&mut ArgBuf) -> Result<(), Refused>) -> Result<(), Refused> {
        let before = std::mem::replace(&mut self.takes_objects, false);
        let pushed = push(self);
        self.takes_objects = before;
        pushed
    }

    /// Pushes an aligned copy of an array; arrays that were pickled in another process need this.
    #[cold]
    fn push_unaligned(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        self.guarded(|buf| {
            // SAFETY: arguments are live objects, and are read while the thread is attached.
            let array = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), o) };
            let mut lists = buf.lists.take().unwrap_or_default();
            let copy = lists.aligned(&array);
            buf.lists = Some(lists);
            match copy {
                // SAFETY: an array, which the buffer's lists hold.
                Ok(Some(copy)) => unsafe { buf.push_array(copy.as_ptr()) },
                Ok(None) => Err(Refused::Array),
                Err(error) => {
                    error.restore(array.py());
                    Err(Refused::Raised)
                }
            }
        })
    }

    /// The number of the structured dtype of records at an address.
    #[cold]
    fn record_number(&mut self, descr: *const numpy::Descr, data: *mut u8) -> Result<u64, Refused> {
        let mut found = Err(Refused::Array);
        self.guarded(|_| {
            // SAFETY: arguments are read while the thread is attached; the dtype belongs to one of them.
            let known = unsafe { record_dtype::at(Python::assume_attached(), descr, data) };
            let known = known.map_err(|e| {
                // SAFETY: as above.
                e.restore(unsafe { Python::assume_attached() });
                Refused::Raised
            })?;
            if let Some((_, n)) = known {
                found = Ok(n);
            }
            Ok(())
        })?;
        found
    }

    /// # Safety
    /// As [`ArgBuf::push`].
    unsafe fn push_other(&mut self, o: *mut ffi::PyObject, class: *mut ffi::PyTypeObject) -> Result<(), Refused> {
        // SAFETY: the exact types checked here fix the structs that are read.
        unsafe {
            if class == &raw mut ffi::PyTuple_Type {
                return self.push_items(o, None);
            }
            if class == &raw mut ffi::PyBool_Type {
                self.tags.push(kind::BOOL);
                self.slots.push(u64::from(o == ffi::Py_True()));
            } else if o == ffi::Py_None() {
                self.tags.push(kind::NONE);
            } else if class == &raw mut ffi::PyComplex_Type {
                let z = (*o.cast::<ffi::PyComplexObject>()).cval;
                self.tags.push(kind::COMPLEX);
                self.slots.push(z.real.to_bits());
                self.slots.push(z.imag.to_bits());
            } else if class == &raw mut ffi::PyUnicode_Type {
                return self.push_str(o);
            } else if class == &raw mut ffi::PyBytes_Type {
                self.tags.extend(bytes_tags());
                self.owners.push((self.slots.len() as u32, o));
                // The last word is the distance of the items.
                self.slots.extend([0, ffi::PyBytes_AsString(o) as u64, ffi::PyBytes_Size(o) as u64, 1]);
            } else if class == &raw mut ffi::PyList_Type {
                return self.guarded(|buf| buf.without_objects(|buf| buf.push_list(o)));
            } else if class == &raw mut ffi::PyDict_Type || class == &raw mut ffi::PySet_Type {
                return self.guarded(|buf| buf.without_objects(|buf| buf.push_table(o)));
            } else if container::is_class(class) {
                return self.push_container(o);
            } else if instance::is_class(class) {
                return self.push_shared(o);
            } else if let Some(num) = numpy::scalar_num(class) {
                return self.push_scalar(o, num);
            } else if let Some((ticks, unit, is_span)) = numpy::time_scalar(o, class) {
                let (base, count) = unit.numbers();
                self.tags.push(kind::TIME | u64::from(is_span) << 8 | base << 16 | count << 32);
                self.slots.push(ticks as u64);
            } else if instance::is_struct_class(class) {
                let number = instance::struct_number(o).ok_or(Refused::Type)?;
                self.tags.push(kind::TYPE | (number as u64) << 8);
                self.slots.push(instance::native(o) as u64);
            } else if let Some(way) = ways::find(class) {
                return self.push_by(way, o, class);
            } else {
                return self.guarded(|buf| buf.push_rare(o, class));
            }
            Ok(())
        }
    }

    /// Pushes an object in the way of its class.
    ///
    /// # Safety
    /// As [`ArgBuf::push`].
    unsafe fn push_by(
        &mut self,
        way: Way,
        o: *mut ffi::PyObject,
        class: *mut ffi::PyTypeObject,
    ) -> Result<(), Refused> {
        // SAFETY: the way is that of the object's class.
        unsafe {
            match way {
                Way::Named => self.push_items(o, Some(class)),
                Way::Range => self.push_parts(o, kind::RANGE),
                Way::Slice => self.push_parts(o, kind::SLICE),
                Way::Constant => {
                    self.tags.extend([kind::OBJECT, o as u64]);
                    Ok(())
                }
                Way::Buffer => self.guarded(|buf| buf.push_memory(o).unwrap_or_else(|| buf.push_object(o))),
            }
        }
    }

    /// Catches panics, which must not leave [`crate::call::vectorcall`].
    fn guarded(&mut self, push: impl FnOnce(&mut ArgBuf) -> Result<(), Refused>) -> Result<(), Refused> {
        catch_unwind(AssertUnwindSafe(|| push(self))).unwrap_or_else(|panic| {
            // SAFETY: arguments are read while the thread is attached.
            let py = unsafe { Python::assume_attached() };
            render::internal_error(py, panic.as_ref()).restore(py);
            Err(Refused::Raised)
        })
    }

    unsafe fn push_str(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: `o` is a `str`; the text lives as long as `o`.
        let (text, len, is_ascii) = unsafe { text::utf8(o) };
        if text.is_null() {
            // SAFETY: `o` is a `str`; an exception is set.
            return unsafe { self.push_surrogates(o) };
        }
        self.tags.push(kind::STR);
        self.owners.push((self.slots.len() as u32, o));
        // The index of characters of a long text belongs to its owner.
        let owner =
            if is_ascii || len as usize <= SHORT { null_mut() } else { owner::text_owner(o, text, len as usize) };
        let flag = if is_ascii { ASCII } else { 0 };
        self.slots.extend([owner as u64, text as u64, (len as i64 | flag) as u64]);
        Ok(())
    }

    /// A `str` with lone surrogates, for which CPython keeps no bytes.
    #[cold]
    unsafe fn push_surrogates(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: the thread is attached, and the caller passes a `str`.
        let (py, text) = unsafe {
            ffi::PyErr_Clear();
            let py = Python::assume_attached();
            (py, Bound::from_borrowed_ptr(py, o).cast_into_unchecked::<PyString>())
        };
        let refused = |e: PyErr| {
            e.restore(py);
            Refused::Raised
        };
        let bytes = text::encoded(&text).map_err(refused)?;
        let (data, len) = (bytes.as_bytes().as_ptr(), bytes.as_bytes().len());
        let owner = owner::text_owner(bytes.as_ptr(), data.cast(), len);
        if owner.is_null() {
            return Err(refused(PyMemoryError::new_err(())));
        }
        self.tags.push(kind::STR);
        self.owners.push((self.slots.len() as u32, bytes.as_ptr()));
        self.slots.extend([owner as u64, data as u64, len as u64]);
        Ok(())
    }

    /// A tuple, or a namedtuple when its class is given.
    unsafe fn push_items(
        &mut self,
        o: *mut ffi::PyObject,
        class: Option<*mut ffi::PyTypeObject>,
    ) -> Result<(), Refused> {
        // SAFETY: `o` is a tuple, which keeps its items alive.
        unsafe {
            let n = ffi::PyTuple_GET_SIZE(o);
            match class {
                None => self.tags.push(kind::TUPLE | (n as u64) << 8),
                Some(c) => self.tags.extend([kind::NAMED | (n as u64) << 8, c as u64]),
            }
            self.enter()?;
            for i in 0..n {
                self.push(ffi::PyTuple_GET_ITEM(o, i))?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Goes into a container.
    pub fn enter(&mut self) -> Result<(), Refused> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Refused::Depth) } else { Ok(()) }
    }

    /// Leaves a container.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    fn push_instance(&mut self, o: &Bound<'_, PyAny>, class: Class) -> Result<(), Refused> {
        let mut lists = self.lists.take().unwrap_or_default();
        let pushed = lists.push_one_of(o, self, |lists, buf| {
            let native = lists.import_instance(o, class, buf)?;
            buf.slots.push(native as u64);
            Ok(())
        });
        self.lists = Some(lists);
        pushed
    }

    /// An instance that shares its native object.
    ///
    /// # Safety
    /// The class of `o` is one of instances.
    unsafe fn push_shared(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: as promised; arguments are live objects, and are read while the thread is attached.
        let (object, native) = unsafe { (Bound::from_borrowed_ptr(Python::assume_attached(), o), instance::native(o)) };
        let push = |buf: &mut ArgBuf| {
            buf.tags.extend([kind::CLASS, object.get_type_ptr() as u64]);
            buf.slots.push(native as u64);
            Ok(())
        };
        let Some(mut lists) = self.lists.take_if(|lists| matches!(lists.family, Some(Some(_)))) else {
            return push(self);
        };
        let pushed = lists.push_one_of(&object, self, |_, buf| push(buf));
        self.lists = Some(lists);
        pushed
    }

    unsafe fn push_list(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        self.enter()?;
        self.tags.push(kind::LIST);
        let mut lists = self.lists.take().unwrap_or_default();
        // SAFETY: `o` is a list and the thread is attached.
        let header = unsafe { lists.import(o, self) };
        self.lists = Some(lists);
        self.slots.push(header? as u64);
        self.depth -= 1;
        Ok(())
    }

    /// # Safety
    /// `o` is a typed container.
    unsafe fn push_container(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: as promised; the argument outlives the buffer.
        let (tags, native) = unsafe { container::native(o)? };
        self.tags.extend_from_slice(tags);
        self.slots.push(native as u64);
        Ok(())
    }

    unsafe fn push_table(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: `o` is a dictionary or a set and the thread is attached.
        let object = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), o) };
        let mut lists = self.lists.take().unwrap_or_default();
        let pushed = lists.push_table(&object, self);
        self.lists = Some(lists);
        pushed
    }

    /// # Safety
    /// `o` is a NumPy scalar of this type number.
    unsafe fn push_scalar(&mut self, o: *mut ffi::PyObject, num: std::ffi::c_int) -> Result<(), Refused> {
        let Some(ty) = numpy::ty_of_num(num) else { return self.push_object(o) };
        // The tags of Python's own numbers stand for the 64-bit types, too, where these do not count as others.
        let tag = match ty {
            t if t == Ty::bool() => kind::BOOL,
            _ if self.has_numpy_scalars && self.depth == 0 => kind::SCALAR | (num as u64) << 8,
            t if t == Ty::i64() => kind::INT,
            t if t == Ty::f64() => kind::FLOAT,
            t if t == Ty::c128() => kind::COMPLEX,
            _ => kind::SCALAR | (num as u64) << 8,
        };
        self.tags.push(tag);
        // SAFETY: the value of a NumPy scalar follows the object header, which is 16 bytes.
        unsafe {
            let at = o.cast::<u8>().add(size_of::<ffi::PyObject>());
            let half = if ty.is_complex() { ty.itemsize() / 2 } else { ty.itemsize() };
            self.slots.push(read_word(at, half));
            if ty.is_complex() {
                self.slots.push(read_word(at.add(half), half));
            }
        }
        Ok(())
    }

    /// A range or a slice.
    unsafe fn push_parts(&mut self, o: *mut ffi::PyObject, kind: u64) -> Result<(), Refused> {
        self.tags.push(kind);
        // SAFETY: `o` is a live range or slice, which keeps its parts alive: three objects after its header.
        let parts = unsafe { o.add(1).cast::<[*mut ffi::PyObject; 3]>().read() };
        for part in parts {
            // SAFETY: as above.
            unsafe {
                let number = part == ffi::Py_None() || ffi::PyLong_Check(part) != 0;
                if number { self.push(part) } else { Err(Refused::Type) }?;
            }
            if kind == self::kind::RANGE && self.tags.pop() != Some(self::kind::INT) {
                return Err(Refused::TooLarge);
            }
        }
        Ok(())
    }
}

impl ArgBuf {
    /// Gives arrays and strings among the arguments an owner, for code that lets them escape.
    pub fn own(&mut self) {
        for (at, object) in &self.owners {
            if self.slots[*at as usize] == 0 {
                self.slots[*at as usize] = owner::foreign_owner(*object) as u64;
            }
        }
    }

    #[cold]
    fn drop_held(&mut self) {
        for mem in self.held.drain(..) {
            // SAFETY: null, or the reference that `own` made, moved here by conversion.
            unsafe { decref(mem) };
        }
        for object in self.made.drain(..).chain(self.bit_generators.drain(..)) {
            // `Py` would keep it until a thread attaches itself next time.
            // SAFETY: arguments are let go while the thread is attached; the reference is this buffer's.
            unsafe { ffi::Py_DECREF(object.into_ptr()) };
        }
    }
}

impl Drop for ArgBuf {
    #[inline(always)]
    fn drop(&mut self) {
        for (at, _) in &self.owners {
            let mem = self.slots.get(*at as usize).map_or(0, |w| *w) as *mut MemInfo;
            if !mem.is_null() {
                // SAFETY: a filled owner slot holds the reference that `own` made.
                unsafe { decref(mem) };
            }
        }
        if !self.held.is_empty() || !self.made.is_empty() || !self.bit_generators.is_empty() {
            self.drop_held();
        }
    }
}
