//! Dtypes of records, points and spans of time as types, and back.

use crate::object::lock::lock;
use crate::object::numpy::{self, Descr};
use hashbrown::HashMap;
use lh_ir::time_unit::{BASES, TimeUnit};
use lh_ir::types::{Chars, Record, RecordField};
use lh_ir::{Ty, TyKind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{ffi, intern};
use std::sync::{LazyLock, Mutex};

/// The fields of `PyVoidScalarObject` that are read; they stand alike in NumPy 1 and 2.
#[repr(C)]
pub struct VoidScalar {
    base: ffi::PyVarObject,
    /// The record.
    pub data: *mut u8,
    /// Its dtype.
    pub descr: *mut ffi::PyObject,
}

/// Types of structured dtypes.
#[derive(Default)]
struct Known {
    /// By number.
    types: Vec<Ty>,
    /// The dtype that was met first.
    dtypes: HashMap<Ty, Py<PyAny>>,
}

/// Dtypes that were met, with their numbers.
static NUMBERS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
static TYPES: LazyLock<Mutex<Known>> = LazyLock::new(Default::default);

/// The type of a structured dtype and its number, which stands for it in tags; `None` if it has no native form.
pub fn of_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<Option<(Ty, u64)>> {
    let py = dtype.py();
    let numbers = NUMBERS.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if let Some(n) = numbers.get_item(dtype)? {
        let n: u64 = n.extract()?;
        return Ok(Some((by_number(n), n)));
    }
    let ty = match time(dtype)? {
        Some(ty) => ty,
        None => match read(dtype)? {
            Some(record) => Ty::new(TyKind::Record(record)),
            None => return Ok(None),
        },
    };
    let n = {
        let mut known = lock(&TYPES);
        known.dtypes.entry(ty).or_insert_with(|| dtype.clone().unbind());
        known.types.push(ty);
        known.types.len() as u64 - 1
    };
    numbers.set_item(dtype, n)?;
    Ok(Some((ty, n)))
}

/// As [`of_dtype`], for records at an address; `None` as well if they are not aligned there.
///
/// # Safety
/// `descr` is a live dtype.
pub unsafe fn at(py: Python<'_>, descr: *const Descr, data: *const u8) -> PyResult<Option<(Ty, u64)>> {
    // SAFETY: as promised.
    let dtype = unsafe { Bound::from_borrowed_ptr(py, descr.cast_mut().cast()) };
    let is_aligned = |ty: Ty| data.addr().is_multiple_of(ty.as_record().map_or(1, |r| r.align));
    Ok(of_dtype(&dtype)?.filter(|(ty, _)| is_aligned(*ty)))
}

/// The type of a number.
pub fn by_number(n: u64) -> Ty {
    lock(&TYPES).types[n as usize]
}

/// The dtype of a type of records.
pub fn dtype_of<'py>(py: Python<'py>, ty: Ty) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(d) = lock(&TYPES).dtypes.get(&ty) {
        return Ok(Some(d.bind(py).clone()));
    }
    let dtype =
        |of: Bound<'py, PyAny>| numpy::load(py)?.module(py).getattr(intern!(py, "dtype"))?.call1((of,)).map(Some);
    let text = |text: String| {
        let made: Option<Bound<'py, PyAny>> = dtype(text.into_pyobject(py)?.into_any())?;
        if let Some(made) = &made {
            lock(&TYPES).dtypes.insert(ty, made.clone().unbind());
        }
        Ok(made)
    };
    if let Some(name) = ty.time_name() {
        return text(name);
    }
    let Some(record) = ty.as_record() else { return Ok(None) };
    if let Some(chars) = record.chars {
        return text(format!("{}{}", chars.letter(), record.text_len()));
    }
    let [formats, names, titles, offsets] = [(); 4].map(|()| pyo3::types::PyList::empty(py));
    for f in &record.fields {
        let base = match dtype_of(py, f.ty)? {
            Some(inner) => inner,
            None => f.format.clone().into_pyobject(py)?.into_any(),
        };
        formats.append((base, PyTuple::new(py, &f.shape)?))?;
        names.append(&f.name)?;
        titles.append(&f.title)?;
        offsets.append(f.offset)?;
    }
    let parts = PyDict::new(py);
    parts.set_item("names", names)?;
    if record.fields.iter().any(|f| f.title.is_some()) {
        parts.set_item("titles", titles)?;
    }
    parts.set_item("formats", formats)?;
    parts.set_item("offsets", offsets)?;
    parts.set_item("itemsize", record.size)?;
    dtype(parts.into_any())
}

/// Largest power of two up to 8 that divides a number.
fn alignment(n: usize) -> usize {
    if n == 0 { 8 } else { 1 << n.trailing_zeros().min(3) }
}

/// The type of a dtype of points or spans of time.
fn time(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Ty>> {
    let py = dtype.py();
    let num: std::ffi::c_int = dtype.getattr(intern!(py, "num"))?.extract()?;
    if !numpy::TIMES.contains(&num) {
        return Ok(None);
    }
    let data = numpy::load(py)?.module(py).getattr(intern!(py, "datetime_data"))?.call1((dtype,))?;
    let (code, count): (String, i64) = data.extract()?;
    let base = BASES.iter().position(|b| *b == code);
    Ok(base.and_then(|b| TimeUnit::new(b, count)).map(|unit| unit.ty(num == numpy::TIMES[1])))
}

fn read(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Record>> {
    let py = dtype.py();
    let size: usize = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
    let chars = match dtype.getattr(intern!(py, "num"))?.extract()? {
        numpy::STRING => Some(Chars::Bytes),
        numpy::UNICODE => Some(Chars::CodePoints),
        _ => None,
    };
    if let Some(chars) = chars {
        return Ok(Some(Record::text(chars, size)));
    }
    let names = dtype.getattr(intern!(py, "names"))?;
    if names.is_none() || dtype.getattr(intern!(py, "hasobject"))?.extract()? {
        return Ok(None);
    }
    let aligned: bool = dtype.getattr(intern!(py, "isalignedstruct"))?.extract()?;
    let of_name = dtype.getattr(intern!(py, "fields"))?;
    let (mut fields, mut need) = (Vec::new(), 1);
    for name in names.extract::<Vec<String>>()? {
        let entry = of_name.get_item(&name)?;
        let (sub, offset) = (entry.get_item(0)?, entry.get_item(1)?.extract()?);
        let shape: Vec<usize> = sub.getattr(intern!(py, "shape"))?.extract()?;
        let base = sub.getattr(intern!(py, "base"))?;
        let ty = numpy::ty_of_dtype(&base)?.unwrap_or(Ty::none());
        need = need.max(ty.as_record().map_or(ty.real_part().itemsize(), |r| r.align));
        let format = base.getattr(intern!(py, "str"))?.extract()?;
        let title = entry.get_item(2).ok().and_then(|title| title.extract().ok());
        fields.push(RecordField { name, offset, ty, format, shape, title });
    }
    Ok(Some(Record { fields, size, align: alignment(size).min(need.max(1)), aligned, chars: None }))
}
