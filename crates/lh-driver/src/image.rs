//! An object in memory, ready to run, with what it refers to.

use lh_ir::func::Extern;
use lh_llvm::{EntryPoint, Loaded, Outside};
use std::cell::{Cell, RefCell};
use std::ffi::CString;

/// Symbol of the entry stub.
pub(crate) const ENTRY: &str = "lh_entry";

/// Machine code with an entry point.
pub(crate) struct Image {
    /// Entry stub.
    pub(crate) entry: EntryPoint,
    /// Whether it calls anything that may take long or look at the flag of Ctrl-C.
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
        rare: &dyn Fn(usize) -> Option<usize>,
    ) -> Image {
        let mapped = Mapped::new(object, title, word, file, rare);
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
    /// Loads the object of a function; `word`, `file` and `rare` give what it takes from this process: numbers, names of
    /// files, addresses of cells of functions that are not in it.
    pub(crate) fn new(
        object: &[u8],
        title: &str,
        word: &dyn Fn(Extern) -> Option<u64>,
        file: &dyn Fn(usize) -> Option<String>,
        rare: &dyn Fn(usize) -> Option<usize>,
    ) -> Mapped {
        let files: RefCell<Vec<CString>> = RefCell::default();
        let may_wait = Cell::new(false);
        // Raising an exception is the end.
        let is_raising = |symbol: &str| symbol.starts_with("lh_raise") || symbol == "lh_traceback";
        let resolve = |symbol: &str| match Outside::of(symbol) {
            Some(Outside::Word(what)) => word(what).map(|w| w as usize),
            Some(Outside::Rare(n)) => rare(n),
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
