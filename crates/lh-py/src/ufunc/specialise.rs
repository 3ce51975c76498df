//! Compilation of a ufunc for operand types: argument types of the library's inner loops, and the sources of their
//! words.

use crate::call::specialise::log_loop;
use crate::call::state;
use crate::compile::{cache, compiler};
use crate::host::held::Scope;
use crate::host::table;
use crate::object::errors::{error_of, warn};
use crate::object::numpy;
use crate::ufunc::definition::{Definition, Typed};
use crate::ufunc::inner_loop::{
    ADJACENT, Choice, Contiguous, Loop, Recipe, STRIDED, Source, Version, library_function,
};
use crate::ufunc::layout::Layout;
use crate::ufunc::sharing::{Operand, Shared};
use lh_ir::{Layout as Order, Ty, TyKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

impl Definition {
    /// Compiles for a signature: operand types of a generalised ufunc, else inputs with, perhaps, the result type.
    pub fn compile(&self, py: Python<'_>, ret: Option<Ty>, args: &[Ty]) -> PyResult<Arc<Typed>> {
        let (_scope, start) = (Scope::new(None), Instant::now());
        let made = match &self.layout {
            Some(layout) => self.compile_core(py, layout, args),
            None => self.compile_elementwise(py, ret, args),
        }?;
        log_loop(self.dispatcher.bind(py), made.declared.split_at(self.nin), start, made.code.compiled())?;
        Ok(made)
    }

    fn function(&self, py: Python<'_>) -> Ty {
        let id = table::intern(self.dispatcher.bind(py));
        Ty::new(TyKind::Func(table::function(id)))
    }

    /// The user's function, if its loops are cached.
    fn home(&self, py: Python<'_>) -> Option<lh_ir::ObjId> {
        let dispatcher = self.dispatcher.bind(py);
        let wanted = state::of(dispatcher).is_some_and(|d| d.state().options().cache);
        cache::is_wanted(py, wanted).then(|| table::intern(dispatcher))
    }

    /// How elements are shared out, if threads are to have them: of operands with elements of these sizes, and core
    /// dimensions by number.
    fn shared(&self, operands: &[(isize, &[usize])], core: usize) -> Option<Shared> {
        let mut stride = operands.len();
        let operand = |(k, (itemsize, dims)): (usize, &(isize, &[usize]))| {
            let strides = stride..stride + dims.len();
            stride = strides.end;
            let dims = dims.iter().map(|d| d + 1).zip(strides).collect();
            Operand { itemsize: *itemsize, dims, is_written: k >= self.nin || self.writable.contains(&k) }
        };
        self.parallel.then(|| Shared { operands: operands.iter().enumerate().map(operand).collect(), core })
    }

    fn compile_elementwise(&self, py: Python<'_>, ret: Option<Ty>, args: &[Ty]) -> PyResult<Arc<Typed>> {
        if args.len() != self.nin {
            let text = format!("the signature has {} arguments, the function {}", args.len(), self.nin);
            return Err(PyTypeError::new_err(text));
        }
        let ins: Vec<Ty> = args.iter().map(|t| t.strong()).collect();
        let made = compiler::result_type(py, table::intern(self.dispatcher.bind(py)), &ins, self.options)?;
        if made.is_none() {
            let name = self.dispatcher.bind(py).getattr("__name__")?;
            let text = format!("`{name}` returns None: the function of a ufunc returns a number, or a tuple of them");
            return Err(error_of(py, "TypingError", &text));
        }
        let ret = ret.unwrap_or(made);
        let outs: Vec<Ty> = match ret.tuple_elems() {
            Some(elems) => elems.iter().map(|t| t.strong()).collect(),
            None => vec![ret.strong()],
        };
        // Members that are numbers are stored as such.
        let stored = |t: &Ty| if t.as_enum().is_some() { t.native().strong() } else { *t };
        let elements: Vec<Ty> = ins.iter().copied().chain(outs.iter().map(stored)).collect();
        for t in &elements {
            check_element(py, *t)?;
        }
        if let Some(known) = self.loops().first()
            && known.elements.len() != elements.len()
        {
            return Err(PyTypeError::new_err("the loops of a ufunc have the same number of results"));
        }
        let all = 0..elements.len();
        let sources =
            std::iter::once(Source::Dim(0)).chain(all.clone().map(Source::Address)).chain(all.map(Source::Step));
        let sizes = elements.iter().map(|t| (*t, t.itemsize() as isize)).collect();
        let recipe = self.elementwise(py, &elements)?;
        let operands: Vec<(isize, &[usize])> = elements.iter().map(|t| (t.itemsize() as isize, &[][..])).collect();
        let shared = self.shared(&operands, 0);
        let code = Loop::new(py, sources.collect(), Choice::Strides(sizes, self.nin), recipe, shared)?;
        Ok(Arc::new(Typed { declared: elements.clone(), elements, code: Arc::new(code) }))
    }

    /// The recipes of the versions of an elementwise loop.
    fn elementwise(&self, py: Python<'_>, elements: &[Ty]) -> PyResult<Box<dyn Fn(Version) -> Recipe + Send + Sync>> {
        let (function, user) = (library_function(py, "elementwise")?, self.function(py));
        let (options, home, nin) = (self.options, self.home(py), self.nin);
        let elements = elements.to_vec();
        Ok(Box::new(move |version| {
            let kind = |(k, t): (usize, &Ty)| {
                let d = Ty::dtype(*t);
                match version {
                    STRIDED => Ty::tuple(vec![d, Ty::none()]),
                    v if v >> k & 1 == 1 => Ty::tuple(vec![d]),
                    _ => d,
                }
            };
            let kinds: Vec<Ty> = elements.iter().enumerate().map(kind).collect();
            let (ins, outs) = kinds.split_at(nin);
            let many = |t: Ty| Ty::tuple(vec![t; kinds.len()]);
            let (ins, outs) = (Ty::tuple(ins.to_vec()), Ty::tuple(outs.to_vec()));
            let args = vec![user, ins, outs, Ty::int(), many(Ty::ptr()), many(Ty::int())];
            Recipe { function, args, options, home }
        }))
    }

    fn compile_core(&self, py: Python<'_>, layout: &Layout, args: &[Ty]) -> PyResult<Arc<Typed>> {
        let ranks: Vec<usize> = layout.operands().map(Vec::len).collect();
        if args.len() != ranks.len() {
            let text = format!("the signature has {} arguments, the layout {} operands", args.len(), ranks.len());
            return Err(PyTypeError::new_err(text));
        }
        for (i, (t, rank)) in args.iter().zip(&ranks).enumerate() {
            let (element, given) = t.as_array().map_or((*t, 0), |(d, n, ..)| (d, n));
            check_element(py, element)?;
            // A scalar operand may be written as an array of one element, an output has to be.
            let fits = given == *rank || (*rank == 0 && given == 1);
            if !fits || (i >= self.nin && !t.is_array()) {
                let want =
                    if *rank == 0 { "a one-dimensional array".to_owned() } else { format!("an array of rank {rank}") };
                let text = format!("argument {} of the signature is {t}, its layout asks for {want}", i + 1);
                return Err(PyTypeError::new_err(text));
            }
        }
        let (plan, home) = (Plan::new(layout, args, self.options.boundscheck), self.home(py));
        self.check_stores(py, &plan)?;
        let function = library_function(py, "generalised")?;
        let (user, options) = (self.function(py), self.options);
        let (contiguous, strided) = (plan.operands, plan.strided);
        let recipe = move |version| {
            let operands = if version == ADJACENT { contiguous } else { strided };
            Recipe { function, args: vec![user, Ty::int(), operands], options, home }
        };
        let size = |t: &Ty| t.as_array().map_or(*t, |(element, ..)| element).itemsize() as isize;
        let operands: Vec<(isize, &[usize])> =
            layout.operands().zip(args).map(|(dims, t)| (size(t), dims.as_slice())).collect();
        let shared = self.shared(&operands, layout.names.len());
        let code = Loop::new(py, plan.sources, Choice::Cores(plan.contiguous), Box::new(recipe), shared)?;
        let elements = args.iter().map(|t| t.as_array().map_or(*t, |(d, ..)| d).strong()).collect();
        Ok(Arc::new(Typed { declared: args.to_vec(), elements, code: Arc::new(code) }))
    }
}

impl Definition {
    /// Refuses a function that returns something, and warns of outputs that it never stores to.
    fn check_stores(&self, py: Python<'_>, plan: &Plan) -> PyResult<()> {
        let seen: Vec<Ty> = plan.operands.tuple_elems().unwrap_or_default().iter().filter_map(of_function).collect();
        let function = table::intern(self.dispatcher.bind(py));
        for k in compiler::unstored(py, function, &seen, self.options)?.into_iter().filter(|k| *k >= self.nin) {
            let name = self.dispatcher.bind(py).getattr("__name__")?;
            let text = format!(
                "`{name}` never stores to its output {}, which holds anything: write `out[0] = ...` or `out[:] = ...`, where \
                 `out = ...` only gives the name to something else",
                k - self.nin
            );
            warn(py, "NumbaWarning", &text)?;
        }
        Ok(())
    }
}

/// The type that the user's function gets for an operand of the library's `generalised`.
fn of_function(operand: &Ty) -> Option<Ty> {
    let first = *operand.tuple_elems()?.first()?;
    Some(if let TyKind::DType(t) = first.kind() { *t } else { first })
}

fn check_element(py: Python<'_>, t: Ty) -> PyResult<()> {
    if t != Ty::bf16() && numpy::num_of_ty(t).is_some() || numpy::num_of_text(t).is_some() {
        return Ok(());
    }
    let text = match t.is_time() {
        true => format!("a generalised ufunc takes no `{t}`: pass the counts, `x.view(np.int64)`"),
        false => format!("`{t}` is not a type of array elements"),
    };
    Err(error_of(py, "TypingError", &text))
}

/// Operands of the library's `generalised`: an array and its stride between calls; for a scalar its dtype, address and
/// stride.
struct Plan {
    sources: Vec<Source>,
    operands: Ty,
    /// The same operands with any strides.
    strided: Ty,
    contiguous: Vec<Contiguous>,
}

impl Plan {
    fn new(layout: &Layout, args: &[Ty], is_checked: bool) -> Plan {
        let mut sources = vec![Source::Dim(0)];
        let (mut operands, mut strided, mut contiguous) = (Vec::new(), Vec::new(), Vec::new());
        let mut step = args.len();
        for (k, (dims, t)) in layout.operands().zip(args).enumerate() {
            let steps = step..step + dims.len();
            step += dims.len();
            let Some((element, rank, order, readonly)) = t.as_array() else {
                sources.extend([Source::Address(k), Source::Step(k)]);
                let scalar = Ty::tuple(vec![Ty::dtype(t.strong()), Ty::ptr(), Ty::int()]);
                operands.push(scalar);
                strided.push(scalar);
                continue;
            };
            // Compiled code sees memory without an owner.
            sources.extend([Source::Const(0), Source::Address(k)]);
            if dims.is_empty() && rank == 1 {
                // An array of one element stands for a scalar.
                sources.extend([Source::Const(1), Source::Const(element.itemsize() as u64)]);
            } else {
                sources.extend(dims.iter().map(|d| Source::Dim(d + 1)));
                sources.extend(steps.clone().map(Source::Step));
            }
            sources.push(Source::Step(k));
            let array = |order| Ty::tuple(vec![Ty::array_ro(element, rank, order, readonly), Ty::int()]);
            let promised = order != Order::F;
            operands.push(array(if promised { Order::C } else { Order::A }));
            strided.push(array(if dims.is_empty() { Order::C } else { Order::A }));
            if !dims.is_empty() && promised {
                let dims = dims.iter().map(|d| d + 1).zip(steps).collect();
                let (itemsize, is_strict) = (element.itemsize() as isize, !is_checked);
                contiguous.push(Contiguous { itemsize, dims, is_strict });
            }
        }
        Plan { sources, operands: Ty::tuple(operands), strided: Ty::tuple(strided), contiguous }
    }
}
