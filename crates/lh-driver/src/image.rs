//! An object in memory, ready to run, with what it refers to.

use lh_ir::func::Extern;
use lh_llvm::{EntryPoint, Loaded, Outside};
use std::cell::{Cell, RefCell};
use std::ffi::CString;

/// Symbol of the entry stub.
pub(crate) const ENTRY: &str = "lh_entry";

/// Machine code with the names of source files that its tracebacks show.
pub(crate) struct Image {
    /// Entry stub.
    pub(crate) entry: EntryPoint,
    /// Whether it calls anything that may take long or look at the flag of Ctrl-C.
    pub(crate) may_wait: bool,
    /// Keeps the machine code mapped.
    _loaded: Loaded,
    _files: Vec<CString>,
}

impl Image {
    /// Loads the object of a function; `word` and `file` give what it takes from this process.
    pub(crate) fn load(
        object: &[u8],
        title: &str,
        word: &dyn Fn(Extern) -> Option<u64>,
        file: &dyn Fn(usize) -> Option<String>,
    ) -> Image {
        let files: RefCell<Vec<CString>> = RefCell::default();
        let may_wait = Cell::new(false);
        // Raising an exception is the end.
        let is_raising = |symbol: &str| symbol.starts_with("lh_raise") || symbol == "lh_traceback";
        let resolve = |symbol: &str| match Outside::of(symbol) {
            Some(Outside::Word(what)) => word(what).map(|w| w as usize),
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
        let Some(entry) = loaded.entry(ENTRY) else { lh_ir::bug!("no entry point in the object") };
        Image { entry, may_wait: may_wait.get(), _loaded: loaded, _files: files.into_inner() }
    }
}
