//! Matrix products over memory with any strides. Ctrl-C ends long ones, which leaves part of the result.
//!
//! Strides are in bytes, as in arrays. Large products of regular memory go through packed kernels; products with a
//! vector, tiny ones and irregular memory (strides that are no multiples of the element size) are loops. Very large
//! ones are shared among threads.

use crate::interrupt::requested;
use crate::poll::raise_interrupt;
use crate::pool;
use crate::symbol::{Symbol, functions};
use std::ffi::c_void;
use std::ops::{Add, Mul};

/// A matrix in memory.
#[derive(Clone, Copy)]
struct Matrix<T> {
    data: *mut T,
    rows: usize,
    cols: usize,
    /// Bytes from a row to the next.
    row: isize,
    /// Bytes from a column to the next.
    col: isize,
}

impl<T: Element> Matrix<T> {
    fn transposed(self) -> Matrix<T> {
        Matrix { data: self.data, rows: self.cols, cols: self.rows, row: self.col, col: self.row }
    }
    fn at(self, i: usize, j: usize) -> *mut T {
        self.data.wrapping_byte_offset(i as isize * self.row + j as isize * self.col)
    }
    fn row(self, i: usize) -> Vector<T> {
        Vector { data: self.at(i, 0), len: self.cols, step: self.col }
    }
    /// Some of the rows.
    fn rows_from(self, first: usize, rows: usize) -> Matrix<T> {
        Matrix { data: self.at(first, 0), rows, ..self }
    }
    /// Some of the columns.
    fn cols_from(self, first: usize, cols: usize) -> Matrix<T> {
        Matrix { data: self.at(0, first), cols, ..self }
    }
    /// Whether the other matrix is this one on its side.
    fn is_transposed(self, b: Matrix<T>) -> bool {
        self.data == b.data && (self.rows, self.cols, self.row, self.col) == (b.cols, b.rows, b.col, b.row)
    }
    /// Strides in elements, if the memory is regular.
    fn strides(self) -> Option<(isize, isize)> {
        let size = size_of::<T>() as isize;
        let regular = self.data.is_aligned() && self.row % size == 0 && self.col % size == 0;
        regular.then_some((self.row / size, self.col / size))
    }
}

/// A vector in memory.
#[derive(Clone, Copy)]
struct Vector<T> {
    data: *const T,
    len: usize,
    /// Bytes from an element to the next.
    step: isize,
}

impl<T> Vector<T> {
    /// Some of the elements.
    fn part(self, first: usize, len: usize) -> Vector<T> {
        Vector { data: self.data.wrapping_byte_offset(first as isize * self.step), len, ..self }
    }
}

/// A complex number in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Complex<T> {
    re: T,
    im: T,
}

impl<T: Add<Output = T>> Add for Complex<T> {
    type Output = Complex<T>;
    fn add(self, o: Complex<T>) -> Complex<T> {
        Complex { re: self.re + o.re, im: self.im + o.im }
    }
}

impl<T: Copy + Add<Output = T> + std::ops::Sub<Output = T> + Mul<Output = T>> Mul for Complex<T> {
    type Output = Complex<T>;
    fn mul(self, o: Complex<T>) -> Complex<T> {
        Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

/// A type that matrices are made of.
trait Element: Copy + Default + Send + Sync + 'static + Add<Output = Self> + Mul<Output = Self> {
    /// The type as the kernels know it, laid out the same.
    type Kernel: 'static;
    const ZERO: Self::Kernel;
    const ONE: Self::Kernel;
    /// `x * y + sum`, fused where that is one instruction.
    fn mul_add(self, y: Self, sum: Self) -> Self;
}

macro_rules! elements {
    ($($t:ty, $kernel:ty, $zero:expr, $one:expr, $sum:expr;)*) => {$(
        impl Element for $t {
            type Kernel = $kernel;
            const ZERO: $kernel = $zero;
            const ONE: $kernel = $one;
            #[inline(always)]
            fn mul_add(self, y: $t, sum: $t) -> $t {
                let fused: fn($t, $t, $t) -> $t = $sum;
                fused(self, y, sum)
            }
        }
    )*};
}
elements! {
    f32, f32, 0.0, 1.0, |x, y, s| x.mul_add(y, s);
    f64, f64, 0.0, 1.0, |x, y, s| x.mul_add(y, s);
    Complex<f32>, gemm::c32, gemm::c32 { re: 0.0, im: 0.0 }, gemm::c32 { re: 1.0, im: 0.0 }, |x, y, s| x * y + s;
    Complex<f64>, gemm::c64, gemm::c64 { re: 0.0, im: 0.0 }, gemm::c64 { re: 1.0, im: 0.0 }, |x, y, s| x * y + s;
}

/// Below this number of multiplications packing costs more than it brings.
const TINY: usize = 512;

/// Elements of vectors that are gone through without asking for Ctrl-C: some milliseconds.
const QUIET: usize = 1 << 22;

/// Counts what is done between two looks at whether Ctrl-C was pressed.
#[derive(Default)]
struct Watch {
    done: usize,
}

impl Watch {
    /// Whether to stop, after so many more elements.
    fn stops(&mut self, elements: usize) -> bool {
        self.done += elements;
        self.done >= QUIET && {
            self.done = 0;
            requested()
        }
    }
}

/// `c = a @ b`; not 0 with an exception pending if Ctrl-C was pressed.
///
/// # Safety
/// The matrices lie in memory as described, and `c` overlaps neither of the others.
unsafe fn gemm<T: Element>(a: Matrix<T>, b: Matrix<T>, c: Matrix<T>) -> i32 {
    if c.rows == 0 || c.cols == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, and that of the functions called.
    unsafe {
        if c.cols == 1 {
            return gemv(a, b.transposed().row(0), c);
        }
        if c.rows == 1 {
            return gemv(b.transposed(), a.row(0), c.transposed());
        }
        let work = c.rows.saturating_mul(c.cols).saturating_mul(a.cols);
        if work >= TINY
            && let (Some(_), Some(_), Some(_)) = (a.strides(), b.strides(), c.strides())
        {
            if work >= HALVED && a.cols >= DEEP && a.is_transposed(b) {
                return symmetric(a, b, c);
            }
            if work >= LARGE {
                return shared(a, b, c);
            }
            kernel(a, b, c, false);
            return 0;
        }
        let mut watch = Watch::default();
        for i in 0..c.rows {
            for j in 0..c.cols {
                if watch.stops(a.cols) {
                    return raise_interrupt();
                }
                let mut sum = T::default();
                for k in 0..a.cols {
                    sum = a.at(i, k).read_unaligned() * b.at(k, j).read_unaligned() + sum;
                }
                c.at(i, j).write_unaligned(sum);
            }
        }
    }
    0
}

/// From this number of multiplications on, a tenth of a millisecond of work or more, threads share a product.
const LARGE: usize = 1 << 22;

/// From this number of multiplications on, half of a symmetric product is copied instead of computed.
const HALVED: usize = 1 << 20;

/// Shorter sums hardly take longer than a copy of their result.
const DEEP: usize = 128;

/// Multiplications that are done without asking for Ctrl-C.
const SLICE: usize = 1 << 27;

/// `c = a @ b` in tiles, which the threads of the pool take as they come; not 0 if Ctrl-C was pressed.
///
/// # Safety
/// As of `gemm`, and all strides are those of regular memory.
unsafe fn shared<T: Element>(a: Matrix<T>, b: Matrix<T>, c: Matrix<T>) -> i32 {
    let mut product = Product { a, b, c, tiles: Tiles::of(c.rows, c.cols) };
    let tiles = product.tiles.count() as i64;
    // SAFETY: the product outlives the call, its tiles may be computed in any order, and do not overlap.
    unsafe { pool::parallel_for(tiles, 1, Product::<T>::part, (&raw mut product).cast()) }
}

/// `c = a @ b` where `b` is `a` on its side: panels of rows up to the diagonal, and above it their mirror images; not 0
/// if Ctrl-C was pressed.
///
/// # Safety
/// As of `shared`.
unsafe fn symmetric<T: Element>(a: Matrix<T>, b: Matrix<T>, c: Matrix<T>) -> i32 {
    let height = (c.rows / 12).next_multiple_of(Tiles::GRAIN).clamp(2 * Tiles::GRAIN, Tiles::COLS);
    let panels = c.rows.div_ceil(height);
    let mut product = Product { a, b, c, tiles: Tiles { size: (height, 0), number: (panels, 1) } };
    // SAFETY: the product outlives the call; a panel and its image overlap no others.
    unsafe {
        if c.rows * c.cols * a.cols < LARGE {
            return Product::<T>::panels((&raw mut product).cast(), 0, panels as i64, 0);
        }
        pool::parallel_for(panels as i64, 1, Product::<T>::panels, (&raw mut product).cast())
    }
}

/// Copies a matrix to where its transpose is, in blocks that stay in a cache.
///
/// # Safety
/// The memory is as described, and the matrices do not overlap.
unsafe fn mirror<T: Element>(from: Matrix<T>, to: Matrix<T>) {
    for i in (0..from.rows).step_by(Tiles::GRAIN) {
        for j in (0..from.cols).step_by(Tiles::GRAIN) {
            for l in j..from.cols.min(j + Tiles::GRAIN) {
                for k in i..from.rows.min(i + Tiles::GRAIN) {
                    // SAFETY: the caller's promise.
                    unsafe { to.at(l, k).write(from.at(k, l).read()) };
                }
            }
        }
    }
}

/// How a result is cut into tiles: by its shape alone, so that numbers do not depend on threads.
struct Tiles {
    /// Rows of a tile, and columns; tiles at the end may be smaller.
    size: (usize, usize),
    /// Tiles in a column, and in a row.
    number: (usize, usize),
}

impl Tiles {
    /// Elements of a tile: its operands stay in a core's cache, and packing them does not show.
    const AREA: usize = 256 * 128;
    /// Columns of a tile, unless there are few rows.
    const COLS: usize = 128;
    /// Tiles are multiples of this, so that kernels have no rests in the middle.
    const GRAIN: usize = 16;

    fn of(rows: usize, cols: usize) -> Tiles {
        let even = |n: usize, most: usize| {
            let pieces = n.div_ceil(most.max(1));
            let size = n.div_ceil(pieces).next_multiple_of(Tiles::GRAIN);
            (size, n.div_ceil(size))
        };
        let (width, across) = even(cols, Tiles::COLS.max(Tiles::AREA / rows));
        let (height, down) = even(rows, Tiles::AREA / width.min(cols));
        Tiles { size: (height, width), number: (down, across) }
    }
    fn count(&self) -> usize {
        self.number.0 * self.number.1
    }
}

/// A product that threads share.
struct Product<T> {
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    tiles: Tiles,
}

impl<T: Element> Product<T> {
    /// Computes the tiles from `low` to before `high`: the body of the loop.
    unsafe extern "C" fn part(product: *mut c_void, low: i64, high: i64, _thread: i64) -> i32 {
        // SAFETY: called with a product, whose memory is as described.
        unsafe {
            let Product { a, b, c, tiles } = &*product.cast::<Product<T>>();
            for tile in low as usize..high as usize {
                let (i, j) = (tile / tiles.number.1 * tiles.size.0, tile % tiles.number.1 * tiles.size.1);
                let (rows, cols) = (tiles.size.0.min(c.rows - i), tiles.size.1.min(c.cols - j));
                let (a, b, c) = (a.rows_from(i, rows), b.cols_from(j, cols), c.rows_from(i, rows).cols_from(j, cols));
                if sliced(a, b, c) {
                    return raise_interrupt();
                }
            }
        }
        0
    }

    /// Computes the panels of a symmetric product, the longest ones first.
    unsafe extern "C" fn panels(product: *mut c_void, low: i64, high: i64, _thread: i64) -> i32 {
        // SAFETY: called with a product, whose memory is as described.
        unsafe {
            let Product { a, b, c, tiles } = &*product.cast::<Product<T>>();
            for panel in low as usize..high as usize {
                let i = (tiles.number.0 - 1 - panel) * tiles.size.0;
                let rows = tiles.size.0.min(c.rows - i);
                let line = c.rows_from(i, rows);
                if sliced(a.rows_from(i, rows), b.cols_from(0, i + rows), line.cols_from(0, i + rows)) {
                    return raise_interrupt();
                }
                mirror(line.cols_from(0, i), c.rows_from(0, i).cols_from(i, rows));
            }
        }
        0
    }
}

/// `c = a @ b` of a tile, whose sums are as long as a row of `a`: in slices. Whether Ctrl-C was pressed.
///
/// # Safety
/// As of `shared`.
unsafe fn sliced<T: Element>(a: Matrix<T>, b: Matrix<T>, c: Matrix<T>) -> bool {
    let depth = a.cols.div_ceil(a.cols.div_ceil(SLICE / (c.rows * c.cols).min(SLICE)).max(1)).max(1);
    // SAFETY: the caller's promise.
    unsafe {
        kernel(a.cols_from(0, depth.min(a.cols)), b.rows_from(0, depth.min(a.cols)), c, false);
        for l in (depth..a.cols).step_by(depth) {
            if requested() {
                return true;
            }
            let n = depth.min(a.cols - l);
            kernel(a.cols_from(l, n), b.rows_from(l, n), c, true);
        }
    }
    false
}

/// `c = a @ b`, or `c += a @ b`, by a packed kernel.
///
/// # Safety
/// As of `shared`.
unsafe fn kernel<T: Element>(a: Matrix<T>, b: Matrix<T>, c: Matrix<T>, adds: bool) {
    let strides = |m: Matrix<T>| m.strides().unwrap_or_else(|| lh_ir::bug!("a product of irregular memory"));
    let ((ar, ac), (br, bc), (cr, cc)) = (strides(a), strides(b), strides(c));
    // SAFETY: the caller's promise.
    unsafe {
        gemm::gemm::<T::Kernel>(
            c.rows,
            c.cols,
            a.cols,
            c.data.cast(),
            cc,
            cr,
            adds,
            a.data.cast_const().cast(),
            ac,
            ar,
            b.data.cast_const().cast(),
            bc,
            br,
            if adds { T::ONE } else { T::ZERO },
            T::ONE,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// `c = a @ x`, with `c` as a matrix of one column; not 0 if Ctrl-C was pressed.
///
/// # Safety
/// As of `gemm`.
unsafe fn gemv<T: Element>(a: Matrix<T>, x: Vector<T>, c: Matrix<T>) -> i32 {
    let mut watch = Watch::default();
    // SAFETY: the caller's promise.
    unsafe {
        if a.col.unsigned_abs() <= a.row.unsigned_abs() || a.cols <= 1 {
            for i in 0..a.rows {
                let Some(sum) = watched_dot(a.row(i), x, &mut watch) else { return raise_interrupt() };
                c.at(i, 0).write_unaligned(sum);
            }
            return 0;
        }
        // Columns are closer together in memory than rows: add them up one by one.
        for first in (0..a.rows).step_by(QUIET) {
            let rows = QUIET.min(a.rows - first);
            let (columns, c) = (a.rows_from(first, rows).transposed(), c.rows_from(first, rows));
            for i in 0..rows {
                c.at(i, 0).write_unaligned(T::default());
            }
            for j in 0..a.cols {
                if watch.stops(rows) {
                    return raise_interrupt();
                }
                let factor = x.part(j, 1).data.read_unaligned();
                add_scaled(columns.row(j), factor, c);
            }
        }
    }
    0
}

/// `sum(x * y)`, or `None` if Ctrl-C was pressed.
///
/// # Safety
/// The operands lie in memory as described.
unsafe fn watched_dot<T: Element>(x: Vector<T>, y: Vector<T>, watch: &mut Watch) -> Option<T> {
    if watch.stops(x.len) {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if x.len <= QUIET {
            return Some(dot(x, y));
        }
        let mut sum = T::default();
        for first in (0..x.len).step_by(QUIET) {
            if requested() {
                return None;
            }
            let n = QUIET.min(x.len - first);
            sum = sum + dot(x.part(first, n), y.part(first, n));
        }
        Some(sum)
    }
}

/// Defines a function that is compiled for AVX2 and FMA besides the base, and chosen at run time.
macro_rules! dispatched {
    ($(#[$doc:meta])* unsafe fn $name:ident, $fast:ident, $base:ident ($($arg:ident: $t:ty),*) -> $r:ty) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The operands lie in memory as described.
        unsafe fn $name<T: Element>($($arg: $t),*) -> $r {
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                // SAFETY: the features were just checked; the rest is the caller's promise.
                return unsafe { $fast($($arg),*) };
            }
            // SAFETY: the caller's promise.
            unsafe { $base::<T, false>($($arg),*) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn $fast<T: Element>($($arg: $t),*) -> $r {
            // SAFETY: the caller's promise.
            unsafe { $base::<T, true>($($arg),*) }
        }
    };
}

dispatched! {
    /// `sum(x * y)`.
    unsafe fn dot, dot_avx2, dot_loop(x: Vector<T>, y: Vector<T>) -> T
}
dispatched! {
    /// `c += x * factor`, with `c` as a matrix of one column.
    unsafe fn add_scaled, add_scaled_avx2, add_scaled_loop(x: Vector<T>, factor: T, c: Matrix<T>) -> ()
}

#[inline(always)]
fn step<T: Element, const FUSED: bool>(x: T, y: T, sum: T) -> T {
    if FUSED { x.mul_add(y, sum) } else { x * y + sum }
}

#[inline(always)]
unsafe fn dot_loop<T: Element, const FUSED: bool>(x: Vector<T>, y: Vector<T>) -> T {
    let size = size_of::<T>() as isize;
    let n = x.len;
    let mut sum = T::default();
    // SAFETY: the vectors have `n` elements as described; slices are made of contiguous aligned ones only.
    unsafe {
        if x.step == size && y.step == size && x.data.is_aligned() && y.data.is_aligned() && n > 0 {
            let (x, y) = (std::slice::from_raw_parts(x.data, n), std::slice::from_raw_parts(y.data, n));
            return dot_slices::<T, FUSED>(x, y);
        }
        for i in 0..n {
            let a = x.data.wrapping_byte_offset(i as isize * x.step).read_unaligned();
            let b = y.data.wrapping_byte_offset(i as isize * y.step).read_unaligned();
            sum = step::<T, FUSED>(a, b, sum);
        }
    }
    sum
}

#[inline(always)]
fn dot_slices<T: Element, const FUSED: bool>(x: &[T], y: &[T]) -> T {
    /// Partial sums: enough to fill the pipelines of vector units, and more accurate than one.
    const LANES: usize = 32;
    let (x_chunks, x_rest) = x.as_chunks::<LANES>();
    let (y_chunks, y_rest) = y.as_chunks::<LANES>();
    let mut sum = T::default();
    if !x_chunks.is_empty() {
        let mut sums = [T::default(); LANES];
        for (a, b) in x_chunks.iter().zip(y_chunks) {
            for l in 0..LANES {
                sums[l] = step::<T, FUSED>(a[l], b[l], sums[l]);
            }
        }
        let mut width = LANES;
        while width > 1 {
            width /= 2;
            for l in 0..width {
                sums[l] = sums[l] + sums[l + width];
            }
        }
        sum = sums[0];
    }
    x_rest.iter().zip(y_rest).fold(sum, |sum, (a, b)| step::<T, FUSED>(*a, *b, sum))
}

#[inline(always)]
unsafe fn add_scaled_loop<T: Element, const FUSED: bool>(x: Vector<T>, factor: T, c: Matrix<T>) {
    let size = size_of::<T>() as isize;
    let n = x.len;
    // SAFETY: the vectors have `n` elements as described and do not overlap; slices are made of contiguous aligned
    // ones.
    unsafe {
        if x.step == size && c.row == size && x.data.is_aligned() && c.data.is_aligned() && n > 0 {
            let (x, c) = (std::slice::from_raw_parts(x.data, n), std::slice::from_raw_parts_mut(c.data, n));
            for (c, x) in c.iter_mut().zip(x) {
                *c = step::<T, FUSED>(*x, factor, *c);
            }
            return;
        }
        for i in 0..n {
            let a = x.data.wrapping_byte_offset(i as isize * x.step).read_unaligned();
            let to = c.at(i, 0);
            to.write_unaligned(step::<T, FUSED>(a, factor, to.read_unaligned()));
        }
    }
}

macro_rules! products {
    ($($t:ty: $gemm:ident;)*) => {$(
        // The parameters are those of the row: m, n, k; address, row stride, column stride of a, b and c.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $gemm(
            m: i64, n: i64, k: i64, a: *mut $t, ar: i64, ac: i64, b: *mut $t, br: i64, bc: i64, c: *mut $t, cr: i64, cc: i64,
        ) -> i32 {
            let size = |n: i64| n.max(0) as usize;
            let (m, n, k) = (size(m), size(n), size(k));
            let matrix = |data, rows, cols, row: i64, col: i64| Matrix { data, rows, cols, row: row as isize, col: col as isize };
            // SAFETY: compiled code passes two arrays, and one of its own for the result.
            unsafe { gemm(matrix(a, m, k, ar, ac), matrix(b, k, n, br, bc), matrix(c, m, n, cr, cc)) }
        }
    )*};
}
products! {
    f32: lh_gemm_f32;
    f64: lh_gemm_f64;
    Complex<f32>: lh_gemm_c64;
    Complex<f64>: lh_gemm_c128;
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _ _ _ _ _ _ _ _ _) lh_gemm_f32 lh_gemm_f64 lh_gemm_c64 lh_gemm_c128;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, so that sums are exact in any order.
    fn fill<T>(n: usize, make: impl Fn(f64) -> T) -> Vec<T> {
        (0..n).map(|i| make(((i * 7 + i / 5) % 11) as f64 - 5.0)).collect()
    }

    fn product<T: Element>(
        m: usize,
        n: usize,
        k: usize,
        a: impl Fn(usize, usize) -> T,
        b: impl Fn(usize, usize) -> T,
    ) -> Vec<T> {
        let cell = |i, j| (0..k).fold(T::default(), |s, l| a(i, l) * b(l, j) + s);
        (0..m * n).map(|at| cell(at / n, at % n)).collect()
    }

    /// All shapes and orders: C, Fortran and reversed rows.
    fn check<T: Element + PartialEq + std::fmt::Debug>(
        make: impl Fn(f64) -> T,
        gemm: unsafe extern "C-unwind" fn(i64, i64, i64, *mut T, i64, i64, *mut T, i64, i64, *mut T, i64, i64) -> i32,
    ) {
        let size = size_of::<T>() as i64;
        for (m, n, k) in [
            (0, 3, 3),
            (2, 3, 0),
            (1, 1, 1),
            (3, 4, 5),
            (1, 40, 50),
            (40, 1, 50),
            (17, 33, 70),
            (64, 64, 64),
            (300, 200, 9),
        ] {
            let (mut a, mut b) = (fill(m * k, &make), fill(k * n, &make));
            for order in 0..4 {
                let (fortran, reversed) = (order & 1 != 0, order & 2 != 0);
                let a_at = |i: usize, l: usize| a[if fortran { l * m + i } else { i * k + l }];
                let row_of_b = |l: usize| if reversed { k - 1 - l } else { l };
                let want = product(m, n, k, a_at, |l, j| b[row_of_b(l) * n + j]);
                let mut c = vec![make(9.0); m * n];
                let (ar, ac) = if fortran { (1, m) } else { (k, 1) };
                let (first, br) = if reversed && k > 0 { ((k - 1) * n, -(n as i64)) } else { (0, n as i64) };
                // SAFETY: matrices of these shapes.
                let status = unsafe {
                    gemm(
                        m as i64,
                        n as i64,
                        k as i64,
                        a.as_mut_ptr(),
                        ar as i64 * size,
                        ac as i64 * size,
                        b.as_mut_ptr().wrapping_add(first),
                        br * size,
                        size,
                        c.as_mut_ptr(),
                        n as i64 * size,
                        size,
                    )
                };
                assert_eq!((status, &c), (0, &want), "{m} {n} {k} {order}");
            }
        }
    }

    #[test]
    fn products_of_matrices() {
        check(|x| x as f32, lh_gemm_f32);
        check(|x| x, lh_gemm_f64);
        check(|x| Complex { re: x as f32, im: 1.0 - x as f32 }, lh_gemm_c64);
        check(|x| Complex { re: x, im: 2.0 * x + 1.0 }, lh_gemm_c128);
    }

    #[test]
    fn parts_make_the_whole() {
        // The last but one has sums of several slices.
        let shapes = [(100, 7, 9), (7, 100, 9), (97, 200, 11), (150, 150, 0), (600, 129, 3), (2, 70_000, 3)];
        for (m, n, k) in shapes.into_iter().chain([(256, 128, 4097), (40_000, 1, 2)]) {
            let (mut a, mut b, mut c) = (fill(m * k, |x| x), fill(k * n, |x| x), vec![7.0; m * n]);
            let matrix = |v: &mut Vec<f64>, rows: usize, cols: usize| Matrix {
                data: v.as_mut_ptr(),
                rows,
                cols,
                row: cols as isize * 8,
                col: 8,
            };
            let want = product(m, n, k, |i, l| a[i * k + l], |l, j| b[l * n + j]);
            // SAFETY: matrices of these shapes.
            let status = unsafe { shared(matrix(&mut a, m, k), matrix(&mut b, k, n), matrix(&mut c, m, n)) };
            assert_eq!((status, &c), (0, &want), "{m} {n} {k}");
        }
    }

    #[test]
    fn products_with_the_transpose() {
        for (n, k) in [(100, 130), (131, 400), (300, 140), (700, 3)] {
            let mut a = fill(n * k, |x| x);
            for (row, col) in [(k, 1), (1, n)] {
                let at = |i: usize, l: usize| a[i * row + l * col];
                let want = product(n, n, k, at, |l, j| at(j, l));
                let (row, col, data, mut c) = (8 * row as i64, 8 * col as i64, a.as_mut_ptr(), vec![7.0; n * n]);
                let size = n as i64;
                // SAFETY: matrices of these shapes.
                let status = unsafe {
                    lh_gemm_f64(size, size, k as i64, data, row, col, data, col, row, c.as_mut_ptr(), 8 * size, 8)
                };
                assert_eq!((status, &c), (0, &want), "{n} {k}");
            }
        }
    }

    #[test]
    fn irregular_memory() {
        // Doubles 9 bytes apart.
        let mut bytes = [0u8; 9 * 16];
        for i in 0..16 {
            bytes[9 * i..9 * i + 8].copy_from_slice(&(i as f64).to_ne_bytes());
        }
        let mut c = [0.0; 16];
        let a = bytes.as_mut_ptr().cast::<f64>();
        // SAFETY: 4 x 4 matrices.
        unsafe { lh_gemm_f64(4, 4, 4, a, 36, 9, a, 36, 9, c.as_mut_ptr(), 32, 8) };
        assert_eq!(c.to_vec(), product(4, 4, 4, |i, l| (4 * i + l) as f64, |l, j| (4 * l + j) as f64));
    }

    #[test]
    fn products_of_vectors() {
        let vector = |v: &[f64], len, step: usize| Vector { data: v.as_ptr(), len, step: 8 * step as isize };
        for n in [0usize, 1, 31, 32, 33, 1000, QUIET + 33] {
            let x = fill(2 * n, |x| x);
            for step in [1, 2] {
                let want = (0..n).map(|i| x[step * i] * x[i]).sum::<f64>();
                // SAFETY: vectors of that size.
                let sum = unsafe { watched_dot(vector(&x, n, step), vector(&x, n, 1), &mut Watch::default()) };
                assert_eq!(sum, Some(want));
            }
        }
    }
}
