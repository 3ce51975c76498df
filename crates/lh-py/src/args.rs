//! Arguments of a call, in one pass over the Python objects: tags that say which specialisation fits, and the machine
//! words it is called with.
//!
//! A value's tags determine its type exactly ([`crate::typing`] decodes them), so comparing tags replaces typing on
//! the path that every call takes.

use crate::boxing;
use crate::int::{self, Machine};
use crate::lists::Lists;
use crate::np;
use lh_ir::Ty;
use lh_ir::consts::ASCII;
use lh_runtime::string_index::SHORT;
use pyo3::ffi;
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// First byte of a tag: what the value is. The rest of the word is the payload named here.
pub mod kind {
    /// `int` in the range of `int64`.
    pub const INT: u64 = 1;
    /// `float`.
    pub const FLOAT: u64 = 2;
    /// `bool`.
    pub const BOOL: u64 = 3;
    /// `complex`.
    pub const COMPLEX: u64 = 4;
    /// `None`.
    pub const NONE: u64 = 5;
    /// `str`.
    pub const STR: u64 = 6;
    /// `int` beyond `int64`, within `uint64`.
    pub const UINT64: u64 = 7;
    /// NumPy scalar: type number.
    pub const SCALAR: u64 = 8;
    /// Array: type number, rank, contiguity, whether it can be written; then, of records, the number of their dtype.
    pub const ARRAY: u64 = 9;
    /// Tuple: length; then the tags of its items.
    pub const TUPLE: u64 = 10;
    /// Namedtuple: length; then the class; then the tags of its items.
    pub const NAMED: u64 = 11;
    /// List; then the tags of its items, which are the same for all.
    pub const LIST: u64 = 12;
    /// An object known while compiling; then the object.
    pub const OBJECT: u64 = 13;
    /// `range`.
    pub const RANGE: u64 = 14;
    /// `slice`; then the tags of its parts.
    pub const SLICE: u64 = 15;
    /// A record: the number of its dtype.
    pub const RECORD: u64 = 16;
    /// A member of an enumeration; then the class.
    pub const ENUM: u64 = 18;
    /// Memory: the number of its class; then the tag of its array.
    pub const BUFFER: u64 = 17;
    /// Items of a list that has none.
    pub const UNDECIDED: u64 = 19;
}

/// Why a value cannot be passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// No native form for objects of this type.
    Type,
    /// An int beyond 64 bits.
    TooLarge,
    /// A string with lone surrogates.
    Surrogates,
    /// An array of a foreign byte order or of an element type without a native form, or one of several that are not aligned and overlap.
    Array,
    /// An empty list: its item type is not known.
    EmptyList,
    /// A list whose items are not all of one type.
    MixedList,
    /// A tuple or list nested too deeply, or that contains itself.
    Depth,
    /// A Python exception is set.
    Raised,
}

impl Refused {
    /// The reason in a few words.
    pub fn reason(self) -> &'static str {
        match self {
            Refused::Type => "objects of this type have no native form",
            Refused::TooLarge => "it is beyond 64 bits",
            Refused::Surrogates => "it has lone surrogates",
            Refused::Array => "its element type or byte order has no native form",
            Refused::EmptyList => "the items of an empty list have no type",
            Refused::MixedList => "its items are not all of one type",
            Refused::Depth => "it is nested too deeply",
            Refused::Raised => "an exception was raised",
        }
    }
}

/// The most levels of tuples and lists in an argument.
const MAX_DEPTH: u32 = 50;

/// The arguments of one call.
#[derive(Default)]
pub struct ArgBuf {
    /// Tags of the arguments.
    pub tags: SmallVec<[u64; 24]>,
    /// Machine words, in the order of `Ty::flatten`.
    pub slots: SmallVec<[u64; 80]>,
    /// Slots that hold the owner of an array or string, with the object: null until [`ArgBuf::own`].
    pub owners: SmallVec<[(u32, *mut ffi::PyObject); 8]>,
    /// Owners whose slots conversion has moved.
    pub held: Vec<*mut lh_runtime::MemInfo>,
    /// Native copies of Python lists.
    pub lists: Option<Box<Lists>>,
    /// Whether there is a list without items among the arguments.
    pub undecided: bool,
    /// Arrays made for this call.
    pub made: Vec<pyo3::Py<pyo3::PyAny>>,
    depth: u32,
}

impl ArgBuf {
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
            } else if class == np::ndarray_type() {
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
            let a = o.cast::<np::ArrayObject>();
            let (descr, flags, nd) = ((*a).descr, (*a).flags, (*a).nd as usize);
            let num = np::number_of(descr);
            let order = (*descr).byteorder as u8;
            let foreign = order == if cfg!(target_endian = "little") { b'>' } else { b'<' };
            if foreign || !np::is_native(num) && num != np::VOID {
                return Err(Refused::Array);
            }
            if flags & np::ALIGNED == 0 {
                return self.push_unaligned(o);
            }
            let record = if num == np::VOID { Some(self.record_number(descr, (*a).data)?) } else { None };
            let shape = (flags & (np::C_CONTIGUOUS | np::F_CONTIGUOUS | np::WRITEABLE)) as u64;
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

    /// An aligned copy of an array, as pickled arrays need it that come over a network.
    #[cold]
    fn push_unaligned(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        self.guarded(|buf| {
            // SAFETY: arguments are live objects, and are read while the thread is attached.
            let array = unsafe { pyo3::Bound::from_borrowed_ptr(pyo3::Python::assume_attached(), o) };
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
    fn record_number(&mut self, descr: *const np::Descr, data: *mut u8) -> Result<u64, Refused> {
        let mut found = Err(Refused::Array);
        self.guarded(|_| {
            // SAFETY: arguments are read while the thread is attached; the dtype belongs to one of them.
            let descr = unsafe {
                let py = pyo3::Python::assume_attached();
                pyo3::Bound::from_borrowed_ptr(py, descr.cast_mut().cast())
            };
            let known = crate::records::of_dtype(&descr).map_err(|e| {
                e.restore(descr.py());
                Refused::Raised
            })?;
            if let Some((ty, n)) = known {
                let align = ty.as_record().map_or(1, |r| r.align);
                if data.addr().is_multiple_of(align) {
                    found = Ok(n);
                }
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
            } else if class == &raw mut ffi::PyList_Type {
                return self.guarded(|buf| buf.push_list(o));
            } else if let Some(num) = np::scalar_num(class) {
                return self.push_scalar(o, num);
            } else {
                return self.guarded(|buf| buf.push_rare(o, class));
            }
            Ok(())
        }
    }

    /// Runs what may panic, which must not leave [`crate::call::vectorcall`].
    fn guarded(&mut self, push: impl FnOnce(&mut ArgBuf) -> Result<(), Refused>) -> Result<(), Refused> {
        catch_unwind(AssertUnwindSafe(|| push(self))).unwrap_or_else(|panic| {
            // SAFETY: arguments are read while the thread is attached.
            let py = unsafe { pyo3::Python::assume_attached() };
            crate::render::internal_error(py, panic.as_ref()).restore(py);
            Err(Refused::Raised)
        })
    }

    unsafe fn push_str(&mut self, o: *mut ffi::PyObject) -> Result<(), Refused> {
        let mut len = 0;
        // SAFETY: `o` is a `str`; the text it returns lives as long as `o`.
        let text = unsafe { ffi::PyUnicode_AsUTF8AndSize(o, &mut len) };
        if text.is_null() {
            // SAFETY: an exception is set, which the caller replaces.
            unsafe { ffi::PyErr_Clear() };
            return Err(Refused::Surrogates);
        }
        self.tags.push(kind::STR);
        self.owners.push((self.slots.len() as u32, o));
        // SAFETY: `o` is a `str`.
        let is_ascii = unsafe { ffi::PyUnicode_GetLength(o) } == len;
        // Only an owner knows where characters of a long text are.
        let owner =
            if is_ascii || len as usize <= SHORT { null_mut() } else { boxing::text_owner(o, text, len as usize) };
        let flag = if is_ascii { ASCII } else { 0 };
        self.slots.extend([owner as u64, text as u64, (len as i64 | flag) as u64]);
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

    fn enter(&mut self) -> Result<(), Refused> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Refused::Depth) } else { Ok(()) }
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

    #[cold]
    unsafe fn push_rare(&mut self, o: *mut ffi::PyObject, class: *mut ffi::PyTypeObject) -> Result<(), Refused> {
        // SAFETY: `o` is a live object and the thread is attached; each struct read belongs to the type just checked.
        unsafe {
            let py = pyo3::Python::assume_attached();
            if np::load(py).is_err() {
                return Err(Refused::Raised);
            }
            let is = |t: *mut ffi::PyTypeObject| ffi::PyType_IsSubtype(class, t) != 0;
            // Classes of enumerations have a class of their own.
            if ffi::Py_TYPE(class.cast()) != &raw mut ffi::PyType_Type
                && let Some(word) = crate::instances::enum_word(py, o)
            {
                self.tags.extend([kind::ENUM, class as u64]);
                self.slots.push(word as u64);
                return Ok(());
            }
            if let Some((number, array)) = crate::instances::array_of(py, o) {
                self.tags.push(kind::BUFFER | number << 8);
                let pushed = self.push_array(array.as_ptr());
                self.made.push(array);
                return pushed;
            }
            if is(np::ndarray_type()) {
                return if crate::typing::is_plain_subclass(py, o) { self.push_array(o) } else { Err(Refused::Type) };
            }
            if is(np::void_type()) {
                let v = &*o.cast::<crate::records::VoidScalar>();
                let n = self.record_number(v.descr.cast_const().cast(), v.data)?;
                self.tags.push(kind::RECORD | n << 8);
                self.owners.push((self.slots.len() as u32, o));
                self.slots.extend([0, v.data as u64]);
                return Ok(());
            }
            if is(&raw mut ffi::PyLong_Type) {
                return self.push_int(o);
            }
            if is(&raw mut ffi::PyTuple_Type) {
                let named = ffi::PyObject_HasAttrString(class.cast(), c"_fields".as_ptr()) != 0;
                return if named { self.push_items(o, Some(class)) } else { Err(Refused::Type) };
            }
            if is(&raw mut ffi::PyFloat_Type) {
                self.tags.push(kind::FLOAT);
                self.slots.push((*o.cast::<ffi::PyFloatObject>()).ob_fval.to_bits());
                return Ok(());
            }
            if is(&raw mut ffi::PyUnicode_Type) {
                return self.push_str(o);
            }
            if class == &raw mut ffi::PyRange_Type {
                return self.push_parts(o, kind::RANGE);
            }
            if class == &raw mut ffi::PySlice_Type {
                return self.push_parts(o, kind::SLICE);
            }
            if let Some(num) = np::bfloat_scalar(py, class) {
                return self.push_scalar(o, num);
            }
            if crate::typing::is_comptime(py, o) {
                self.tags.extend([kind::OBJECT, o as u64]);
                return Ok(());
            }
        }
        Err(Refused::Type)
    }

    /// # Safety
    /// `o` is a NumPy scalar of this type number.
    unsafe fn push_scalar(&mut self, o: *mut ffi::PyObject, num: std::ffi::c_int) -> Result<(), Refused> {
        let Some(ty) = np::ty_of_num(num) else { return Err(Refused::Type) };
        // The 64-bit types are typed as Python's own numbers.
        let tag = match ty {
            t if t == Ty::i64() => kind::INT,
            t if t == Ty::f64() => kind::FLOAT,
            t if t == Ty::c128() => kind::COMPLEX,
            t if t == Ty::bool() => kind::BOOL,
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
        for name in [c"start", c"stop", c"step"] {
            // SAFETY: `o` is a live range or slice, which keeps its parts alive.
            unsafe {
                let part = ffi::PyObject_GetAttrString(o, name.as_ptr());
                if part.is_null() {
                    return Err(Refused::Raised);
                }
                let number = part == ffi::Py_None() || ffi::PyLong_Check(part) != 0;
                let done = if number { self.push(part) } else { Err(Refused::Type) };
                ffi::Py_DECREF(part);
                done?;
            }
            if kind == self::kind::RANGE && self.tags.pop() != Some(self::kind::INT) {
                return Err(Refused::TooLarge);
            }
        }
        Ok(())
    }
}

/// A machine primitive in memory as a slot: integers are extended by zeros, since only their low bytes are read.
///
/// # Safety
/// `at` points to a value of the primitive.
pub unsafe fn read_prim(at: *const u8, p: lh_ir::types::Prim) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { read_word(at, p.size()) }
}

/// A value of 1, 2, 4 or 8 bytes as a slot.
///
/// # Safety
/// `at` points to so many bytes.
#[inline(always)]
unsafe fn read_word(at: *const u8, size: usize) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe {
        match size {
            1 => u64::from(at.read()),
            2 => u64::from(at.cast::<u16>().read_unaligned()),
            4 => u64::from(at.cast::<u32>().read_unaligned()),
            _ => at.cast::<u64>().read_unaligned(),
        }
    }
}

/// Writes a slot to memory as a machine primitive.
///
/// # Safety
/// `at` has room for the primitive.
pub unsafe fn write_prim(at: *mut u8, p: lh_ir::types::Prim, word: u64) {
    // SAFETY: as promised by the caller.
    unsafe {
        match p.size() {
            1 => at.write(word as u8),
            2 => at.cast::<u16>().write_unaligned(word as u16),
            4 => at.cast::<u32>().write_unaligned(word as u32),
            _ => at.cast::<u64>().write_unaligned(word),
        }
    }
}
