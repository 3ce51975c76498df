//! Hashes of Python objects. They agree between processes in which the objects compile alike.

use crate::host::stopping::Answer as _;
use crate::host::{classify, decorated, objmode, table};
use crate::object::function;
use lh_driver::{Digest, Hasher};
use lh_infer::world::{Object, Stencil, Ufunc, UserClass};
use lh_ir::class::Class;
use lh_ir::types::InstanceOf;
use lh_ir::{Const, ObjId, Ty, TyKind};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCode, PyComplex, PyComplexMethods, PyDict, PyEllipsis, PyFloat, PyFrozenSet, PyInt, PySlice,
    PyString, PyTuple, PyType,
};
use pyo3::{ffi, intern};

/// Objects nested more deeply than this have no hash: a list may contain itself.
const MAX_DEPTH: usize = 60;

/// The hash of an object; `None` if it has none.
pub fn of(py: Python<'_>, o: ObjId) -> Option<Digest> {
    at_depth(py, o, 0).answer().flatten()
}

#[expect(clippy::too_many_lines, reason = "a table: one arm for each kind of object")]
fn at_depth(py: Python<'_>, o: ObjId, depth: usize) -> PyResult<Option<Digest>> {
    if depth > MAX_DEPTH {
        return Ok(None);
    }
    let object = table::object(py, o);
    let mut h = Hasher::new("object");
    let many = |h: &mut Hasher, items: &[ObjId]| -> PyResult<Option<()>> {
        h.number(items.len() as u64);
        for i in items {
            let Some(d) = at_depth(py, *i, depth + 1)? else { return Ok(None) };
            h.digest(&d);
        }
        Ok(Some(()))
    };
    let what = classify::classify(&object);
    let position = if let Object::EnumMember(_, at) = what { at } else { 0 };
    let whole = match what {
        Object::Const(c) => {
            constant(&mut h, &c);
            Some(())
        }
        Object::Time(ticks, t) => {
            texts(&mut h, &["time", &t.to_string()]);
            h.number(ticks as u64);
            Some(())
        }
        Object::Tuple(items, name) => {
            h.text("tuple");
            if let Some(n) = name {
                named(&mut h, &table::object(py, n.class))?;
            }
            many(&mut h, &items)?
        }
        Object::List(items) => {
            h.text("list");
            many(&mut h, &items)?
        }
        // Code is independent of the generator that it draws from.
        Object::Table(t, _) if t.class().is_some_and(Class::is_random) => {
            texts(&mut h, &["generator", &t.to_string()]);
            Some(())
        }
        Object::Table(t, _) => {
            texts(&mut h, &["table", &t.to_string()]);
            let all = if object.is_instance_of::<PyDict>() { object.call_method0("items")? } else { object.clone() };
            let parts = all.try_iter()?.map(|part| Ok(table::intern(&part?))).collect::<PyResult<Vec<_>>>()?;
            many(&mut h, &parts)?
        }
        Object::Slice(parts) => {
            h.text("slice");
            many(&mut h, &parts)?
        }
        Object::Func(_) => function(&mut h, &object, depth)?,
        Object::DType(t) => ty(&mut h, "dtype", t, py),
        Object::Type(t) => ty(&mut h, "type", t, py),
        Object::Module(name) => texts(&mut h, &["module", &name]),
        Object::Path(path) => texts(&mut h, &["path", &path]),
        Object::ExcClass(..) => {
            h.text("exception");
            ancestors(&mut h, &object)?;
            Some(())
        }
        Object::NamedTupleClass(_) => {
            named(&mut h, &object)?;
            Some(())
        }
        Object::Class(c) => user_class(py, &mut h, &c)?.and(many(&mut h, &objects_of(&c))?),
        Object::Property(get, set) => {
            h.text("property");
            h.number(u64::from(get.is_some()));
            many(&mut h, &get.into_iter().chain(set).collect::<Vec<_>>())?
        }
        Object::Bytes(b) => {
            h.text("bytes");
            h.bytes(&b);
            Some(())
        }
        Object::EnumClass(e) | Object::EnumMember(e, _) => {
            texts(&mut h, &["enumeration", &e.name]);
            h.number(e.values.map_or(0, |t| if t.is_int() { 1 } else { 2 + u64::from(t.is_float()) }));
            [e.named, e.formatted, e.own_texts[0], e.own_texts[1]].into_iter().for_each(|b| h.number(u64::from(b)));
            h.number(position as u64);
            h.number(u64::from(e.flags));
            let all = || e.members.iter().chain(&e.aliases);
            all().for_each(|(name, _)| h.text(name));
            many(&mut h, &all().map(|(_, value)| *value).collect::<Vec<_>>())?
        }
        Object::Array { ty: t, shape, strides, on_gpu } => {
            h.number(u64::from(on_gpu));
            for n in shape.iter().chain(&strides) {
                h.number(*n as u64);
            }
            ty(&mut h, "array", t, py)
        }
        Object::Ufunc(u) => {
            ufunc(&mut h, &u);
            many(&mut h, &[table::function_object(u.func).0])?
        }
        Object::Partial { func, args, keywords } => {
            keywords.iter().for_each(|(name, _)| h.text(name));
            h.number(args.len() as u64);
            let values = keywords.iter().map(|(_, value)| *value);
            many(&mut h, &std::iter::once(func).chain(args).chain(values).collect::<Vec<_>>())?
        }
        Object::Getter { class, args, keywords } => {
            texts(&mut h, &["getter", &class]);
            keywords.iter().for_each(|(name, _)| h.text(name));
            let values = keywords.iter().map(|(_, value)| *value);
            many(&mut h, &args.into_iter().chain(values).collect::<Vec<_>>())?
        }
        Object::BoundMethod(own, name) => {
            texts(&mut h, &["method", &name]);
            many(&mut h, &[own])?
        }
        Object::Cached(func, limit) => {
            texts(&mut h, &["cached", &format!("{limit:?}")]);
            many(&mut h, &[func])?
        }
        Object::Stencil(s) => {
            stencil(&mut h, &s);
            let kernel = table::function_object(s.func).0;
            many(&mut h, &s.cval.into_iter().chain([kernel]).collect::<Vec<_>>())?
        }
        // The code around a block compares its effect.
        Object::Foreign(_) if objmode::is_block(&object) => {
            h.text("block");
            let result = table::intern(&object.getattr(intern!(py, "result"))?);
            many(&mut h, &[result])?
        }
        Object::Foreign(f) => match &f.identity {
            Some(identity) => texts(&mut h, &["foreign", &f.name, identity]),
            None => None,
        },
        // The code is in another file.
        Object::Linked(_) => None,
        // The object may change.
        Object::Extension(_) => None,
        Object::Frame(bytes) => texts(&mut h, &["frame", &bytes.to_string()]),
        Object::Ellipsis => texts(&mut h, &["..."]),
        Object::Other(text) => {
            class(&mut h, &object.get_type())?;
            texts(&mut h, &["other", &text])
        }
    };
    Ok(whole.map(|()| h.finish()))
}

fn texts(h: &mut Hasher, all: &[&str]) -> Option<()> {
    all.iter().for_each(|t| h.text(t));
    Some(())
}

/// The properties of a ufunc besides its function.
fn ufunc(h: &mut Hasher, u: &Ufunc) {
    let types = |l: &Vec<Ty>| l.iter().map(|t| t.numba().to_string()).collect::<Vec<_>>().join(",");
    let loops = u.loops.iter().map(types).collect::<Vec<_>>().join(";");
    let rest = format!("{} {} {:?} {:?} {:?} {:?}", u.nin, u.grows, u.nout, u.identity, u.writable, u.layout);
    texts(h, &["ufunc", &u.name, &loops, &rest]);
}

/// The properties of a stencil besides its function and the value of its border.
fn stencil(h: &mut Hasher, s: &Stencil) {
    let rest = format!("{:?} {:?} {:?}", s.neighborhood, s.standard, s.shifts);
    texts(h, &["stencil", &s.name, &rest]);
}

fn constant(h: &mut Hasher, c: &Const) {
    h.text("constant");
    h.text(&c.ty().to_string());
    h.number(u64::from(c.ty().is_weak()));
    match c {
        Const::None => {}
        Const::Bool(b) => h.number(u64::from(*b)),
        Const::Int(i, _) => h.bytes(&i.to_le_bytes()),
        Const::Float(x, _) => h.number(x.to_bits()),
        Const::Complex(re, im, _) => {
            h.number(re.to_bits());
            h.number(im.to_bits());
        }
        Const::Str(s) => h.text(s),
    }
}

/// Hashes a type, with the classes of named tuples in it; `None` if it mentions another object.
fn ty(h: &mut Hasher, what: &str, t: Ty, py: Python<'_>) -> Option<()> {
    h.text(what);
    h.text(&t.numba().to_string());
    mentions(h, t, py, &mut Vec::new())
}

fn mentions(h: &mut Hasher, t: Ty, py: Python<'_>, seen: &mut Vec<Class>) -> Option<()> {
    match t.kind() {
        TyKind::Tuple { elems, name } => {
            if let Some(n) = name {
                named(h, &table::object(py, n.class)).ok()?;
            }
            elems.iter().try_for_each(|t| mentions(h, *t, py, seen))
        }
        TyKind::Class(c) => {
            h.text(c.class.path());
            if let Some(user) = c.class.user() {
                class(h, table::object(py, user.class).cast::<PyType>().ok()?).ok()?;
                if !seen.contains(&c.class) {
                    seen.push(c.class);
                    fields(h, c.class, py, seen)?;
                }
            }
            c.args.iter().try_for_each(|t| mentions(h, *t, py, seen))
        }
        TyKind::Optional(t) | TyKind::DType(t) => mentions(h, *t, py, seen),
        TyKind::Instance { class: InstanceOf::Enum { .. } | InstanceOf::Error { .. }, .. } => None,
        TyKind::Instance { of, class: InstanceOf::Function { .. } } => mentions(h, *of, py, seen),
        TyKind::Func(_)
        | TyKind::Obj(_)
        | TyKind::Closure { .. }
        | TyKind::BoundMethod { .. }
        | TyKind::Extension { .. } => None,
        _ => Some(()),
    }
}

/// A class with fields: their names and types. Its methods are attributes, which are compared by themselves.
fn user_class(py: Python<'_>, h: &mut Hasher, c: &UserClass) -> PyResult<Option<()>> {
    texts(h, &["fields", c.class.path()]);
    texts(h, &[&format!("{:?} {:?} {:?} {}", c.class.user().map(|u| u.is_shared), c.shown, c.extra, c.is_record)]);
    if fields(h, c.class, py, &mut vec![c.class]).is_none() {
        return Ok(None);
    }
    c.makes.iter().for_each(|f| h.text(&format!("{:?} {} {}", f.parameter, f.default.is_some(), f.factory.is_some())));
    Ok(Some(()))
}

/// Names and types of a class' fields, and those of the classes of these types.
fn fields(h: &mut Hasher, c: Class, py: Python<'_>, seen: &mut Vec<Class>) -> Option<()> {
    c.user_fields().iter().try_for_each(|(name, t)| {
        h.text(name);
        let t = t.unwrap_or(Ty::none()).defined();
        h.text(&t.numba().to_string());
        mentions(h, t, py, seen)
    })
}

/// The objects of which the fields of new instances are made.
fn objects_of(c: &UserClass) -> Vec<ObjId> {
    c.makes.iter().flat_map(|f| [f.default, f.factory]).flatten().chain(c.frozen.map(|(e, _)| e)).collect()
}

/// A class by its name.
fn class(h: &mut Hasher, class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    let module: String = class.getattr(intern!(py, "__module__"))?.extract().unwrap_or_default();
    texts(h, &["class", &module, &class.qualname()?.to_string()]);
    Ok(())
}

fn ancestors(h: &mut Hasher, o: &Bound<'_, PyAny>) -> PyResult<()> {
    for c in o.cast::<PyType>()?.mro().iter() {
        class(h, c.cast::<PyType>()?)?;
    }
    Ok(())
}

fn named(h: &mut Hasher, o: &Bound<'_, PyAny>) -> PyResult<()> {
    class(h, o.cast::<PyType>()?)?;
    let fields: Vec<String> = o.getattr(intern!(o.py(), "_fields"))?.extract()?;
    h.number(fields.len() as u64);
    fields.iter().for_each(|f| h.text(f));
    Ok(())
}

/// A function: code, defaults, and its decorator's options.
fn function(h: &mut Hasher, o: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<()>> {
    let py = o.py();
    let o = &decorated::device_function(o)?.unwrap_or_else(|| o.clone());
    h.text("function");
    if let Some(decorated) = decorated::of(o) {
        h.text(&format!("{:?}", decorated.options()));
        for (name, t) in decorated.locals(py) {
            h.text(&name);
            if ty(h, "local", t, py).is_none() {
                return Ok(None);
            }
        }
        // Callers convert to these types.
        for (args, ret) in decorated.limits() {
            h.number(args.len() as u64);
            for t in args.into_iter().chain(ret) {
                if ty(h, "limit", t, py).is_none() {
                    return Ok(None);
                }
            }
        }
    }
    let f = decorated::py_func(o).unwrap_or_else(|| o.clone());
    code(h, f.getattr(intern!(py, "__code__"))?.cast::<PyCode>()?)?;
    for (_, value) in function::defaults(&f)? {
        let Some(d) = at_depth(py, table::intern(&value), depth + 1)? else { return Ok(None) };
        h.digest(&d);
    }
    if let Ok(values) = f.getattr(intern!(py, "__kwdefaults__"))?.cast::<PyDict>() {
        for k in values.keys().iter() {
            h.text(&k.extract::<String>()?);
        }
    }
    Ok(Some(()))
}

/// A code object, but for the name of its file.
fn code(h: &mut Hasher, c: &Bound<'_, PyCode>) -> PyResult<()> {
    let py = c.py();
    h.text("code");
    let numbers = [
        intern!(py, "co_argcount"),
        intern!(py, "co_posonlyargcount"),
        intern!(py, "co_kwonlyargcount"),
        intern!(py, "co_flags"),
        intern!(py, "co_stacksize"),
        intern!(py, "co_firstlineno"),
    ];
    for name in numbers {
        h.number(c.getattr(name)?.extract::<i64>()? as u64);
    }
    for name in [intern!(py, "co_code"), intern!(py, "co_exceptiontable"), intern!(py, "co_linetable")] {
        h.bytes(c.getattr(name)?.cast::<PyBytes>()?.as_bytes());
    }
    let lists = [
        intern!(py, "co_names"),
        intern!(py, "co_varnames"),
        intern!(py, "co_cellvars"),
        intern!(py, "co_freevars"),
        intern!(py, "co_consts"),
    ];
    for name in [intern!(py, "co_name"), intern!(py, "co_qualname")] {
        code_constant(h, &c.getattr(name)?)?;
    }
    for name in lists {
        code_constant(h, &c.getattr(name)?)?;
    }
    Ok(())
}

/// A constant of a code object.
fn code_constant(h: &mut Hasher, c: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = c.py();
    if c.is_none() {
        h.text("None");
    } else if let Ok(b) = c.cast_exact::<PyBool>() {
        h.text(if b.is_true() { "True" } else { "False" });
    } else if c.is_exact_instance_of::<PyInt>() {
        // SAFETY: an int, attached; the result is a new reference. Decimal texts have a limit, hexadecimal ones have
        // not.
        let text = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyNumber_ToBase(c.as_ptr(), 16))? };
        h.text(text.cast::<PyString>()?.to_str()?);
    } else if c.is_exact_instance_of::<PyFloat>() {
        h.text("float");
        h.number(c.extract::<f64>()?.to_bits());
    } else if let Ok(z) = c.cast_exact::<PyComplex>() {
        h.text("complex");
        h.number(z.real().to_bits());
        h.number(z.imag().to_bits());
    } else if c.is_exact_instance_of::<PyString>() {
        h.text("str");
        let bytes = c.call_method1(intern!(py, "encode"), (intern!(py, "utf-8"), intern!(py, "surrogatepass")))?;
        h.bytes(bytes.cast::<PyBytes>()?.as_bytes());
    } else if let Ok(b) = c.cast_exact::<PyBytes>() {
        h.text("bytes");
        h.bytes(b.as_bytes());
    } else if let Ok(items) = c.cast_exact::<PyTuple>() {
        h.text("tuple");
        h.number(items.len() as u64);
        items.iter().try_for_each(|i| code_constant(h, &i))?;
    } else if c.is_exact_instance_of::<PyFrozenSet>() {
        // The order of a set differs from process to process.
        let mut items = Vec::new();
        for i in c.try_iter()? {
            let mut one = Hasher::new("item");
            code_constant(&mut one, &i?)?;
            items.push(one.finish());
        }
        items.sort();
        h.text("frozenset");
        h.number(items.len() as u64);
        items.iter().for_each(|d| h.digest(d));
    } else if let Ok(inner) = c.cast_exact::<PyCode>() {
        code(h, inner)?;
    } else if c.is_exact_instance_of::<PySlice>() {
        h.text("slice");
        for part in ["start", "stop", "step"] {
            code_constant(h, &c.getattr(part)?)?;
        }
    } else if c.is_exact_instance_of::<PyEllipsis>() {
        h.text("...");
    } else {
        class(h, &c.get_type())?;
    }
    Ok(())
}
