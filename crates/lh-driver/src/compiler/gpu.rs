//! Code for a GPU: the same typing and passes, another code generator.

use super::Compiler;
use crate::compiled::Compiled;
use crate::host::{Captured, Host, contents};
use crate::kernel::{GpuKernel, at_return};
use crate::spec::Dep;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Extern, Function, Inst, Options};
use lh_ir::types::Prim;
use lh_ir::{ObjId, Span, Ty};
pub use lh_llvm::{Abi, ERROR, GRID_BARRIER, Gpu, KernelLimits, NEWEST_ISA, RaiseSite, Wanted};
use lh_llvm::{Ptx, Unit};
use std::borrow::Cow;
use std::collections::HashMap;

/// The wishes of a caller of [`Compiler::compile_ptx`].
pub struct DeviceRequest<'a> {
    /// The GPU that it is for.
    pub gpu: Gpu,
    /// The newest version of PTX that will do, times ten.
    pub newest_isa: u32,
    /// Kernel or device function.
    pub abi: Abi,
    /// Its symbol; if it is empty, one like the function's name.
    pub symbol: &'a str,
    /// Result type that a signature says.
    pub ret: Option<Ty>,
    /// Other results that are wanted beside the text.
    pub wanted: Wanted,
}

/// Code for a GPU.
pub struct DeviceCode {
    /// The text, and where it raises.
    pub ptx: Ptx,
    /// Result type.
    pub ret: Ty,
    /// Values outside the code that it has taken for constant.
    pub deps: Vec<Dep>,
    /// Its symbol.
    pub symbol: String,
    /// Arrays whose elements are in the code.
    pub captured: Vec<ObjId>,
    /// Declared functions that NVIDIA's linker is still to add.
    pub linked: Vec<ObjId>,
}

impl DeviceCode {
    /// Where exceptions are noted, by number, with the names of their classes.
    pub fn raise_sites(&self) -> impl Iterator<Item = (&'static str, &RaiseSite)> {
        self.ptx.raise_sites.iter().map(|s| (s.class(), s))
    }
}

impl Compiler {
    /// Compiles function object `f` for a GPU.
    ///
    /// # Errors
    /// The diagnostic for the first thing that cannot be compiled, or that a GPU cannot do.
    pub fn compile_ptx(
        &mut self,
        host: &mut dyn Host,
        f: ObjId,
        args: &[Ty],
        options: Options,
        request: &DeviceRequest<'_>,
    ) -> Result<DeviceCode> {
        let (spec, _) = self.specialise(host, f, args, options, None)?;
        let order = self.reachable(&[spec]);
        let mut functions: Vec<Function> = order.iter().map(|s| Function::clone(&self.body(*s).func)).collect();
        let mut names = self.names(&order);
        let mut ret = self.spec(spec).ret;
        if matches!(request.abi, Abi::Kernel(_)) && !ret.is_none() && !ret.is_never() {
            return Err(kernel_result(&functions[0], ret));
        }
        if let Some(want) = request.ret.filter(|w| *w != ret && w.is_number() && ret.is_number()) {
            convert_result(&mut functions[0], want);
            ret = want;
        }
        let mut symbol =
            if request.symbol.is_empty() { symbol(&functions[0].qualname) } else { request.symbol.to_owned() };
        let captured = referred(&functions, |w| if let Extern::Array(o) = w { Some(o) } else { None });
        let linked = referred(&functions, |w| if let Extern::Foreign(o) = w { Some(o) } else { None });
        let mut arrays: HashMap<_, _> = captured.iter().filter_map(|o| Some((*o, host.captured(*o)?))).collect();
        for o in &linked {
            let lh_infer::Object::Linked(l) = host.object(*o) else { lh_ir::bug!("not a linked function") };
            // A function of ours that has the same name is renamed.
            let own = functions.iter_mut().map(|f| &mut f.name).chain(names.values_mut()).chain([&mut symbol]);
            own.filter(|n| **n == l.name).for_each(|n| n.push_str("_own"));
            arrays.insert(*o, Captured::Function(l.name.clone()));
        }
        let gpu = room_for_parameters(&functions[0], request)?;
        let unit = Unit {
            functions: functions.into_iter().map(Cow::Owned).collect(),
            spec_names: names,
            entry: 0,
            entry_symbol: symbol.clone(),
            abi: request.abi,
            wanted: request.wanted,
            arrays,
            ..Unit::default()
        };
        let ptx = lh_llvm::compile_ptx(&unit, gpu)?;
        Ok(DeviceCode { ptx, ret, deps: self.deps(&order), symbol, captured, linked })
    }

    /// Compiles a kernel for the GPU that the options name.
    pub(super) fn compile_gpu(
        &mut self,
        host: &mut dyn Host,
        f: ObjId,
        args: &[Ty],
        options: Options,
    ) -> Result<Compiled> {
        let target = host.gpu(options.gpu);
        let (major, minor) = target.capability;
        let gpu = Gpu::new(major, minor);
        let gpu = gpu.and_then(|g| if target.isa < g.isa { g.with_isa(target.isa) } else { Some(g) });
        let refused = || {
            Diagnostic::new(
                diag::NOT_ON_DEVICE,
                format!("GPUs of compute capability {major}.{minor} are not supported"),
            )
        };
        let gpu = gpu.ok_or_else(refused)?;
        let (max_threads, min_blocks, max_registers, max_cluster) = target.limits;
        let request = DeviceRequest {
            gpu,
            newest_isa: target.isa,
            abi: Abi::Kernel(KernelLimits { max_threads, min_blocks, max_registers, max_cluster }),
            symbol: "",
            ret: None,
            wanted: Wanted { lines: target.lines, ..Wanted::default() },
        };
        let made = self.compile_ptx(host, f, args, options, &request)?;
        let site = |(class, s): (&str, &RaiseSite)| {
            (class.to_owned(), s.text.clone(), s.function.clone(), s.file.clone(), s.line)
        };
        let sites = if made.ptx.text.contains(ERROR) { made.raise_sites().map(site).collect() } else { Vec::new() };
        let contents = contents(host, &made.captured);
        let is_cooperative = made.ptx.text.contains(GRID_BARRIER);
        let (code, captured, linked) = (made.ptx.text.into_bytes(), made.captured, made.linked);
        let kernel = GpuKernel { symbol: made.symbol, code, sites, captured, contents, linked };
        let t = made.ptx.timings;
        let timings = vec![("LLVM IR", t.lower), ("optimisation", t.optimise), ("PTX", t.emit)];
        Ok(Compiled { timings, ..Compiled::gpu(args, made.deps, kernel, is_cooperative) })
    }
}

/// The GPU with a version of PTX that takes the parameters of a kernel.
///
/// # Errors
/// There are too many.
fn room_for_parameters(f: &Function, request: &DeviceRequest<'_>) -> Result<Gpu> {
    if !matches!(request.abi, Abi::Kernel(_)) {
        return Ok(request.gpu);
    }
    let prims = f.params().iter().flat_map(|p| f.ty(*p).flatten()).filter(|p| *p != Prim::Mem);
    let bytes = prims.fold(0usize, |at, p| at.next_multiple_of(p.size()) + p.size());
    request.gpu.with_parameters(bytes, request.newest_isa).map_err(|most| {
        let headline =
            format!("the arguments of `{}` take {bytes} bytes, of which a launch can pass {most}", f.qualname);
        Diagnostic::new(diag::NOT_ON_DEVICE, headline)
            .note("put numbers into an array; each array takes an address, its extents and its strides")
            .at(&f.file, Span { line: f.first_line, ..Span::default() })
    })
}

/// Objects that functions refer to, each once.
fn referred(functions: &[Function], of: impl Fn(Extern) -> Option<ObjId>) -> Vec<ObjId> {
    let insts = functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    let mut found: Vec<_> = insts.filter_map(|i| if let Inst::Extern(w) = i.inst { of(w) } else { None }).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// A name that PTX accepts for a function.
fn symbol(qualname: &str) -> String {
    let name: String = qualname
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { name } else { format!("f{name}") }
}

/// Makes a function return another type of number, that of its signature.
fn convert_result(f: &mut Function, want: Ty) {
    use lh_ir::func::{InstData, Term};
    f.ret = Some(want);
    for b in 0..f.blocks.len() {
        let Some(Term::Return(v)) = f.blocks[b].term else { continue };
        let result = f.new_value(want);
        let data = &mut f.blocks[b];
        data.insts.push(InstData { result: Some(result), inst: Inst::Cast(v), span: data.term_span });
        data.term = Some(Term::Return(result));
    }
}

/// A kernel that returns something.
fn kernel_result(f: &Function, ret: Ty) -> Box<Diagnostic> {
    let text = format!("CUDA kernel must have void return type, `{}` returns `{ret}`", f.qualname);
    at_return(Diagnostic::new(diag::NOT_ON_DEVICE, text), f)
        .note("write the result into an array, or make it a device function: `@cuda.jit(device=True)`")
}
