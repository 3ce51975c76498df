//! Compiles textual IR and calls it.

use lh_ir::SpecId;
use lh_ir::parse::{Tables, parse};
use lh_llvm::{Loaded, Output, Outside, Unit, Wanted, compile, load};
use std::borrow::Cow;

/// A compiled text. The first function is the entry; `specN` is function number N.
pub struct Compiled {
    pub output: Output,
    pub code: Loaded,
}

pub fn unit(text: &str) -> Unit<'static> {
    let tables = Tables { row: lh_ops::row, runtime: lh_ops::runtime::find };
    let functions = parse(text, tables).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for f in &functions {
        lh_ir::verify::verify(f).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    }
    let spec_names = functions.iter().enumerate().map(|(i, f)| (SpecId::new(i), f.name.clone())).collect();
    let functions = functions.into_iter().map(Cow::Owned).collect();
    Unit { functions, spec_names, entry: 0, entry_symbol: "entry".into(), abi: lh_llvm::Abi::Host, ..Unit::default() }
}

pub fn build(text: &str) -> Compiled {
    build_unit(&Unit { wanted: Wanted { llvm_ir: true, llvm_ir_opt: true, ..Wanted::default() }, ..unit(text) })
}

pub fn build_unit(unit: &Unit<'_>) -> Compiled {
    let output = compile(unit);
    let resolve = |symbol: &str| match Outside::of(symbol) {
        Some(Outside::File(_)) => Some(c"test.py".as_ptr().addr()),
        _ => lh_runtime::address(symbol),
    };
    let code = load(&output.object, &resolve);
    Compiled { output, code }
}

impl Compiled {
    /// Calls with argument slots: the result's slots, or `None` if an exception is pending.
    pub fn call<const N: usize>(&self, args: &[u64]) -> Option<[u64; N]> {
        let entry = self.code.address("entry").expect("the entry is defined");
        // SAFETY: the stub has this signature; the tests pass slots that fit the function.
        let f: unsafe extern "C" fn(*const u64, *mut u64) -> i32 = unsafe { std::mem::transmute(entry) };
        let mut out = [0; N];
        // SAFETY: as above.
        let status = unsafe { f(args.as_ptr(), out.as_mut_ptr()) };
        (status == 0).then_some(out)
    }
    pub fn optimised(&self) -> &str {
        self.output.llvm_ir_opt.as_deref().expect("wanted")
    }
}

/// Slots of a one-dimensional contiguous array without owner.
pub fn array_1d<T>(data: &[T]) -> Vec<u64> {
    vec![0, data.as_ptr().addr() as u64, data.len() as u64, size_of::<T>() as u64]
}
