//! The result of a compilation: machine code, ready to be called, with its texts, objects and dependencies.

use crate::code::group::Group;
use crate::code::image::Image;
use crate::code::lazy::Lazy;
use crate::code::words;
use crate::kernel::GpuKernel;
use crate::source_info::SourceInfo;
use crate::spec::Dep;
use lh_cuda::KernelInfo;
use lh_ir::diag::Diagnostic;
use lh_ir::func::{Extern, Function, Race};
use lh_ir::types::{Holds, TyKind};
use lh_ir::{FuncId, ObjId, SpecId, Ty};
use lh_llvm::Level;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Machine code for one function and one tuple of argument types.
pub struct Compiled {
    /// `i32 entry(const u64 *args, u64 *ret)`: every machine primitive in one 8-byte slot, both ways.
    pub entry: lh_llvm::EntryPoint,
    /// Argument types.
    pub args: Vec<Ty>,
    /// Result type.
    pub ret: Ty,
    /// Values outside the code that it has taken for constant.
    pub deps: Vec<Dep>,
    /// Arguments whose memory it may write, as in [`lh_ir::func::Foreign`], by those of them that have a form at run
    /// time.
    pub writes: u32,
    /// Whether an argument (or a part of one) may live on in the result or in another argument.
    pub escapes: bool,
    /// Address of the C function that it is, too, if it was asked for.
    pub callback: Option<usize>,
    /// Whether it may take long: otherwise it neither loops nor calls anything but what raises.
    pub may_wait: bool,
    /// The facts that a launch needs, if it is a kernel for a CUDA device.
    pub kernel: Option<KernelInfo>,
    /// Its code, if that is for a GPU.
    pub on_gpu: Option<GpuKernel>,
    /// Parallel loops that run in order because their iterations may depend on each other, each once, with its file.
    pub(crate) races: Vec<(String, Race)>,
    /// Whether the user has been told of them.
    pub told: AtomicBool,
    /// The time that each stage took.
    pub timings: Vec<(&'static str, Duration)>,
    /// Size of the object code, bytes.
    pub object_size: usize,
    /// The object code, for the cache; empty if it comes from there.
    pub(crate) object: Vec<u8>,
    /// The function of the source file that each number of a file in the object of its group means.
    pub(crate) files: Vec<(usize, FuncId)>,
    /// All functions, the entry first.
    pub(crate) functions: Vec<Arc<Function>>,
    /// The functions that were compiled together; `None` if it comes from the cache.
    pub(crate) group: Option<Arc<Group>>,
    /// The user's functions that it calls, directly or not; none if it comes from the cache.
    pub called: Vec<Called>,
    /// Source-level information about each function.
    pub(crate) sources: Vec<Arc<SourceInfo>>,
    pub(crate) names: HashMap<SpecId, String>,
    /// If the result is a generator, the function that gives its next item.
    pub advance: Option<Arc<Compiled>>,
    /// Keeps the machine code mapped.
    pub(crate) _image: Option<Image>,
    /// Functions that it calls and that are not compiled yet.
    pub(crate) _lazy: Option<Arc<Lazy>>,
}

/// A function that is part of a caller's code.
pub struct Called {
    /// Its number.
    pub function: FuncId,
    /// Types of its arguments.
    pub args: Vec<Ty>,
    /// Its result type.
    pub ret: Ty,
}

/// Text forms of compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Typed IR after optimisation.
    Typed,
    /// LLVM IR after optimisation.
    Llvm,
    /// Assembly.
    Asm,
}

impl Compiled {
    /// Parallel loops that run in order because their iterations may depend on each other, each once.
    pub fn races(&self) -> Vec<Box<Diagnostic>> {
        const HEADLINE: &str = "this parallel loop runs in order: its iterations may depend on each other";
        self.races.iter().map(|(file, race)| race.diagnostic(HEADLINE, file)).collect()
    }

    /// The parallel loops of functions that run in order.
    pub(crate) fn races_of(functions: &[Arc<Function>]) -> Vec<(String, Race)> {
        let mut out: Vec<(String, Race)> = Vec::new();
        for f in functions.iter().flat_map(|f| f.with_bodies()).filter(|f| !f.is_library) {
            for race in &f.races {
                let found = (f.file.to_string(), race.clone());
                if !out.contains(&found) {
                    out.push(found);
                }
            }
        }
        out
    }

    /// Code from the cache, which can be called but has no texts.
    pub(crate) fn loaded(
        image: Option<Image>,
        args: &[Ty],
        ret: Ty,
        deps: Vec<Dep>,
        escapes: bool,
        size: usize,
    ) -> Compiled {
        if let Some(image) = image.as_ref().filter(|_| keeps_texts(args, ret)) {
            image.keep();
        }
        extern "C" fn nowhere(_: *const u64, _: *mut u64) -> i32 {
            lh_ir::bug!("a GPU's kernel on the host")
        }
        Compiled {
            entry: image.as_ref().map_or(nowhere, |i| i.entry),
            callback: image.as_ref().and_then(|i| i.callback),
            may_wait: image.as_ref().is_none_or(|i| i.may_wait),
            args: args.to_vec(),
            ret,
            deps,
            writes: u32::MAX,
            escapes,
            kernel: None,
            on_gpu: None,
            races: Vec::new(),
            told: AtomicBool::new(false),
            timings: Vec::new(),
            object_size: size,
            object: Vec::new(),
            files: Vec::new(),
            functions: Vec::new(),
            group: None,
            called: Vec::new(),
            sources: Vec::new(),
            names: HashMap::new(),
            advance: None,
            _image: image,
            _lazy: None,
        }
    }

    /// A kernel for a GPU: it has no machine code for the host.
    pub(crate) fn gpu(args: &[Ty], deps: Vec<Dep>, code: GpuKernel, is_cooperative: bool) -> Compiled {
        let kernel = KernelInfo { is_cooperative, ..KernelInfo::default() };
        let size = code.code.len();
        Compiled {
            kernel: Some(kernel),
            on_gpu: Some(code),
            ..Compiled::loaded(None, args, Ty::none(), deps, false, size)
        }
    }

    /// Whether it comes from the cache: then it has no texts.
    pub fn is_loaded(&self) -> bool {
        self.functions.is_empty()
    }

    /// Arrays whose memory the code refers to.
    pub fn captured(&self) -> Vec<ObjId> {
        let words = words(&self.functions).into_iter();
        words.filter_map(|w| if let Extern::Array(o) = w { Some(o) } else { None }).collect()
    }

    /// The function of the source file that each number of a file means in the object of a group of these functions.
    pub(crate) fn files(&self, functions: &[Arc<Function>]) -> Vec<(usize, FuncId)> {
        let own = self.group.iter().flat_map(|g| &g.functions).collect::<Vec<_>>();
        let place = |file: &str| functions.iter().position(|f| f.file == file);
        self.files.iter().filter_map(|(n, f)| Some((place(&own.get(*n)?.file)?, *f))).collect()
    }

    /// A text form of the code, made anew.
    pub fn text(&self, form: Text) -> String {
        let wanted = match form {
            Text::Typed => return self.functions.iter().map(|f| lh_ir::print::print(f)).collect::<Vec<_>>().join("\n"),
            Text::Llvm => lh_llvm::Wanted { llvm_ir_opt: true, ..Default::default() },
            Text::Asm => lh_llvm::Wanted { asm: true, ..Default::default() },
        };
        let texts = self.groups().into_iter().map(|group| {
            let out = lh_llvm::compile(&group.unit(wanted, lh_llvm::Rare::Here));
            out.llvm_ir_opt.or(out.asm).unwrap_or_default()
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The code for a linker, for processors of a level or this one: the entry stub has the symbol `entry`, and symbols
    /// of what is outside end with it.
    pub fn linkable(&self, entry: &str, level: Option<Level>) -> Vec<u8> {
        let group = self.whole();
        let mut unit = group.unit(lh_llvm::Wanted::default(), lh_llvm::Rare::Here);
        (unit.entry_symbol, unit.outside, unit.level) = (entry.to_owned(), format!(".{entry}"), level);
        lh_llvm::compile(&unit).object
    }

    /// One object with all of the code, for processors of a level.
    pub fn object_for(&self, level: Level) -> Vec<u8> {
        let group = self.whole();
        let mut unit = group.unit(lh_llvm::Wanted::default(), lh_llvm::Rare::Here);
        unit.level = Some(level);
        lh_llvm::compile(&unit).object
    }

    /// All functions as one group, for code that stands alone.
    pub(crate) fn whole(&self) -> Group {
        Group::of_entry(self.functions.clone(), self.names.clone(), Vec::new())
    }

    /// The groups of functions that were compiled together, the entry's first; none if it comes from the cache.
    fn groups(&self) -> Vec<Arc<Group>> {
        let own = self.group.iter().cloned();
        let parts = self.group.iter().flat_map(|g| g.called_parts(&self.object));
        own.chain(parts.filter_map(|p| p.group.clone())).collect()
    }

    /// Objects that [`Compiled::linkable`] needs from outside, with their symbols.
    pub fn outside_words(&self, entry: &str) -> Vec<(Extern, String)> {
        let symbol = |w| format!("{}.{entry}", lh_llvm::Outside::Word(w).symbol());
        self.whole().numbered().map(|(number, word)| (word, symbol(number))).collect()
    }

    /// Functions whose source files' names it needs from outside, with the symbols of these.
    pub fn outside_files(&self, entry: &str) -> Vec<(FuncId, String)> {
        let symbol = |n| format!("{}.{entry}", lh_llvm::Outside::File(n).symbol());
        self.files(&self.functions).into_iter().map(|(n, f)| (f, symbol(n))).collect()
    }

    /// The vectoriser's remarks about each loop, made anew.
    pub fn remarks(&self) -> Vec<lh_llvm::Remark> {
        let wanted = lh_llvm::Wanted { remarks: true, ..Default::default() };
        let of = |g: Arc<Group>| lh_llvm::compile(&g.unit(wanted, lh_llvm::Rare::Here)).remarks;
        self.groups().into_iter().flat_map(of).collect()
    }

    /// The typed functions, the entry first.
    pub fn functions(&self) -> &[Arc<Function>] {
        &self.functions
    }
}

/// Whether texts or other things that are in the code itself may be in objects that live longer.
pub(crate) fn keeps_texts(args: &[Ty], ret: Ty) -> bool {
    let keeps = |t: Ty| t.as_class().is_some() && t.held().iter().any(|h| h.is_counted() && !h.is_array());
    args.iter().chain([&ret]).any(|t| t.any_part(&keeps))
}

/// Whether counted parts of arguments may escape: into the result, or into an argument that is an object, such as a
/// list.
pub(crate) fn escapes(args: &[Ty], ret: Ty) -> bool {
    let holds = |t: Ty| match t.kind() {
        TyKind::Class(_) => t.held().iter().any(|h| h.is_counted()),
        // An array holds numbers or records of numbers.
        _ => matches!(t.holds(), Holds::Objects),
    };
    ret.is_counted() || args.iter().any(|a| a.any_part(&holds))
}
