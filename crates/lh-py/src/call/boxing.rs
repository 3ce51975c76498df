//! Results: machine words as Python objects.

use crate::call::arrays::{array, descr_of, no_object};
use crate::call::collections::{Table, is_deque_type};
use crate::call::container;
use crate::call::function_words;
use crate::call::generator::Generator;
use crate::call::instance;
use crate::call::item::Item;
use crate::call::lists::Lists;
use crate::call::made::{self, Form, Maker};
use crate::call::overload::Overload;
use crate::call::polynomials;
use crate::call::texts;
use crate::host::{enums, extensions, table};
use crate::object::record_dtype::VoidScalar;
use crate::object::words::float;
use crate::object::{bit_generators, buffers, numpy, owner};
use crate::runtime::raise;
use hashbrown::HashMap;
use lh_ir::class::{Class, User};
use lh_ir::parse::Field;
use lh_ir::types::{Buffer, ClassTy, InstanceOf, Prim};
use lh_ir::{FuncId, Ty, TyKind};
use lh_runtime::alloc::decref;
use lh_runtime::items::{Items, ItemsRef};
use lh_runtime::random::generator::native::Native;
use lh_runtime::{MemInfo, StrValue};
use pyo3::exceptions::{PyAttributeError, PySystemError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType};
use pyo3::{ffi, intern};

/// Boxes the values of one call.
pub struct Boxer<'a, 'py> {
    py: Python<'py>,
    pub lists: Option<&'a Lists>,
    /// The code that made the result.
    made_by: Option<&'a Overload>,
    /// Containers made for this result, by their native ones: each is one Python object.
    pub made: HashMap<usize, (Ty, Bound<'py, PyAny>)>,
    /// Instances made for this result.
    pub instances: HashMap<usize, (Ty, Bound<'py, PyAny>)>,
    /// Those whose attributes are not set yet. Only the outermost one sets them, so that long chains take no stack.
    unfilled: Vec<(Ty, *mut MemInfo, Bound<'py, PyAny>)>,
    is_filling: bool,
    /// Whether containers are shared with Python instead of copied.
    is_sharing: bool,
    /// Whether the code has Numba's semantics: dictionaries are shared, and parts of slices are never None.
    is_numbas: bool,
}

impl<'a, 'py> Boxer<'a, 'py> {
    /// A boxer; `lists` are the arguments' native lists, which stand for the Python lists they came from.
    pub fn new(py: Python<'py>, lists: Option<&'a Lists>) -> Self {
        let (made, instances, unfilled) = (HashMap::new(), HashMap::new(), Vec::new());
        Boxer {
            py,
            lists,
            made_by: None,
            made,
            instances,
            unfilled,
            is_filling: false,
            is_sharing: false,
            is_numbas: false,
        }
    }

    /// The interpreter's token.
    pub fn py(&self) -> Python<'py> {
        self.py
    }

    /// The same for parts of an object that Python shares.
    pub fn sharing(mut self) -> Self {
        self.is_sharing = true;
        self
    }

    /// The same for code that has Numba's semantics, if it has.
    pub fn with_numbas(mut self, is_numbas: bool) -> Self {
        self.is_numbas = is_numbas;
        self
    }

    /// The same for the result of code that may make generators.
    pub fn with(mut self, made_by: &'a Overload) -> Self {
        self.made_by = Some(made_by);
        self
    }

    /// An object for a value whose references the caller gives away.
    pub fn owned(&mut self, ty: Ty, slots: &[u64]) -> PyResult<Bound<'py, PyAny>> {
        let result = self.borrowed(ty, slots);
        release(ty, slots);
        result
    }

    /// An object for a value whose references the caller keeps.
    pub fn borrowed(&mut self, ty: Ty, slots: &[u64]) -> PyResult<Bound<'py, PyAny>> {
        let mut at = slots;
        self.next(ty, &mut at)
    }

    fn next(&mut self, ty: Ty, at: &mut &[u64]) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let mut word = || {
            let (first, rest) = at.split_first().expect("a value has the slots of its type");
            *at = rest;
            *first
        };
        Ok(match ty.kind() {
            TyKind::None | TyKind::Never => py.None().into_bound(py),
            TyKind::Bool => PyBool::new(py, word() & 1 != 0).to_owned().into_any(),
            TyKind::Int { bits, signed, .. } => int(py, word(), *bits, *signed),
            TyKind::Float { .. } | TyKind::Bfloat16 => PyFloat::new(py, float(word(), ty)).into_any(),
            TyKind::Complex { .. } => {
                let part = ty.real_part();
                PyComplex::from_doubles(py, float(word(), part), float(word(), part)).into_any()
            }
            TyKind::Literal(l) => self.next(l.ty(), at)?,
            TyKind::Str => {
                let [mem, data, len] = [word(), word(), word()];
                let text = StrValue { mem: mem as *mut MemInfo, data: data as *const u8, len: len as i64 };
                // SAFETY: the value is alive.
                unsafe { Bound::from_owned_ptr_or_err(py, texts::object(text))? }
            }
            TyKind::Class(c) if c.class.is_random() => {
                let [mem, bits, _kind] = [word(), word(), word()];
                self.bit_generator(ty, mem as *mut MemInfo, bits)?
            }
            TyKind::Class(c) if c.class.is_polynomial() => self.series(ty, c.class, at)?,
            TyKind::Class(c) => self.object(ty, c, word())?,
            TyKind::Exc => exception(py, word())?,
            TyKind::Record(_) => record(py, ty, [word(), word()])?,
            TyKind::Array { dtype, ndim, readonly, .. } => {
                let (this, rest) = at.split_at(2 + 2 * usize::from(*ndim));
                *at = rest;
                array(py, *dtype, *readonly, this)?
            }
            TyKind::Optional(t) if word() & 1 != 0 => self.next(*t, at)?,
            TyKind::Optional(t) => {
                *at = &at[t.flatten().len()..];
                py.None().into_bound(py)
            }
            TyKind::Tuple { .. } | TyKind::Range(_) | TyKind::Slice(_) => self.parts(ty, at)?,
            TyKind::Generator(_) => self.generator(word() as *mut MemInfo)?,
            TyKind::Ptr => word().into_pyobject(py)?.into_any(),
            TyKind::Instance { of, class } => self.value_of_class(ty, *of, class, at)?,
            TyKind::Extension { .. } => self.extension(ty, at)?,
            TyKind::Choice(of) => {
                let which = word() as usize;
                self.chosen(of, which, at)?
            }
            TyKind::Closure { func, captures, defaults, named } => {
                self.closure(*func, (captures, defaults, named), at)?
            }
            TyKind::PyObject => {
                let [_, address] = [word(), word()];
                opaque(py, address)
            }
            TyKind::Unbound => py.NotImplemented().into_bound(py),
            _ => comptime(py, ty)?,
        })
    }

    /// A series of polynomials.
    fn series(&mut self, ty: Ty, class: Class, at: &mut &[u64]) -> PyResult<Bound<'py, PyAny>> {
        let parts = ty.fields().iter().map(|field| self.next(field.ty, at)).collect::<PyResult<Vec<_>>>()?;
        polynomials::object(self.py, class, parts)
    }

    /// A value of a type that a program defines.
    fn extension(&self, ty: Ty, at: &mut &[u64]) -> PyResult<Bound<'py, PyAny>> {
        let (words, rest) = at.split_at(ty.flatten().len());
        *at = rest;
        (extensions::exchange().object)(self.py, ty, words)
    }

    fn value_of_class(&mut self, ty: Ty, of: Ty, class: &InstanceOf, at: &mut &[u64]) -> PyResult<Bound<'py, PyAny>> {
        match class {
            InstanceOf::Buffer(Buffer::ByteArray) => {
                let (word, rest) = at.split_first().expect("a value has the slots of its type");
                *at = rest;
                return self.bytearray(*word as *mut MemInfo);
            }
            InstanceOf::Buffer(class) => {
                if let (Buffer::Bytes, Some((own, rest))) = (class, at.split_first_chunk::<4>())
                    // SAFETY: the words of bytes that are alive; attached.
                    && let Some(made) = unsafe { texts::bytes(*own) }
                {
                    *at = rest;
                    // SAFETY: a new reference, or null with an exception set.
                    return unsafe { Bound::from_owned_ptr_or_err(self.py, made) };
                }
                let array = self.next(of, at)?;
                return buffers::buffer(&array, *class);
            }
            InstanceOf::Function { .. } if !ty.is_open() => return self.next(of, at),
            InstanceOf::Error { .. } => return self.next(of, at),
            InstanceOf::Enum { class, values: true, .. } => {
                let value = self.next(of, at)?;
                return table::object(self.py, *class).call1((value,));
            }
            _ => {}
        }
        let (word, rest) = at.split_first().expect("a value has the slots of its type");
        *at = rest;
        match class {
            InstanceOf::Enum { class, .. } => enums::member(&table::object(self.py, *class), *word as i64),
            InstanceOf::Function { .. } => function_words::object(self.py, *word),
            _ => Ok(word.into_pyobject(self.py)?.into_any()),
        }
    }

    /// An inner function, which becomes a compiled function with captured variables of its own.
    fn closure(
        &mut self,
        func: FuncId,
        (captures, defaults, named): (&[Ty], &[Ty], &[String]),
        at: &mut &[u64],
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut parts = |types: &[Ty]| types.iter().map(|t| self.next(*t, at)).collect::<PyResult<Vec<_>>>();
        let (captures, mut defaults) = (parts(captures)?, parts(defaults)?);
        let py = self.py;
        let named_values = defaults.split_off(defaults.len() - named.len());
        let keywords = PyDict::new(py);
        for (name, value) in named.iter().zip(named_values) {
            keywords.set_item(name, value)?;
        }
        let module = py.import("lancehead.escaped")?;
        let Some(place) = table::inner_place(func) else {
            let (function, _) = table::function_object(func);
            let name = table::object(py, function).getattr("__name__")?;
            return module.call_method1("of_library", (name, PyTuple::new(py, captures)?, keywords));
        };
        let (owner, _) = table::function_object(func);
        let parts = (PyTuple::new(py, captures)?, PyTuple::new(py, defaults)?, keywords);
        module.call_method1("function", (table::object(py, owner), place, parts))
    }

    fn object(&mut self, ty: Ty, c: &ClassTy, word: u64) -> PyResult<Bound<'py, PyAny>> {
        let object = word as *mut MemInfo;
        match c.class.user() {
            None if ty.is_time() => time(self.py, ty, word),
            Some(user) => self.instance(ty, user, object),
            None => self.container(ty, object.cast()),
        }
    }

    /// A generator of random numbers, or a bit generator: the object that owns the state, or a new one with a copy.
    fn bit_generator(&mut self, ty: Ty, mem: *mut MemInfo, bits: u64) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: `mem` is null or alive: the value holds a reference.
        let (owner, native) = unsafe { (owner::object_of(self.py, mem), Native::of_owner(mem)) };
        if let Some(owner) = owner {
            return bit_generators::of_owner(&owner, ty);
        }
        if let Some((known, made)) = self.instances.get(&(bits as usize)) {
            return if *known == ty { Ok(made.clone()) } else { bit_generators::of_owner(made, ty) };
        }
        let native = native.ok_or_else(|| no_object(ty))?;
        let made = bit_generators::of_native(self.py, native, ty)?;
        self.instances.insert(bits as usize, (ty, made.clone()));
        Ok(made)
    }

    /// An instance of a class that a program defines.
    fn instance(&mut self, ty: Ty, user: User, native: *mut MemInfo) -> PyResult<Bound<'py, PyAny>> {
        if user.is_shared {
            return instance::of_native(self.py, ty, native);
        }
        if let Some(object) = self.lists.and_then(|l| l.copies.object_of(native)) {
            // SAFETY: the instance is an argument of the call that is being finished.
            return Ok(unsafe { Bound::from_borrowed_ptr(self.py, object) });
        }
        if let Some((_, made)) = self.instances.get(&(native as usize)) {
            return Ok(made.clone());
        }
        if native.is_null() {
            return Err(PyAttributeError::new_err("an instance that was never made"));
        }
        let class = table::object(self.py, user.class);
        let made = class.call_method1(intern!(self.py, "__new__"), (&class,))?;
        self.instances.insert(native as usize, (ty, made.clone()));
        self.unfilled.push((ty, native, made.clone()));
        if !std::mem::replace(&mut self.is_filling, true) {
            let filled = self.set_attributes();
            self.is_filling = false;
            filled?;
        }
        Ok(made)
    }

    /// Sets the attributes of new instances, but for those to which nothing has been assigned.
    fn set_attributes(&mut self) -> PyResult<()> {
        while let Some((ty, native, made)) = self.unfilled.pop() {
            for field in ty.fields() {
                // SAFETY: the value that is boxed holds a reference to the object, which has these fields.
                unsafe {
                    let at = native.cast::<u8>().add(field.offset);
                    if field.ty.class().is_some() && at.cast::<usize>().read() == 0 {
                        continue;
                    }
                    let value = self.field(native, field)?;
                    set_attribute(&made, &field.name, &value)?;
                }
            }
        }
        Ok(())
    }

    /// The object for the value of a field.
    ///
    /// # Safety
    /// The native object has this field.
    pub unsafe fn field(&mut self, native: *mut MemInfo, field: &Field) -> PyResult<Bound<'py, PyAny>> {
        let item = Item::new(field.ty).ok_or_else(|| no_object(field.ty))?;
        // SAFETY: as promised by the caller.
        self.borrowed(field.ty, &unsafe { item.slots(native.cast::<u8>().add(field.offset)) })
    }

    /// Boxes a value by its parts.
    fn parts(&mut self, ty: Ty, at: &mut &[u64]) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match ty.kind() {
            TyKind::Tuple { elems, name: None } => self.tuple(elems, at)?.into_any(),
            TyKind::Tuple { elems, name: Some(name) } => {
                let class = table::object(py, name.class).cast_into::<PyType>()?.as_type_ptr();
                // As `tuple.__new__` makes an instance of a class that derives from it.
                // SAFETY: a live class, whose instances have room for so many items.
                unsafe {
                    let alloc = (*class).tp_alloc.ok_or_else(|| no_object(ty))?;
                    self.filled(alloc(class, elems.len() as isize), elems, at)?.into_any()
                }
            }
            TyKind::Range(t) => {
                let parts = self.tuple(&[*t; 3], at)?;
                py.get_type::<pyo3::types::PyRange>().call1(parts)?
            }
            TyKind::Slice(parts) => {
                let mut parts = self.tuple(parts, at)?;
                if self.is_numbas {
                    parts = open_ends(&parts)?;
                }
                py.get_type::<pyo3::types::PySlice>().call1(parts)?
            }
            _ => lh_ir::bug!("{ty} has no parts"),
        })
    }

    fn generator(&self, frame: *mut MemInfo) -> PyResult<Bound<'py, PyAny>> {
        let Some((code, advance)) = self.made_by.and_then(|o| Some((o, o.compiled.advance.clone()?))) else {
            return Err(PySystemError::new_err("a generator inside another value cannot be returned to Python"));
        };
        // SAFETY: the frame is alive: the value holds a reference; the code is that of the same result.
        let generator = unsafe { Generator::new(frame, advance, code, self.py) };
        Ok(Bound::new(self.py, generator)?.into_any())
    }

    /// The function that was chosen.
    fn chosen(&mut self, of: &[Ty], which: usize, at: &mut &[u64]) -> PyResult<Bound<'py, PyAny>> {
        let mut chosen = self.py.None().into_bound(self.py);
        for (i, t) in of.iter().enumerate() {
            let (words, rest) = at.split_at(t.flatten().len());
            *at = rest;
            if i == which {
                chosen = self.borrowed(*t, words)?;
            }
        }
        Ok(chosen)
    }

    fn tuple(&mut self, elems: &[Ty], at: &mut &[u64]) -> PyResult<Bound<'py, PyTuple>> {
        // SAFETY: a new tuple.
        unsafe { self.filled(ffi::PyTuple_New(elems.len() as isize), elems, at) }
    }

    /// Fills a tuple.
    ///
    /// # Safety
    /// It is new, with so many places, or null with an exception set.
    unsafe fn filled(
        &mut self,
        new: *mut ffi::PyObject,
        elems: &[Ty],
        at: &mut &[u64],
    ) -> PyResult<Bound<'py, PyTuple>> {
        // SAFETY: each place is filled once; places not filled are null, which dropping allows.
        unsafe {
            let tuple = Bound::from_owned_ptr_or_err(self.py, new)?;
            for (i, t) in elems.iter().enumerate() {
                let item = self.next(*t, at)?;
                ffi::PyTuple_SET_ITEM(tuple.as_ptr(), i as isize, item.into_ptr());
            }
            Ok(tuple.cast_into_unchecked())
        }
    }

    fn container(&mut self, ty: Ty, header: *mut Items) -> PyResult<Bound<'py, PyAny>> {
        let elem = ty.items().unwrap_or_else(|| lh_ir::bug!("`{ty}` has no object in Python"));
        if let Some(object) = self.lists.and_then(|l| l.object_of(header)) {
            // SAFETY: the list is an argument of the call that is being finished.
            return Ok(unsafe { Bound::from_borrowed_ptr(self.py, object) });
        }
        if let Some((_, made)) = self.made.get(&(header as usize)) {
            return Ok(made.clone());
        }
        // SAFETY: the header belongs to a live list.
        let native = unsafe { ItemsRef::from_borrowed(header) };
        let is_dict = self.is_numbas && ty.class() == Some(Class::dict());
        if (self.is_sharing || native.is_shared() || is_dict) && container::can_share(ty) {
            return container::of_native(self.py, ty, &native);
        }
        if is_deque_type(ty) {
            return self.deque(ty, &native);
        }
        let item = Item::new(elem).ok_or_else(|| no_object(elem))?;
        if ty.class().is_some_and(Class::is_tuple) {
            // SAFETY: items of the tuple.
            let slots = (0..native.len()).map(|i| unsafe { item.slots(native.item(i)) });
            let items = slots.map(|slots| self.borrowed(elem, &slots)).collect::<PyResult<Vec<_>>>()?;
            let tuple = PyTuple::new(self.py, items)?.into_any();
            self.made.insert(header as usize, (ty, tuple.clone()));
            return Ok(tuple);
        }
        if ty.as_list().is_none() {
            return self.table(ty, header, &item, &native);
        }
        if let Some(form) = Form::of(elem) {
            // SAFETY: a list of such items, attached; a new object, or null with an exception set.
            let list = unsafe {
                let plain = self.lists.into_iter().flat_map(Lists::plain);
                Bound::from_owned_ptr_or_err(self.py, made::list(&form, &native, plain))?
            };
            self.made.insert(header as usize, (ty, list.clone()));
            return Ok(list);
        }
        let list = PyList::empty(self.py);
        self.made.insert(header as usize, (ty, list.clone().into_any()));
        for i in 0..native.len() {
            // SAFETY: an item of the list.
            let slots = unsafe { item.slots(native.item(i)) };
            list.append(self.borrowed(elem, &slots)?)?;
        }
        Ok(list.into_any())
    }

    /// Boxes a dictionary or a set: its entries are tuples of a mark, which is 0 where one has been removed, the key
    /// and the value.
    fn table(&mut self, ty: Ty, header: *mut Items, item: &Item, native: &ItemsRef) -> PyResult<Bound<'py, PyAny>> {
        let entry = ty.items().and_then(Ty::tuple_elems).unwrap_or_else(|| lh_ir::bug!("`{ty}` is no table"));
        let kind = ty.class().and_then(Table::of_class).unwrap_or_else(|| lh_ir::bug!("`{ty}` is no table"));
        let forms = Form::all(&entry[1..], &mut &item.offsets[1..]);
        let entries = (0..native.len()).map(|i| {
            // SAFETY: an entry of the table.
            unsafe { item.slots(native.item(i)) }
        });
        let entries = entries.filter(|slots| slots[0] != 0);
        match entry {
            [_, key, value] => {
                let factory = ty.field("default_factory");
                let factory = factory.map(|f| match f.ty.kind() {
                    TyKind::DType(t) if t.weak() == Ty::int() => Ok(self.py.get_type::<PyInt>().into_any()),
                    TyKind::DType(t) if t.weak() == Ty::float() => Ok(self.py.get_type::<PyFloat>().into_any()),
                    TyKind::DType(t) if t.is_bool() => Ok(self.py.get_type::<PyBool>().into_any()),
                    // SAFETY: a table of this type has the field.
                    _ => unsafe { self.field(header.cast(), f) },
                });
                let factory = factory.transpose()?;
                let dict = kind.empty_dict(self.py, factory)?;
                self.made.insert(header as usize, (ty, dict.clone()));
                if let Some(forms) = forms {
                    self.fill(&dict, &forms, native)?;
                    return Ok(dict);
                }
                for slots in entries {
                    let mut at = &slots[1..];
                    let key = self.key(*key, &mut at)?;
                    dict.set_item(key, self.next(*value, &mut at)?)?;
                }
                Ok(dict)
            }
            [_, _] if let Some(forms) = forms => {
                let is_frozen = kind == Table::Frozen;
                let set =
                    if is_frozen { PyFrozenSet::empty(self.py)?.into_any() } else { PySet::empty(self.py)?.into_any() };
                // One that is frozen takes items while nobody else has it.
                self.fill(&set, &forms, native)?;
                self.made.insert(header as usize, (ty, set.clone()));
                Ok(set)
            }
            [_, key] if kind == Table::Frozen => {
                let items = entries.map(|slots| self.key(*key, &mut &slots[1..]));
                let items = items.collect::<PyResult<Vec<_>>>()?;
                let set = PyFrozenSet::new(self.py, items)?.into_any();
                self.made.insert(header as usize, (ty, set.clone()));
                Ok(set)
            }
            [_, key] => {
                let set = PySet::empty(self.py)?;
                self.made.insert(header as usize, (ty, set.clone().into_any()));
                for slots in entries {
                    set.add(self.key(*key, &mut &slots[1..])?)?;
                }
                Ok(set.into_any())
            }
            _ => lh_ir::bug!("`{ty}` is no table"),
        }
    }

    /// A key, whose instances have their attributes before it is hashed.
    fn key(&mut self, ty: Ty, at: &mut &[u64]) -> PyResult<Bound<'py, PyAny>> {
        let key = self.next(ty, at)?;
        self.set_attributes()?;
        Ok(key)
    }

    /// Puts plain entries into a dictionary or a set.
    fn fill(&self, table: &Bound<'py, PyAny>, forms: &[Form], native: &ItemsRef) -> PyResult<()> {
        let mut maker = Maker::new(self.lists.into_iter().flat_map(Lists::plain), forms, native.len());
        let table = table.as_ptr();
        // SAFETY: a new table, and entries of these forms behind their marks, which are 0 where there is none.
        unsafe {
            let is_set = forms.len() == 1;
            // A class of dictionaries may have an order of its own.
            let is_plain = is_set || ffi::PyDict_CheckExact(table) != 0;
            for i in 0..native.len() {
                let entry = native.item(i);
                if entry.cast::<u64>().read() == 0 {
                    continue;
                }
                let key = Bound::from_owned_ptr_or_err(self.py, maker.object(&forms[0], entry))?;
                let status = if is_set {
                    ffi::PySet_Add(table, key.as_ptr())
                } else {
                    let value = Bound::from_owned_ptr_or_err(self.py, maker.object(&forms[1], entry))?;
                    match is_plain {
                        true => ffi::PyDict_SetItem(table, key.as_ptr(), value.as_ptr()),
                        false => ffi::PyObject_SetItem(table, key.as_ptr(), value.as_ptr()),
                    }
                };
                if status != 0 {
                    return Err(PyErr::fetch(self.py));
                }
            }
        }
        Ok(())
    }
}

/// The parts of a slice, of which those are None that are Numba's numbers for a missing end.
fn open_ends<'py>(parts: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let [start, stop, step] = [0, 1, 2].map(|i| parts.get_item(i).ok().and_then(|part| part.extract::<i64>().ok()));
    let ends = if step.unwrap_or(1) > 0 { [i64::MIN, i64::MAX] } else { [i64::MAX, i64::MIN] };
    let is_end = [start == Some(ends[0]), stop == Some(ends[1]), false];
    let given = parts.iter().zip(is_end).map(|(part, is_end)| (!is_end).then_some(part));
    PyTuple::new(parts.py(), given.collect::<Vec<_>>())
}

/// A caught exception, to which the caller has a reference.
fn exception(py: Python<'_>, word: u64) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the caller's words are those of the value.
    let pending = unsafe { lh_runtime::caught::copy(word as *mut MemInfo) };
    raise::exception(py, &pending)
}

/// An object of a class that has no type.
fn opaque(py: Python<'_>, address: u64) -> Bound<'_, PyAny> {
    // SAFETY: the value holds a reference to the object, or an argument of the call does.
    unsafe { Bound::from_borrowed_ptr(py, address as *mut ffi::PyObject) }
}

/// The object that a type known while compiling stands for.
fn comptime(py: Python<'_>, ty: Ty) -> PyResult<Bound<'_, PyAny>> {
    match ty.kind() {
        TyKind::DType(t) => match numpy::load(py)?.scalar_class(py, *t) {
            Some(class) => Ok(class),
            None => Ok(descr_of(py, *t)?.into_any()),
        },
        TyKind::Func(f) => match table::function_object(*f) {
            (object, true) => function_words::owner(table::object(py, object)),
            (_, false) => Err(no_object(ty)),
        },
        TyKind::Obj(o) => Ok(table::object(py, *o)),
        TyKind::Ellipsis => Ok(py.Ellipsis().into_bound(py)),
        _ => Err(no_object(ty)),
    }
}

/// Boxes the int in a word whose upper bytes are undefined.
fn int(py: Python<'_>, word: u64, bits: u8, signed: bool) -> Bound<'_, PyAny> {
    let shift = 64 - u32::from(bits);
    let o =
        if signed { PyInt::new(py, (word << shift) as i64 >> shift) } else { PyInt::new(py, word << shift >> shift) };
    o.into_any()
}

/// Boxes a record; the argument itself if it is returned.
fn record<'py>(py: Python<'py>, ty: Ty, slots: [u64; 2]) -> PyResult<Bound<'py, PyAny>> {
    let mem = slots[0] as *mut MemInfo;
    // SAFETY: `mem` is null or alive: the value holds a reference.
    let owner = unsafe { owner::object_of(py, mem) };
    let mut own = None;
    if let Some(owner) = owner {
        // SAFETY: the struct is read after the type check.
        let same = unsafe {
            ffi::PyObject_TypeCheck(owner.as_ptr(), numpy::void_type()) != 0
                && (*owner.as_ptr().cast::<VoidScalar>()).data as u64 == slots[1]
        };
        if same {
            return Ok(owner);
        }
        own = owner.getattr_opt(intern!(py, "dtype"))?;
    }
    let mut whole = array(py, ty, false, &slots)?;
    // Equal dtypes may differ in the class of their records: an array gives its own.
    let descr = whole.getattr(intern!(py, "dtype"))?;
    if let Some(own) = own
        && !own.is(&descr)
        && own.eq(&descr)?
    {
        whole = whole.call_method1(intern!(py, "view"), (own,))?;
    }
    whole.get_item(PyTuple::empty(py))
}

/// Boxes a point or span of time.
fn time(py: Python<'_>, ty: Ty, ticks: u64) -> PyResult<Bound<'_, PyAny>> {
    let mut cell = ticks;
    // SAFETY: a time has 64 bits.
    unsafe { numpy::load(py)?.scalar(&descr_of(py, ty)?, (&raw mut cell).cast()) }
}

/// The words of a value that are references.
pub fn references(ty: Ty) -> Vec<usize> {
    let words = ty.flatten().into_iter().enumerate();
    words.filter(|(_, p)| matches!(p, Prim::Mem | Prim::Object)).map(|(at, _)| at).collect()
}

/// Drops the references of a value.
pub fn release(ty: Ty, slots: &[u64]) {
    for at in references(ty) {
        // SAFETY: a counted slot of a value that the caller owns is null or alive.
        unsafe { decref(slots[at] as *mut MemInfo) };
    }
}

/// Sets an attribute as `object` does: a frozen class refuses all others.
pub fn set_attribute(o: &Bound<'_, PyAny>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = PyString::intern(o.py(), name);
    // SAFETY: live objects, attached.
    match unsafe { ffi::PyObject_GenericSetAttr(o.as_ptr(), name.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(o.py())),
    }
}
