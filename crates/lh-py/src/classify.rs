//! What a Python object known while compiling is to the compiler.

use crate::types::Type;
use crate::{dispatcher, int, np, objects, paths, raise, typing};
use lh_infer::world::{Linked, Object};
use lh_ir::{Const, Ty};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyComplex, PyComplexMethods, PyEllipsis, PyFloat, PyFunction, PyInt, PyList, PyModule, PyString, PyTuple,
    PyType,
};
use pyo3::{ffi, intern};
use std::sync::Arc;

/// What an object is.
pub fn classify(o: &Bound<'_, PyAny>) -> Object {
    // An exception while looking at the object means that it is nothing we know.
    try_classify(o).ok().flatten().unwrap_or_else(|| Object::Other(short_text(o)))
}

fn try_classify(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    if let Some(found) = crate::instances::enumeration(o) {
        return Ok(Some(found));
    }
    if let Some(c) = constant(o)? {
        return Ok(Some(Object::Const(c)));
    }
    if let Ok(items) = o.cast::<PyTuple>() {
        let name =
            if items.is_exact_instance_of::<PyTuple>() { None } else { typing::named_tuple(o.get_type().as_any()) };
        return Ok(Some(Object::Tuple(items.iter().map(|i| objects::intern(&i)).collect(), name)));
    }
    if let Some(found) = function(o)? {
        return Ok(Some(found));
    }
    if let Ok(class) = o.cast::<PyType>() {
        return of_class(class);
    }
    if let Ok(module) = o.cast::<PyModule>() {
        return Ok(Some(Object::Module(module.name()?.extract()?)));
    }
    if let Ok(t) = o.cast::<Type>() {
        let t = t.get().0;
        return Ok(Some(if t.is_number() || t.as_record().is_some() {
            Object::DType(t.strong())
        } else {
            Object::Type(t)
        }));
    }
    if np::is_dtype(o)? {
        return Ok(np::ty_of_dtype(o)?.map(Object::DType));
    }
    if let Some(found) = composed(o)? {
        return Ok(Some(found));
    }
    if let Some(found) = made_elsewhere(o)? {
        return Ok(Some(found));
    }
    if device_array(o)?.is_some() {
        return Ok(array(&memory_of(o), is_on_gpu(o)));
    }
    if let Some(path) = device_name(o)? {
        return Ok(Some(Object::Path(path)));
    }
    if let Some(inner) = device_function(o)? {
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
    Ok(if o.is_callable() { paths::path_of(o).map(Object::Path) } else { None })
}

/// A function of Python, or what says itself that compiled code cannot have it.
fn function(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    let is_plain = o.is_exact_instance_of::<PyFunction>();
    if let Some(path) = is_plain.then(|| paths::path_of(o)).flatten() {
        return Ok(Some(Object::Path(path)));
    }
    if let Some(refused) = crate::foreign::refused(o)? {
        return Ok(Some(Object::Foreign(Arc::new(refused))));
    }
    let is_function = is_plain || dispatcher::is_dispatcher(o.as_ptr());
    Ok(is_function.then(|| Object::Func(objects::function(objects::intern(o)))))
}

/// What has parts: lists, bytes, slices, arrays, what is made of functions.
fn composed(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    if let Ok(items) = o.cast_exact::<PyList>() {
        return Ok(Some(Object::List(items.iter().map(|i| objects::intern(&i)).collect())));
    }
    if let Ok(bytes) = o.cast_exact::<pyo3::types::PyBytes>() {
        return Ok(Some(Object::Bytes(bytes.as_bytes().to_vec())));
    }
    if let Some(made) = made_by_user(o)? {
        return Ok(Some(made));
    }
    if o.is_exact_instance_of::<PyEllipsis>() {
        return Ok(Some(Object::Ellipsis));
    }
    if o.is_exact_instance_of::<pyo3::types::PySlice>() {
        let part = |name: &str| o.getattr(name).map(|v| objects::intern(&v));
        return Ok(Some(Object::Slice([part("start")?, part("stop")?, part("step")?])));
    }
    // An array of the host is a constant: on a GPU it is one of the code.
    Ok(array(o, false).map(|found| match found {
        Object::Array { ty, shape, strides, on_gpu } => {
            let (dtype, ndim, layout, _) = ty.as_array().unwrap_or_else(|| lh_ir::bug!("{ty} is no array"));
            Object::Array { ty: Ty::array_ro(dtype, ndim, layout, true), shape, strides, on_gpu }
        }
        other => other,
    }))
}

/// A function whose code is not Python's.
fn made_elsewhere(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    match crate::foreign::classify(o)? {
        Some(found) => Ok(Some(Object::Foreign(Arc::new(found)))),
        None => Ok(linked(o)?.map(|l| Object::Linked(Arc::new(l)))),
    }
}

/// A ufunc or stencil.
fn made_by_user(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    match crate::ufunc::object(o) {
        Some(u) => Ok(Some(Object::Ufunc(u))),
        None => Ok(crate::stencil::object(o)?.map(Object::Stencil)),
    }
}

/// The constant that a number, string or `None` is.
pub fn constant(o: &Bound<'_, PyAny>) -> PyResult<Option<Const>> {
    let py = o.py();
    Ok(Some(if o.is_none() {
        Const::None
    } else if let Ok(b) = o.cast_exact::<PyBool>() {
        Const::Bool(b.is_true())
    } else if o.is_instance_of::<PyInt>() {
        // SAFETY: just checked to be an int.
        match unsafe { int::machine(o.as_ptr()) } {
            int::Machine::Signed(v) => Const::Int(i128::from(v), Ty::int()),
            int::Machine::Unsigned(v) => Const::Int(i128::from(v), Ty::u64()),
            int::Machine::TooLarge => return Ok(None),
        }
    } else if o.is_instance_of::<PyFloat>() {
        Const::Float(o.extract()?, Ty::float())
    } else if let Ok(z) = o.cast::<PyComplex>() {
        Const::Complex(z.real(), z.imag(), Ty::complex())
    } else if o.is_exact_instance_of::<PyString>() {
        Const::Str(o.extract()?)
    } else {
        let class = o.get_type_ptr();
        np::load(py)?;
        // SAFETY: both are live types.
        if unsafe { ffi::PyType_IsSubtype(class, np::generic_type()) } == 0 {
            return Ok(None);
        }
        let Some(ty) = np::scalar_num(class).and_then(np::ty_of_num) else { return Ok(None) };
        scalar(&o.call_method0(intern!(py, "item"))?, ty.weak())?
    }))
}

/// A NumPy scalar's value as a constant of its type.
fn scalar(value: &Bound<'_, PyAny>, ty: Ty) -> PyResult<Const> {
    Ok(if ty.is_bool() {
        Const::Bool(value.extract()?)
    } else if ty.is_int() {
        Const::Int(value.extract()?, ty)
    } else if ty.is_float() {
        Const::Float(value.extract()?, ty)
    } else {
        let z = value.cast::<PyComplex>()?;
        Const::Complex(z.real(), z.imag(), ty)
    })
}

fn of_class(class: &Bound<'_, PyType>) -> PyResult<Option<Object>> {
    let py = class.py();
    let builtin = [
        (py.get_type::<PyInt>(), Ty::int()),
        (py.get_type::<PyFloat>(), Ty::float()),
        (py.get_type::<PyBool>(), Ty::bool()),
        (py.get_type::<PyComplex>(), Ty::complex()),
    ];
    if let Some((_, ty)) = builtin.iter().find(|(c, _)| c.is(class)) {
        return Ok(Some(Object::DType(*ty)));
    }
    np::load(py)?;
    let class_ptr = class.as_type_ptr();
    if let Some(num) = np::scalar_num(class_ptr).or_else(|| np::bfloat_scalar(py, class_ptr)) {
        return Ok(np::ty_of_num(num).map(Object::DType));
    }
    if class.is_subclass_of::<PyBaseException>()? {
        return Ok(Some(Object::ExcClass(raise::class_id(class)?, class.name()?.to_string())));
    }
    if class.is_subclass_of::<PyTuple>()? && class.hasattr(intern!(py, "_fields"))? {
        return Ok(typing::named_tuple(class.as_any()).map(Object::NamedTupleClass));
    }
    Ok(paths::path_of(class.as_any()).map(Object::Path))
}

/// A captured array: compiled code reads the very same memory, which the table of objects keeps alive.
fn array(o: &Bound<'_, PyAny>, on_gpu: bool) -> Option<Object> {
    // SAFETY: the struct is read after the type check; its lists have `nd` items.
    unsafe {
        np::load(o.py()).ok()?;
        if ffi::PyObject_TypeCheck(o.as_ptr(), np::ndarray_type()) == 0 {
            return None;
        }
        let ty = typing::type_of(o).ok()?;
        let a = &*o.as_ptr().cast::<np::ArrayObject>();
        let list = |p: *const isize| (0..a.nd as usize).map(|i| *p.add(i) as i64).collect::<Vec<_>>();
        Some(Object::Array { ty, shape: list(a.dimensions), strides: list(a.strides), on_gpu })
    }
}

/// Whether an object's class says that it was made in a module. What a class says need not be a string: in CPython 3.13, the
/// functions of Cython 3.3 have a descriptor there.
fn made_in(o: &Bound<'_, PyAny>, module: &str) -> bool {
    o.get_type().module().is_ok_and(|m| m == module)
}

/// Whether an object's class has this module and name.
pub fn is_a(o: &Bound<'_, PyAny>, module: &str, class: &str) -> bool {
    o.get_type().name().is_ok_and(|n| n == class) && made_in(o, module)
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

/// What `cuda.declare_device` makes.
fn linked(o: &Bound<'_, PyAny>) -> PyResult<Option<Linked>> {
    if !is_a(o, "lancehead.cuda.linking", "DeclaredFunction") {
        return Ok(None);
    }
    let py = o.py();
    let sig = o.getattr(intern!(py, "sig"))?;
    let sig = sig.cast::<crate::types::Signature>()?.get();
    let is_plain = o.getattr(intern!(py, "abi"))?.extract::<String>()? == "c";
    let name = o.getattr(intern!(py, "name"))?.extract()?;
    Ok(Some(Linked { name, args: sig.args.clone(), ret: sig.ret.unwrap_or(Ty::none()), is_plain }))
}

/// Whether it is the method of a `cffi.FFI` that gives the address of an array.
fn is_from_buffer(o: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = o.py();
    if !o.hasattr(intern!(py, "__self__"))? || !o.hasattr(intern!(py, "__name__"))? {
        return Ok(false);
    }
    let own = o.getattr(intern!(py, "__self__"))?;
    Ok((is_a(&own, "cffi.api", "FFI") || is_a(&own, "_cffi_backend", "FFI"))
        && o.getattr(intern!(py, "__name__"))?.eq("from_buffer")?)
}

/// A captured device array: lancehead's, or one over the memory of an object that describes it by `__cuda_array_interface__`.
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
    memory.ok().flatten().unwrap_or_else(|| o.clone())
}

/// Whether that is in a GPU's memory, which the host does not see.
pub fn is_on_gpu(o: &Bound<'_, PyAny>) -> bool {
    device_array(o).ok().flatten().is_some_and(|a| is_a(&a, "lancehead.cuda.devicearray", "GpuNDArray"))
}

/// The dispatcher in a function decorated with `cuda.jit` or `cfunc`.
pub fn device_function<'py>(o: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !made_in(o, "lancehead.cuda.dispatcher") && !made_in(o, "lancehead.cfuncs") {
        return Ok(None);
    }
    let inner = o.getattr(intern!(o.py(), "_dispatcher")).ok();
    Ok(inner.filter(|d| dispatcher::is_dispatcher(d.as_ptr())))
}

fn enum_value<'py>(o: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = o.py();
    // The module is loaded if any enum exists.
    let Ok(module) = py.import("sys")?.getattr("modules")?.get_item("enum") else { return Ok(None) };
    if o.is_instance(&module.getattr("Enum")?)? { o.getattr(intern!(py, "value")).map(Some) } else { Ok(None) }
}

/// The type of an object and a short form of it, for messages.
pub fn short_text(o: &Bound<'_, PyAny>) -> String {
    let class = o.get_type().name().map_or_else(|_| "object".to_owned(), |n| n.to_string());
    if o.is_instance_of::<PyModule>() {
        return o.getattr("__name__").and_then(|n| n.extract()).unwrap_or(class);
    }
    if o.is_instance_of::<PyType>() || o.is_callable() {
        let name = o.getattr("__qualname__").or_else(|_| o.getattr("__name__")).and_then(|n| n.extract::<String>());
        if let Ok(name) = name {
            return public_name(o, &name).unwrap_or(name);
        }
    }
    class
}

/// The name of an object in the module that users import it from: `_bisect.bisect_right` is `bisect.bisect_right`.
fn public_name(o: &Bound<'_, PyAny>, name: &str) -> Option<String> {
    let modules = o.py().import("sys").ok()?.getattr("modules").ok()?;
    let own = o.getattr("__module__").and_then(|m| m.extract::<String>()).unwrap_or_default();
    // A ufunc does not know its module.
    ["builtins", own.trim_start_matches('_'), &own, "scipy.special"].into_iter().find_map(|module| {
        let found = modules.get_item(module).ok()?.getattr(name).ok()?;
        found.is(o).then(|| format!("{module}.{name}"))
    })
}
