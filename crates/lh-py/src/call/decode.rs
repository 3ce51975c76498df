//! Tags to types, and back.

use crate::call::tags::kind;
use crate::call::{collections, polynomials};
use crate::host::types::named_tuple;
use crate::host::{classes, comptime, enums};
use crate::object::{array, numpy, record_dtype};
use lh_ir::class::Class;
use lh_ir::time_unit::TimeUnit;
use lh_ir::types::Buffer;
use lh_ir::{Layout, Ty, TyKind};
use pyo3::ffi;
use pyo3::prelude::*;

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
            kind::SCALAR => numpy::ty_of_num(payload as i32).expect("only native scalars are tagged"),
            kind::ARRAY => {
                let num = i32::from(payload as u8);
                let dtype = if numpy::has_more(num) { record_dtype::by_number(self.word()) } else { native(num) };
                array::type_of(dtype, usize::from((payload >> 8) as u8), (payload >> 24) as i32)
            }
            kind::TIME => {
                let unit = TimeUnit::new(usize::from((payload >> 8) as u8), (payload >> 24) as i64);
                unit.unwrap_or_else(|| lh_ir::bug!("tag {tag}")).ty(payload & 1 != 0)
            }
            kind::RECORD => record_dtype::by_number(payload),
            kind::TUPLE => Ty::tuple(self.many(payload as usize)),
            kind::NAMED => self.named(payload as usize),
            kind::CHOICE => Ty::new(TyKind::Choice(self.many(payload as usize))),
            kind::CLASS => {
                let class = classes::at(self.word() as *mut ffi::PyTypeObject);
                let class = class.unwrap_or_else(|| lh_ir::bug!("a class is not known any more"));
                class.of(self.many(payload as usize), false)
            }
            kind::LIST => {
                let class = if payload == collections::IS_DEQUE { collections::deque() } else { Class::list() };
                self.container(class, 1)
            }
            kind::DICT | kind::SET => {
                let class = collections::Table::of_tag(tag).class();
                self.container(class, class.declaration().parameters.len())
            }
            kind::TYPE => {
                Ty::of_number(payload as usize).unwrap_or_else(|| lh_ir::bug!("no type has number {payload}"))
            }
            kind::RANGE => Ty::new(TyKind::Range(Ty::int())),
            kind::SLICE => {
                let parts = self.many(3);
                Ty::new(TyKind::Slice([parts[0], parts[1], parts[2]]))
            }
            kind::ENUM => {
                let class = self.word() as *mut ffi::PyObject;
                // SAFETY: the class of a live argument.
                let class = unsafe { Bound::from_borrowed_ptr(self.py, class) };
                let found = enums::enum_class(&class);
                found.unwrap_or_else(|| lh_ir::bug!("an enumeration lost its members")).ty()
            }
            kind::BUFFER => buffer_of(self.next_ty(), Buffer::ALL[payload as usize]),
            kind::OBJECT => comptime::ty(&self.object()),
            kind::CLOSURE => self.closure(payload as usize),
            kind::METHOD => self.method(),
            kind::PYOBJECT => Ty::pyobject(),
            kind::POLYNOMIAL => polynomials::class(payload & 0xff).of(vec![native((payload >> 8) as i32)], false),
            other => lh_ir::bug!("tag {other}"),
        }
    }
    /// The object of the next word.
    fn object(&mut self) -> Bound<'py, PyAny> {
        let address = self.word() as *mut ffi::PyObject;
        // SAFETY: such a tag holds a live object: an argument of the call being typed, or one that a table keeps alive.
        unsafe { Bound::from_borrowed_ptr(self.py, address) }
    }
    fn closure(&mut self, captured: usize) -> Ty {
        let (function, captures) = (self.object(), self.many(captured));
        match *comptime::ty(&function).kind() {
            TyKind::Func(func) => Ty::new(TyKind::Closure { func, captures, defaults: Vec::new(), named: Vec::new() }),
            _ => lh_ir::bug!("a closure is no function any more"),
        }
    }
    fn method(&mut self) -> Ty {
        let name = self.object().getattr("__name__").and_then(|name| name.extract());
        Ty::new(TyKind::BoundMethod { name: name.unwrap_or_default(), recv: self.next_ty() })
    }
    /// The types of the next values.
    pub fn many(&mut self, n: usize) -> Vec<Ty> {
        (0..n).map(|_| self.next_ty()).collect()
    }
    fn container(&mut self, class: Class, parts: usize) -> Ty {
        if self.tags.first() == Some(&kind::UNDECIDED) {
            self.tags = &self.tags[parts..];
            return class.undecided();
        }
        class.of(self.many(parts), false)
    }
    fn named(&mut self, n: usize) -> Ty {
        let class = self.word() as *mut ffi::PyObject;
        // SAFETY: the class of a live argument.
        let class = unsafe { Bound::from_borrowed_ptr(self.py, class) };
        let elems = self.many(n);
        Ty::new(TyKind::Tuple { elems, name: named_tuple(&class) })
    }
}

/// An instance of a class of memory, of which an array's type is given.
fn buffer_of(memory: Ty, class: Buffer) -> Ty {
    if class == Buffer::ByteArray { Ty::bytearray() } else { Ty::buffer(memory, class) }
}

/// The tags of arguments of a type; `None` if tags say more than the type.
pub fn tags_of(t: Ty, out: &mut Vec<u64>) -> Option<()> {
    match t.kind() {
        TyKind::Bool => out.push(kind::BOOL),
        TyKind::None => out.push(kind::NONE),
        TyKind::PyObject => out.push(kind::PYOBJECT),
        TyKind::Str => out.push(kind::STR),
        TyKind::Int { bits: 64, signed: true, .. } => out.push(kind::INT),
        TyKind::Int { bits: 64, .. } => out.push(kind::UINT64),
        TyKind::Float { bits: 64, .. } => out.push(kind::FLOAT),
        TyKind::Complex { bits: 128, .. } => out.push(kind::COMPLEX),
        TyKind::Int { .. } | TyKind::Float { .. } | TyKind::Bfloat16 | TyKind::Complex { .. } => {
            out.push(kind::SCALAR | (numpy::num_of_ty(t)? as u64) << 8);
        }
        TyKind::Array { dtype, ndim, layout, readonly } => {
            let order = match layout {
                Layout::C if *ndim < 2 => numpy::C_CONTIGUOUS | numpy::F_CONTIGUOUS,
                Layout::C => numpy::C_CONTIGUOUS,
                Layout::F => numpy::F_CONTIGUOUS,
                Layout::A => 0,
            };
            let flags = order | if *readonly { 0 } else { numpy::WRITEABLE };
            let num = numpy::num_of_ty(*dtype)? as u64;
            out.push(kind::ARRAY | num << 8 | u64::from(*ndim) << 16 | (flags as u64) << 32);
        }
        TyKind::Tuple { elems, name: None } => {
            out.push(kind::TUPLE | (elems.len() as u64) << 8);
            elems.iter().try_for_each(|t| tags_of(*t, out))?;
        }
        TyKind::Extension { .. } => out.push(kind::TYPE | (t.number() as u64) << 8),
        TyKind::Class(c) if c.class.is_random() => out.push(kind::TYPE | (t.number() as u64) << 8),
        TyKind::Class(_) if t.is_struct() => {
            out.push(kind::TYPE | (crate::object::canonical::canonical(t).number() as u64) << 8);
        }
        TyKind::Class(_) if let Some((unit, is_span)) = t.as_time() => {
            let (base, count) = unit.numbers();
            out.push(kind::TIME | u64::from(is_span) << 8 | base << 16 | count << 32);
        }
        TyKind::Class(c) if c.class.user().is_some() => {
            let address = classes::address_of(c.class).filter(|_| c.args.is_empty())?;
            out.extend([kind::CLASS, address as u64]);
        }
        TyKind::Class(c) => {
            out.push(match collections::Table::of_class(c.class) {
                Some(table) => table.tag(),
                None if collections::is_deque_type(t) => kind::LIST | collections::IS_DEQUE << 8,
                None => t.as_list().map(|_| kind::LIST)?,
            });
            c.args.iter().try_for_each(|t| tags_of(*t, out))?;
        }
        _ => return None,
    }
    Some(())
}

fn native(num: i32) -> Ty {
    if num == numpy::OBJECT {
        return Ty::pyobject();
    }
    numpy::ty_of_num(num).expect("only native arrays are tagged")
}
