//! Remarks of LLVM's passes on loops, for `explain`.

use crate::ir::Module;
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMDiagnosticInfoRef;
use llvm_sys::support::LLVMParseCommandLineOptions;
use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::sync::Once;

/// One remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Source file.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
    /// LLVM's text, e.g. `vectorized loop (vectorization width: 8, interleaved count: 4)`.
    pub text: String,
}

impl Remark {
    /// Whether a loop was vectorised.
    pub fn is_success(&self) -> bool {
        self.text.starts_with("vectorized ")
    }
    /// Whether a remark is about a loop: once enabled, LLVM reports remarks of all passes.
    fn is_about_a_loop(&self) -> bool {
        let starts = [
            "vectorized loop",
            "loop not vectorized",
            "the cost-model indicates that vectorization is not beneficial",
            "completely unrolled loop",
            "Formed a call to ",
            "Transformed loop-strided store",
        ];
        starts.iter().any(|t| self.text.starts_with(t))
    }
}

/// Collects the remarks of one module.
pub(crate) struct Listener(Box<RefCell<Vec<Remark>>>);

/// Installs a handler for a module's diagnostics: collects remarks if wanted, and else suppresses what LLVM would
/// print.
pub(crate) fn listen(m: &Module, wanted: bool) -> Listener {
    static ENABLE: Once = Once::new();
    if wanted {
        ENABLE.call_once(|| {
            let args = [
                c"lancehead",
                c"-pass-remarks=loop-vectorize|loop-unroll|loop-idiom",
                c"-pass-remarks-missed=loop-vectorize",
                c"-pass-remarks-analysis=loop-vectorize",
            ];
            let pointers = args.map(CStr::as_ptr);
            // SAFETY: the options exist, and the texts outlive the call.
            unsafe { LLVMParseCommandLineOptions(pointers.len() as i32, pointers.as_ptr(), std::ptr::null()) }
        });
    }
    let heard = Box::new(RefCell::new(Vec::new()));
    // SAFETY: the listener is boxed, and lives until the caller has no more passes to run; a null target is not written
    // to.
    unsafe {
        let target = if wanted { std::ptr::from_ref(&*heard).cast_mut().cast() } else { std::ptr::null_mut() };
        LLVMContextSetDiagnosticHandler(m.context, Some(hear), target);
    }
    Listener(heard)
}

impl Listener {
    /// The remarks by line, without duplicates, and without refusals that another remark on the line explains.
    pub(crate) fn take(self) -> Vec<Remark> {
        let mut all = self.0.take();
        all.sort_by(|a, b| (&a.file, a.line, &b.text).cmp(&(&b.file, b.line, &a.text)));
        all.dedup_by(|b, a| (&a.file, a.line) == (&b.file, b.line) && a.text.starts_with(&b.text));
        all
    }
}

extern "C" fn hear(info: LLVMDiagnosticInfoRef, to: *mut c_void) {
    // SAFETY: LLVM passes live diagnostics, and what `listen` gave it.
    let (severity, text) = unsafe {
        let text = LLVMGetDiagInfoDescription(info);
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        (LLVMGetDiagInfoSeverity(info), copy)
    };
    if matches!(severity, LLVMDiagnosticSeverity::LLVMDSRemark) && !to.is_null() {
        let remark = parse(&text);
        if remark.is_about_a_loop() {
            // SAFETY: `to` is the cell of a listener that is alive, see `listen`.
            unsafe { (*to.cast::<RefCell<Vec<Remark>>>()).borrow_mut().push(remark) };
        }
    }
}

/// Takes `file:line:column: text` apart.
fn parse(text: &str) -> Remark {
    let (place, said) = text.split_once(": ").unwrap_or(("", text));
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next(), parts.next(), parts.next());
    let line = line.and_then(|l| l.parse().ok()).unwrap_or(0);
    Remark { file: file.unwrap_or("").to_owned(), line, text: said.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_parsed() {
        let r = parse("/a/b.py:12:5: vectorized loop (vectorization width: 8, interleaved count: 4)");
        assert_eq!((r.file.as_str(), r.line, r.is_success()), ("/a/b.py", 12, true));
        assert_eq!(parse("<unknown>:0:0: loop not vectorized").line, 0);
    }
}
