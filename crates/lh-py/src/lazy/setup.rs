//! The classes and functions of Python that this room makes objects of and calls.

use crate::lazy::layout::{Lazy, Node, View};
use crate::object::numpy;
use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySet, PyString, PyTuple};

/// The registered classes and functions.
pub struct Setup {
    /// Classes that derive from those of this room.
    pub node: Py<PyAny>,
    pub view: Py<PyAny>,
    pub array: Py<PyAny>,
    /// The devices in use beside the host.
    in_use: Py<PySet>,
    /// Nodes of numbers, by their classes, values and types; and the function that adds one.
    pub numbers: Py<PyDict>,
    pub number: Py<PyAny>,
    /// The shape to which two shapes broadcast.
    pub broadcast: Py<PyAny>,
    /// An array whose memory is not used, of a shape and type.
    pub shadow: Py<PyAny>,
    /// The slower ways: to compute an array's value, to read a part of it, to compute a node, to say what failed.
    pub compute: Py<PyAny>,
    operators: Py<PyDict>,
    pub failed: Py<PyAny>,
    /// Computes a graph and gives its region; says what failed in one.
    pub region: Py<PyAny>,
    pub failed_region: Py<PyAny>,
    pub settle: Py<PyAny>,
    pub numpy: Py<PyAny>,
    /// The operation of views.
    pub strided: Py<PyAny>,
    /// The operation of copies to a device, and the error for operands on two.
    transfer: Py<PyAny>,
    mixed: Py<PyAny>,
}

static SETUP: PyOnceLock<Setup> = PyOnceLock::new();

/// The registered classes and functions, which Python registers before it makes an array.
#[inline(always)]
pub fn setup(py: Python<'_>) -> PyResult<&'static Setup> {
    match SETUP.get(py) {
        Some(found) => Ok(found),
        None => Err(PySystemError::new_err("lancehead.xp is not loaded")),
    }
}

/// Registers classes and functions by their names, once.
#[pyfunction]
pub fn register_graph(names: &Bound<'_, PyDict>) -> PyResult<()> {
    let py = names.py();
    numpy::load(py)?;
    let item = |name: &str| names.as_any().get_item(name).map(Bound::unbind);
    SETUP.get_or_try_init(py, || -> PyResult<Setup> {
        Ok(Setup {
            node: item("node")?,
            view: item("view")?,
            array: item("array")?,
            in_use: item("in_use")?.extract(py)?,
            numbers: item("numbers")?.extract(py)?,
            number: item("number")?,
            broadcast: item("broadcast")?,
            shadow: item("shadow")?,
            compute: item("compute")?,
            operators: item("operators")?.extract(py)?,
            failed: item("failed")?,
            region: item("region")?,
            failed_region: item("failed_region")?,
            settle: item("settle")?,
            numpy: item("numpy")?,
            strided: item("strided")?,
            transfer: item("transfer")?,
            mixed: item("mixed")?,
        })
    })?;
    Ok(())
}

impl Setup {
    /// Whether arrays may be on other devices than the host.
    #[inline(always)]
    pub fn has_devices(&self, py: Python<'_>) -> bool {
        self.in_use.bind(py).len() != 0
    }

    /// Raises ValueError for inputs on two devices; copies from one to the other are allowed.
    #[cold]
    pub fn check_devices<'py>(
        &self,
        op: &Bound<'py, PyAny>,
        one: &Bound<'py, PyAny>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        if op.is(&self.transfer) {
            return Ok(());
        }
        Err(PyErr::from_value(self.mixed.bind(op.py()).call1((one, other))?))
    }

    /// The function of an operator, which the module that defines it has added.
    pub fn operator<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        self.operators.bind(name.py()).as_any().get_item(name)
    }

    /// An object as an array, if it is one of this class itself.
    #[inline(always)]
    pub fn array_of<'py>(&self, o: &Bound<'py, PyAny>) -> Option<Lazy<'py>> {
        let is_one = o.get_type_ptr().cast() == self.array.as_ptr();
        // SAFETY: the class derives from that of arrays.
        is_one.then(|| unsafe { Lazy::new(o.clone()) })
    }

    /// The node of an array's contents as they are now.
    #[inline(always)]
    pub fn node_of<'py>(&self, array: &Lazy<'py>) -> PyResult<Node<'py>> {
        let Some(view) = array.view() else { return node(array.node()) };
        // SAFETY: arrays refer to views.
        let view = unsafe { View::new(view) };
        let newest = field(owner(&view)?.node())?;
        match (view.read(), view.version()) {
            (Some(read), Some(version)) if version.is(&newest) => node(Some(read)),
            _ => crate::lazy::views::read(self, &view, newest),
        }
    }

    /// A new node of an operation, whose inputs are known to be on the device.
    #[inline(always)]
    pub fn node<'py>(
        &self,
        op: Bound<'py, PyAny>,
        inputs: Bound<'py, PyTuple>,
        (shape, dtype): (Bound<'py, PyAny>, Bound<'py, PyAny>),
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Node<'py>> {
        let node = crate::lazy::layout::node(self.node.bind(op.py()))?;
        node.set_op(op);
        node.set_inputs(inputs.into_any());
        node.set_shape(shape);
        node.set_dtype(dtype);
        if let Some(device) = device {
            node.set_device(device);
        }
        Ok(node)
    }

    /// The array of a new operation, whose inputs are known to be on the device.
    #[inline(always)]
    pub fn lazy<'py>(
        &self,
        op: Bound<'py, PyAny>,
        inputs: Bound<'py, PyTuple>,
        (shape, dtype): (Bound<'py, PyAny>, Bound<'py, PyAny>),
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = op.py();
        let node = self.node(op, inputs, (shape, dtype), device)?;
        crate::lazy::layout::array(self.array.bind(py), node.0, None)
    }
}

/// The array of a new operation, whose inputs are known to be on the device.
#[pyfunction]
pub fn lazy_array<'py>(
    op: Bound<'py, PyAny>,
    inputs: Bound<'py, PyTuple>,
    shape: Bound<'py, PyAny>,
    dtype: Bound<'py, PyAny>,
    device: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    setup(op.py())?.lazy(op, inputs, (shape, dtype), device)
}

/// An array of a node's contents.
#[pyfunction]
pub fn array_of_node(node: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let class = setup(node.py())?.array.bind(node.py());
    crate::lazy::layout::array(class, node, None)
}

/// A field that every node, view or array has.
pub fn field<'py>(found: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    found.ok_or_else(|| PySystemError::new_err("an array that is not complete"))
}

/// A field that is a node.
#[inline(always)]
pub fn node<'py>(found: Option<Bound<'py, PyAny>>) -> PyResult<Node<'py>> {
    // SAFETY: only nodes are assigned to such fields.
    field(found).map(|n| unsafe { Node::new(n) })
}

/// The array in whose memory a view lies.
#[inline(always)]
pub fn owner<'py>(view: &View<'py>) -> PyResult<Lazy<'py>> {
    // SAFETY: only arrays own memory of views.
    field(view.owner()).map(|o| unsafe { Lazy::new(o) })
}
