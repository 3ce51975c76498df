//! Classes that programs define, as classes of compiled code.
//!
//! `jitclass` declares its classes here; dataclasses, classes of `attrs` and plain classes of the program are read when
//! compiled code first meets them. A field has the type that its annotation says, if it says one; else the values of an
//! instance decide it.

use crate::host::table;
use crate::host::types::{Type, as_ty};
use crate::object::canonical::canonical;
use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_infer::world::{FieldInit, UserClass};
use lh_ir::class::{Class, User};
use lh_ir::parse::UserField;
use lh_ir::{ObjId, Ty};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{ffi, intern};
use std::sync::{Arc, LazyLock, Mutex};

/// The knowledge of a class.
#[derive(Clone)]
enum State {
    /// It is being read. Its own annotations may mention it: as this class, if all of its fields have types.
    Reading(Option<Class>),
    /// It is a class of compiled code, or none.
    Known(Option<Arc<UserClass>>),
    /// Compiled code may make instances; those of Python stay objects of Python.
    Plain(Option<Arc<UserClass>>),
}

static STATES: LazyLock<Mutex<HashMap<usize, State>>> = LazyLock::new(Default::default);

fn state(class: &Bound<'_, PyType>) -> Option<State> {
    lock(&STATES).get(&(class.as_ptr() as usize)).cloned()
}

fn set_state(class: &Bound<'_, PyType>, state: State) {
    lock(&STATES).insert(class.as_ptr() as usize, state);
}

/// How a field gets its value: its parameter of `__init__`, its default, the function that makes it.
type Made<'py> = (Option<String>, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// The description of a class: names and types of its fields, how they are made, further parameters of
/// `__init__`, the exception of assignments, the fields that `repr` shows, those that order instances.
#[derive(FromPyObject)]
struct Description<'py> {
    fields: Vec<(String, Bound<'py, PyAny>)>,
    makes: Vec<Made<'py>>,
    is_record: bool,
    extra: Vec<String>,
    frozen: Option<(Bound<'py, PyAny>, bool)>,
    shown: Option<(String, Vec<String>)>,
    order: Option<Vec<String>>,
}

/// The class of compiled code that a class is; `None` of other classes.
pub fn find(class: &Bound<'_, PyType>) -> PyResult<Option<Arc<UserClass>>> {
    match state(class) {
        Some(State::Known(known)) => return Ok(known),
        Some(State::Reading(_) | State::Plain(_)) => return Ok(None),
        None => {}
    }
    let py = class.py();
    if !class.hasattr(intern!(py, "__dataclass_fields__"))? && !class.hasattr(intern!(py, "__attrs_attrs__"))? {
        return Ok(None);
    }
    find_and(class, State::Known)
}

/// The same for a class that compiled code mentions: a plain class is one, if its `__init__` tells the fields.
pub fn find_mentioned(class: &Bound<'_, PyType>) -> PyResult<Option<Arc<UserClass>>> {
    if let Some(State::Plain(known)) = state(class) {
        return Ok(known);
    }
    let found = find(class)?;
    if found.is_some() || state(class).is_some() || !class.get_type().is(class.py().get_type::<PyType>()) {
        return Ok(found);
    }
    find_and(class, State::Plain)
}

fn find_and(class: &Bound<'_, PyType>, known: fn(Option<Arc<UserClass>>) -> State) -> PyResult<Option<Arc<UserClass>>> {
    let bases = bases_of(class)?;
    let own = User { class: table::intern(class), is_shared: false, is_struct: false, bases };
    let closed = Class::of_user(path_of(class)?, own, 0);
    set_state(class, State::Reading(Some(closed)));
    let found = read(class, own, closed).inspect_err(|_| drop(lock(&STATES).remove(&(class.as_ptr() as usize))))?;
    set_state(class, known(found.clone()));
    Ok(found)
}

fn read(class: &Bound<'_, PyType>, own: User, closed: Class) -> PyResult<Option<Arc<UserClass>>> {
    let py = class.py();
    let describe = || py.import("lancehead.classes")?.getattr("described")?.call1((class,));
    let before: Vec<usize> = lock(&STATES).keys().copied().collect();
    let told = describe()?;
    if told.is_none() {
        return Ok(None);
    }
    let mut told: Description<'_> = told.extract()?;
    let is_closed = |told: &Description<'_>| told.fields.iter().all(|(_, t)| !t.is_none());
    let made = if is_closed(&told) {
        closed
    } else {
        // Classes that were read meanwhile may mention the wrong one.
        lock(&STATES).retain(|at, _| before.contains(at));
        set_state(class, State::Reading(None));
        told = describe()?.extract()?;
        let open = told.fields.iter().filter(|(_, t)| t.is_none()).count();
        Class::of_user(path_of(class)?, own, open)
    };
    let ty = |t: &Bound<'_, PyAny>| if t.is_none() { Ok(None) } else { as_ty(t).map(Some) };
    let fields =
        told.fields.iter().map(|(name, t)| Ok((name.clone(), ty(t)?))).collect::<PyResult<Vec<UserField>>>()?;
    made.set_fields(fields);
    let number = |o: &Option<Bound<'_, PyAny>>| o.as_ref().map(table::keep);
    let makes = told.fields.iter().zip(&told.makes).map(|((name, _), (parameter, default, factory))| FieldInit {
        name: name.clone(),
        parameter: parameter.clone(),
        default: number(default),
        factory: number(factory),
    });
    Ok(Some(Arc::new(UserClass {
        class: made,
        is_record: told.is_record,
        makes: makes.collect(),
        extra: told.extra,
        frozen: told.frozen.map(|(exception, has_text)| (table::keep(&exception), has_text)),
        shown: told.shown,
        order: told.order,
    })))
}

fn path_of(class: &Bound<'_, PyType>) -> PyResult<String> {
    let module: String = class.module()?.extract()?;
    Ok(format!("{module}.{}", class.qualname()?))
}

/// A class and those of programs that it derives from.
fn bases_of(class: &Bound<'_, PyType>) -> PyResult<&'static [ObjId]> {
    const OTHERS: [&str; 4] = ["abc", "builtins", "typing", "typing_extensions"];
    let mut bases = Vec::new();
    for base in class.mro() {
        let module: String = base.getattr(intern!(class.py(), "__module__"))?.extract()?;
        if !OTHERS.contains(&module.as_str()) {
            bases.push(table::intern(&base));
        }
    }
    Ok(bases.leak())
}

/// Declares a class whose instances share the objects of compiled code, which is made of another.
pub fn declare(class: &Bound<'_, PyType>, fields: Vec<(String, Ty)>, definition: &Bound<'_, PyType>) -> PyResult<Ty> {
    let made = declare_open(class, 0, false, bases_of(definition)?)?;
    made.set_fields(fields.into_iter().map(|(name, ty)| (name, Some(ty))).collect());
    Ok(made.of(vec![], false))
}

/// Declares a class whose fields are set later; so many of them have types that its values decide.
fn declare_open(class: &Bound<'_, PyType>, open: usize, is_struct: bool, bases: &'static [ObjId]) -> PyResult<Class> {
    let own = User { class: table::intern(class), is_shared: true, is_struct, bases };
    let made = Class::of_user(path_of(class)?, own, open);
    let (makes, extra) = (vec![], vec![]);
    let known = UserClass { class: made, is_record: false, makes, extra, frozen: None, shown: None, order: None };
    set_state(class, State::Known(Some(Arc::new(known))));
    Ok(made)
}

/// Declares the class of the structs with some fields, of which so many are of any type.
#[pyfunction]
pub fn declare_struct(class_: &Bound<'_, PyType>, open: usize) -> PyResult<()> {
    declare_open(class_, open, true, &[]).map(drop)
}

/// Sets the fields of such a class: names, and types of those which are not open.
#[pyfunction]
pub fn set_struct_fields(class_: &Bound<'_, PyType>, fields: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
    let ty = |t: &Bound<'_, PyAny>| if t.is_none() { Ok(None) } else { as_ty(t).map(Some) };
    let fields = fields.iter().map(|(name, t)| Ok((name.clone(), ty(t)?))).collect::<PyResult<_>>()?;
    struct_class(class_)?.set_fields(fields);
    Ok(())
}

/// The type of structs of such a class.
#[pyfunction]
pub fn struct_type(class_: &Bound<'_, PyType>, types: Vec<Bound<'_, PyAny>>) -> PyResult<Py<Type>> {
    let types = types.iter().map(|t| Ok(canonical(as_ty(t)?))).collect::<PyResult<_>>()?;
    Type::of(class_.py(), struct_class(class_)?.of(types, false))
}

fn struct_class(class: &Bound<'_, PyType>) -> PyResult<Class> {
    at(class.as_type_ptr()).ok_or_else(|| PyTypeError::new_err("a class of structs was expected"))
}

/// The class of compiled code for the address of a class that has been declared or read.
pub fn at(class: *mut ffi::PyTypeObject) -> Option<Class> {
    match lock(&STATES).get(&(class as usize)) {
        Some(State::Known(Some(known)) | State::Plain(Some(known))) => Some(known.class),
        _ => None,
    }
}

/// The address of the class that a class of compiled code stands for.
pub fn address_of(class: Class) -> Option<usize> {
    let is_it =
        |state: &State| matches!(state, State::Known(Some(known)) | State::Plain(Some(known)) if known.class == class);
    lock(&STATES).iter().find(|(_, state)| is_it(state)).map(|(at, _)| *at)
}

/// The type of the instances of a class, if its fields have types; `None` otherwise.
#[pyfunction]
pub fn instance_type(py: Python<'_>, class_: &Bound<'_, PyType>) -> PyResult<Option<Py<Type>>> {
    let found = match state(class_) {
        Some(State::Reading(own)) => own,
        _ => find(class_)?.map(|c| c.class),
    };
    let closed = found.filter(|c| c.declaration().parameters.is_empty());
    closed.map(|c| Type::of(py, c.of(vec![], false))).transpose()
}
