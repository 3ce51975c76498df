//! Evaluation of a graph whose structure was evaluated before: one call of the function of its region.
//!
//! A structure is which operations there are, how they are joined and which results are kept. Python compiles what is
//! new (`lancehead.xp.regions`), and everything that has a schedule, several results or very many operations.

use crate::lazy::evaluate::{called, failed_region, has_parts, is_of, numpy_array, settle};
use crate::lazy::layout::{Node, Op};
use crate::lazy::setup::{Setup, field};
use hashbrown::HashMap;
use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use pyo3::{ffi, intern};
use smallvec::SmallVec;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Graphs with more operations may be cut in rounds.
const LARGE: usize = 64;
/// Operations that a program's array may need again after an evaluation; `_FEW` of `regions.py`.
const FEW: u32 = 8;
/// Structures that are known at once; more are forgotten, and asked of Python again.
const MOST: usize = 4096;

/// A structure: addresses of operations, the places of their operands, and the kept results.
type Key = SmallVec<[usize; 64]>;

/// A region by its structure.
struct Known {
    region: Py<PyAny>,
    function: Py<PyAny>,
    /// The operations, whose addresses are in the key.
    _ops: Vec<Py<PyAny>>,
}

static KNOWN: Mutex<Option<HashMap<Key, Known>>> = Mutex::new(None);

/// The operations that have to be computed for a node, in the order of the program; `None` if that is Python's.
fn unknown<'py>(wanted: &Node<'py>) -> PyResult<Option<Vec<Node<'py>>>> {
    let mut seen: HashMap<usize, ()> = HashMap::new();
    let mut order: Vec<Node<'py>> = Vec::new();
    let mut stack = vec![wanted.clone()];
    while let Some(node) = stack.pop() {
        if node.value().is_some() || seen.insert(node.0.as_ptr() as usize, ()).is_some() {
            continue;
        }
        if order.len() == LARGE || node.schedule().is_some() || has_parts(&node) {
            return Ok(None);
        }
        for input in field(node.inputs())?.cast_exact::<PyTuple>()?.iter_borrowed() {
            // SAFETY: the inputs of nodes are nodes.
            stack.push(unsafe { Node::new(input.to_owned()) });
        }
        order.push(node);
    }
    order.sort_by_key(Node::serial);
    Ok(Some(order))
}

/// A graph that is to be computed: operations, the nodes of arrays that they read, further operands, and its structure.
struct Graph<'py> {
    order: Vec<Node<'py>>,
    kept: SmallVec<[usize; 4]>,
    leaves: Vec<Node<'py>>,
    numbers: Vec<Bound<'py, PyAny>>,
    key: Key,
}

impl<'py> Graph<'py> {
    /// The graph behind a node; `None` if it is empty or Python's.
    fn of(wanted: &Node<'py>) -> PyResult<Option<Graph<'py>>> {
        let Some(order) = unknown(wanted)? else { return Ok(None) };
        let mut graph =
            Graph { order, kept: SmallVec::new(), leaves: Vec::new(), numbers: Vec::new(), key: Key::new() };
        let mut places: HashMap<usize, usize> = HashMap::with_capacity(2 * graph.order.len());
        // How often the operations read each other.
        let mut uses = vec![0usize; graph.order.len()];
        for i in 0..graph.order.len() {
            let node = graph.order[i].clone();
            graph.key.push(field(node.op())?.as_ptr() as usize);
            let inputs = field(node.inputs())?;
            let inputs = inputs.cast_exact::<PyTuple>()?;
            graph.key.push(inputs.len());
            for input in inputs.iter_borrowed() {
                let address = input.as_ptr() as usize;
                let place = *places.entry(address).or_insert_with(|| {
                    // SAFETY: the inputs of nodes are nodes.
                    graph.leaves.push(unsafe { Node::new(input.to_owned()) });
                    LARGE + graph.leaves.len()
                });
                if let Some(count) = uses.get_mut(place) {
                    *count += 1;
                }
                graph.key.push(place);
            }
            places.insert(node.0.as_ptr() as usize, i);
            let dynamic = field(node.dynamic())?;
            for x in dynamic.cast_exact::<PyTuple>()?.iter_borrowed() {
                let place = graph.number(&x)?;
                graph.key.push(2 * LARGE + place);
            }
        }
        graph.keep(wanted, &uses)?;
        graph.key.extend(graph.kept.iter().copied());
        Ok((!graph.order.is_empty()).then_some(graph))
    }

    /// The place of a further operand. Equal shapes and positions are one; of other numbers equality does not say
    /// enough.
    fn number(&mut self, x: &Bound<'py, PyAny>) -> PyResult<usize> {
        let is_fact = |x: &Bound<'py, PyAny>| x.is_exact_instance_of::<PyInt>() || x.is_exact_instance_of::<PyTuple>();
        if is_fact(x) {
            for (place, known) in self.numbers.iter().enumerate() {
                if is_fact(known) && known.eq(x)? {
                    return Ok(place);
                }
            }
        }
        self.numbers.push(x.clone());
        Ok(self.numbers.len() - 1)
    }

    /// Decides which results are kept: the wanted one, and those that the program holds and that would cost much again.
    fn keep(&mut self, wanted: &Node<'py>, uses: &[usize]) -> PyResult<()> {
        let at = |of: &Node<'py>| self.order.iter().position(|n| n.0.is(&of.0));
        let last = at(wanted).ok_or_else(|| PySystemError::new_err("a node that is not among those behind it"))?;
        self.kept.push(last);
        let facts = self.order.iter().map(|n| Ok(Op::facts_of(&field(n.op())?))).collect::<PyResult<Vec<_>>>()?;
        if self.order.len() <= FEW as usize && !facts.iter().any(|f| f.is_costly) {
            return Ok(());
        }
        let mut cost = vec![0u32; self.order.len()];
        for (i, node) in self.order.iter().enumerate() {
            let mut price = if facts[i].is_costly { FEW + 1 } else { 1 };
            for input in field(node.inputs())?.cast_exact::<PyTuple>()?.iter_borrowed() {
                price += self.order[..i].iter().position(|n| n.0.is(input)).map_or(0, |k| cost[k]);
            }
            // A reference of this list, and those of operations; whoever else has one may ask for the value.
            // SAFETY: a live object.
            let is_held = unsafe { ffi::Py_REFCNT(node.0.as_ptr()) } as usize > 1 + uses[i];
            cost[i] = price.min(2 * FEW);
            if i == last {
                cost[i] = 0;
            } else if price > FEW && is_held && !facts[i].is_view {
                cost[i] = 0;
                self.kept.push(i);
            }
        }
        Ok(())
    }
}

/// Gives a node its value if Python need not decide how. Raises what the operations raise.
pub fn evaluate<'py>(setup: &Setup, wanted: &Node<'py>) -> PyResult<bool> {
    let Some(graph) = Graph::of(wanted)? else { return Ok(false) };
    if graph.order.len() == 1 {
        // Operations by themselves have functions of their own.
        return Ok(false);
    }
    let py = wanted.0.py();
    let found = {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .as_ref()
            .and_then(|k| k.get(&graph.key))
            .map(|k| (k.region.clone_ref(py).into_bound(py), k.function.clone_ref(py).into_bound(py)))
    };
    let Some((region, function)) = found else { return learn(setup, graph) };
    let mut given: SmallVec<[Bound<'py, PyAny>; 8]> = SmallVec::new();
    for leaf in &graph.leaves {
        // Another thread may have been faster, and has dropped the operands.
        let Some(value) = leaf.value() else { return Ok(false) };
        given.push(value);
    }
    given.extend(graph.numbers.iter().cloned());
    let started = Instant::now();
    let results = match called(&function, &given) {
        Ok(results) => results,
        Err(error) => return Err(failed_region(setup, error, &region, list(&graph.order)?.as_any())),
    };
    region.setattr(intern!(py, "seconds"), started.elapsed().as_secs_f64())?;
    for (&at, value) in graph.kept.iter().zip(results.cast_exact::<PyTuple>()?.iter_borrowed()) {
        let node = &graph.order[at];
        let (shape, dtype) = (field(node.shape())?, field(node.dtype())?);
        if numpy_array(&value).is_some_and(|a| is_of(a, &dtype, &shape)) {
            settle(node, value.to_owned());
        } else {
            setup.settle.bind(py).call1((&node.0, value))?;
        }
    }
    Ok(true)
}

fn list<'py>(nodes: &[Node<'py>]) -> PyResult<Bound<'py, PyList>> {
    let py = nodes[0].0.py();
    PyList::new(py, nodes.iter().map(|n| &n.0))
}

/// Has Python compile and compute a graph, and keeps its region.
#[cold]
fn learn(setup: &Setup, graph: Graph<'_>) -> PyResult<bool> {
    let py = graph.order[0].0.py();
    let mut ops = Vec::new();
    for node in &graph.order {
        ops.push(field(node.op())?.unbind());
    }
    let kept: Vec<Node<'_>> = graph.kept.iter().map(|&i| graph.order[i].clone()).collect();
    let region = setup.region.bind(py).call1((list(&graph.order)?, list(&kept)?))?;
    let function = region.getattr(intern!(py, "function"))?.unbind();
    let entry = Known { region: region.unbind(), function, _ops: ops };
    let before = {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        let before = if known.len() >= MOST { std::mem::take(known) } else { HashMap::new() };
        known.insert(graph.key, entry);
        before
    };
    // Objects are dropped without the lock, as that may run Python.
    drop(before);
    Ok(true)
}
