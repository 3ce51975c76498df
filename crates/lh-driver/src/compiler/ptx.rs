//! Code that comes as PTX: kernels, compiled for the CPU device, and functions that kernels are linked with.

use crate::code::group::Group;
use crate::code::image::Image;
use crate::kernel;
use crate::source_info::SourceInfo;
use crate::spec::{Body, Spec, callees};
use lh_cuda::KernelInfo;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Options, waits};
use lh_ir::{FuncId, Function, SpecId, Ty};
use lh_ptx::Lifting;
use std::collections::HashMap;
use std::sync::Arc;

/// A kernel that came as PTX.
pub struct LiftedKernel {
    /// The facts that a launch needs.
    pub kernel: KernelInfo,
    /// Types of its parameters: unsigned integers.
    pub params: Vec<Ty>,
    /// Its typed functions, the kernel first.
    pub functions: Vec<Arc<Function>>,
    image: Image,
    /// Its module's variables.
    pub variables: Vec<lh_ptx::Variable>,
    /// Warnings of passes that have been undone.
    pub warnings: Vec<Diagnostic>,
}

impl LiftedKernel {
    /// Where it begins.
    pub fn entry(&self) -> lh_llvm::EntryPoint {
        self.image.entry
    }
}

/// Options of lifted functions: PTX has no checks but its own.
fn options(device: Device) -> Options {
    Options { boundscheck: false, numpy_errors: true, device, ..Options::default() }
}

/// Compiles a kernel of a module, which may be left unnamed if it is the only one.
///
/// With `converged`, threads of a warp that part before a barrier are a RuntimeError.
///
/// # Errors
/// The fault of the PTX.
pub fn compile_lifted(text: &str, name: Option<&str>, converged: bool) -> Result<LiftedKernel> {
    let (kernel, function) = (options(Device::Kernel), options(Device::Function));
    let lifted = lh_ptx::lift(text, Lifting { kernel, function, first: 0, converged, is_called: false })?;
    let found = match (name, &lifted.kernels[..]) {
        (None, [(_, at)]) => Some(*at),
        (Some(n), all) => all.iter().find(|(k, _)| k == n).map(|(_, at)| *at),
        (None, _) => None,
    };
    let Some(entry) = found else {
        let names = lifted.kernels.iter().map(|(n, _)| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        return Err(
            Diagnostic::new(diag::BAD_PTX, "the PTX has no such kernel").note(format!("its kernels are: {names}"))
        );
    };
    let params = lifted.functions[entry].params().iter().map(|p| lifted.functions[entry].ty(*p)).collect();
    let by_name: HashMap<&str, usize> = lifted.functions.iter().enumerate().map(|(i, f)| (&*f.name, i)).collect();
    let place: HashMap<SpecId, usize> = lifted.names.iter().map(|(s, n)| (*s, by_name[&**n])).collect();
    let mut done: Vec<Option<Arc<Function>>> = vec![None; lifted.functions.len()];
    let mut order = Vec::new();
    optimise(entry, &lifted.functions, &place, &mut done, &mut Vec::new(), &mut order);
    // Callees have been made before their callers; the kernel is last, and has to be first.
    let functions: Vec<Arc<Function>> = order.iter().rev().filter_map(|i| done[*i].clone()).collect();
    let warnings = functions.iter().flat_map(|f| f.undone.clone()).collect();
    let (functions, kernel) = kernel::place_memory(functions);
    let Some(kernel) = kernel else { lh_ir::bug!("`{}` is no kernel", functions[0].name) };
    let group = Group::of_entry(functions, lifted.names, Vec::new());
    let output = lh_llvm::compile(&group.unit(lh_llvm::Wanted::default(), lh_llvm::Rare::Here));
    let image = Image::load(&output.object, &group.functions[0].name, &group.outsiders(&HashMap::new()));
    Ok(LiftedKernel { kernel, params, functions: group.functions, image, variables: lifted.variables, warnings })
}

/// Device functions by name: their numbers, and how many parameters each has.
pub(super) type LinkedFunctions = HashMap<String, (SpecId, usize)>;

/// Device functions that are linked: their specialisations, names and numbers, and the module's variables.
pub(super) struct Linked {
    pub specs: Vec<Spec>,
    pub by_name: LinkedFunctions,
    pub variables: Vec<lh_ptx::Variable>,
    pub undone: Vec<Diagnostic>,
}

/// Lifts the device functions of a module, as specialisations with numbers from `first`.
///
/// # Errors
/// The fault of the PTX.
pub(super) fn link(text: &str, device: Device, caller: FuncId, first: usize) -> Result<Linked> {
    let (kernel, function, number) = (options(Device::Kernel), options(device), first as u32);
    let lifting = Lifting { kernel, function, first: number, converged: false, is_called: true };
    let mut lifted = lh_ptx::lift(text, lifting)?;
    // Other modules may have functions of these names.
    for (at, f) in lifted.functions.iter_mut().enumerate() {
        f.name = format!("{}.{}", f.name, first + at);
    }
    if device == Device::Gpu && !lifted.variables.is_empty() {
        return Err(Diagnostic::new(diag::NOT_ON_DEVICE, "linked PTX with variables cannot become part of other PTX"));
    }
    let place: HashMap<SpecId, usize> = lifted.names.keys().map(|s| (*s, s.index() - first)).collect();
    let mut done: Vec<Option<Arc<Function>>> = vec![None; lifted.functions.len()];
    let own_params: Vec<usize> = lifted.functions.iter().map(|f| f.params().len()).collect();
    for at in (0..done.len()).filter(|at| lifted.kernels.iter().all(|(_, k)| k != at)) {
        optimise(at, &lifted.functions, &place, &mut done, &mut Vec::new(), &mut Vec::new());
    }
    let undone = done.iter().flatten().flat_map(|f| f.undone.clone()).collect();
    let (mut specs, mut by_name) = (Vec::new(), HashMap::new());
    for (at, func) in done.into_iter().enumerate() {
        let id = SpecId::new(first + at);
        let body = func.map(|func| Body {
            primal: None,
            callees: callees(&func),
            func,
            inlinable: None,
            deps: Vec::new(),
            source: Arc::new(SourceInfo::default()),
            offsets: Vec::new(),
            summary: Arc::new(lh_opt::Summary::unknown()),
        });
        if body.is_some() {
            by_name.insert(lifted.names[&id].clone(), (id, own_params[at]));
        }
        let name = lifted.functions[at].name.clone();
        specs.push(Spec { name, func: caller, ret: Ty::none(), body: body.map(Box::new), is_library: true, scope: 0 });
    }
    Ok(Linked { specs, by_name, variables: lifted.variables, undone })
}

/// Runs the passes on a function after those that it calls, whose waits it has, too.
fn optimise(
    at: usize,
    all: &[Function],
    place: &HashMap<SpecId, usize>,
    done: &mut [Option<Arc<Function>>],
    open: &mut Vec<usize>,
    order: &mut Vec<usize>,
) {
    if done[at].is_some() || open.contains(&at) {
        return;
    }
    open.push(at);
    let mut func = all[at].clone();
    for c in callees(&func) {
        let callee = place[&c];
        optimise(callee, all, place, done, open, order);
        func.kernel.waits |= done[callee].as_ref().map_or(waits::ALL, |f| f.kernel.waits);
    }
    open.pop();
    lh_opt::run_lifted(&mut func);
    done[at] = Some(Arc::new(func));
    order.push(at);
}
