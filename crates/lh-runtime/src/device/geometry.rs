//! Functions of kernels that do not wait and that the code generator does not always emit inline.

use super::{Context, Failed};
use crate::symbol::{Symbol, functions};

unsafe extern "C-unwind" fn lh_cuda_failed(cx: *mut Context, x: i64, y: i64, z: i64) {
    // SAFETY: kernels pass the context of their block.
    unsafe {
        if (*cx).failed.is_none() {
            (*cx).failed = Some(Failed { block: (*cx).block, thread: [x, y, z] });
        }
    }
}

unsafe extern "C-unwind" fn lh_cuda_fence(_scope: i64) {
    crate::check::with_kernel(|k, _| k.fence());
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_) lh_cuda_fence;
        (_ _ _ _) lh_cuda_failed;
    }
}
