//! Modules and functions.

mod arith;
mod bits;
mod build;
mod converge;
mod convert;
mod inst;
mod memory;
mod threads;

use crate::ast::{Func, Module, Operand, Space, StmtKind, Var};
use crate::parse::{Parsed, parse};
use build::FnLift;
use lh_ir::diag::{self, Diagnostic};
use lh_ir::func::{Function, Options};
use lh_ir::{SpecId, Ty};
use std::collections::{HashMap, HashSet};

/// A module as typed IR.
pub struct Lifted {
    /// Its functions: kernels with their parameters as unsigned integers, others with the addresses of results and
    /// parameters.
    pub functions: Vec<Function>,
    /// Names of the kernels, with their places among the functions.
    pub kernels: Vec<(String, usize)>,
    /// Names of functions by the numbers that calls have.
    pub names: HashMap<SpecId, String>,
    /// Memory of its variables, which the code has the addresses of; with their names, where the memory begins in each,
    /// and sizes.
    pub variables: Vec<Variable>,
}

/// A variable of a module, in memory.
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: usize,
    memory: Box<[u64]>,
    start: usize,
}

impl Variable {
    fn new(var: &Var) -> Variable {
        let align = var.align.max(8);
        let memory = vec![0u64; (var.size + align).div_ceil(8)].into_boxed_slice();
        let start = memory.as_ptr().addr().next_multiple_of(align) - memory.as_ptr().addr();
        Variable { name: var.name.clone(), size: var.size, memory, start }
    }
    /// Where it is.
    pub fn address(&self) -> usize {
        self.memory.as_ptr().expose_provenance() + self.start
    }
    fn write(&mut self, bytes: &[u8]) {
        for (i, b) in bytes.iter().enumerate() {
            let at = self.start + i;
            self.memory[at / 8] |= u64::from(*b) << (at % 8 * 8);
        }
    }
}

/// The context of a module's functions: other functions and variables.
pub(crate) struct ModuleCx<'m> {
    module: &'m Module,
    /// Numbers for calls.
    specs: HashMap<&'m str, (SpecId, &'m Func)>,
    /// Addresses of variables in memory.
    addresses: HashMap<&'m str, usize>,
    /// Offsets in the shared memory of a block.
    shared: HashMap<&'m str, usize>,
    shared_bytes: usize,
    shared_align: usize,
    options: Options,
    /// Functions in which a thread may end: they return whether theirs has, and callers end theirs then.
    ending: HashSet<&'m str>,
    /// Functions with barriers that a whole warp must come to together.
    aligned: HashSet<&'m str>,
    converged: bool,
}

/// How a module is lifted.
#[derive(Clone, Copy, Default)]
pub struct Lifting {
    /// Options of kernels.
    pub kernel: Options,
    /// Options of other functions.
    pub function: Options,
    /// Calls are numbered from here on.
    pub first: u32,
    /// Whether kernels raise an exception where threads of a warp part before a barrier that is for a whole warp.
    pub converged: bool,
    /// Whether functions are called from outside the module, by code that expects them to return.
    pub is_called: bool,
}

/// Reads a module.
///
/// # Errors
/// The text is not PTX, or has something that is not supported.
pub fn lift(text: &str, lifting: Lifting) -> Parsed<Lifted> {
    let Lifting { kernel, function, first, .. } = lifting;
    let module = parse(text)?;
    let mut variables = Vec::new();
    for v in module.vars.iter().filter(|v| matches!(v.space, Space::Global | Space::Const)) {
        variables.push(Variable::new(v));
    }
    let addresses: HashMap<String, usize> = variables.iter().map(|v| (v.name.clone(), v.address())).collect();
    for (var, to) in module.vars.iter().filter(|v| matches!(v.space, Space::Global | Space::Const)).zip(&mut variables)
    {
        let mut bytes = var.init.clone();
        for (at, name) in &var.addresses {
            let Some(address) = addresses.get(name) else { return Err(unknown(name)) };
            let end = (*at + 8).min(bytes.len());
            bytes[*at..end].copy_from_slice(&address.to_le_bytes()[..end - at]);
        }
        to.write(&bytes);
    }
    let mut cx = ModuleCx::new(&module, &addresses, function);
    cx.aligned = callers(&module, converge::is_aligned_barrier);
    cx.ending = callers(&module, |op| op[0] == "exit");
    cx.converged = lifting.converged;
    if let Some(name) = cx.ending.iter().find(|_| lifting.is_called) {
        return Err(Diagnostic::new(
            diag::BAD_PTX,
            format!("`exit` in `{name}`, which a kernel calls, is not supported"),
        ));
    }
    let defined: Vec<&Func> = module.funcs.iter().filter(|f| f.body.is_some()).collect();
    for (i, f) in defined.iter().enumerate() {
        cx.specs.insert(&f.name, (SpecId(first + i as u32), f));
    }
    let mut out = Lifted { functions: Vec::new(), kernels: Vec::new(), names: HashMap::new(), variables };
    for f in defined {
        cx.options = if f.is_entry { kernel } else { function };
        if f.is_entry {
            out.kernels.push((f.name.clone(), out.functions.len()));
        }
        out.names.insert(cx.specs[&*f.name].0, f.name.clone());
        out.functions.push(FnLift::lift(&cx, f)?);
    }
    Ok(out)
}

/// Functions that have an operation themselves or in one that they call.
fn callers(module: &Module, has: impl Fn(&[String]) -> bool) -> HashSet<&str> {
    let mut found: HashSet<&str> = HashSet::new();
    loop {
        let before = found.len();
        for f in &module.funcs {
            let calls = |args: &[Operand]| args.iter().any(|a| matches!(a, Operand::Name(n) if found.contains(&**n)));
            let body = f.body.as_deref().unwrap_or_default();
            let mut insts = body.iter().filter_map(|s| if let StmtKind::Inst(i) = &s.kind { Some(i) } else { None });
            if insts.any(|i| has(&i.op) || i.op[0] == "call" && calls(&i.args)) {
                found.insert(&f.name);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn unknown(name: &str) -> Box<Diagnostic> {
    Diagnostic::new(diag::BAD_PTX, format!("the PTX uses `{name}`, which it does not define"))
        .note("link what defines it too")
}

impl<'m> ModuleCx<'m> {
    fn new(module: &'m Module, addresses: &HashMap<String, usize>, options: Options) -> ModuleCx<'m> {
        let mut cx = ModuleCx {
            module,
            specs: HashMap::new(),
            addresses: module.vars.iter().filter_map(|v| Some((&*v.name, *addresses.get(&v.name)?))).collect(),
            shared: HashMap::new(),
            shared_bytes: 0,
            shared_align: 16,
            options,
            ending: HashSet::new(),
            aligned: HashSet::new(),
            converged: false,
        };
        let inner = module.funcs.iter().filter_map(|f| f.body.as_ref()).flatten();
        let inner = inner.filter_map(|s| if let StmtKind::Var(v) = &s.kind { Some(v) } else { None });
        for v in module.vars.iter().chain(inner).filter(|v| v.space == Space::Shared && v.size > 0) {
            let at = cx.shared_bytes.next_multiple_of(v.align.max(1));
            cx.shared.insert(&v.name, at);
            cx.shared_bytes = at + v.size;
            cx.shared_align = cx.shared_align.max(v.align);
        }
        cx
    }

    /// Whether shared memory of a name has the size that a launch gives.
    fn is_dynamic(&self, name: &str) -> bool {
        self.module.vars.iter().any(|v| v.name == name && v.space == Space::Shared && v.size == 0)
    }
}

/// Types of a kernel's parameter of a size in bytes.
fn slots_of(var: &Var) -> Vec<Ty> {
    match var.size {
        1 => vec![Ty::u8()],
        2 => vec![Ty::u16()],
        4 => vec![Ty::u32()],
        n => vec![Ty::u64(); n.div_ceil(8)],
    }
}
