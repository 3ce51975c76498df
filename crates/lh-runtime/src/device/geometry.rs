//! The position of a thread in its block and grid. The code generator emits loads instead of calls of most of these
//! functions; they define the meaning, and interpreters of the IR call them.

use super::{Context, Failed};
use crate::symbol::{Symbol, functions};

macro_rules! fields {
    ($($name:ident $field:ident $axis:literal;)*) => {$(
        unsafe extern "C" fn $name(cx: *mut Context) -> i64 {
            // SAFETY: kernels pass the context of their block.
            unsafe { (*cx).$field[$axis] }
        }
    )*};
}
fields! {
    lh_cuda_bid_x block 0; lh_cuda_bid_y block 1; lh_cuda_bid_z block 2;
    lh_cuda_bdim_x block_dim 0; lh_cuda_bdim_y block_dim 1; lh_cuda_bdim_z block_dim 2;
    lh_cuda_gdim_x grid_dim 0; lh_cuda_gdim_y grid_dim 1; lh_cuda_gdim_z grid_dim 2;
}

unsafe extern "C" fn lh_cuda_first(cx: *mut Context) -> i64 {
    // SAFETY: kernels pass the context of their block.
    unsafe { (*cx).first }
}

unsafe extern "C" fn lh_cuda_last(cx: *mut Context) -> i64 {
    // SAFETY: as above.
    unsafe { (*cx).last }
}

unsafe extern "C" fn lh_cuda_scratch(cx: *mut Context) -> *mut u8 {
    // SAFETY: as above.
    unsafe { (*cx).scratch }
}

unsafe extern "C" fn lh_cuda_capacity(cx: *mut Context) -> i64 {
    // SAFETY: as above.
    unsafe { (*cx).capacity }
}

unsafe extern "C" fn lh_cuda_enter_block(cx: *mut Context, place: i64, x: i64, y: i64, z: i64) {
    // SAFETY: as above; the shared memory is for as many blocks as run together.
    unsafe {
        let cx = &mut *cx;
        cx.block = [x, y, z];
        cx.shared = cx.shared_base.wrapping_offset((place * cx.shared_stride) as isize);
    }
}

unsafe extern "C" fn lh_cuda_failed(cx: *mut Context, x: i64, y: i64, z: i64) {
    // SAFETY: as above.
    unsafe {
        if (*cx).failed.is_none() {
            (*cx).failed = Some(Failed { block: (*cx).block, thread: [x, y, z] });
        }
    }
}

unsafe extern "C" fn lh_cuda_shared(cx: *mut Context, offset: i64, _bytes: i64, _align: i64) -> *mut u8 {
    // SAFETY: the offset lies within the block's shared memory, which was sized for the kernel.
    unsafe { (*cx).shared.add(offset as usize) }
}

unsafe extern "C" fn lh_cuda_dynamic(cx: *mut Context) -> *mut u8 {
    // SAFETY: kernels pass the context of their block.
    unsafe { (*cx).shared.offset((*cx).dynamic_at as isize) }
}

unsafe extern "C" fn lh_cuda_dynamic_bytes(cx: *mut Context) -> i64 {
    // SAFETY: as above.
    unsafe { (*cx).dynamic_bytes }
}

/// Fails for a function that has no meaning as a call: the pass `kernel_context` or the code generator replaces it.
fn in_place(name: &str) -> ! {
    lh_ir::bug!("`{name}` was not replaced in a kernel")
}

unsafe extern "C" fn lh_cuda_context() -> *mut u8 {
    in_place("lh_cuda_context")
}

unsafe extern "C" fn lh_cuda_tid_x() -> i64 {
    in_place("lh_cuda_tid_x")
}

unsafe extern "C" fn lh_cuda_tid_y() -> i64 {
    in_place("lh_cuda_tid_y")
}

unsafe extern "C" fn lh_cuda_tid_z() -> i64 {
    in_place("lh_cuda_tid_z")
}

unsafe extern "C" fn lh_cuda_local(_bytes: i64, _align: i64) -> *mut u8 {
    in_place("lh_cuda_local")
}

unsafe extern "C" fn lh_cuda_temporary(_bytes: i64, _out: *mut u8) -> i32 {
    in_place("lh_cuda_temporary")
}

unsafe extern "C" fn lh_cuda_ld_i8(_at: *const u8, _how: i64) -> i8 {
    in_place("lh_cuda_ld_i8")
}

unsafe extern "C" fn lh_cuda_st_i8(_at: *mut u8, _value: i8, _how: i64) {
    in_place("lh_cuda_st_i8")
}

unsafe extern "C" fn lh_cuda_ld_i16(_at: *const u8, _how: i64) -> i16 {
    in_place("lh_cuda_ld_i16")
}

unsafe extern "C" fn lh_cuda_st_i16(_at: *mut u8, _value: i16, _how: i64) {
    in_place("lh_cuda_st_i16")
}

unsafe extern "C" fn lh_cuda_ld_i32(_at: *const u8, _how: i64) -> i32 {
    in_place("lh_cuda_ld_i32")
}

unsafe extern "C" fn lh_cuda_st_i32(_at: *mut u8, _value: i32, _how: i64) {
    in_place("lh_cuda_st_i32")
}

unsafe extern "C" fn lh_cuda_ld_i64(_at: *const u8, _how: i64) -> i64 {
    in_place("lh_cuda_ld_i64")
}

unsafe extern "C" fn lh_cuda_st_i64(_at: *mut u8, _value: i64, _how: i64) {
    in_place("lh_cuda_st_i64")
}

unsafe extern "C" fn lh_cuda_lanes_copy(_from: *const u8, _to: *mut u8, _size: i64) {
    in_place("lh_cuda_lanes_copy")
}

unsafe extern "C" fn lh_cuda_lanes_move(_from: *const u8, _to: *mut u8, _kind: i64, _by: i64) {
    in_place("lh_cuda_lanes_move")
}

unsafe extern "C" fn lh_cuda_lanes_bits(_of: *const u8) -> i64 {
    in_place("lh_cuda_lanes_bits")
}

unsafe extern "C" fn lh_cuda_fence(_scope: i64) {
    crate::check::with_kernel(|k, _| k.fence());
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_cuda_context lh_cuda_tid_x lh_cuda_tid_y lh_cuda_tid_z;
        (_) lh_cuda_fence lh_cuda_bid_x lh_cuda_bid_y lh_cuda_bid_z lh_cuda_bdim_x lh_cuda_bdim_y lh_cuda_bdim_z lh_cuda_gdim_x
            lh_cuda_gdim_y lh_cuda_gdim_z lh_cuda_scratch lh_cuda_capacity lh_cuda_first lh_cuda_last lh_cuda_dynamic lh_cuda_dynamic_bytes lh_cuda_lanes_bits;
        (_ _) lh_cuda_local lh_cuda_temporary lh_cuda_ld_i8 lh_cuda_ld_i16 lh_cuda_ld_i32 lh_cuda_ld_i64;
        (_ _ _) lh_cuda_st_i8 lh_cuda_st_i16 lh_cuda_st_i32 lh_cuda_st_i64;
        (_ _ _) lh_cuda_lanes_copy;
        (_ _ _ _) lh_cuda_failed lh_cuda_shared lh_cuda_lanes_move;
        (_ _ _ _ _) lh_cuda_enter_block;
    }
}
