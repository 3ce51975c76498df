//! An object that is loaded, ready to run, with everything that it refers to.

use lh_ir::func::Extern;
use lh_llvm::symbols;
use lh_llvm::{EntryPoint, Loaded, Outside};
use std::cell::{Cell, RefCell};
use std::ffi::CString;

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
    _mapped: Mapped,
}

impl Image {
    /// As [`Mapped::new`], with the entry point.
    pub(crate) fn load(
        object: &[u8],
        title: &str,
        word: &dyn Fn(Extern) -> Option<u64>,
        file: &dyn Fn(usize) -> Option<String>,
        lazy: &dyn Fn(usize) -> Option<usize>,
    ) -> Image {
        let mapped = Mapped::new(object, title, word, file, lazy);
        let Some(entry) = mapped.loaded.entry(ENTRY) else { lh_ir::bug!("no entry point in the object") };
        let callback = mapped.loaded.symbols().find(|s| s.0.starts_with(lh_llvm::CALLBACK)).map(|s| s.1);
        Image { entry, may_wait: mapped.may_wait, callback, _mapped: mapped }
    }
}

/// Machine code with the names of source files that its tracebacks show.
pub(crate) struct Mapped {
    loaded: Loaded,
    may_wait: bool,
    _files: Vec<CString>,
}

impl Mapped {
    /// Loads the object of a function. Its symbols that belong to this process are resolved by `word` (numbers), `file`
    /// (names of source files) and `lazy` (addresses of the cells of functions that are compiled later).
    pub(crate) fn new(
        object: &[u8],
        title: &str,
        word: &dyn Fn(Extern) -> Option<u64>,
        file: &dyn Fn(usize) -> Option<String>,
        lazy: &dyn Fn(usize) -> Option<usize>,
    ) -> Mapped {
        let files: RefCell<Vec<CString>> = RefCell::default();
        let may_wait = Cell::new(false);
        // A call that raises ends the function: it takes no time that anybody waits for.
        let is_raising = |symbol: &str| symbol.starts_with(symbols::RAISE) || symbol == symbols::TRACEBACK;
        let resolve = |symbol: &str| match Outside::of(symbol) {
            Some(Outside::Word(what)) => word(what).map(|w| w as usize),
            Some(Outside::Rare(n)) => lazy(n),
            Some(Outside::File(n)) => {
                // No file name has a zero byte in it; code made at run time may claim one that does.
                let name = CString::new(file(n)?.replace('\0', "?")).unwrap_or_default();
                let at = name.as_ptr().addr();
                files.borrow_mut().push(name);
                Some(at)
            }
            None => {
                may_wait.set(may_wait.get() || !is_raising(symbol));
                lh_runtime::address(symbol)
            }
        };
        let loaded = lh_llvm::load(object, &resolve);
        lh_llvm::perf::note(&loaded, ENTRY, title);
        Mapped { loaded, may_wait: may_wait.get(), _files: files.into_inner() }
    }

    /// Address of a global symbol.
    pub(crate) fn address(&self, symbol: &str) -> Option<usize> {
        self.loaded.address(symbol)
    }
}
