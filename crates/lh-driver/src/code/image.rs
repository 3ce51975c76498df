//! An object that is loaded, ready to run, with everything that it refers to.

use super::part::Part;
use lh_ir::func::Extern;
use lh_llvm::symbols;
use lh_llvm::{EntryPoint, Loaded, Outside};
use std::cell::{Cell, RefCell};
use std::ffi::CString;
use std::sync::Arc;

/// Symbol of the entry stub.
pub(crate) const ENTRY: &str = symbols::ENTRY;

/// Machine code with an entry point.
pub(crate) struct Image {
    /// Entry stub.
    pub(crate) entry: EntryPoint,
    /// Whether it calls anything that may take long or polls for Ctrl-C.
    pub(crate) may_wait: bool,
    /// Address of the stub for C code.
    pub(crate) callback: Option<usize>,
    /// Keeps the machine code mapped.
    mapped: Arc<Mapped>,
}

/// The referents of an object's symbols that belong to this process.
pub(crate) struct Outsiders<'a> {
    /// Numbers of the process.
    pub(crate) word: Box<dyn Fn(Extern) -> Option<u64> + 'a>,
    /// Names of source files.
    pub(crate) file: Box<dyn Fn(usize) -> Option<String> + 'a>,
    /// Addresses of the cells of functions that are compiled later.
    pub(crate) lazy: Box<dyn Fn(usize) -> Option<usize> + 'a>,
    /// The parts that it calls.
    pub(crate) parts: Vec<Arc<Part>>,
}

impl Image {
    /// As [`Mapped::new`], with the entry point.
    pub(crate) fn load(object: &[u8], title: &str, outsiders: &Outsiders<'_>) -> Image {
        let mapped = Mapped::new(object, title, outsiders);
        let Some(entry) = mapped.loaded.entry(ENTRY) else { lh_ir::bug!("no entry point in the object") };
        let callback = mapped.loaded.symbols().find(|s| s.0.starts_with(lh_llvm::CALLBACK)).map(|s| s.1);
        Image { entry, may_wait: mapped.may_wait, callback, mapped: Arc::new(mapped) }
    }

    /// Keeps the machine code mapped for the lifetime of the process.
    pub(crate) fn keep(&self) {
        std::mem::forget(self.mapped.clone());
    }
}

/// Machine code with the names of source files that its tracebacks show, and the parts that it calls.
pub(crate) struct Mapped {
    loaded: Loaded,
    /// Whether it calls anything that may take long or polls for Ctrl-C.
    pub(crate) may_wait: bool,
    _files: Vec<CString>,
    _parts: Vec<Arc<Part>>,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        lh_runtime::pool::forget_told(self.loaded.code());
    }
}

impl Mapped {
    /// Loads the object of a function.
    pub(crate) fn new(object: &[u8], title: &str, outsiders: &Outsiders<'_>) -> Mapped {
        let files: RefCell<Vec<CString>> = RefCell::default();
        let may_wait = Cell::new(false);
        // A call that raises ends the function: it takes no time that anybody waits for.
        let is_raising = |symbol: &str| symbol.starts_with(symbols::RAISE) || symbol == symbols::TRACEBACK;
        let resolve = |symbol: &str| match Outside::of(symbol) {
            Some(Outside::Word(what)) => (outsiders.word)(what).map(|w| w as usize),
            Some(Outside::Rare(n)) => (outsiders.lazy)(n),
            Some(Outside::File(n)) => {
                // No file name has a zero byte in it; code made at run time may claim one that does.
                let name = CString::new((outsiders.file)(n)?.replace('\0', "?")).unwrap_or_default();
                let at = name.as_ptr().addr();
                files.borrow_mut().push(name);
                Some(at)
            }
            Some(Outside::Part(key)) => {
                let part = outsiders.parts.iter().find(|p| p.number() == key)?;
                may_wait.set(may_wait.get() || part.may_wait());
                Some(part.address())
            }
            None => {
                may_wait.set(may_wait.get() || !is_raising(symbol));
                lh_runtime::address(symbol)
            }
        };
        let loaded = lh_llvm::load(object, &resolve);
        lh_llvm::perf::note(&loaded, ENTRY, title);
        let (_files, _parts) = (files.into_inner(), outsiders.parts.clone());
        Mapped { loaded, may_wait: may_wait.get(), _files, _parts }
    }

    /// Address of a global symbol.
    pub(crate) fn address(&self, symbol: &str) -> Option<usize> {
        self.loaded.address(symbol)
    }
}
