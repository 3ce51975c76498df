//! Types as Python objects: `types.float64[:, ::1]`.

use crate::host::signature::Signature;
use crate::host::table;
use crate::object::canonical::canonical;
use crate::object::class_names::short_text;
use crate::object::errors::error_of;
use crate::object::lock::lock;
use crate::object::type_text::{self, layout_of};
use crate::object::{constant, numpy, record_dtype};
use hashbrown::HashMap;
use lh_ir::class::{Class, MIXED};
use lh_ir::types::{Buffer, Chars, ClassTy, Initial, InstanceOf, Literal, NamedTuple, Record, RecordField};
use lh_ir::{Layout, TupleMeaning, Ty, TyKind};
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule, PySlice, PyTuple, PyType};
use std::sync::{LazyLock, Mutex};

/// A type. Python's own numbers and the 64-bit NumPy scalars are one type here, as they are one argument type.
#[pyclass(frozen, subclass, module = "lancehead._core", weakref)]
pub struct Type(pub Ty);

/// The one object of each type, so that types may be compared by identity.
static OBJECTS: LazyLock<Mutex<HashMap<Ty, Py<Type>>>> = LazyLock::new(Default::default);

impl Type {
    /// The object of a type.
    pub fn of(py: Python<'_>, t: Ty) -> PyResult<Py<Type>> {
        let t = canonical(t);
        if let Some(o) = lock(&OBJECTS).get(&t) {
            return Ok(o.clone_ref(py));
        }
        let made = Py::new(py, Type(t))?;
        Ok(lock(&OBJECTS).entry(t).or_insert(made).clone_ref(py))
    }
    /// Makes an object of Python the one object of a type.
    pub fn represents(object: &Bound<'_, Type>, t: Ty) {
        lock(&OBJECTS).insert(t, object.clone().unbind());
    }
    fn record_field(&self, name: &str) -> PyResult<&'static RecordField> {
        let r = self.0.as_record().ok_or_else(|| self.missing("fields"))?;
        r.field(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
    fn missing(&self, name: &str) -> PyErr {
        PyAttributeError::new_err(format!("type {} has no attribute '{name}'", self.0))
    }
    /// The type without what a display made of it at first.
    fn plain(&self) -> Ty {
        match self.0.kind() {
            TyKind::Literal(Literal::Initial(_)) => self.0.unliteral(),
            _ => self.0,
        }
    }
    fn of_dict(&self, at: usize) -> Option<Ty> {
        self.plain().as_class().filter(|c| c.class == Class::dict()).map(|c| c.args[at])
    }
    /// The types of the items of a tuple, or of a list of values of several types.
    fn elems(&self) -> Option<&'static [Ty]> {
        match self.0.kind() {
            TyKind::Class(c) if c.class.is_mixed() => c.args[0].tuple_elems(),
            _ => self.0.tuple_elems(),
        }
    }
    fn array(&self, name: &str) -> PyResult<(Ty, usize, Layout, bool)> {
        self.0.as_array().ok_or_else(|| self.missing(name))
    }
}

#[pymethods]
impl Type {
    /// An instance of a subclass, which stands for a type from now on.
    #[new]
    fn new(of: &Type) -> Type {
        Type(of.0)
    }
    /// Makes this the one object of its type.
    fn represent(slf: &Bound<'_, Self>) {
        Type::represents(slf, slf.get().0);
    }
    /// Whether it is known, which any type of a program is.
    #[expect(clippy::unused_self, reason = "a method in Python")]
    fn is_precise(&self) -> bool {
        true
    }
    /// Whether another type is a part of this one.
    fn mentions(&self, other: &Type) -> bool {
        self.0.mentions(&|t| t == other.0)
    }
    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        type_texts(slf.py())?.call_method1(intern!(slf.py(), "shown"), (slf,))
    }
    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        type_texts(slf.py())?.call_method1(intern!(slf.py(), "text"), (slf,))
    }
    /// The compiled function that a type of functions stands for.
    #[getter]
    fn dispatcher<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.kind() {
            TyKind::Func(f) if table::function_object(*f).1 => Ok(table::object(py, table::function_object(*f).0)),
            _ => Err(self.missing("dispatcher")),
        }
    }
    /// The type that an object is, where a type is an argument in compiled code.
    #[getter]
    fn instance_type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.kind() {
            TyKind::Obj(o) => Some(table::object(py, *o)).filter(|found| found.is_instance_of::<Type>()),
            _ => None,
        }
        .ok_or_else(|| self.missing("instance_type"))
    }
    /// Attributes that only Numba's types have.
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if name.starts_with("__") {
            return Err(slf.get().missing(name));
        }
        type_texts(slf.py())?.call_method1(intern!(slf.py(), "attribute"), (slf, name))
    }
    /// The name that messages of the compiler have for it.
    #[getter]
    fn own_name(&self) -> String {
        self.0.numba().to_string()
    }
    /// A number that tells it from others in this process.
    #[getter]
    fn _code(&self) -> u64 {
        self.__hash__() >> 1
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Type>().is_ok_and(|t| t.get().0 == self.0)
    }
    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        self.0.hash(&mut h);
        h.finish()
    }
    /// A signature when called with types, a NumPy scalar when called with a number.
    #[pyo3(signature = (*args))]
    fn __call__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let is_value = args.len() == 1 && !args.get_item(0)?.is_instance_of::<Type>();
        if is_value && self.0.is_time() {
            return type_texts(py)?.call_method1(intern!(py, "time"), (Type::of(py, self.0)?, args.get_item(0)?));
        }
        if is_value && self.0.is_number() {
            let class = numpy::load(py)?.scalar_class(py, self.0).ok_or_else(|| self.missing("cast_python_value"))?;
            return class.call1(args.clone());
        }
        let mut tys = Vec::new();
        for a in args.iter() {
            tys.push(as_ty(&a)?);
        }
        Ok(Bound::new(py, Signature { ret: Some(self.0), args: tys })?.into_any())
    }
    /// An array type: `float64[:]`, `float64[:, ::1]`, `float64[::1, :]`; of a tuple's type, that of an item.
    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
        if let (Some(elems), Ok(i)) = (self.elems(), key.extract::<isize>()) {
            let at = if i < 0 { i.checked_add_unsigned(elems.len()) } else { Some(i) };
            let found = at.and_then(|i| elems.get(usize::try_from(i).ok()?));
            return Type::of(key.py(), *found.ok_or_else(|| PyIndexError::new_err("tuple index out of range"))?);
        }
        if let (Some(item), Ok(_)) = (self.plain().as_list(), key.extract::<isize>()) {
            return Type::of(key.py(), item);
        }
        let bad =
            || PyKeyError::new_err(format!("Can only index numba types with slices with no start or stop, got {key}."));
        let of = if let TyKind::DType(t) = self.0.kind() { canonical(*t) } else { self.0 };
        if !of.is_scalar() && !of.is_pyobject() && of.as_record().is_none() {
            return Err(PyTypeError::new_err(format!("there are no arrays of {of}")));
        }
        let one_step = |s: Bound<'_, PyAny>| -> PyResult<bool> {
            let s = s.cast_into::<PySlice>().map_err(|_| bad())?;
            if !s.getattr("start")?.is_none() || !s.getattr("stop")?.is_none() {
                return Err(bad());
            }
            let step = s.getattr("step")?;
            Ok(!step.is_none() && step.extract::<i64>()? == 1)
        };
        let steps = match key.cast::<PyTuple>() {
            Ok(keys) => keys.iter().map(one_step).collect::<PyResult<Vec<_>>>()?,
            Err(_) => vec![one_step(key.clone())?],
        };
        Type::of(key.py(), Ty::array(of, steps.len(), type_text::layout_of_steps(&steps)))
    }
    /// The kind of type: `Integer`, `Array`, ...
    #[getter]
    pub fn kind(&self) -> &'static str {
        match self.plain().kind() {
            TyKind::Bool => "Boolean",
            TyKind::Int { .. } => "Integer",
            TyKind::Float { .. } | TyKind::Bfloat16 => "Float",
            TyKind::Complex { .. } => "Complex",
            TyKind::None => "NoneType",
            TyKind::Str => "UnicodeType",
            TyKind::Tuple { name: Some(n), .. } if n.meaning == Some(TupleMeaning::Entries) => "LiteralStrKeyDict",
            TyKind::Tuple { name: Some(_), .. } => "NamedTuple",
            TyKind::Tuple { elems, .. } if elems.iter().all(|t| *t == elems[0]) => "UniTuple",
            TyKind::Tuple { .. } => "Tuple",
            TyKind::Array { .. } => "Array",
            TyKind::Record(r) => match r.chars {
                Some(Chars::Bytes) => "CharSeq",
                Some(Chars::CodePoints) => "UnicodeCharSeq",
                None => "Record",
            },
            TyKind::Class(ClassTy { items: Some(_), .. }) => "List",
            TyKind::Class(c) if c.class.is_mixed() => "LiteralList",
            TyKind::Class(_) if self.0 == Ty::random_generator() => "NumPyRandomGeneratorType",
            TyKind::Class(_) if self.0 == Ty::bit_generator() => "NumPyRandomBitGeneratorType",
            TyKind::Class(_) if self.0.is_struct() => "StructRef",
            TyKind::Class(c) if c.class.user().is_some() => "ClassInstanceType",
            TyKind::Class(_) if let Some((_, is_span)) = self.0.as_time() => {
                if is_span {
                    "NPTimedelta"
                } else {
                    "NPDatetime"
                }
            }
            TyKind::Class(c) if c.class == Class::dict() => "DictType",
            TyKind::Class(c) if c.class == Class::set() => "SetType",
            TyKind::Optional(_) => "Optional",
            TyKind::Range(_) => "RangeType",
            TyKind::Slice(_) => "SliceType",
            TyKind::DType(_) => "NumberClass",
            TyKind::Instance { of, class: InstanceOf::Enum { values: true, .. } } if of.is_int() => "IntEnumMember",
            TyKind::Instance { class: InstanceOf::Enum { .. }, .. } => "EnumMember",
            TyKind::Instance { class: InstanceOf::Buffer(Buffer::Bytes), .. } => "Bytes",
            TyKind::Instance { class: InstanceOf::Buffer(Buffer::ByteArray), .. } => "ByteArray",
            TyKind::Instance { class: InstanceOf::Buffer(Buffer::MemoryView), .. } => "MemoryView",
            TyKind::Instance { class: InstanceOf::Buffer(Buffer::Array), .. } => "PyArray",
            TyKind::Instance { class: InstanceOf::Function { .. }, .. } => "FunctionType",
            TyKind::Instance { class: InstanceOf::Pointer(_), .. } => "CPointer",
            TyKind::Ptr => "RawPointer",
            TyKind::MemInfo => "MemInfoPointer",
            TyKind::PyObject => "PyObject",
            TyKind::Func(_) => "Dispatcher",
            TyKind::Obj(_) => "Opaque",
            TyKind::Extension { .. } => "Extension",
            TyKind::Ellipsis => "EllipsisType",
            TyKind::Generator(_) => "Generator",
            TyKind::Literal(Literal::Int(_)) => "IntegerLiteral",
            TyKind::Literal(Literal::Bool(_)) => "BooleanLiteral",
            TyKind::Literal(Literal::Str(_)) => "StringLiteral",
            _ => "Internal",
        }
    }
    /// Says what a deferred type is.
    fn define(&self, as_type: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.0.define(as_ty(as_type)?) { Ok(()) } else { Err(PyTypeError::new_err("deferred type already defined")) }
    }
    #[getter]
    fn name<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Type::__str__(slf)
    }
    /// Types are told apart by their names.
    #[getter]
    fn key<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Type::__str__(slf)
    }
    /// The type of the items; of a record, NumPy's dtype.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let of = match self.plain().kind() {
            TyKind::Array { dtype, .. } => *dtype,
            TyKind::Class(ClassTy { items: Some(t), .. }) | TyKind::DType(t) | TyKind::Range(t) => *t,
            TyKind::Instance { class: InstanceOf::Pointer(to), .. } => *to,
            TyKind::Instance { of, class: InstanceOf::Enum { .. } } => *of,
            // Functions have types of their own; those of one function type have it in common.
            TyKind::Tuple { elems, .. }
                if elems
                    .first()
                    .is_some_and(|f| elems.iter().all(|t| t == f || t.is_function() && f.is_function())) =>
            {
                elems[0]
            }
            _ => {
                let dtype = record_dtype::dtype_of(py, self.0)?;
                return dtype.map(Bound::unbind).ok_or_else(|| self.missing("dtype"));
            }
        };
        Type::of(py, of).map(Py::into_any)
    }
    /// The types of items of a container: those of keys and of values of a dictionary.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match self.plain().kind() {
            TyKind::Class(c) if c.class.user().is_none() && !self.0.is_time() => type_tuple(py, &c.args),
            _ => Err(self.missing("arguments")),
        }
    }
    #[getter]
    fn item_type(&self, py: Python<'_>) -> PyResult<Py<Type>> {
        Type::of(py, self.plain().as_list().ok_or_else(|| self.missing("item_type"))?)
    }
    #[getter]
    fn key_type(&self, py: Python<'_>) -> PyResult<Py<Type>> {
        self.of_dict(0).map_or_else(|| Err(self.missing("key_type")), |t| Type::of(py, t))
    }
    #[getter]
    fn value_type(&self, py: Python<'_>) -> PyResult<Py<Type>> {
        self.of_dict(1).map_or_else(|| Err(self.missing("value_type")), |t| Type::of(py, t))
    }
    #[getter(r#type)]
    fn inner(&self, py: Python<'_>) -> PyResult<Py<Type>> {
        match self.0.kind() {
            TyKind::Optional(t) => Type::of(py, *t),
            _ => Err(self.missing("type")),
        }
    }
    /// The facts that `jitclass` knows of the class of instances of this type.
    #[getter]
    fn class_type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let user = self.0.class().and_then(|c| c.user()).ok_or_else(|| self.missing("class_type"))?;
        table::object(py, user.class).getattr(intern!(py, "class_type"))
    }
    /// Types of the fields of a class, by their names.
    #[getter(r#struct)]
    fn field_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.0.class().and_then(|c| c.user()).is_none() {
            return Err(self.missing("struct"));
        }
        let fields = PyDict::new(py);
        for field in self.0.fields() {
            fields.set_item(&field.name, Type::of(py, field.ty)?)?;
        }
        Ok(fields)
    }
    #[getter]
    fn literal_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.0.kind() {
            TyKind::Literal(Literal::Int(i)) => i.into_pyobject(py)?.into_any(),
            TyKind::Literal(Literal::Bool(b)) => b.into_pyobject(py)?.to_owned().into_any(),
            TyKind::Literal(Literal::Str(s)) => s.into_pyobject(py)?.into_any(),
            TyKind::Tuple { elems, name: Some(n) } if n.meaning == Some(TupleMeaning::Entries) => {
                let of = PyDict::new(py);
                for (key, ty) in n.fields.iter().zip(elems) {
                    of.set_item(
                        Type::of(py, Ty::new(TyKind::Literal(Literal::Str(key.clone()))))?,
                        Type::of(py, *ty)?,
                    )?;
                }
                of.into_any()
            }
            TyKind::Class(c) if c.class.is_mixed() => PyList::new(py, self.types(py)?)?.into_any(),
            _ => return Err(self.missing("literal_value")),
        })
    }
    /// The constants that a display gave a list or dictionary at first, where they are known.
    #[getter]
    fn initial_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.kind() {
            TyKind::Literal(Literal::Initial(initial)) => initial_object(py, initial),
            TyKind::Class(c) if c.class == Class::dict() || c.class == Class::list() => Ok(py.None().into_bound(py)),
            _ => Err(self.missing("initial_value")),
        }
    }
    #[getter]
    fn literal_type(&self, py: Python<'_>) -> PyResult<Py<Type>> {
        match self.0.kind() {
            TyKind::Literal(l) if self.plain() == self.0 => Type::of(py, l.ty()),
            _ => Err(self.missing("literal_type")),
        }
    }
    #[getter]
    fn ndim(&self) -> PyResult<usize> {
        self.array("ndim").map(|a| a.1)
    }
    #[getter]
    fn layout(&self) -> PyResult<String> {
        self.array("layout").map(|a| format!("{:?}", a.2))
    }
    #[getter]
    fn mutable(&self) -> PyResult<bool> {
        self.array("mutable").map(|a| !a.3)
    }
    #[getter]
    fn readonly(&self) -> PyResult<bool> {
        self.array("readonly").map(|a| a.3)
    }
    #[getter]
    fn is_c_contig(&self) -> PyResult<bool> {
        self.array("is_c_contig").map(|a| a.2 == Layout::C)
    }
    #[getter]
    fn is_f_contig(&self) -> PyResult<bool> {
        self.array("is_f_contig").map(|a| a.2 == Layout::F || (a.1 <= 1 && a.2 == Layout::C))
    }
    #[getter]
    fn is_contig(&self) -> PyResult<bool> {
        self.array("is_contig").map(|a| a.2 != Layout::A)
    }
    #[getter]
    fn bitwidth(&self) -> PyResult<u32> {
        if self.0.is_number() { Ok(self.0.bits()) } else { Err(self.missing("bitwidth")) }
    }
    #[getter]
    fn signed(&self) -> PyResult<bool> {
        if self.0.is_int() { Ok(self.0.is_signed()) } else { Err(self.missing("signed")) }
    }
    #[getter]
    fn underlying_float(&self, py: Python<'_>) -> PyResult<Py<Type>> {
        if self.0.is_complex() { Type::of(py, self.0.real_part()) } else { Err(self.missing("underlying_float")) }
    }
    #[getter]
    fn minval(&self) -> PyResult<i128> {
        match *self.0.kind() {
            TyKind::Int { bits, signed, .. } => Ok(if signed { -(1 << (bits - 1)) } else { 0 }),
            _ => Err(self.missing("minval")),
        }
    }
    #[getter]
    fn maxval(&self) -> PyResult<i128> {
        match *self.0.kind() {
            TyKind::Int { bits, signed, .. } => Ok((1 << (bits - u8::from(signed))) - 1),
            _ => Err(self.missing("maxval")),
        }
    }
    /// The unit of points or spans of time.
    #[getter]
    fn unit(&self) -> PyResult<String> {
        let (unit, _) = self.0.as_time().ok_or_else(|| self.missing("unit"))?;
        Ok(if unit.is_generic() { String::new() } else { unit.to_string() })
    }
    #[getter]
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        type_tuple(py, self.elems().ok_or_else(|| self.missing("types"))?)
    }
    #[getter]
    fn count(&self) -> PyResult<usize> {
        Ok(self.elems().ok_or_else(|| self.missing("count"))?.len())
    }
    #[getter]
    fn fields(&self) -> PyResult<Vec<String>> {
        match self.0.kind() {
            TyKind::Tuple { name: Some(n), .. } => Ok(n.fields.clone()),
            TyKind::Record(r) => {
                let names = r.fields.iter().map(|f| f.name.clone());
                Ok(names.chain(r.fields.iter().filter_map(|f| f.title.clone())).collect())
            }
            _ => Err(self.missing("fields")),
        }
    }
    /// Bytes of a record.
    #[getter]
    fn size(&self) -> PyResult<usize> {
        self.0.as_record().map(|r| r.size).ok_or_else(|| self.missing("size"))
    }
    /// The fields of a record with their types.
    #[getter]
    fn members(&self, py: Python<'_>) -> PyResult<Vec<(String, Py<Type>)>> {
        let r = self.0.as_record().ok_or_else(|| self.missing("members"))?;
        r.fields.iter().map(|f| Ok((f.name.clone(), self.typeof_(py, &f.name)?))).collect()
    }
    /// The type of a field of a record.
    #[pyo3(name = "typeof")]
    fn typeof_(&self, py: Python<'_>, name: &str) -> PyResult<Py<Type>> {
        let field = self.record_field(name)?;
        Type::of(py, if field.shape.is_empty() { field.ty } else { Ty::array(field.ty, field.shape.len(), Layout::C) })
    }
    /// Where a field of a record begins, in bytes.
    fn offset(&self, name: &str) -> PyResult<usize> {
        Ok(self.record_field(name)?.offset)
    }
    /// Whether a field of a record is called by its title.
    fn is_title(&self, name: &str) -> PyResult<bool> {
        Ok(self.record_field(name)?.name != name)
    }
    /// Bytes or code points of a text in an array.
    #[getter]
    fn length(&self) -> PyResult<usize> {
        let text = self.0.as_record().filter(|r| r.chars.is_some());
        text.map(Record::text_len).ok_or_else(|| self.missing("length"))
    }
    /// Whether the dtype of a record was made with `align=True`.
    #[getter]
    fn aligned(&self) -> PyResult<bool> {
        if self.0.is_array() {
            // Items lie at multiples of their alignment.
            return Ok(true);
        }
        self.0.as_record().map(|r| r.aligned).ok_or_else(|| self.missing("aligned"))
    }
    /// The signature of a function type.
    #[getter]
    fn signature(&self) -> PyResult<Signature> {
        match self.0.kind() {
            TyKind::Instance { class: InstanceOf::Function { args, ret }, .. } => {
                Ok(Signature { ret: Some(*ret), args: args.clone() })
            }
            _ => Err(self.missing("signature")),
        }
    }
    #[getter]
    fn instance_class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.kind() {
            TyKind::Tuple { name: Some(n), .. } => Ok(table::object(py, n.class)),
            _ => Err(self.missing("instance_class")),
        }
    }
    fn __len__(&self) -> PyResult<usize> {
        let of_record = || self.0.as_record().map(|r| r.fields.len());
        self.elems()
            .map(<[Ty]>::len)
            .or_else(of_record)
            .ok_or_else(|| PyTypeError::new_err(format!("type {} has no length", self.0)))
    }
    /// The same array type with other properties.
    #[pyo3(signature = (dtype=None, ndim=None, layout=None, readonly=None))]
    fn copy(
        &self,
        py: Python<'_>,
        dtype: Option<&Type>,
        ndim: Option<usize>,
        layout: Option<&str>,
        readonly: Option<bool>,
    ) -> PyResult<Py<Type>> {
        let (d, n, l, r) = self.array("copy")?;
        let l = layout.map_or(Ok(l), layout_of)?;
        Type::of(py, Ty::array_ro(dtype.map_or(d, |t| t.0), ndim.unwrap_or(n), l, readonly.unwrap_or(r)))
    }
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let core = py.import("lancehead._core")?;
        if slf.get().kind() == "LiteralList" {
            let items = vec![Type::of(py, Ty::tuple(slf.get().elems().unwrap_or_default().to_vec()))?];
            return Ok((core.getattr("container_type")?, (MIXED, items).into_pyobject(py)?));
        }
        if slf.get().kind() == "LiteralStrKeyDict" {
            return Ok((core.getattr("keyed_type")?, (slf.getattr("literal_value")?,).into_pyobject(py)?));
        }
        if let TyKind::Tuple { elems, name: Some(n) } = slf.get().0.kind() {
            let args = (type_tuple(py, elems)?, table::object(py, n.class));
            return Ok((core.getattr("named_tuple_type")?, args.into_pyobject(py)?));
        }
        if let Some(dtype) = record_dtype::dtype_of(py, slf.get().0)? {
            return Ok((core.getattr("type_of_dtype")?, (dtype,).into_pyobject(py)?));
        }
        if let TyKind::Literal(Literal::Initial(d)) = slf.get().0.kind() {
            let args = (Type::of(py, d.ty)?, slf.get().initial_value(py)?);
            return Ok((core.getattr("initial_type")?, args.into_pyobject(py)?));
        }
        if let TyKind::Literal(_) = slf.get().0.kind() {
            return Ok((core.getattr("literal_type")?, (slf.getattr("literal_value")?,).into_pyobject(py)?));
        }
        if let TyKind::Generator(_) = slf.get().0.kind() {
            return Ok((
                type_texts(py)?.getattr("kept")?,
                (type_texts(py)?.call_method1("keep", (slf,))?,).into_pyobject(py)?,
            ));
        }
        Ok((core.getattr("parse_type")?, (type_text::spelling(slf.get().0),).into_pyobject(py)?))
    }
}

/// The module that writes types as Numba does.
pub fn type_texts(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "lancehead.type_texts"))
}

/// Identity of a namedtuple class.
pub fn named_tuple(class: &Bound<'_, PyAny>) -> Option<NamedTuple> {
    let py = class.py();
    let fields = class.getattr(intern!(py, "_fields")).ok()?.extract().ok()?;
    let name = class.getattr(intern!(py, "__name__")).ok()?.extract().ok()?;
    let meaning = crate::object::function::meaning_of_class(class);
    Some(NamedTuple { name, class: table::intern(class), fields, meaning })
}

/// Types as a Python tuple.
pub fn type_tuple<'py>(py: Python<'py>, tys: &[Ty]) -> PyResult<Bound<'py, PyTuple>> {
    let items = tys.iter().map(|t| Type::of(py, *t)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, items)
}

/// A type with the models of all types of the program in it, which are asked for now.
pub fn modelled(py: Python<'_>, ty: Ty) -> PyResult<Ty> {
    let is_open = |t: Ty| t.model().is_some_and(Ty::is_never);
    if !ty.mentions(&is_open) && !is_open(ty) {
        return Ok(ty);
    }
    if is_open(ty) && is_open(ty.modelled()) {
        py.import(intern!(py, "lancehead.lowlevel.models"))?.getattr("define")?.call1((Type::of(py, ty)?,))?;
        if is_open(ty.modelled()) {
            return Err(error_of(py, "TypingError", &format!("the model of {ty} is not known")));
        }
    }
    Ok(ty.defined())
}

/// The type that an object in a signature means: a type, `None`, a signature (of functions), a scalar class or a
/// dtype.
pub fn as_ty(o: &Bound<'_, PyAny>) -> PyResult<Ty> {
    if let Ok(t) = o.cast::<Type>() {
        return modelled(o.py(), t.get().plain());
    }
    if o.is_none() {
        return Ok(Ty::none());
    }
    if let Ok(s) = o.cast::<Signature>() {
        return Ok(canonical(s.get().ty()?));
    }
    let class = o.cast::<PyType>().ok();
    let found =
        if numpy::is_dtype(o)? { numpy::ty_of_dtype(o)? } else { class.map(numpy::ty_of_class).transpose()?.flatten() };
    match found {
        Some(t) => Ok(canonical(t)),
        None => Err(PyTypeError::new_err(format!("a type was expected, not {}", o.repr()?))),
    }
}

/// `types.Array(dtype, ndim, layout, readonly)`.
#[pyfunction]
#[pyo3(signature = (dtype, ndim, layout, readonly=false))]
pub fn array_type(dtype: &Bound<'_, PyAny>, ndim: usize, layout: &str, readonly: bool) -> PyResult<Py<Type>> {
    let py = dtype.py();
    let dtype = as_ty(dtype)?;
    if !dtype.is_scalar() && !dtype.is_pyobject() && dtype.as_record().is_none() {
        return Err(PyTypeError::new_err(format!("there are no arrays of {dtype}")));
    }
    if ndim > 64 {
        return Err(PyValueError::new_err("an array has at most 64 dimensions"));
    }
    Type::of(py, Ty::array_ro(dtype, ndim, layout_of(layout)?, readonly))
}

/// `types.pyobject`.
#[pyfunction]
pub fn pyobject_type(py: Python<'_>) -> PyResult<Py<Type>> {
    Type::of(py, Ty::pyobject())
}

/// `types.as_dtype(type)`.
#[pyfunction]
pub fn dtype_of_type<'py>(of: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (py, ty) = (of.py(), as_ty(of)?);
    match record_dtype::dtype_of(py, ty)? {
        Some(found) => Ok(Some(found)),
        None => numpy::num_of_ty(ty).map(|num| numpy::load(py)?.descr(py, num)).transpose(),
    }
}

/// `types.CharSeq(length)` and, of code points, `types.UnicodeCharSeq(length)`.
#[pyfunction]
pub fn text_type(py: Python<'_>, length: usize, unicode: bool) -> PyResult<Py<Type>> {
    let chars = if unicode { Chars::CodePoints } else { Chars::Bytes };
    let size = length.checked_mul(chars.size()).ok_or_else(|| PyValueError::new_err("the text is too long"))?;
    Type::of(py, Ty::new(TyKind::Record(Record::text(chars, size))))
}

/// `types.Tuple(types)`.
#[pyfunction]
pub fn tuple_type(types: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    let elems = types.try_iter()?.map(|t| as_ty(&t?)).collect::<PyResult<_>>()?;
    Type::of(types.py(), Ty::tuple(elems))
}

/// `types.NamedTuple(types, class)`.
#[pyfunction]
pub fn named_tuple_type(types: &Bound<'_, PyAny>, class_: &Bound<'_, PyType>) -> PyResult<Py<Type>> {
    let elems = types.try_iter()?.map(|t| as_ty(&t?)).collect::<PyResult<Vec<_>>>()?;
    let name: NamedTuple =
        named_tuple(class_.as_any()).ok_or_else(|| PyTypeError::new_err("a namedtuple class was expected"))?;
    if name.fields.len() != elems.len() {
        return Err(PyValueError::new_err(format!(
            "{} has {} fields, not {}",
            name.name,
            name.fields.len(),
            elems.len()
        )));
    }
    Type::of(types.py(), Ty::new(TyKind::Tuple { elems, name: Some(name) }))
}

/// `types.LiteralStrKeyDict(entries)`: the type of a dictionary whose keys are known while compiling, by literal types
/// of the keys or the keys themselves.
#[pyfunction]
pub fn keyed_type(py: Python<'_>, entries: &Bound<'_, PyDict>) -> PyResult<Py<Type>> {
    let (mut fields, mut elems) = (Vec::new(), Vec::new());
    for (key, ty) in entries {
        let key = if key.is_instance_of::<Type>() { key.getattr("literal_value")? } else { key };
        fields.push(key.extract()?);
        elems.push(as_ty(&ty)?);
    }
    let class = table::intern(py.get_type::<PyDict>().as_any());
    let name = NamedTuple { name: "dict".to_owned(), class, fields, meaning: Some(TupleMeaning::Entries) };
    Type::of(py, Ty::new(TyKind::Tuple { elems, name: Some(name) }))
}

/// `types.List(type)`, `types.DictType(key, value)` and `types.SetType(type)`, by the name of the class.
#[pyfunction]
pub fn container_type(py: Python<'_>, class: &str, args: Vec<Bound<'_, PyAny>>) -> PyResult<Py<Type>> {
    let class = Class::find(class).ok_or_else(|| PyTypeError::new_err(format!("{class} is no container")))?;
    let args = args.iter().map(|t| Ok(canonical(as_ty(t)?))).collect::<PyResult<Vec<_>>>()?;
    Type::of(py, class.of(args, false))
}

/// The type of addresses of values of a type.
#[pyfunction]
pub fn pointer_type(to: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    let pointee = as_ty(to)?;
    Type::of(to.py(), if pointee.is_none() { Ty::ptr() } else { Ty::pointer(pointee) })
}

/// `types.Optional(type)`.
#[pyfunction]
pub fn optional_type(inner: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    Type::of(inner.py(), Ty::optional(as_ty(inner)?))
}

/// `types.deferred_type()`.
#[pyfunction]
pub fn deferred_type(py: Python<'_>) -> PyResult<Py<Type>> {
    Type::of(py, Ty::deferred())
}

/// `types.literal(value)`.
#[pyfunction]
pub fn literal_type(value: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    let py = value.py();
    let constant = constant::constant(value)?;
    let literal = constant.as_ref().and_then(Literal::of);
    let literal = literal.ok_or_else(|| no_literal(py, &short_text(value)))?;
    Type::of(py, Ty::new(TyKind::Literal(literal)))
}

/// The type of a list or dictionary which a display made of constants: `types.DictType(key, value, initial_value)`.
#[pyfunction]
pub fn initial_type(of: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    let py = of.py();
    let literal = |v: Bound<'_, PyAny>| -> PyResult<Literal> {
        let constant = constant::constant(&v)?;
        constant.as_ref().and_then(Literal::of).ok_or_else(|| no_literal(py, &short_text(&v)))
    };
    let all = |of: &Bound<'_, PyAny>| of.try_iter()?.map(|v| literal(v?)).collect::<PyResult<Vec<_>>>();
    let (keys, values) = match value.cast::<PyDict>() {
        Ok(entries) => (all(&entries.keys())?, all(&entries.values())?),
        Err(_) => (Vec::new(), all(value)?),
    };
    let initial = Initial { ty: canonical(as_ty(of)?), keys, values };
    Type::of(py, Ty::new(TyKind::Literal(Literal::Initial(Box::new(initial)))))
}

fn initial_object<'py>(py: Python<'py>, initial: &Initial) -> PyResult<Bound<'py, PyAny>> {
    let object = |l: &Literal| -> PyResult<Bound<'py, PyAny>> {
        Ok(match l {
            Literal::Int(i) => i.into_pyobject(py)?.into_any(),
            Literal::Bool(b) => b.into_pyobject(py)?.to_owned().into_any(),
            Literal::Str(s) => s.into_pyobject(py)?.into_any(),
            Literal::Initial(inner) => initial_object(py, inner)?,
        })
    };
    let values = initial.values.iter().map(object).collect::<PyResult<Vec<_>>>()?;
    if initial.keys.is_empty() {
        return Ok(PyList::new(py, values)?.into_any());
    }
    let made = PyDict::new(py);
    for (key, value) in initial.keys.iter().zip(values) {
        made.set_item(object(key)?, value)?;
    }
    Ok(made.into_any())
}

/// The error for a value without a literal type.
pub fn no_literal(py: Python<'_>, what: &str) -> PyErr {
    error_of(py, "LiteralTypingError", &format!("{what} cannot be used as a literal; ints, bools and strings can"))
}

/// The type of elements of a dtype, or `None` if they have no native form.
#[pyfunction]
pub fn type_of_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Py<Type>>> {
    let py = dtype.py();
    numpy::load(py)?;
    numpy::ty_of_dtype(dtype)?.map(|t| Type::of(py, t)).transpose()
}

/// `types.unliteral(type)`: the type of a literal type's value, other types themselves.
#[pyfunction]
pub fn unliteral(type_: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    Type::of(type_.py(), as_ty(type_)?.unliteral())
}

/// The type object of a type's text, as in string signatures.
#[pyfunction]
pub fn parse_type(py: Python<'_>, text: &str) -> PyResult<Py<Type>> {
    match type_text::parse(text)? {
        type_text::Parsed::Type(t) => Type::of(py, t),
        type_text::Parsed::Signature(..) => Err(PyValueError::new_err(format!("{text:?} is a signature, not a type"))),
    }
}
