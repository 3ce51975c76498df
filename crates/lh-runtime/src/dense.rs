//! Factors, eigenvalues and singular values of matrices, for compiled code: columns lie one after the other.
//!
//! Results are 0 or more, or say why there are none: -1 if a factor does not exist or an iteration does not converge,
//! -2 without memory for a workspace, -3 if the library gave up.

use crate::symbol::{Symbol, functions};
use lh_numerics::dense::{Failure, Scalar, c32, c64};

fn code(result: Result<i64, Failure>) -> i64 {
    match result {
        Ok(n) => n,
        Err(Failure::Numerical) => -1,
        Err(Failure::Memory) => -2,
        Err(Failure::Internal) => -3,
    }
}

fn status(result: Result<(), Failure>) -> i64 {
    code(result.map(|()| 0))
}

macro_rules! dense {
    ($($t:ty: $lu:ident $solve:ident $triangle:ident $cholesky:ident $qr:ident $svd:ident $lstsq:ident $eigh:ident
        $eig:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $lu(m: i64, n: i64, a: *mut $t, rows: *mut i64) -> i64 {
            // SAFETY: compiled code passes arrays of its own, of these sizes, as in all functions here.
            code(unsafe { <$t>::lu(m as usize, n as usize, a, rows.cast()) })
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $solve(n: i64, k: i64, a: *mut $t, rows: *mut i64, b: *mut $t) -> i64 {
            // SAFETY: as above.
            status(unsafe { <$t>::lu_solve(n as usize, k as usize, a, rows.cast(), b) })
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $triangle(n: i64, k: i64, a: *mut $t, lower: i64, unit: i64, b: *mut $t) -> i64 {
            // SAFETY: as above.
            status(unsafe { <$t>::triangle(n as usize, k as usize, a, lower != 0, unit != 0, b) })
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $cholesky(n: i64, a: *mut $t) -> i64 {
            // SAFETY: as above.
            status(unsafe { <$t>::cholesky(n as usize, a) })
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $qr(m: i64, n: i64, a: *mut $t, tau: *mut $t, k: i64, q: *mut $t) -> i64 {
            // SAFETY: as above.
            status(unsafe { <$t>::qr(m as usize, n as usize, a, tau, k as usize, q) })
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $svd(
            m: i64, n: i64, a: *mut $t, s: *mut <$t as Scalar>::Real, k: i64, u: *mut $t, l: i64, v: *mut $t,
        ) -> i64 {
            // SAFETY: as above.
            status(unsafe { <$t>::singular(m as usize, n as usize, a, s, k as usize, u, l as usize, v) })
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $lstsq(
            m: i64, n: i64, a: *mut $t, k: i64, b: *mut $t, s: *mut <$t as Scalar>::Real, tolerance: f64,
        ) -> i64 {
            // SAFETY: as above.
            code(unsafe { <$t>::least_squares(m as usize, n as usize, a, k as usize, b, s, tolerance) })
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $eigh(n: i64, a: *mut $t, w: *mut <$t as Scalar>::Real, vectors: i64, v: *mut $t) -> i64 {
            let v = if vectors != 0 { v } else { std::ptr::null_mut() };
            // SAFETY: as above.
            status(unsafe { <$t>::self_adjoint(n as usize, a, w, v) })
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $eig(n: i64, a: *mut $t, re: *mut $t, im: *mut $t, vectors: i64, v: *mut $t) -> i64 {
            let v = if vectors != 0 { v } else { std::ptr::null_mut() };
            // SAFETY: as above.
            status(unsafe { <$t>::general(n as usize, a, re, im, v) })
        }
    )*};
}
dense! {
    f32: lh_lu_f32 lh_lu_solve_f32 lh_triangle_f32 lh_cholesky_f32 lh_qr_f32 lh_svd_f32 lh_lstsq_f32
        lh_eigh_f32 lh_eig_f32;
    f64: lh_lu_f64 lh_lu_solve_f64 lh_triangle_f64 lh_cholesky_f64 lh_qr_f64 lh_svd_f64 lh_lstsq_f64
        lh_eigh_f64 lh_eig_f64;
    c32: lh_lu_c64 lh_lu_solve_c64 lh_triangle_c64 lh_cholesky_c64 lh_qr_c64 lh_svd_c64 lh_lstsq_c64
        lh_eigh_c64 lh_eig_c64;
    c64: lh_lu_c128 lh_lu_solve_c128 lh_triangle_c128 lh_cholesky_c128 lh_qr_c128 lh_svd_c128 lh_lstsq_c128
        lh_eigh_c128 lh_eig_c128;
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _) lh_lu_f32 lh_lu_f64 lh_lu_c64 lh_lu_c128;
        (_ _ _ _ _) lh_lu_solve_f32 lh_lu_solve_f64 lh_lu_solve_c64 lh_lu_solve_c128;
        (_ _ _ _ _ _) lh_triangle_f32 lh_triangle_f64 lh_triangle_c64 lh_triangle_c128;
        (_ _) lh_cholesky_f32 lh_cholesky_f64 lh_cholesky_c64 lh_cholesky_c128;
        (_ _ _ _ _ _) lh_qr_f32 lh_qr_f64 lh_qr_c64 lh_qr_c128;
        (_ _ _ _ _ _ _ _) lh_svd_f32 lh_svd_f64 lh_svd_c64 lh_svd_c128;
        (_ _ _ _ _ _ _) lh_lstsq_f32 lh_lstsq_f64 lh_lstsq_c64 lh_lstsq_c128;
        (_ _ _ _ _) lh_eigh_f32 lh_eigh_f64 lh_eigh_c64 lh_eigh_c128;
        (_ _ _ _ _ _) lh_eig_f32 lh_eig_f64 lh_eig_c64 lh_eig_c128;
    }
}
