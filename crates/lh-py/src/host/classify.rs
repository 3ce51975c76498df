//! Objects known at compile time, as the compiler classes them.

use crate::host::signature::Signature;
use crate::host::stopping::Answer as _;
use crate::host::types::{self, Type, named_tuple};
use crate::host::{
    classes, constants, decorated, enums, exc_classes, extensions, foreign, parts, stencil, table, ufuncs,
};
use crate::object::class_names::{is_a, short_text};
use crate::object::constant::constant;
use crate::object::{array, descriptors, numpy, paths};
use lh_infer::world::{Linked, Object};
use lh_ir::Ty;
use pyo3::exceptions::PyBaseException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyEllipsis, PyFunction, PyList, PyModule, PySlice, PyTuple, PyType};
use std::sync::Arc;

/// Classes an object.
pub fn classify(o: &Bound<'_, PyAny>) -> Object {
    // An object that raises while it is looked at is unknown.
    try_classify(o)
        .answer()
        .flatten()
        .unwrap_or_else(|| Object::Other(package_text(o).unwrap_or_else(|| short_text(o))))
}

/// The class of an object with its package, if `lancehead.wording` knows that.
fn package_text(o: &Bound<'_, PyAny>) -> Option<String> {
    o.py().import("lancehead.wording").answer()?.call_method1("name_of", (o,)).answer()?.extract().ok()
}

fn try_classify(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    if let Some(found) = enums::enumeration(o) {
        return Ok(Some(found));
    }
    if let Some(c) = constant(o)? {
        return Ok(Some(Object::Const(c)));
    }
    if let Ok(items) = o.cast::<PyTuple>() {
        let name = if items.is_exact_instance_of::<PyTuple>() { None } else { named_tuple(o.get_type().as_any()) };
        return Ok(Some(Object::Tuple(items.iter().map(|i| table::intern(&i)).collect(), name)));
    }
    if let Some(found) = function(o)? {
        return Ok(Some(found));
    }
    if let Ok(class) = o.cast::<PyType>() {
        return of_class(class);
    }
    if let Some(found) = property(o)? {
        return Ok(Some(found));
    }
    if let Some(found) = class_method(o)? {
        return Ok(Some(found));
    }
    if let Ok(module) = o.cast::<PyModule>() {
        return Ok(Some(Object::Module(module.name()?.extract()?)));
    }
    if let Ok(t) = o.cast::<Type>() {
        let t = types::modelled(o.py(), t.get().0)?;
        let is_dtype = t.is_scalar() || t.as_record().is_some();
        return Ok(Some(if is_dtype { Object::DType(t.strong()) } else { Object::Type(t) }));
    }
    if numpy::is_dtype(o)? {
        return Ok(numpy::ty_of_dtype(o)?.map(Object::DType));
    }
    if let Some(found) = composed(o)? {
        return Ok(Some(found));
    }
    if let Some(found) = made_elsewhere(o)? {
        return Ok(Some(found));
    }
    if device_array(o)?.is_some() {
        return Ok(captured(&memory_of(o), is_on_gpu(o), false));
    }
    if let Some(path) = device_name(o)? {
        return Ok(Some(Object::Path(path)));
    }
    if let Some(inner) = decorated::device_function(o)? {
        return try_classify(&inner);
    }
    if is_from_buffer(o)? {
        return Ok(Some(Object::Path("cffi.from_buffer".to_owned())));
    }
    if let Some(name) = prim(o)? {
        return Ok(Some(Object::Path(format!("prim.{name}"))));
    }
    if let Some(value) = enum_value(o)? {
        return try_classify(&value);
    }
    Ok(if o.is_callable() { known_by_path(o) } else { None })
}

/// A method with its object, or a function of a known package.
fn known_by_path(o: &Bound<'_, PyAny>) -> Option<Object> {
    match paths::receiver_of(o) {
        Some((own, name)) => Some(Object::BoundMethod(table::intern(&own), name)),
        None => paths::path_of(o).map(Object::Path).or_else(|| {
            let (own, function) = parts::bound_method(o)?;
            Some(Object::BoundMethod(table::intern(&own), function.getattr("__name__").ok()?.extract().ok()?))
        }),
    }
}

/// A class method with its class.
fn class_method(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    Ok(descriptors::class_method(o)?.map(|(class, function)| {
        let (func, args) = (table::intern(&function), vec![table::intern(&class)]);
        Object::Partial { func, args, keywords: vec![] }
    }))
}

/// A Python function, or an object that refuses itself to compiled code.
fn function(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    let is_plain = o.is_exact_instance_of::<PyFunction>();
    if let Some(path) = is_plain.then(|| paths::path_of(o)).flatten() {
        return Ok(Some(Object::Path(path)));
    }
    if let Some(refused) = foreign::refused(o)? {
        return Ok(Some(Object::Foreign(Arc::new(refused))));
    }
    let is_function = is_plain || decorated::is_dispatcher(o);
    Ok(is_function.then(|| Object::Func(table::function(table::intern(o)))))
}

/// A `functools.partial`.
fn partial(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    if !parts::is_partial(o) {
        return Ok(None);
    }
    let func = table::intern(&o.getattr("func")?);
    let args = o.getattr("args")?.try_iter()?.map(|a| Ok(table::intern(&a?))).collect::<PyResult<_>>()?;
    let mut keywords = Vec::new();
    for (name, value) in o.getattr("keywords")?.cast::<PyDict>()?.iter() {
        keywords.push((name.extract()?, table::intern(&value)));
    }
    Ok(Some(Object::Partial { func, args, keywords }))
}

/// An `operator.itemgetter` or the like, by what it is pickled as.
fn getter(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    if !parts::is_getter(o) {
        return Ok(None);
    }
    let reduced = o.call_method0(intern!(o.py(), "__reduce__"))?;
    let (maker, args) = (reduced.get_item(0)?, reduced.get_item(1)?);
    let (mut given, mut keywords) = (Vec::new(), Vec::new());
    // Keywords are in a partial of the class.
    if parts::is_partial(&maker) {
        for arg in maker.getattr("args")?.try_iter()? {
            given.push(table::intern(&arg?));
        }
        for (name, value) in maker.getattr("keywords")?.cast::<PyDict>()?.iter() {
            keywords.push((name.extract()?, table::intern(&value)));
        }
    }
    for arg in args.try_iter()? {
        given.push(table::intern(&arg?));
    }
    let class = format!("operator.{}", o.get_type().name()?);
    Ok(Some(Object::Getter { class, args: given, keywords }))
}

/// A property.
fn property(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    if !descriptors::is_property(o) {
        return Ok(None);
    }
    let part = |name: &str| o.getattr(name).map(|f| (!f.is_none()).then(|| table::intern(&f)));
    Ok(Some(Object::Property(part("fget")?, part("fset")?)))
}

/// Lists, bytes, times, slices, arrays, ufuncs, stencils and functions with some arguments given.
fn composed(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    if let Some(found) = partial(o)? {
        return Ok(Some(found));
    }
    if let Some(found) = getter(o)? {
        return Ok(Some(found));
    }
    if parts::is_cached(o) {
        let limit = o.call_method0(intern!(o.py(), "cache_parameters"))?.get_item("maxsize")?.extract()?;
        return Ok(Some(Object::Cached(table::intern(&o.getattr("__wrapped__")?), limit)));
    }
    if let Some((function, class)) = parts::class_method(o) {
        let (func, args) = (table::intern(&function), vec![table::intern(&class)]);
        return Ok(Some(Object::Partial { func, args, keywords: Vec::new() }));
    }
    if let Ok(items) = o.cast_exact::<PyList>() {
        return Ok(Some(Object::List(items.iter().map(|i| table::intern(&i)).collect())));
    }
    if let Some((ty, _)) = constants::table(o)? {
        return Ok(Some(Object::Table(ty, parts::inside(o).iter().map(table::intern).collect())));
    }
    if let Ok(bytes) = o.cast_exact::<PyBytes>() {
        return Ok(Some(Object::Bytes(bytes.as_bytes().to_vec())));
    }
    // SAFETY: a live object of its class.
    if let Some((ticks, unit, is_span)) = unsafe { numpy::time_scalar(o.as_ptr(), o.get_type_ptr()) } {
        return Ok(Some(Object::Time(ticks, unit.ty(is_span))));
    }
    if let Some(made) = made_by_user(o)? {
        return Ok(Some(made));
    }
    if o.is_exact_instance_of::<PyEllipsis>() {
        return Ok(Some(Object::Ellipsis));
    }
    if o.is_exact_instance_of::<PySlice>() {
        let part = |name: &str| o.getattr(name).map(|v| table::intern(&v));
        return Ok(Some(Object::Slice([part("start")?, part("stop")?, part("step")?])));
    }
    if !array::is_array(o) {
        return Ok(None);
    }
    // An array of the host is a constant: code for a GPU contains it.
    Ok(Some(captured(o, false, true).unwrap_or_else(|| Object::Other(array::refused_text(o)))))
}

/// A function whose code is not Python's, or an object of a type that the program defines.
fn made_elsewhere(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    if is_a(o, "lancehead.lowlevel.recorder", "Frame") {
        return Ok(Some(Object::Frame(o.getattr("size")?.extract()?)));
    }
    match foreign::classify(o)? {
        Some(found) => Ok(Some(Object::Foreign(Arc::new(found)))),
        None => match linked(o)? {
            Some(l) => Ok(Some(Object::Linked(Arc::new(l)))),
            None => extensions::constant(o),
        },
    }
}

/// A ufunc or stencil.
fn made_by_user(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    match ufuncs::facts(o) {
        Some(u) => Ok(Some(Object::Ufunc(u))),
        None => Ok(stencil::object(o)?.map(Object::Stencil)),
    }
}

fn of_class(class: &Bound<'_, PyType>) -> PyResult<Option<Object>> {
    let py = class.py();
    if let Some(ty) = numpy::ty_of_class(class)? {
        return Ok(Some(Object::DType(ty)));
    }
    if numpy::scalar_num(class.as_type_ptr()).is_some() {
        // A scalar class of NumPy without a native form.
        return Ok(None);
    }
    if class.is_subclass_of::<PyBaseException>()? {
        return Ok(Some(Object::ExcClass(exc_classes::class_id(class)?, class.name()?.to_string())));
    }
    if class.is_subclass_of::<PyTuple>()? && class.hasattr(intern!(py, "_fields"))? {
        return Ok(named_tuple(class.as_any()).map(Object::NamedTupleClass));
    }
    if let Some(found) = classes::find_mentioned(class)? {
        return Ok(Some(Object::Class(found)));
    }
    if let Some(path) = class_path(class)? {
        return Ok(Some(Object::Path(path)));
    }
    Ok(paths::path_of(class.as_any()).map(Object::Path))
}

/// The path of a class of compiled code in the library.
fn class_path(class: &Bound<'_, PyType>) -> PyResult<Option<String>> {
    let module: String = class.module()?.extract()?;
    let Some(module) = module.strip_prefix("lancehead.lib.") else { return Ok(None) };
    let is_declared = class.getattr("__dict__")?.contains("__parameters__")?;
    Ok(is_declared.then_some(format!("{module}.{}", class.name()?)))
}

/// A captured array: compiled code reads the very same memory, which the table of objects keeps alive.
fn captured(o: &Bound<'_, PyAny>, on_gpu: bool, readonly: bool) -> Option<Object> {
    let (a, ty) = array::in_place(o, readonly)?;
    // SAFETY: the lists of an array have as many items as its rank.
    let list = |p: *const isize| (0..a.nd as usize).map(|i| unsafe { *p.add(i) } as i64).collect::<Vec<_>>();
    Some(Object::Array { ty, shape: list(a.dimensions), strides: list(a.strides), on_gpu })
}

fn prim(o: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if !is_a(o, "lancehead.lib.prim", "Prim") {
        return Ok(None);
    }
    o.getattr(intern!(o.py(), "name"))?.extract().map(Some)
}

/// The path of a name of `lancehead.cuda` that has a meaning in kernels.
fn device_name(o: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if !is_a(o, "lancehead.cuda.names", "Name") {
        return Ok(None);
    }
    o.getattr(intern!(o.py(), "path"))?.extract().map(Some)
}

/// The function that `cuda.declare_device` has declared.
fn linked(o: &Bound<'_, PyAny>) -> PyResult<Option<Linked>> {
    if !is_a(o, "lancehead.cuda.linking", "DeclaredFunction") {
        return Ok(None);
    }
    let py = o.py();
    let sig = o.getattr(intern!(py, "sig"))?;
    let sig = sig.cast::<Signature>()?.get();
    let is_plain = o.getattr(intern!(py, "abi"))?.extract::<String>()? == "c";
    let name = o.getattr(intern!(py, "name"))?.extract()?;
    Ok(Some(Linked { name, args: sig.args.clone(), ret: sig.ret.unwrap_or(Ty::none()), is_plain }))
}

/// Whether an object is the method of a `cffi.FFI` that gives the address of an array.
fn is_from_buffer(o: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = o.py();
    if !o.hasattr(intern!(py, "__self__"))? || !o.hasattr(intern!(py, "__name__"))? {
        return Ok(false);
    }
    let own = o.getattr(intern!(py, "__self__"))?;
    Ok((is_a(&own, "cffi.api", "FFI") || is_a(&own, "_cffi_backend", "FFI"))
        && o.getattr(intern!(py, "__name__"))?.eq("from_buffer")?)
}

/// A captured device array: one of lancehead, or one over the memory of an object with `__cuda_array_interface__`.
fn device_array<'py>(o: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = o.py();
    if is_a(o, "lancehead.cuda.devicearray", "DeviceNDArray") {
        return Ok(Some(o.clone()));
    }
    if o.is_instance_of::<PyType>() || !o.hasattr(intern!(py, "__cuda_array_interface__"))? {
        return Ok(None);
    }
    py.import("lancehead.cuda.devicearray")?.getattr("as_cuda_array")?.call1((o,)).map(Some)
}

/// The array whose memory a captured one stands for.
pub fn memory_of<'py>(o: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let memory = device_array(o).and_then(|a| a.map(|a| a.getattr(intern!(o.py(), "_data"))).transpose());
    memory.answer().flatten().unwrap_or_else(|| o.clone())
}

/// Whether that memory is a GPU's, which the host cannot read.
pub fn is_on_gpu(o: &Bound<'_, PyAny>) -> bool {
    device_array(o).answer().flatten().is_some_and(|a| is_a(&a, "lancehead.cuda.devicearray", "GpuNDArray"))
}

fn enum_value<'py>(o: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = o.py();
    // The module is loaded if any enum exists.
    let Ok(module) = py.import("sys")?.getattr("modules")?.get_item("enum") else { return Ok(None) };
    if o.is_instance(&module.getattr("Enum")?)? { o.getattr(intern!(py, "value")).map(Some) } else { Ok(None) }
}
