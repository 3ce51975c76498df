//! PTX for textual IR.

use crate::common::unit;
use lh_llvm::{Abi, Gpu, KernelLimits, Unit, compile_ptx};

fn ptx(text: &str, abi: Abi) -> String {
    let gpu = Gpu::new(9, 0).expect("known");
    compile_ptx(&Unit { abi, ..unit(text) }, gpu).expect("nothing a GPU lacks").text
}

const SCALE: &str = "
function %scale(v0: array(float32, 1, C), v1: float32, v2: int64) -> none {
block0(v0: array(float32, 1, C), v1: float32, v2: int64):
    v3 = elem_ptr v0[v2]: ptr
    v4 = load v3: float32
    v5 = mul v4, v1: float32
    v6 = exp v5: float32
    v7 = add v6, v1: float32
    store v3, v7
    v8 = zero: none
    return v8
}
";

#[test]
fn a_kernel_has_its_arguments_as_parameters() {
    let text = ptx(SCALE, Abi::Kernel(KernelLimits { max_threads: Some(128), ..KernelLimits::default() }));
    println!("{text}");
    assert!(text.contains(".visible .entry entry("), "{text}");
}
