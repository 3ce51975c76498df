//! Factorisations, eigenvalues and singular values, by faer.

use crate::small::{self, Columns};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::svd::{self, ComputeSvdVectors, bidiag};
use faer::linalg::{cholesky::llt, lu::partial_pivoting as lu, qr::no_pivoting as qr, triangular_solve as triangular};
use faer::linalg::{householder, qr::no_pivoting::factor::recommended_block_size};
use faer::perm::PermRef;
use faer::prelude::{IntoConst, Reborrow, ReborrowMut};
use faer::traits::math_utils::{abs, from_f64, mul_real, one, real, recip, zero};
use faer::traits::{ComplexField, RealField};
use faer::{Auto, Conj, Mat, MatMut, MatRef, Par, Spec};
pub use faer::{c32, c64};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A Cholesky factor does not exist, or an iteration does not converge.
    Numerical,
    /// There is no memory for the workspace.
    Memory,
    /// The library gave up on an assertion of its own.
    Internal,
}

/// All is done on the calling thread.
const PAR: Par = Par::Seq;

/// The address of numbers: that of no numbers may be null, which no slice has.
fn address<T>(data: *mut T) -> *mut T {
    if data.is_null() { std::ptr::dangling_mut() } else { data }
}

/// A vector in memory.
///
/// # Safety
/// Nothing else uses this memory meanwhile.
unsafe fn vector<'a, T>(data: *mut T, len: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(address(data), len) }
}

/// A matrix in memory, column by column.
///
/// # Safety
/// Nothing else uses this memory meanwhile.
unsafe fn matrix<'a, T>(data: *mut T, rows: usize, cols: usize) -> MatMut<'a, T> {
    // SAFETY: the caller's promise.
    unsafe { MatMut::from_raw_parts_mut(address(data), rows, cols, 1, rows as isize) }
}

/// A vector in memory, as a diagonal.
///
/// # Safety
/// Nothing else uses this memory meanwhile.
unsafe fn diagonal<'a, T>(data: *mut T, len: usize) -> DiagMut<'a, T> {
    // SAFETY: the caller's promise.
    unsafe { DiagMut::from_slice_mut(vector(data, len)) }
}

/// Runs a function with a workspace.
fn with_memory<R>(needs: StackReq, run: impl FnOnce(&mut MemStack) -> Result<R, Failure>) -> Result<R, Failure> {
    let mut memory = MemBuffer::try_new(needs).map_err(|_| Failure::Memory)?;
    catch_unwind(AssertUnwindSafe(|| run(MemStack::new(&mut memory)))).unwrap_or(Err(Failure::Internal))
}

fn lu_in_place<T: ComplexField>(a: MatMut<'_, T>, rows: &mut [usize]) -> Result<i64, Failure> {
    if a.nrows() == 0 || a.ncols() == 0 {
        rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
        return Ok(0);
    }
    let (m, n) = a.shape();
    let params = Spec::default();
    let mut inverse = vec![0; m];
    with_memory(lu::factor::lu_in_place_scratch::<usize, T>(m, n, PAR, params), |stack| {
        let (info, _) = lu::factor::lu_in_place(a, rows, &mut inverse, PAR, stack, params);
        Ok(info.transposition_count as i64)
    })
}

fn lu_solve<T: ComplexField>(lu: MatRef<'_, T>, rows: &[usize], b: MatMut<'_, T>) -> Result<(), Failure> {
    if lu.nrows() == 0 || b.ncols() == 0 {
        return Ok(());
    }
    let n = lu.nrows();
    let mut inverse = vec![0; n];
    for (to, &from) in rows.iter().enumerate() {
        inverse[from] = to;
    }
    with_memory(lu::solve::solve_in_place_scratch::<usize, T>(n, b.ncols(), PAR), |stack| {
        let order = PermRef::new_checked(rows, &inverse, n);
        lu::solve::solve_in_place_with_conj(lu, lu, order, Conj::No, b, PAR, stack);
        Ok(())
    })
}

fn cholesky<T: ComplexField>(a: MatMut<'_, T>) -> Result<(), Failure> {
    if a.nrows() == 0 {
        return Ok(());
    }
    let params = Spec::default();
    with_memory(llt::factor::cholesky_in_place_scratch::<T>(a.nrows(), PAR, params), |stack| {
        let made = llt::factor::cholesky_in_place(a, Default::default(), PAR, stack, params);
        made.map(|_| ()).map_err(|_| Failure::Numerical)
    })
}

/// Leaves R in the upper triangle of `a`, and the reflectors below it, as LAPACK does; `tau` has their factors, and the
/// first columns of Q fill `q`.
fn qr_in_place<T: ComplexField>(mut a: MatMut<'_, T>, tau: &mut [T], mut q: MatMut<'_, T>) -> Result<(), Failure> {
    let (m, n) = a.shape();
    let size = m.min(n);
    if size == 0 {
        q.fill(zero());
        q.diagonal_mut().fill(one());
        return Ok(());
    }
    let block = recommended_block_size::<T>(m, n);
    let params = Spec::default();
    let needs = StackReq::any_of(&[
        qr::factor::qr_in_place_scratch::<T>(m, n, block, PAR, params),
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(m, block, q.ncols()),
    ]);
    let mut factors = faer::Mat::<T>::zeros(block, size);
    with_memory(needs, |stack| {
        qr::factor::qr_in_place(a.rb_mut(), factors.as_mut(), PAR, stack, params);
        for (i, tau) in tau.iter_mut().enumerate() {
            *tau = recip(&factors[(i % block, i)]);
        }
        if q.ncols() > 0 {
            q.fill(zero());
            q.rb_mut().diagonal_mut().fill(one());
            householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                a.rb().get(.., ..size),
                factors.as_ref(),
                Conj::No,
                q,
                PAR,
                stack,
            );
        }
        Ok(())
    })
}

/// Numbers of a matrix up to which blocks of reflections bring nothing.
const SMALL: usize = 96 * 96;

/// Whether a matrix is one for the functions of `small`.
fn is_small<T: ComplexField>(a: &MatRef<'_, T>) -> bool {
    T::IS_REAL && a.nrows() * a.ncols() <= SMALL && a.nrows().min(a.ncols()) <= 96
}

/// Real numbers in double precision, column by column.
fn wide<T: ComplexField<Real: Into<f64>>>(a: MatRef<'_, T>) -> Vec<f64> {
    (0..a.ncols()).flat_map(|j| a.col(j).iter().map(|x| real(x).into()).collect::<Vec<f64>>()).collect()
}

/// Rounds numbers to those of a matrix, column by column.
fn narrow<T: ComplexField>(numbers: &[f64], mut to: MatMut<'_, T>) {
    for (j, column) in numbers.chunks(to.nrows().max(1)).enumerate() {
        to.rb_mut().col_mut(j).iter_mut().zip(column).for_each(|(to, x)| *to = from_f64::<T>(*x));
    }
}

fn values_into<T: ComplexField>(values: &[f64], mut s: DiagMut<'_, T>) -> Result<(), Failure> {
    s.rb_mut().column_vector_mut().iter_mut().zip(values).for_each(|(to, x)| *to = from_f64::<T>(*x));
    Ok(())
}

/// As `singular`, of a small matrix.
fn small_singular<T: ComplexField<Real: Into<f64>>>(
    a: MatRef<'_, T>,
    s: DiagMut<'_, T>,
    u: Option<MatMut<'_, T>>,
    v: Option<MatMut<'_, T>>,
) -> Result<(), Failure> {
    let (a, u, v) = if a.nrows() < a.ncols() { (a.transpose(), v, u) } else { (a, u, v) };
    let (m, n) = a.shape();
    let room = |q: &Option<MatMut<'_, T>>| vec![0.0; q.as_ref().map_or(0, |q| q.nrows() * q.ncols())];
    let (mut numbers, mut values, mut left, mut right) = (wide(a), vec![0.0; n], room(&u), room(&v));
    let (mut f, mut p, mut q) =
        (Columns::new(&mut numbers, m), Columns::new(&mut left, m), Columns::new(&mut right, n));
    if !small::svd(&mut f, &mut values, &mut p, &mut q) {
        return Err(Failure::Numerical);
    }
    u.into_iter().for_each(|u| narrow(&left, u));
    v.into_iter().for_each(|v| narrow(&right, v));
    values_into(&values, s)
}

/// Singular values alone, in falling order.
fn values<T: ComplexField<Real: Into<f64>>>(a: MatRef<'_, T>) -> Result<Vec<f64>, Failure> {
    let a = if a.nrows() < a.ncols() { a.transpose() } else { a };
    let (m, n) = a.shape();
    let mut diagonal = vec![0.0; n];
    if is_small(&a) {
        let (mut numbers, mut none, mut others) = (wide(a), [], []);
        let (mut u, mut v) = (Columns::new(&mut none, m), Columns::new(&mut others, n));
        let converged = small::svd(&mut Columns::new(&mut numbers, m), &mut diagonal, &mut u, &mut v);
        return if converged { Ok(diagonal) } else { Err(Failure::Numerical) };
    }
    let mut a = a.to_owned();
    if m > 2 * n {
        qr_in_place(a.as_mut(), &mut vec![zero(); n], Mat::zeros(m, 0).as_mut())?;
        let r = Mat::from_fn(n, n, |i, j| if i <= j { a[(i, j)].clone() } else { zero() });
        a = r;
    }
    let (mut left, mut right) = (Mat::<T>::zeros(1, n), Mat::<T>::zeros(1, n - 1));
    let params = Spec::default();
    with_memory(bidiag::bidiag_in_place_scratch::<T>(a.nrows(), n, PAR, params), |stack| {
        bidiag::bidiag_in_place(a.as_mut(), left.as_mut(), right.as_mut(), PAR, stack, params);
        Ok(())
    })?;
    // Phases of complex numbers do not matter.
    diagonal.iter_mut().enumerate().for_each(|(i, x)| *x = abs(&a[(i, i)]).into());
    let mut above: Vec<f64> = (1..n).map(|i| abs(&a[(i - 1, i)]).into()).collect();
    if small::singular_values(&mut diagonal, &mut above) { Ok(diagonal) } else { Err(Failure::Numerical) }
}

/// The least-squares solution in the first rows of `b`, and the rank: singular values below `tolerance` times the
/// largest one count as none. `b` has as many rows as the longer side; with full rank and more rows than columns, the
/// squares of its further rows are the residuals.
fn least_squares<T: ComplexField<Real: Into<f64>>>(
    a: MatMut<'_, T>,
    mut b: MatMut<'_, T>,
    s: DiagMut<'_, T>,
    tolerance: f64,
) -> Result<i64, Failure> {
    let wide = a.nrows() < a.ncols();
    let (mut adjoint, mut a) = (None, a);
    if wide {
        a = adjoint.insert(a.rb().adjoint().to_owned()).as_mut();
    }
    let (m, n) = a.shape();
    let block = recommended_block_size::<T>(m, n);
    let params = Spec::default();
    let mut factors = Mat::<T>::zeros(block, n);
    let apply = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(m, block, b.ncols());
    let turn = householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<T>;
    let needs = [qr::factor::qr_in_place_scratch::<T>(m, n, block, PAR, params), apply, turn(m, block, b.ncols())];
    with_memory(StackReq::any_of(&needs), |stack| {
        qr::factor::qr_in_place(a.rb_mut(), factors.as_mut(), PAR, stack, params);
        let r = Mat::from_fn(n, n, |i, j| if i <= j { a[(i, j)].clone() } else { zero() });
        let found = values(r.as_ref())?;
        let rank = found.iter().filter(|x| **x > tolerance * found[0]).count();
        if !wide {
            let turn = householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj;
            turn(a.rb(), factors.as_ref(), Conj::Yes, b.rb_mut(), PAR, stack);
        }
        let right = b.rb_mut().subrows_mut(0, n);
        match (wide, rank == n) {
            (false, true) => triangular::solve_upper_triangular_in_place(r.as_ref(), right, PAR),
            (true, true) => {
                triangular::solve_lower_triangular_in_place_with_conj(r.transpose(), Conj::Yes, right, PAR);
            }
            (false, false) => of_less_rank(r.as_ref(), rank, right)?,
            (true, false) => of_less_rank(r.adjoint().to_owned().as_ref(), rank, right)?,
        }
        values_into(&found, s)?;
        if wide {
            b.rb_mut().subrows_mut(n, m - n).fill(zero());
            let apply = householder::apply_block_householder_sequence_on_the_left_in_place_with_conj;
            apply(a.rb(), factors.as_ref(), Conj::No, b.rb_mut(), PAR, stack);
        }
        Ok(rank as i64)
    })
}

/// Solves with the greatest singular values of a square matrix.
fn of_less_rank<T: ComplexField<Real: Into<f64>>>(
    a: MatRef<'_, T>,
    rank: usize,
    b: MatMut<'_, T>,
) -> Result<(), Failure> {
    let n = a.nrows();
    let (mut u, mut v, mut s) = (Mat::zeros(n, n), Mat::zeros(n, n), vec![zero(); n]);
    singular(a, DiagMut::from_slice_mut(&mut s), Some(u.as_mut()), Some(v.as_mut()))?;
    let mut y = u.get(.., ..rank).adjoint() * b.rb();
    for (i, s) in s[..rank].iter().enumerate() {
        let factor = real(&recip(s));
        y.row_mut(i).iter_mut().for_each(|y| *y = mul_real(y, &factor));
    }
    { b }.copy_from(v.get(.., ..rank) * y);
    Ok(())
}

/// Singular values in falling order, and the singular vectors that fill `u` and `v`, if these have columns.
fn singular<T: ComplexField<Real: Into<f64>>>(
    a: MatRef<'_, T>,
    s: DiagMut<'_, T>,
    mut u: Option<MatMut<'_, T>>,
    mut v: Option<MatMut<'_, T>>,
) -> Result<(), Failure> {
    let (m, n) = a.shape();
    // Of square factors the library leaves some numbers as they are.
    u.iter_mut().for_each(|u| u.fill(zero()));
    v.iter_mut().for_each(|v| v.fill(zero()));
    if m.min(n) == 0 {
        u.iter_mut().for_each(|u| u.rb_mut().diagonal_mut().fill(one()));
        v.iter_mut().for_each(|v| v.rb_mut().diagonal_mut().fill(one()));
        return Ok(());
    }
    let kind = |vectors: &Option<MatMut<'_, T>>| match vectors {
        None => ComputeSvdVectors::No,
        Some(q) if q.ncols() == m.min(n) => ComputeSvdVectors::Thin,
        Some(_) => ComputeSvdVectors::Full,
    };
    if is_small(&a) {
        return small_singular(a, s, u, v);
    }
    if u.is_none() && v.is_none() {
        return values_into(&values(a)?, s);
    }
    // Parts of up to 128 rows, as faer has it, take a sixth longer for 200.
    let params: Spec<svd::SvdParams, T> = svd::SvdParams { recursion_threshold: 64, ..Auto::<T>::auto() }.into();
    with_memory(svd::svd_scratch::<T>(m, n, kind(&u), kind(&v), PAR, params), |stack| {
        svd::svd(a, s, u, v, PAR, stack, params).map_err(|_| Failure::Numerical)
    })
}

fn wanted<T>(vectors: &Option<MatMut<'_, T>>) -> ComputeEigenvectors {
    if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

/// Eigenvalues in rising order of the matrix whose lower triangle is given, and its eigenvectors.
fn self_adjoint<T: ComplexField<Real: Into<f64>>>(
    a: MatRef<'_, T>,
    w: DiagMut<'_, T>,
    v: Option<MatMut<'_, T>>,
) -> Result<(), Failure> {
    let n = a.nrows();
    if n == 0 {
        return Ok(());
    }
    if is_small(&a) {
        let (mut numbers, mut values) = (wide(a), vec![0.0; n]);
        let mut vectors = vec![0.0; if v.is_some() { n * n } else { 0 }];
        let (mut f, mut z) = (Columns::new(&mut numbers, n), Columns::new(&mut vectors, n));
        if !small::eigh(&mut f, &mut values, &mut z) {
            return Err(Failure::Numerical);
        }
        v.into_iter().for_each(|v| narrow(&vectors, v));
        return values_into(&values, w);
    }
    let params = Spec::default();
    with_memory(evd::self_adjoint_evd_scratch::<T>(a.nrows(), wanted(&v), PAR, params), |stack| {
        evd::self_adjoint_evd(a, w, v, PAR, stack, params).map_err(|_| Failure::Numerical)
    })
}

fn general_real<T: RealField>(
    a: MatRef<'_, T>,
    re: DiagMut<'_, T>,
    im: DiagMut<'_, T>,
    v: Option<MatMut<'_, T>>,
) -> Result<(), Failure> {
    if a.nrows() == 0 {
        return Ok(());
    }
    with_memory(general_needs::<T>(a.nrows(), &v), |stack| {
        evd::evd_real(a, re, im, None, v, PAR, stack, Spec::default()).map_err(|_| Failure::Numerical)
    })
}

/// Solves with a triangle of `a`, in place.
fn triangle<T: ComplexField>(a: MatRef<'_, T>, lower: bool, unit: bool, b: MatMut<'_, T>) -> Result<(), Failure> {
    if a.nrows() == 0 || b.ncols() == 0 {
        return Ok(());
    }
    with_memory(StackReq::EMPTY, |_| {
        match (lower, unit) {
            (true, true) => triangular::solve_unit_lower_triangular_in_place(a, b, PAR),
            (true, false) => triangular::solve_lower_triangular_in_place(a, b, PAR),
            (false, true) => triangular::solve_unit_upper_triangular_in_place(a, b, PAR),
            (false, false) => triangular::solve_upper_triangular_in_place(a, b, PAR),
        }
        Ok(())
    })
}

fn general_needs<T: ComplexField>(n: usize, v: &Option<MatMut<'_, T>>) -> StackReq {
    evd::evd_scratch::<T>(n, ComputeEigenvectors::No, wanted(v), PAR, Spec::default())
}

/// Takes the real parts of numbers.
///
/// # Safety
/// There is memory for as many.
unsafe fn reals<T: ComplexField>(values: &[T], to: *mut T::Real) {
    for (i, value) in values.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { to.add(i).write(real(value)) }
    }
}

/// A type of numbers with all functions of this file. Matrices are addresses of numbers, column by column.
pub trait Scalar: Sized + 'static {
    /// The type of eigenvalues of self-adjoint matrices, and of singular values.
    type Real;

    /// Factors an `m` by `n` matrix in place and says from where each row came; the number of exchanges.
    ///
    /// # Safety
    /// `a` has `m * n` numbers, `rows` has `m`.
    unsafe fn lu(m: usize, n: usize, a: *mut Self, rows: *mut usize) -> Result<i64, Failure>;

    /// Solves with such factors for `k` right-hand sides, in place.
    ///
    /// # Safety
    /// `a` has `n * n` numbers, `rows` has `n`, `b` has `n * k`.
    unsafe fn lu_solve(n: usize, k: usize, a: *mut Self, rows: *mut usize, b: *mut Self) -> Result<(), Failure>;

    /// Solves with a triangle, in place.
    ///
    /// # Safety
    /// `a` has `n * n` numbers, `b` has `n * k`.
    unsafe fn triangle(n: usize, k: usize, a: *mut Self, lower: bool, unit: bool, b: *mut Self) -> Result<(), Failure>;

    /// Puts the Cholesky factor into the lower triangle.
    ///
    /// # Safety
    /// `a` has `n * n` numbers.
    unsafe fn cholesky(n: usize, a: *mut Self) -> Result<(), Failure>;

    /// Makes R, the reflectors, their factors, and `k` columns of Q.
    ///
    /// # Safety
    /// `a` has `m * n` numbers, `tau` has `min(m, n)`, `q` has `m * k`.
    unsafe fn qr(m: usize, n: usize, a: *mut Self, tau: *mut Self, k: usize, q: *mut Self) -> Result<(), Failure>;

    /// Makes singular values, and so many singular vectors.
    ///
    /// # Safety
    /// `a` has `m * n` numbers, `s` has `min(m, n)`, `u` has `m * k`, `v` has `n * l`.
    #[expect(clippy::too_many_arguments, reason = "three matrices with their sizes")]
    unsafe fn singular(
        m: usize,
        n: usize,
        a: *mut Self,
        s: *mut Self::Real,
        k: usize,
        u: *mut Self,
        l: usize,
        v: *mut Self,
    ) -> Result<(), Failure>;

    /// Makes the least-squares solution in the first rows of `b`, singular values, and the rank.
    ///
    /// # Safety
    /// `a` has `m * n` numbers, `b` has `max(m, n) * k`, `s` has `min(m, n)`, which is not 0.
    unsafe fn least_squares(
        m: usize,
        n: usize,
        a: *mut Self,
        k: usize,
        b: *mut Self,
        s: *mut Self::Real,
        tolerance: f64,
    ) -> Result<i64, Failure>;

    /// Makes eigenvalues of a self-adjoint matrix, and the eigenvectors if there is memory for them.
    ///
    /// # Safety
    /// `a` has `n * n` numbers, `w` has `n`, `v` has `n * n` or is null.
    unsafe fn self_adjoint(n: usize, a: *mut Self, w: *mut Self::Real, v: *mut Self) -> Result<(), Failure>;

    /// Makes eigenvalues as real and imaginary parts (of complex matrices, `re` has both parts), and the eigenvectors
    /// if there is memory for them: those of a real matrix as LAPACK packs them.
    ///
    /// # Safety
    /// `a` has `n * n` numbers, `re` and `im` have `n`, `v` has `n * n` or is null.
    unsafe fn general(n: usize, a: *mut Self, re: *mut Self, im: *mut Self, v: *mut Self) -> Result<(), Failure>;
}

macro_rules! general_complex {
    ($t:ty, $n:ident, $a:ident, $w:ident, $v:ident) => {
        match $n {
            0 => Ok(()),
            _ => with_memory(general_needs::<$t>($n, &$v), |stack| {
                evd::evd_cplx($a, $w, None, $v, PAR, stack, Spec::default()).map_err(|_| Failure::Numerical)
            }),
        }
    };
}

macro_rules! scalars {
    ($($t:ty: $real:ty, |$n:ident, $a:ident, $re:ident, $im:ident, $v:ident| $general:expr;)*) => {$(
        impl Scalar for $t {
            type Real = $real;

            unsafe fn lu(m: usize, n: usize, a: *mut Self, rows: *mut usize) -> Result<i64, Failure> {
                // SAFETY: the caller's promise.
                unsafe { lu_in_place(matrix(a, m, n), vector(rows, m)) }
            }
            unsafe fn lu_solve(
                n: usize, k: usize, a: *mut Self, rows: *mut usize, b: *mut Self,
            ) -> Result<(), Failure> {
                // SAFETY: the caller's promise.
                unsafe { lu_solve(matrix(a, n, n).rb(), vector(rows, n), matrix(b, n, k)) }
            }
            unsafe fn triangle(
                n: usize, k: usize, a: *mut Self, lower: bool, unit: bool, b: *mut Self,
            ) -> Result<(), Failure> {
                // SAFETY: the caller's promise.
                unsafe { triangle(matrix(a, n, n).rb(), lower, unit, matrix(b, n, k)) }
            }
            unsafe fn cholesky(n: usize, a: *mut Self) -> Result<(), Failure> {
                // SAFETY: the caller's promise.
                unsafe { cholesky(matrix(a, n, n)) }
            }
            unsafe fn qr(
                m: usize, n: usize, a: *mut Self, tau: *mut Self, k: usize, q: *mut Self,
            ) -> Result<(), Failure> {
                // SAFETY: the caller's promise.
                unsafe { qr_in_place(matrix(a, m, n), vector(tau, m.min(n)), matrix(q, m, k)) }
            }
            unsafe fn singular(
                m: usize, n: usize, a: *mut Self, s: *mut $real, k: usize, u: *mut Self, l: usize, v: *mut Self,
            ) -> Result<(), Failure> {
                // SAFETY: the caller's promise. Singular values are real numbers, which a diagonal of numbers holds.
                unsafe {
                    let mut values = vec![zero::<$t>(); m.min(n)];
                    let (u, v) = ((k > 0).then(|| matrix(u, m, k)), (l > 0).then(|| matrix(v, n, l)));
                    singular(matrix(a, m, n).rb(), DiagMut::from_slice_mut(&mut values), u, v)?;
                    reals(&values, s);
                }
                Ok(())
            }
            unsafe fn least_squares(
                m: usize, n: usize, a: *mut Self, k: usize, b: *mut Self, s: *mut $real, tolerance: f64,
            ) -> Result<i64, Failure> {
                // SAFETY: as above.
                unsafe {
                    let mut values = vec![zero::<$t>(); m.min(n)];
                    let (a, b) = (matrix(a, m, n), matrix(b, m.max(n), k));
                    let rank = least_squares(a, b, DiagMut::from_slice_mut(&mut values), tolerance)?;
                    reals(&values, s);
                    Ok(rank)
                }
            }
            unsafe fn self_adjoint(n: usize, a: *mut Self, w: *mut $real, v: *mut Self) -> Result<(), Failure> {
                // SAFETY: as above.
                unsafe {
                    let mut values = vec![zero::<$t>(); n];
                    let v = (!v.is_null()).then(|| matrix(v, n, n));
                    self_adjoint(matrix(a, n, n).rb(), DiagMut::from_slice_mut(&mut values), v)?;
                    reals(&values, w);
                }
                Ok(())
            }
            unsafe fn general(
                $n: usize, $a: *mut Self, $re: *mut Self, $im: *mut Self, $v: *mut Self,
            ) -> Result<(), Failure> {
                // SAFETY: the caller's promise.
                unsafe {
                    let $v = (!$v.is_null()).then(|| matrix($v, $n, $n));
                    let ($a, $re) = (matrix($a, $n, $n).into_const(), diagonal($re, $n));
                    $general
                }
            }
        }
    )*};
}
scalars! {
    f32: f32, |n, a, re, im, v| general_real(a, re, diagonal(im, n), v);
    f64: f64, |n, a, re, im, v| general_real(a, re, diagonal(im, n), v);
    c32: f32, |n, a, w, _im, v| general_complex!(c32, n, a, w, v);
    c64: f64, |n, a, w, _im, v| general_complex!(c64, n, a, w, v);
}
