//! From tags to types, and which objects may be passed at all.

use crate::args::{ArgBuf, Refused, kind};
use crate::host;
use crate::np;
use crate::objects;
use lh_infer::world::Object;
use lh_ir::types::NamedTuple;
use lh_ir::{Layout, Ty, TyKind};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyEllipsis, PyFunction, PyType};
use pyo3::{ffi, intern};

/// Reads types off a sequence of tags.
pub struct Decoder<'a, 'py> {
    py: Python<'py>,
    tags: &'a [u64],
}

impl<'a, 'py> Decoder<'a, 'py> {
    /// A decoder at the first tag.
    pub fn new(py: Python<'py>, tags: &'a [u64]) -> Self {
        Decoder { py, tags }
    }
    fn word(&mut self) -> u64 {
        let (first, rest) = self.tags.split_first().expect("tags are complete");
        self.tags = rest;
        *first
    }
    /// The type of the next value.
    pub fn next_ty(&mut self) -> Ty {
        let tag = self.word();
        let payload = tag >> 8;
        match tag & 0xff {
            kind::INT => Ty::int(),
            kind::FLOAT => Ty::float(),
            kind::BOOL => Ty::bool(),
            kind::COMPLEX => Ty::complex(),
            kind::NONE => Ty::none(),
            kind::STR => Ty::str(),
            kind::UINT64 => Ty::u64(),
            kind::SCALAR => np::ty_of_num(payload as i32).expect("only native scalars are tagged"),
            kind::ARRAY => {
                let num = i32::from(payload as u8);
                let dtype = if num == np::VOID { crate::records::by_number(self.word()) } else { native(num) };
                array_ty(payload, dtype)
            }
            kind::RECORD => crate::records::by_number(payload),
            kind::TUPLE => Ty::tuple(self.many(payload as usize)),
            kind::NAMED => self.named(payload as usize),
            kind::LIST if self.tags.first() == Some(&kind::UNDECIDED) => {
                self.word();
                Ty::undecided_list()
            }
            kind::LIST => Ty::list(self.next_ty()),
            kind::RANGE => Ty::new(TyKind::Range(Ty::int())),
            kind::SLICE => {
                let parts = self.many(3);
                Ty::new(TyKind::Slice([parts[0], parts[1], parts[2]]))
            }
            kind::ENUM => {
                let class = self.word() as *mut ffi::PyObject;
                // SAFETY: the class of a live argument.
                let class = unsafe { Bound::from_borrowed_ptr(self.py, class) };
                let found = crate::instances::enum_class(&class);
                found.unwrap_or_else(|| lh_ir::bug!("an enumeration lost its members")).ty()
            }
            kind::BUFFER => Ty::buffer(self.next_ty(), lh_ir::types::Buffer::ALL[payload as usize]),
            kind::OBJECT => {
                let address = self.word() as *mut ffi::PyObject;
                // SAFETY: the tag holds a live object: an argument of the call being typed.
                let object = unsafe { Bound::from_borrowed_ptr(self.py, address) };
                comptime_ty(&object)
            }
            other => lh_ir::bug!("tag {other}"),
        }
    }
    /// The types of the next values.
    pub fn many(&mut self, n: usize) -> Vec<Ty> {
        (0..n).map(|_| self.next_ty()).collect()
    }
    fn named(&mut self, n: usize) -> Ty {
        let class = self.word() as *mut ffi::PyObject;
        // SAFETY: the class of a live argument.
        let class = unsafe { Bound::from_borrowed_ptr(self.py, class) };
        let elems = self.many(n);
        Ty::new(TyKind::Tuple { elems, name: named_tuple(&class) })
    }
}

/// Identity of a namedtuple class.
pub fn named_tuple(class: &Bound<'_, PyAny>) -> Option<NamedTuple> {
    let py = class.py();
    let fields = class.getattr(intern!(py, "_fields")).ok()?.extract().ok()?;
    let name = class.getattr(intern!(py, "__name__")).ok()?.extract().ok()?;
    Some(NamedTuple { name, class: objects::intern(class), fields })
}

/// The tags of arguments of a type, where they say no more than the type.
pub fn tags_of(t: Ty, out: &mut Vec<u64>) -> Option<()> {
    match t.kind() {
        TyKind::Bool => out.push(kind::BOOL),
        TyKind::None => out.push(kind::NONE),
        TyKind::Str => out.push(kind::STR),
        TyKind::Int { bits: 64, signed: true, .. } => out.push(kind::INT),
        TyKind::Int { bits: 64, .. } => out.push(kind::UINT64),
        TyKind::Float { bits: 64, .. } => out.push(kind::FLOAT),
        TyKind::Complex { bits: 128, .. } => out.push(kind::COMPLEX),
        TyKind::Int { .. } | TyKind::Float { .. } | TyKind::Bfloat16 | TyKind::Complex { .. } => {
            out.push(kind::SCALAR | (np::num_of_ty(t)? as u64) << 8);
        }
        TyKind::Array { dtype, ndim, layout, readonly } => {
            let order = match layout {
                Layout::C if *ndim < 2 => np::C_CONTIGUOUS | np::F_CONTIGUOUS,
                Layout::C => np::C_CONTIGUOUS,
                Layout::F => np::F_CONTIGUOUS,
                Layout::A => 0,
            };
            let flags = order | if *readonly { 0 } else { np::WRITEABLE };
            let num = np::num_of_ty(*dtype)? as u64;
            out.push(kind::ARRAY | num << 8 | u64::from(*ndim) << 16 | (flags as u64) << 32);
        }
        TyKind::Tuple { elems, name: None } => {
            out.push(kind::TUPLE | (elems.len() as u64) << 8);
            elems.iter().try_for_each(|t| tags_of(*t, out))?;
        }
        TyKind::List(t, _) => {
            out.push(kind::LIST);
            tags_of(*t, out)?;
        }
        _ => return None,
    }
    Some(())
}

fn native(num: i32) -> Ty {
    np::ty_of_num(num).expect("only native arrays are tagged")
}

fn array_ty(payload: u64, dtype: Ty) -> Ty {
    let (ndim, flags) = ((payload >> 8) as u8, (payload >> 24) as i32);
    let layout = if flags & np::C_CONTIGUOUS != 0 {
        Layout::C
    } else if flags & np::F_CONTIGUOUS != 0 {
        Layout::F
    } else {
        Layout::A
    };
    Ty::array_ro(dtype, usize::from(ndim), layout, flags & np::WRITEABLE == 0)
}

/// The type of an object known while compiling.
pub fn comptime_ty(o: &Bound<'_, PyAny>) -> Ty {
    let id = objects::intern(o);
    match host::classify(o) {
        Object::Func(f) => Ty::new(TyKind::Func(f)),
        Object::DType(t) => Ty::dtype(t),
        Object::Ellipsis => Ty::ellipsis(),
        _ => Ty::new(TyKind::Obj(id)),
    }
}

/// Whether an object is passed as one known while compiling.
pub fn is_comptime(py: Python<'_>, o: *mut ffi::PyObject) -> bool {
    // SAFETY: the caller passes a live argument.
    let o = unsafe { Bound::from_borrowed_ptr(py, o) };
    o.is_instance_of::<PyFunction>()
        || crate::dispatcher::is_dispatcher(o.as_ptr())
        || o.is_instance_of::<PyType>()
        || o.is_instance_of::<PyCFunction>()
        || o.is_instance_of::<PyEllipsis>()
        || o.is_instance_of::<crate::types::Type>()
        || crate::paths::is_numpy_callable(&o)
        || o.is_instance_of::<crate::ufunc::DUFunc>()
        || crate::stencil::is_stencil(&o)
        || np::is_dtype(&o).unwrap_or(false)
        || crate::foreign::is_known_c_function(&o)
}

/// Whether an instance of a subclass of `ndarray` is an array and nothing more, as `numpy.memmap` is; `matrix` and
/// `MaskedArray` mean something else by the same operations.
pub fn is_plain_subclass(py: Python<'_>, o: *mut ffi::PyObject) -> bool {
    // SAFETY: the caller passes a live argument.
    let o = unsafe { Bound::from_borrowed_ptr(py, o) };
    let class = o.get_type();
    let Ok(numpy) = np::load(py) else { return false };
    let Ok(ndarray) = numpy.module(py).getattr(intern!(py, "ndarray")) else { return false };
    let inherits = |name: &str| match (class.getattr(name), ndarray.getattr(name)) {
        (Ok(a), Ok(b)) => a.is(&b),
        _ => false,
    };
    inherits("__getitem__") && inherits("__mul__") || class.name().is_ok_and(|n| n == "memmap" || n == "recarray")
}

/// The type of a value, as an argument of a call.
pub fn type_of(o: &Bound<'_, PyAny>) -> Result<Ty, Refused> {
    let mut buf = ArgBuf::default();
    // SAFETY: `o` is alive and outlives the buffer.
    unsafe { buf.push(o.as_ptr())? };
    if buf.undecided {
        return Err(Refused::EmptyList);
    }
    Ok(Decoder::new(o.py(), &buf.tags).next_ty())
}
