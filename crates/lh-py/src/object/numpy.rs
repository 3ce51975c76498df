//! NumPy by its C interface: the type objects, dtypes, and the three C functions that make arrays.
//!
//! The offsets are those of NumPy 1.x and 2.x alike; nothing of NumPy is linked, its API table is found at run time.

use crate::object::array::ArrayObject;
use hashbrown::HashMap;
use lh_ir::Ty;
use lh_ir::time_unit::TimeUnit;
use lh_ir::types::Chars;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyCapsule, PyComplex, PyFloat, PyInt, PyType};
use pyo3::{ffi, intern};
use std::ffi::{c_char, c_int, c_long, c_void};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// The fields of `PyArray_Descr` that are read; they stand alike in NumPy 1 and 2.
#[repr(C)]
pub struct Descr {
    base: ffi::PyObject,
    typeobj: *mut ffi::PyObject,
    /// One letter.
    pub kind: c_char,
    letter: c_char,
    /// `=`, `|`, `<` or `>`.
    pub byteorder: c_char,
    unused: c_char,
    /// `NPY_TYPES`.
    pub type_num: c_int,
}

/// `NPY_ARRAY_C_CONTIGUOUS`.
pub const C_CONTIGUOUS: c_int = 1;
/// `NPY_ARRAY_F_CONTIGUOUS`.
pub const F_CONTIGUOUS: c_int = 2;
/// `NPY_ARRAY_ALIGNED`.
pub const ALIGNED: c_int = 0x100;
/// `NPY_ARRAY_WRITEABLE`.
pub const WRITEABLE: c_int = 0x400;

/// `NPY_HALF`, the last of the scalar types.
const HALF: c_int = 23;
/// The number of `bfloat16` in this crate. The package `ml_dtypes` registers the dtype with NumPy, under a number that
/// differs from process to process.
const BFLOAT: c_int = 24;

/// `NPY_TYPES` in order; 64-bit platforms differ in the width of C's `long`.
pub fn ty_of_num(num: c_int) -> Option<Ty> {
    let long = size_of::<c_long>() == 8;
    Some(match num {
        0 => Ty::bool(),
        1 => Ty::i8(),
        2 => Ty::u8(),
        3 => Ty::i16(),
        4 => Ty::u16(),
        5 => Ty::i32(),
        6 => Ty::u32(),
        7 if long => Ty::i64(),
        7 => Ty::i32(),
        8 if long => Ty::u64(),
        8 => Ty::u32(),
        9 => Ty::i64(),
        10 => Ty::u64(),
        11 => Ty::f32(),
        12 => Ty::f64(),
        14 => Ty::c64(),
        15 => Ty::c128(),
        HALF => Ty::f16(),
        BFLOAT => Ty::bf16(),
        _ => return None,
    })
}

/// `NPY_OBJECT`: objects of Python.
pub const OBJECT: c_int = 17;
/// `NPY_STRING`: texts of bytes.
pub const STRING: c_int = 18;
/// `NPY_UNICODE`: texts of code points.
pub const UNICODE: c_int = 19;

/// `NPY_DATETIME` and `NPY_TIMEDELTA`: points and spans of time.
pub const TIMES: [c_int; 2] = [21, 22];

/// Whether the type number of elements does not say their type, since the dtype has more: of texts, times, and
/// `NPY_VOID`, which lies between them and means records if the dtype has fields.
#[inline(always)]
pub fn has_more(num: c_int) -> bool {
    (STRING..=TIMES[1]).contains(&num)
}

/// Whether elements of a type number have a native form.
#[inline(always)]
pub fn is_native(num: c_int) -> bool {
    num < 16 && num != 13 || num == HALF || num == BFLOAT
}

/// The type number of a scalar type.
pub fn num_of_ty(t: Ty) -> Option<c_int> {
    static NUMBERS: LazyLock<HashMap<Ty, c_int>> = LazyLock::new(|| {
        // Of two numbers with one type the first one counts.
        let all = (0..=BFLOAT).rev().filter_map(|n| Some((ty_of_num(n)?, n)));
        all.flat_map(|(t, n)| [(t, n), (t.weak(), n)]).collect()
    });
    if t.is_pyobject() { Some(OBJECT) } else { NUMBERS.get(&t).copied() }
}

/// The number of the dtypes of texts; `None` for other types.
pub fn num_of_text(t: Ty) -> Option<c_int> {
    match t.as_record()?.chars? {
        Chars::Bytes => Some(18),
        Chars::CodePoints => Some(19),
    }
}

static NDARRAY: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());
static VOID_SCALAR: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());
static TIME_SCALARS: [AtomicPtr<ffi::PyTypeObject>; 2] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 2];
static GENERIC: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());
static DTYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

/// `numpy.ndarray`, or null before [`load`].
#[inline(always)]
pub fn ndarray_type() -> *mut ffi::PyTypeObject {
    NDARRAY.load(Ordering::Relaxed)
}

/// `numpy.void`, or null before [`load`].
pub fn void_type() -> *mut ffi::PyTypeObject {
    VOID_SCALAR.load(Ordering::Relaxed)
}

/// `numpy.generic`, or null before [`load`].
pub fn generic_type() -> *mut ffi::PyTypeObject {
    GENERIC.load(Ordering::Relaxed)
}

/// `numpy.dtype`, or null before [`load`].
pub fn dtype_type() -> *mut ffi::PyTypeObject {
    DTYPE.load(Ordering::Relaxed)
}

/// The scalar classes, by type number; null before [`load`], which keeps the module that holds them.
static SCALARS: [AtomicPtr<ffi::PyTypeObject>; 25] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 25];

/// The number that NumPy has given to `bfloat16`; -1 before it is looked for.
static REGISTERED: AtomicI32 = AtomicI32::new(-1);

/// Type number of an array's elements.
///
/// # Safety
/// It is a dtype, and the thread is attached.
#[inline(always)]
pub unsafe fn number_of(descr: *const Descr) -> c_int {
    // SAFETY: as promised by the caller.
    let num = unsafe { (*descr).type_num };
    // SAFETY: as above.
    if num < 256 { num } else { user_number(unsafe { Python::assume_attached() }, num) }
}

#[cold]
fn user_number(py: Python<'_>, num: c_int) -> c_int {
    if bfloat(py, false).is_ok_and(|n| n == Some(num)) { BFLOAT } else { num }
}

/// NumPy's number of `bfloat16`, if the package is imported; if it is `wanted`, the package is imported.
fn bfloat(py: Python<'_>, wanted: bool) -> PyResult<Option<c_int>> {
    let known = REGISTERED.load(Ordering::Relaxed);
    if known >= 0 {
        return Ok(Some(known));
    }
    let loaded = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?.contains("ml_dtypes")?;
    if !loaded && !wanted {
        return Ok(None);
    }
    let class = py.import("ml_dtypes")?.getattr("bfloat16")?;
    let num: c_int = load(py)?.module(py).getattr(intern!(py, "dtype"))?.call1((&class,))?.getattr("num")?.extract()?;
    // The class lives as long as the process: NumPy's table of dtypes holds it.
    SCALARS[BFLOAT as usize].store(class.into_ptr().cast(), Ordering::Relaxed);
    REGISTERED.store(num, Ordering::Relaxed);
    Ok(Some(num))
}

/// The number of `bfloat16` if this is its scalar class.
#[cold]
pub fn bfloat_scalar(py: Python<'_>, class: *mut ffi::PyTypeObject) -> Option<c_int> {
    bfloat(py, false).ok()??;
    (SCALARS[BFLOAT as usize].load(Ordering::Relaxed) == class).then_some(BFLOAT)
}

/// Type number of a scalar class.
#[inline]
pub fn scalar_num(class: *mut ffi::PyTypeObject) -> Option<c_int> {
    SCALARS.iter().position(|c| c.load(Ordering::Relaxed) == class).map(|n| n as c_int)
}

/// The fields of `PyDatetimeScalarObject`, which is that of spans, too.
#[repr(C)]
struct TimeScalar {
    base: ffi::PyObject,
    ticks: i64,
    unit: c_int,
    count: c_int,
}

/// Ticks and unit of a point or span of time, and whether it is a span.
///
/// # Safety
/// It is a live object of that class.
pub unsafe fn time_scalar(o: *mut ffi::PyObject, class: *mut ffi::PyTypeObject) -> Option<(i64, TimeUnit, bool)> {
    let at = TIME_SCALARS.iter().position(|c| c.load(Ordering::Relaxed) == class)?;
    // SAFETY: the class fixes the struct.
    let scalar = unsafe { &*o.cast::<TimeScalar>() };
    // NumPy has removed the base with number 3, business days.
    let base = usize::try_from(scalar.unit).ok().filter(|b| *b != 3)?;
    let unit = TimeUnit::new(if base > 3 { base - 1 } else { base }, scalar.count.into())?;
    Some((scalar.ticks, unit, at == 1))
}

/// Whether an object is a point or span of time, or an array of such.
pub fn is_time(o: &Bound<'_, PyAny>) -> bool {
    let class = o.get_type_ptr();
    if TIME_SCALARS.iter().any(|c| c.load(Ordering::Relaxed) == class) {
        return true;
    }
    // SAFETY: the class fixes the struct, and the array has a dtype.
    class == ndarray_type() && unsafe { TIMES.contains(&(*(*o.as_ptr().cast::<ArrayObject>()).descr).type_num) }
}

/// The module and its C interface.
pub struct Numpy {
    module: Py<PyModule>,
    api: AtomicPtr<*const c_void>,
}

/// `PyArray_NewFromDescr`.
type FromDescr = unsafe extern "C" fn(
    *mut ffi::PyTypeObject,
    *mut ffi::PyObject,
    c_int,
    *const isize,
    *const isize,
    *mut u8,
    c_int,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

/// NumPy, imported on first use.
pub fn load(py: Python<'_>) -> PyResult<&'static Numpy> {
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let names = "bool_ byte ubyte short ushort intc uintc int_ uint longlong ulonglong single double longdouble csingle \
                     cdouble";
        // `int_` is C's `long` in NumPy 1 and on 64-bit Unix; where it is not, the class of the dtype letter is.
        for (slot, name) in SCALARS.iter().zip(names.split(' ')) {
            slot.store(module.getattr(name)?.as_ptr().cast(), Ordering::Relaxed);
        }
        for (slot, name) in TIME_SCALARS.iter().zip(["datetime64", "timedelta64"]) {
            slot.store(module.getattr(name)?.as_ptr().cast(), Ordering::Relaxed);
        }
        SCALARS[HALF as usize].store(module.getattr("half")?.as_ptr().cast(), Ordering::Relaxed);
        let array_core = match py.import("numpy._core.multiarray") {
            Ok(m) => m,
            Err(_) => py.import("numpy.core.multiarray")?,
        };
        let capsule = array_core.getattr("_ARRAY_API")?;
        let api = capsule.cast::<PyCapsule>()?.pointer_checked(None)?.as_ptr().cast();
        NDARRAY.store(module.getattr("ndarray")?.as_ptr().cast(), Ordering::Relaxed);
        VOID_SCALAR.store(module.getattr("void")?.as_ptr().cast(), Ordering::Relaxed);
        DTYPE.store(module.getattr("dtype")?.as_ptr().cast(), Ordering::Relaxed);
        GENERIC.store(module.getattr("generic")?.as_ptr().cast(), Ordering::Relaxed);
        Ok(Numpy { module: module.unbind(), api: AtomicPtr::new(api) })
    })
}

impl Numpy {
    /// The module.
    pub fn module<'py>(&self, py: Python<'py>) -> &Bound<'py, PyModule> {
        self.module.bind(py)
    }
    /// The scalar class of a type, e.g. `numpy.float32`.
    pub fn scalar_class<'py>(&self, py: Python<'py>, t: Ty) -> Option<Bound<'py, PyAny>> {
        let num = num_of_ty(t)?;
        if num == BFLOAT {
            bfloat(py, true).ok()?;
        }
        let class = SCALARS[usize::try_from(num).ok()?].load(Ordering::Relaxed);
        // SAFETY: the table holds borrowed references to classes of the module, which is alive.
        Some(unsafe { Bound::from_borrowed_ptr(py, class.cast()) })
    }
    fn entry(&self, index: usize) -> *const c_void {
        // SAFETY: the API table has more than 300 entries, and `index` is one of the constants below.
        unsafe { *self.api.load(Ordering::Relaxed).add(index) }
    }
    /// The dtype of a number type.
    pub fn descr<'py>(&self, py: Python<'py>, num: c_int) -> PyResult<Bound<'py, PyAny>> {
        type FromType = unsafe extern "C" fn(c_int) -> *mut ffi::PyObject;
        let num = if num == BFLOAT { bfloat(py, true)?.expect("it was wanted") } else { num };
        // SAFETY: entry 45 is this function in every NumPy since 1.7, and gives a new reference, or null with an
        // exception.
        unsafe {
            let make = std::mem::transmute::<*const c_void, FromType>(self.entry(45));
            Bound::from_owned_ptr_or_err(py, make(num))
        }
    }
    /// A new array in row-major order with memory of its own, whose elements have no values yet.
    #[inline(always)]
    pub fn new_array<'py>(&self, descr: Bound<'py, PyAny>, shape: &[isize]) -> PyResult<Bound<'py, PyAny>> {
        let py = descr.py();
        // SAFETY: entry 94 is this function in every NumPy since 1.7. It takes the reference to the descriptor, and
        // copies the shape, which has `nd` items.
        unsafe {
            let from_descr = std::mem::transmute::<*const c_void, FromDescr>(self.entry(94));
            let nd = shape.len() as c_int;
            let (descr, shape) = (descr.into_ptr(), shape.as_ptr());
            let (strides, data, of) = (std::ptr::null(), std::ptr::null_mut(), std::ptr::null_mut());
            let array = from_descr(ndarray_type(), descr, nd, shape, strides, data, 0, of);
            Bound::from_owned_ptr_or_err(py, array)
        }
    }
    /// A scalar of NumPy's with the bytes at an address.
    ///
    /// # Safety
    /// An element of the dtype lies there.
    pub unsafe fn scalar<'py>(&self, descr: &Bound<'py, PyAny>, data: *mut c_void) -> PyResult<Bound<'py, PyAny>> {
        type Scalar = unsafe extern "C" fn(*mut c_void, *mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;
        // SAFETY: entry 60 is this function in every NumPy since 1.7; it copies the bytes.
        unsafe {
            let make = std::mem::transmute::<*const c_void, Scalar>(self.entry(60));
            Bound::from_owned_ptr_or_err(descr.py(), make(data, descr.as_ptr(), std::ptr::null_mut()))
        }
    }
    /// A new array over memory that `owner` keeps alive. Strides are in bytes.
    pub fn array_over<'py>(
        &self,
        py: Python<'py>,
        descr: Bound<'py, PyAny>,
        (data, shape, strides): (*mut u8, &[isize], &[isize]),
        writable: bool,
        owner: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        type SetBase = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> c_int;
        // SAFETY: entries 94 and 282 are these functions in every NumPy since 1.7.
        let (from_descr, set_base) = unsafe {
            (
                std::mem::transmute::<*const c_void, FromDescr>(self.entry(94)),
                std::mem::transmute::<*const c_void, SetBase>(self.entry(282)),
            )
        };
        let flags = if writable { WRITEABLE } else { 0 };
        // SAFETY: `from_descr` takes the reference to the descriptor and copies shape and strides, which have `nd`
        // items; the memory outlives the array because `owner` becomes its base.
        unsafe {
            let nd = shape.len() as c_int;
            let array = from_descr(
                ndarray_type(),
                descr.into_ptr(),
                nd,
                shape.as_ptr(),
                strides.as_ptr(),
                data,
                flags,
                std::ptr::null_mut(),
            );
            let array = Bound::from_owned_ptr_or_err(py, array)?;
            if let Some(owner) = owner
                && set_base(array.as_ptr(), owner.into_ptr()) != 0
            {
                return Err(PyErr::fetch(py));
            }
            Ok(array)
        }
    }
}

/// The scalar type that a dtype object stands for, if it has a native form.
pub fn ty_of_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Ty>> {
    let py = dtype.py();
    if !dtype.getattr(intern!(py, "isnative"))?.extract::<bool>()? {
        return Ok(None);
    }
    let num: c_int = dtype.getattr(intern!(py, "num"))?.extract()?;
    if has_more(num) {
        return Ok(crate::object::record_dtype::of_dtype(dtype)?.map(|(t, _)| t));
    }
    Ok(ty_of_num(if num < 256 { num } else { user_number(py, num) }))
}

/// The type that a class of numbers stands for: one of Python's, or a scalar class of NumPy.
pub fn ty_of_class(class: &Bound<'_, PyType>) -> PyResult<Option<Ty>> {
    let py = class.py();
    let builtin = [
        (py.get_type::<PyInt>(), Ty::int()),
        (py.get_type::<PyFloat>(), Ty::float()),
        (py.get_type::<PyBool>(), Ty::bool()),
        (py.get_type::<PyComplex>(), Ty::complex()),
    ];
    if let Some((_, ty)) = builtin.iter().find(|(c, _)| c.is(class)) {
        return Ok(Some(*ty));
    }
    load(py)?;
    let class = class.as_type_ptr();
    Ok(scalar_num(class).or_else(|| bfloat_scalar(py, class)).and_then(ty_of_num))
}

/// Whether the object is an instance of `numpy.dtype`.
pub fn is_dtype(o: &Bound<'_, PyAny>) -> PyResult<bool> {
    load(o.py())?;
    // SAFETY: a live object, and a class of NumPy's.
    Ok(unsafe { ffi::PyObject_TypeCheck(o.as_ptr(), dtype_type()) } != 0)
}
