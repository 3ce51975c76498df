//! Arguments of classes that are asked one question after the other: memory, deques, instances, members of
//! enumerations, random generators, and objects of classes that derive from builtin ones.

use super::*;

impl ArgBuf {
    /// Memory of an object whose items NumPy has a type for; `None` of other objects.
    ///
    /// # Safety
    /// As [`ArgBuf::push`].
    pub(super) unsafe fn push_memory(&mut self, o: *mut ffi::PyObject) -> Option<Result<(), Refused>> {
        // SAFETY: as promised.
        unsafe {
            let py = Python::assume_attached();
            let found = buffers::array_of(py, o).map_err(|error| {
                error.restore(py);
                Refused::Raised
            });
            match found {
                Ok(found) => found.map(|(number, array)| {
                    self.tags.push(kind::BUFFER | number << 8);
                    self.push_buffer(&Bound::from_borrowed_ptr(py, o), number, array)
                }),
                Err(refused) => Some(Err(refused)),
            }
        }
    }

    /// # Safety
    /// The array is over the memory of the object, whose class has the number.
    unsafe fn push_buffer(&mut self, object: &Bound<'_, PyAny>, number: u64, array: Py<PyAny>) -> Result<(), Refused> {
        if !buffers::is_bytearray(number) {
            // SAFETY: by the function's contract.
            let pushed = unsafe { self.push_array(array.as_ptr()) };
            self.made.push(array);
            return pushed;
        }
        let pushed = self.push_bytearray(object, array.bind(object.py()));
        // `Py` would keep it until a thread attaches itself next time.
        // SAFETY: the reference is this function's, and the thread is attached.
        unsafe { ffi::Py_DECREF(array.into_ptr()) };
        pushed
    }

    fn push_bytearray(&mut self, object: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> Result<(), Refused> {
        let mut lists = self.lists.take().unwrap_or_default();
        let native = lists.import_bytearray(object, array, self);
        self.lists = Some(lists);
        self.slots.push(native? as u64);
        Ok(())
    }

    fn push_deque(&mut self, object: &Bound<'_, PyAny>) -> Result<(), Refused> {
        self.enter()?;
        self.tags.push(kind::LIST | collections::IS_DEQUE << 8);
        let mut lists = self.lists.take().unwrap_or_default();
        let native = lists.import_deque(object, self);
        self.lists = Some(lists);
        self.slots.push(native?.as_ptr() as u64);
        self.depth -= 1;
        Ok(())
    }

    /// A generator of random numbers, or a bit generator.
    fn push_bit_generator(&mut self, o: &Bound<'_, PyAny>, ty: Ty) -> Result<(), Refused> {
        let found = bit_generators::words(o, ty).and_then(|words| Ok((words, bit_generators::bit_generator(o, ty)?)));
        let (words, bit_generator) = found.map_err(|error| {
            error.restore(o.py());
            Refused::Raised
        })?;
        self.tags.push(kind::TYPE | (ty.number() as u64) << 8);
        // Blocks of `objmode` ask for the object even where it does not escape.
        self.owners.push((self.slots.len() as u32, o.as_ptr()));
        self.slots.push(owner::foreign_owner(o.as_ptr()) as u64);
        self.slots.extend(words);
        self.bit_generators.push(bit_generator.unbind());
        Ok(())
    }

    /// An instance of a subclass of `ndarray` is its memory.
    ///
    /// # Safety
    /// `o` is such an instance.
    unsafe fn push_subclass(&mut self, py: Python<'_>, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: by the function's contract.
        unsafe {
            let masked = is_masked(&Bound::from_borrowed_ptr(py, o));
            if masked { self.push_object(o) } else { self.push_array(o) }
        }
    }

    /// A member of an enumeration.
    ///
    /// # Safety
    /// `o` is one, and this is what it is in compiled code.
    unsafe fn push_member(&mut self, o: *mut ffi::PyObject, word: enums::Word) -> Result<(), Refused> {
        let at = self.tags.len();
        match word {
            enums::Word::Bits(word) => self.slots.push(word),
            // SAFETY: members of such an enumeration are texts.
            enums::Word::Text => unsafe { self.push_str(o)? },
        }
        self.tags.truncate(at);
        // SAFETY: the caller passes a live object.
        self.tags.extend([kind::ENUM, unsafe { ffi::Py_TYPE(o) } as u64]);
        Ok(())
    }

    /// # Safety
    /// `o` is an instance of `numpy.void`.
    unsafe fn push_record(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        // SAFETY: by the function's contract.
        let v = unsafe { &*o.cast::<VoidScalar>() };
        let n = self.record_number(v.descr.cast_const().cast(), v.data)?;
        self.tags.push(kind::RECORD | n << 8);
        self.owners.push((self.slots.len() as u32, o));
        self.slots.extend([0, v.data as u64]);
        Ok(())
    }

    /// A series; `None` if the object is none.
    fn push_polynomial(&mut self, o: &Bound<'_, PyAny>) -> Option<Result<(), Refused>> {
        let number = polynomials::number(o)?;
        let at = self.tags.len();
        let mut names = ["coef", "domain", "window", "_symbol"].into_iter();
        let done = names.try_for_each(|name| self.push_part(o, name)).and_then(|()| {
            let types = Decoder::new(o.py(), &self.tags[at..]).many(4);
            let dtype = types[0].as_array().map(|(dtype, ..)| dtype).filter(|t| t.is_number()).ok_or(Refused::Array)?;
            let fields = polynomials::class(number).of(vec![dtype], false).fields();
            let num = numpy::num_of_ty(dtype).filter(|_| fields.iter().map(|field| field.ty).eq(types));
            num.ok_or(Refused::Array)
        });
        self.tags.truncate(at);
        Some(done.map(|num| self.tags.push(kind::POLYNOMIAL | number << 8 | (num as u64) << 16)))
    }

    fn push_part(&mut self, o: &Bound<'_, PyAny>, name: &str) -> Result<(), Refused> {
        let part = o.getattr(name).map_err(|e| {
            e.restore(o.py());
            Refused::Raised
        })?;
        // SAFETY: a live object, which the buffer holds; the thread is attached.
        let pushed = unsafe { self.push(part.as_ptr()) };
        self.made.push(part.unbind());
        pushed
    }

    /// A container or an instance that is copied in, unless the object is none.
    fn push_copied(&mut self, object: &Bound<'_, PyAny>) -> Option<Result<(), Refused>> {
        if collections::is_deque(object) {
            return Some(self.push_deque(object));
        }
        if Table::of(object).is_some() {
            // SAFETY: the object is a table.
            return Some(unsafe { self.push_table(object.as_ptr()) });
        }
        match class_of_copies(object) {
            Ok(class) => class.map(|class| self.push_instance(object, class)),
            Err(refused) => Some(Err(refused)),
        }
    }

    /// An object of a type that a program defines.
    fn push_extension(&mut self, o: &Bound<'_, PyAny>) -> Option<Result<(), Refused>> {
        let pushed = extensions::type_of(o).and_then(|found| {
            let Some(ty) = found else { return Ok(None) };
            if ty.extension().is_some() {
                (extensions::exchange().words)(o, ty).map(|words| Some((ty, words)))
            } else {
                Ok(None)
            }
        });
        let (ty, words) = match pushed {
            Ok(found) => found?,
            Err(error) => {
                error.restore(o.py());
                return Some(Err(Refused::Raised));
            }
        };
        self.tags.push(kind::TYPE | (ty.number() as u64) << 8);
        for (prim, word) in ty.flatten().into_iter().zip(&words) {
            match prim {
                // The reference is dropped with the buffer, unless an item takes it.
                Prim::Mem if *word != 0 => self.owners.push((self.slots.len() as u32, null_mut())),
                Prim::Object => self.held.push(*word as *mut MemInfo),
                _ => {}
            }
            self.slots.push(*word);
        }
        Some(Ok(()))
    }

    #[cold]
    pub(super) unsafe fn push_rare(
        &mut self,
        o: *mut ffi::PyObject,
        class: *mut ffi::PyTypeObject,
    ) -> Result<(), Refused> {
        // SAFETY: `o` is a live object and the thread is attached; each struct read belongs to the type just checked.
        unsafe {
            let py = Python::assume_attached();
            if numpy::load(py).is_err() {
                return Err(Refused::Raised);
            }
            if let Some(pushed) = self.push_extension(&Bound::from_borrowed_ptr(py, o)) {
                return pushed;
            }
            if let Some(ty) = bit_generators::type_of(class) {
                return self.push_bit_generator(&Bound::from_borrowed_ptr(py, o), ty);
            }
            let is = |t: *mut ffi::PyTypeObject| ffi::PyType_IsSubtype(class, t) != 0;
            // The class of an enumeration is not `type` itself.
            if ffi::Py_TYPE(class.cast()) != &raw mut ffi::PyType_Type
                && let Some(word) = enums::enum_word(py, o)
            {
                return self.push_member(o, word);
            }
            if let Some(pushed) = self.push_memory(o) {
                if [&raw mut ffi::PyByteArray_Type, &raw mut ffi::PyMemoryView_Type].contains(&class) {
                    ways::remember(class, Way::Buffer);
                }
                return pushed;
            }
            if is(numpy::ndarray_type()) {
                return self.push_subclass(py, o);
            }
            if is(numpy::void_type()) {
                return self.push_record(o);
            }
            let before = std::mem::replace(&mut self.takes_objects, false);
            let copied = self.push_copied(&Bound::from_borrowed_ptr(py, o));
            self.takes_objects = before;
            if let Some(pushed) = copied {
                return pushed;
            }
            self.push_derived(py, o, class)
        }
    }

    /// An instance of a class that derives from a builtin one, or an object as a constant.
    ///
    /// # Safety
    /// As of `push_rare`.
    unsafe fn push_derived(
        &mut self,
        py: Python<'_>,
        o: *mut ffi::PyObject,
        class: *mut ffi::PyTypeObject,
    ) -> Result<(), Refused> {
        // SAFETY: as in `push_rare`.
        unsafe {
            let is = |t: *mut ffi::PyTypeObject| ffi::PyType_IsSubtype(class, t) != 0;
            if constant::overrides(&Bound::from_borrowed_ptr(py, o)) {
                return self.push_object(o);
            }
            if is(&raw mut ffi::PyLong_Type) {
                return self.push_int(o);
            }
            if is(&raw mut ffi::PyTuple_Type) {
                let named = ffi::PyObject_HasAttrString(class.cast(), c"_fields".as_ptr()) != 0;
                return if named { self.push_and_remember(Way::Named, o, class) } else { self.push_object(o) };
            }
            if is(&raw mut ffi::PyFloat_Type) {
                self.tags.push(kind::FLOAT);
                self.slots.push((*o.cast::<ffi::PyFloatObject>()).ob_fval.to_bits());
                return Ok(());
            }
            if is(&raw mut ffi::PyUnicode_Type) {
                return self.push_str(o);
            }
            if container::is_derived(class) {
                return self.push_container(o);
            }
            for (own, way) in [(&raw mut ffi::PyRange_Type, Way::Range), (&raw mut ffi::PySlice_Type, Way::Slice)] {
                if class == own {
                    return self.push_and_remember(way, o, class);
                }
            }
            if let Some(num) = numpy::bfloat_scalar(py, class) {
                return self.push_scalar(o, num);
            }
            if comptime::is_comptime(&Bound::from_borrowed_ptr(py, o)) {
                return self.push_and_remember(Way::Constant, o, class);
            }
            let object = Bound::from_borrowed_ptr(py, o);
            let pushed = self.push_polynomial(&object).or_else(|| self.push_method(&object));
            pushed.unwrap_or_else(|| self.push_object(o))
        }
    }

    /// # Safety
    /// As [`ArgBuf::push_by`].
    unsafe fn push_and_remember(
        &mut self,
        way: Way,
        o: *mut ffi::PyObject,
        class: *mut ffi::PyTypeObject,
    ) -> Result<(), Refused> {
        // SAFETY: as promised.
        unsafe {
            ways::remember(class, way);
            self.push_by(way, o, class)
        }
    }

    /// A method of an instance that has a type; `None` if the object is none.
    fn push_method(&mut self, o: &Bound<'_, PyAny>) -> Option<Result<(), Refused>> {
        let (own, function) = parts::bound_method(o)?;
        let start = self.tags.len();
        // The table of objects keeps the function alive.
        comptime::ty(&function);
        self.tags.extend([kind::METHOD, function.as_ptr() as u64]);
        // SAFETY: the method, which outlives the buffer, holds the instance; the thread is attached.
        let pushed = unsafe { self.push(own.as_ptr()) };
        let has_type = self.tags.get(start + 2).is_some_and(|tag| matches!(tag & 0xff, kind::CLASS | kind::TYPE));
        if pushed.is_ok() && !has_type {
            return Some(Err(Refused::Type));
        }
        Some(pushed)
    }
}

/// The class of compiled code of whose instances an object is one.
fn class_of_copies(o: &Bound<'_, PyAny>) -> Result<Option<Class>, Refused> {
    let found = classes::find(&o.get_type()).map_err(|e| {
        e.restore(o.py());
        Refused::Raised
    })?;
    Ok(found.map(|known| known.class))
}
