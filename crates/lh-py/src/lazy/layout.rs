//! The objects of the graph: structs whose fields Python reads as slots. Python derives its classes from these.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyDict, PyTuple};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// A field: an object, or null where nothing was assigned.
#[repr(transparent)]
pub struct Field(*mut ffi::PyObject);

/// The object in a field; `None` where it is None or nothing was assigned.
///
/// # Safety
/// The field is one of the object's.
#[inline(always)]
unsafe fn get<'py>(of: &Bound<'py, PyAny>, field: *const Field) -> Option<Bound<'py, PyAny>> {
    with_critical_section(of, || {
        // SAFETY: as promised; nobody assigns to the field meanwhile.
        unsafe {
            let found = (*field).0;
            (!found.is_null() && found != ffi::Py_None()).then(|| Bound::from_borrowed_ptr(of.py(), found))
        }
    })
}

/// Assigns to a field.
///
/// # Safety
/// The field is one of the object's.
#[inline(always)]
unsafe fn set<'py>(of: &Bound<'py, PyAny>, field: *mut Field, value: Bound<'py, PyAny>) {
    let before = with_critical_section(of, || {
        // SAFETY: as promised; nobody else uses the field meanwhile.
        unsafe { std::mem::replace(&mut (*field).0, value.into_ptr()) }
    });
    // SAFETY: the reference was the field's.
    unsafe { ffi::Py_XDECREF(before) };
}

/// The functions that the interpreter calls for objects with so many fields behind the header.
unsafe extern "C" fn traverse<const N: usize>(o: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: CPython calls this with a live instance.
    unsafe {
        let class = ffi::Py_TYPE(o).cast::<ffi::PyObject>();
        let fields = std::slice::from_raw_parts(o.add(1).cast::<Field>(), N);
        for o in fields.iter().map(|f| f.0).chain([class]) {
            if !o.is_null() {
                let stop = visit(o, arg);
                if stop != 0 {
                    return stop;
                }
            }
        }
        0
    }
}

unsafe extern "C" fn clear<const N: usize>(o: *mut ffi::PyObject) -> c_int {
    // SAFETY: CPython calls this with a live instance.
    unsafe {
        for field in std::slice::from_raw_parts_mut(o.add(1).cast::<Field>(), N) {
            ffi::Py_CLEAR(&mut field.0);
        }
    }
    0
}

unsafe extern "C" fn dealloc<const N: usize>(o: *mut ffi::PyObject) {
    // SAFETY: CPython calls this once, with an instance that nobody refers to.
    unsafe {
        let class = ffi::Py_TYPE(o);
        ffi::PyObject_GC_UnTrack(o.cast());
        clear::<N>(o);
        ffi::PyObject_GC_Del(o.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// A class whose instances have so many fields, and then some bytes.
pub struct Spec<'a, const N: usize> {
    pub name: &'static CStr,
    pub doc: &'static CStr,
    pub fields: [&'static CStr; N],
    /// Bytes of an instance.
    pub size: usize,
    pub members: &'a [ffi::PyMemberDef],
    pub slots: &'a [(c_int, *mut c_void)],
    pub flags: std::ffi::c_ulong,
}

/// Offset of a field.
pub const fn offset(k: usize) -> ffi::Py_ssize_t {
    (size_of::<ffi::PyObject>() + k * size_of::<Field>()) as ffi::Py_ssize_t
}

/// A row of a table of members.
pub const fn member(name: &'static CStr, type_code: c_int, offset: ffi::Py_ssize_t, flags: c_int) -> ffi::PyMemberDef {
    ffi::PyMemberDef { name: name.as_ptr(), type_code, offset, flags, doc: std::ptr::null() }
}

/// Makes a class, once, when the module is made.
pub fn class<'py, const N: usize>(py: Python<'py>, spec: &Spec<'_, N>) -> PyResult<Bound<'py, PyAny>> {
    // The class refers to these tables as long as it lives, which is forever.
    let fields = spec.fields.iter().enumerate();
    let mut members: Vec<_> = fields.map(|(k, name)| member(name, ffi::Py_T_OBJECT_EX, offset(k), 0)).collect();
    members.extend_from_slice(spec.members);
    // SAFETY: all zeros end the table.
    members.push(unsafe { std::mem::zeroed() });
    let mut slots: Vec<_> = spec.slots.iter().map(|&(slot, pfunc)| ffi::PyType_Slot { slot, pfunc }).collect();
    for (slot, pfunc) in [
        (ffi::Py_tp_dealloc, dealloc::<N> as *mut c_void),
        (ffi::Py_tp_traverse, traverse::<N> as *mut c_void),
        (ffi::Py_tp_clear, clear::<N> as *mut c_void),
        (ffi::Py_tp_members, members.leak().as_mut_ptr().cast()),
        (ffi::Py_tp_doc, spec.doc.as_ptr().cast_mut().cast()),
        (0, std::ptr::null_mut()),
    ] {
        slots.push(ffi::PyType_Slot { slot, pfunc });
    }
    let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_IMMUTABLETYPE | spec.flags;
    let mut spec = ffi::PyType_Spec {
        name: spec.name.as_ptr(),
        basicsize: spec.size as c_int,
        itemsize: 0,
        flags: flags as _,
        slots: slots.leak().as_mut_ptr(),
    };
    // SAFETY: the spec and its tables are complete; the new type is ours, or null with an exception set.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
    // The module may be removed, but instances and the code above still refer to the class.
    std::mem::forget(class.clone());
    Ok(class)
}

/// An instance whose fields are null.
#[inline(always)]
pub fn instance<'py>(class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: it is a class that derives from one of this module; the instance is zeroed and tracked.
    unsafe { Bound::from_owned_ptr_or_err(class.py(), ffi::PyType_GenericAlloc(class.as_ptr().cast(), 0)) }
}

/// A class of the graph: its struct, and a reference to an instance with functions that read and write the fields.
macro_rules! object {
    (
        $(#[$doc:meta])* $object:ident, $reference:ident:
        $($(#[$field_doc:meta])* $field:ident $set:ident,)* ; $($more:ident $ty:ty),*
    ) => {
        #[repr(C)]
        pub struct $object {
            base: ffi::PyObject,
            $($field: Field,)*
            $($more: $ty,)*
        }

        $(#[$doc])*
        #[derive(Clone)]
        pub struct $reference<'py>(pub Bound<'py, PyAny>);

        #[allow(dead_code, reason = "all fields have both functions")]
        impl<'py> $reference<'py> {
            /// # Safety
            /// The object is an instance of the class.
            #[inline(always)]
            pub unsafe fn new(object: Bound<'py, PyAny>) -> Self {
                $reference(object)
            }
            fn object(&self) -> *mut $object {
                self.0.as_ptr().cast()
            }
            $(
                $(#[$field_doc])*
                #[inline(always)]
                pub fn $field(&self) -> Option<Bound<'py, PyAny>> {
                    // SAFETY: it is an instance.
                    unsafe { get(&self.0, &raw const (*self.object()).$field) }
                }
                #[inline(always)]
                pub fn $set(&self, value: Bound<'py, PyAny>) {
                    // SAFETY: it is an instance.
                    unsafe { set(&self.0, &raw mut (*self.object()).$field, value) }
                }
            )*
        }
    };
}

object! {
    /// An operation with its constants.
    OpObject, Op:
    /// The compiled function of this operation and no other.
    alone set_alone,
    /// The one that stores the result in an array, its last argument.
    filling set_filling,
    ; facts u64
}

/// Facts that the constructor of an operation states.
#[derive(Clone, Copy)]
pub struct Facts {
    /// Whether its result is kept where the program holds it, even if only another one was asked for.
    pub is_costly: bool,
    /// Whether its result lies in the memory of its operand.
    pub is_view: bool,
}

impl Op<'_> {
    /// The facts of an operation, which every node has.
    pub fn facts_of(op: &Bound<'_, PyAny>) -> Facts {
        // SAFETY: nodes have operations; nobody assigns to the field after the constructor.
        let facts = unsafe { (*op.as_ptr().cast::<OpObject>()).facts };
        Facts { is_costly: facts & 1 != 0, is_view: facts & 2 != 0 }
    }
}

object! {
    /// An operation of the graph, or an array that is there.
    NodeObject, Node:
    op set_op,
    inputs set_inputs,
    shape set_shape,
    dtype set_dtype,
    dynamic set_dynamic,
    device set_device,
    place set_place,
    value set_value,
    parts set_parts,
    schedule set_schedule,
    ; serial u64
}

object! {
    /// Where the elements of a view lie in the memory of another array.
    ViewObject, View:
    owner set_owner,
    shadow set_shadow,
    whole set_whole,
    now set_now,
    read set_read,
    version set_version,
    asked set_asked,
    ;
}

object! {
    /// An array: a view of storage whose contents are a node.
    LazyObject, Lazy:
    node set_node,
    view set_view,
    ;
}

impl Node<'_> {
    /// The place of the node among all, in the order of the program.
    pub fn serial(&self) -> u64 {
        // SAFETY: it is an instance, of which nobody changes the number.
        unsafe { (*self.object()).serial }
    }
}

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A node of which nothing is known.
#[inline(always)]
pub fn node<'py>(class: &Bound<'py, PyAny>) -> PyResult<Node<'py>> {
    let py = class.py();
    let made = Node(instance(class)?);
    let (none, empty) = (py.None().into_bound(py), PyTuple::empty(py).into_any());
    made.set_dynamic(empty.clone());
    made.set_parts(empty);
    made.set_device(none.clone());
    made.set_place(none.clone());
    made.set_value(none.clone());
    made.set_schedule(none);
    // SAFETY: nobody else knows the instance.
    unsafe { (*made.object()).serial = COUNT.fetch_add(1, Ordering::Relaxed) };
    Ok(made)
}

/// An array of a node's contents, or a view.
#[inline(always)]
pub fn array<'py>(
    class: &Bound<'py, PyAny>,
    node: Bound<'py, PyAny>,
    view: Option<View<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let made = Lazy(instance(class)?);
    made.set_node(node);
    made.set_view(view.map_or_else(|| py.None().into_bound(py), |v| v.0));
    Ok(made.0)
}

unsafe extern "C" fn new_node(
    class: *mut ffi::PyTypeObject,
    _args: *mut ffi::PyObject,
    _named: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with a class that derives from this one, attached.
    let class = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), class.cast()) };
    match node(&class) {
        Ok(made) => made.0.into_ptr(),
        Err(error) => {
            error.restore(class.py());
            std::ptr::null_mut()
        }
    }
}

/// `Node(op, inputs, shape, dtype, dynamic=(), value=None, device=None)`.
fn begin<'py>(made: &Node<'py>, args: &Bound<'py, PyTuple>, named: Option<&Bound<'py, PyDict>>) -> PyResult<()> {
    const NAMES: [&str; 7] = ["op", "inputs", "shape", "dtype", "dynamic", "value", "device"];
    let py = args.py();
    let mut given: [Option<Bound<'py, PyAny>>; 7] = Default::default();
    if args.len() > NAMES.len() {
        return Err(PyTypeError::new_err(format!("Node() takes at most 7 arguments, not {}", args.len())));
    }
    for (place, value) in given.iter_mut().zip(args.iter()) {
        *place = Some(value);
    }
    for (name, value) in named.iter().flat_map(|n| n.iter()) {
        let name: &str = name.extract()?;
        let place = NAMES.iter().position(|n| *n == name);
        let place = place.ok_or_else(|| PyTypeError::new_err(format!("Node() takes no argument {name}")))?;
        given[place] = Some(value);
    }
    let [op, inputs, shape, dtype, dynamic, value, device] = given;
    let (Some(op), Some(inputs), Some(shape), Some(dtype)) = (op, inputs, shape, dtype) else {
        return Err(PyTypeError::new_err("Node() needs an operation, inputs, a shape and a type"));
    };
    let mut device = device.filter(|d| !d.is_none());
    for input in inputs.cast::<PyTuple>()?.iter_borrowed() {
        // SAFETY: the inputs of nodes are nodes.
        let Some(other) = unsafe { Node::new(input.to_owned()) }.device() else { continue };
        match &device {
            Some(known) if known.is(&other) => {}
            Some(known) => super::setup::setup(py)?.check_devices(&op, known, &other)?,
            None => device = Some(other),
        }
    }
    made.set_op(op);
    made.set_inputs(inputs);
    made.set_shape(shape);
    made.set_dtype(dtype);
    if let Some(dynamic) = dynamic {
        made.set_dynamic(dynamic);
    }
    if let Some(value) = value {
        made.set_value(value);
    }
    if let Some(device) = device {
        made.set_device(device);
    }
    Ok(())
}

unsafe extern "C" fn init_node(this: *mut ffi::PyObject, args: *mut ffi::PyObject, named: *mut ffi::PyObject) -> c_int {
    // SAFETY: CPython calls this with an instance, a tuple, and a dictionary or null, attached.
    let (py, result) = unsafe {
        let py = Python::assume_attached();
        let made = Node::new(Bound::from_borrowed_ptr(py, this));
        let args = Bound::from_borrowed_ptr(py, args).cast_into_unchecked();
        let named = Bound::from_borrowed_ptr_or_opt(py, named).map(|n| n.cast_into_unchecked());
        (py, begin(&made, &args, named.as_ref()))
    };
    match result {
        Ok(()) => 0,
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

/// Adds the classes that Python derives from.
pub fn add_types(m: &Bound<'_, PyModule>, array_slots: &[(c_int, *mut c_void)]) -> PyResult<()> {
    let py = m.py();
    let flags = ffi::Py_TPFLAGS_BASETYPE;
    let op = Spec {
        name: c"lancehead._core.GraphOp",
        doc: c"The compiled functions of an operation.",
        fields: [c"alone", c"filling"],
        size: size_of::<OpObject>(),
        members: &[member(c"facts", ffi::Py_T_ULONGLONG, offset(2), 0)],
        slots: &[],
        flags,
    };
    m.add("GraphOp", class(py, &op)?)?;
    let node = Spec {
        name: c"lancehead._core.GraphNode",
        doc: c"The fields of a node.",
        fields: [
            c"op",
            c"inputs",
            c"shape",
            c"dtype",
            c"dynamic",
            c"device",
            c"place",
            c"value",
            c"parts",
            c"schedule",
        ],
        size: size_of::<NodeObject>(),
        members: &[member(c"serial", ffi::Py_T_ULONGLONG, offset(10), ffi::Py_READONLY)],
        slots: &[(ffi::Py_tp_new, new_node as *mut c_void), (ffi::Py_tp_init, init_node as *mut c_void)],
        flags,
    };
    m.add("GraphNode", class(py, &node)?)?;
    let view = Spec {
        name: c"lancehead._core.GraphView",
        doc: c"The fields of a view.",
        fields: [c"owner", c"shadow", c"whole", c"now", c"read", c"version", c"asked"],
        size: size_of::<ViewObject>(),
        members: &[],
        slots: &[],
        flags,
    };
    m.add("GraphView", class(py, &view)?)?;
    let array = Spec {
        name: c"lancehead._core.GraphArray",
        doc: c"The fields of an array, and what is most often done with it.",
        fields: [c"_node", c"_view"],
        size: size_of::<LazyObject>(),
        members: &[],
        slots: array_slots,
        flags,
    };
    m.add("GraphArray", class(py, &array)?)?;
    Ok(())
}
