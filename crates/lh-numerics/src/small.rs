//! Eigenvalues and singular values of small real matrices, by reflections one at a time and implicit shifts, where
//! blocks of reflections would cost more than they bring. Matrices are columns one after the other, and their largest
//! number is neither so large nor so small that squares have no form.

/// Squares below this have lost digits; what they are the squares of is nothing beside the matrix.
const NOTHING: f64 = 1e-280;
/// Sweeps for each value: a few are enough.
const SWEEPS: usize = 60;
/// Steps of `quotients` for each value, where four are common.
const STEPS: usize = 8;

/// The columns of a matrix. There may be none.
pub struct Columns<'a> {
    data: &'a mut [f64],
    rows: usize,
}

impl<'a> Columns<'a> {
    pub fn new(data: &'a mut [f64], rows: usize) -> Columns<'a> {
        Columns { data, rows }
    }
    fn number(&self) -> usize {
        self.data.len() / self.rows.max(1)
    }
    #[inline(always)]
    fn col(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.rows..][..self.rows]
    }
    /// Two neighbours, the left one first.
    #[inline(always)]
    fn pair(&mut self, j: usize) -> (&mut [f64], &mut [f64]) {
        self.data[j * self.rows..][..2 * self.rows].split_at_mut(self.rows)
    }
    fn swap(&mut self, i: usize, j: usize) {
        if i < j && !self.data.is_empty() {
            let (left, right) = self.data.split_at_mut(j * self.rows);
            left[i * self.rows..][..self.rows].swap_with_slice(&mut right[..self.rows]);
        }
    }
    /// Ones on the diagonal, else zeros.
    fn make_identity(&mut self) {
        self.data.fill(0.0);
        (0..self.number()).for_each(|j| self.col(j)[j] = 1.0);
    }
    /// Turns the plane of neighbours by the angle whose cosine and sine these are.
    #[inline(always)]
    fn turn(&mut self, j: usize, (c, s): (f64, f64)) {
        if !self.data.is_empty() {
            let (left, right) = self.pair(j);
            for (x, y) in left.iter_mut().zip(right) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
        }
    }
}

#[inline(always)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (x_parts, x_rest) = x.as_chunks::<8>();
    let (y_parts, y_rest) = y.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in x_parts.iter().zip(y_parts) {
        for l in 0..8 {
            sums[l] += a[l] * b[l];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| a * b).sum();
    let half = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
    (half[0] + half[2]) + (half[1] + half[3]) + rest
}

/// `y += a * x`.
#[inline(always)]
fn add_scaled(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Makes the reflector that takes `x` to a multiple of the first unit vector, in its place; that multiple, and the
/// factor of the reflector.
#[inline(always)]
fn reflector(x: &mut [f64]) -> (f64, f64) {
    let first = x[0];
    let square = dot(&x[1..], &x[1..]);
    x[0] = 1.0;
    if square < NOTHING {
        return (first, 0.0);
    }
    let size = -(first * first + square).sqrt().copysign(first);
    let scale = 1.0 / (first - size);
    x[1..].iter_mut().for_each(|x| *x *= scale);
    (size, (size - first) / size)
}

/// Cosine and sine that turn `(f, g)` to `(r, 0)`, and `r`, which has the sign of `f` as LAPACK's has, so that signs of
/// vectors are those of LAPACK.
#[inline(always)]
fn turning(f: f64, g: f64) -> ((f64, f64), f64) {
    let square = f * f + g * g;
    if square < NOTHING {
        return ((1.0, 0.0), f);
    }
    let r = square.sqrt().copysign(f);
    let inverse = 1.0 / r;
    ((f * inverse, g * inverse), r)
}

/// The part of a matrix of two diagonals that is worked on, and from which of its ends.
struct Block {
    start: usize,
    end: usize,
    /// Whether places are counted from the end.
    flipped: bool,
}

impl Block {
    /// Place of a number of the diagonal.
    #[inline(always)]
    fn at(&self, i: usize) -> usize {
        if self.flipped { self.end - i } else { self.start + i }
    }
    /// Place of the number between two of the diagonal; also of the left one of two columns.
    #[inline(always)]
    fn between(&self, i: usize) -> usize {
        if self.flipped { self.end - i - 1 } else { self.start + i }
    }
    fn last(&self) -> usize {
        self.end - self.start
    }
    fn of(n: usize) -> Block {
        Block { start: n, end: n - 1, flipped: false }
    }
    /// Finds the last block that is not done, where the values that come out first are small; false if all is done.
    fn find(&mut self, d: &[f64], e: &mut [f64]) -> bool {
        let (old_start, old_end) = (self.start, self.end);
        while self.end > 0 {
            let negligible = |i: usize| {
                let near = d[i].abs() + d[i + 1].abs();
                e[i].abs() <= 0.5 * f64::EPSILON * near || e[i] * e[i] < NOTHING
            };
            self.start = (0..self.end).rev().find(|&i| negligible(i)).map_or(0, |i| i + 1);
            if self.start > 0 {
                e[self.start - 1] = 0.0;
            }
            if self.start < self.end {
                if self.end < old_start || self.start > old_end {
                    self.flipped = d[self.start].abs() < d[self.end].abs();
                }
                return true;
            }
            self.end -= 1;
        }
        false
    }
}

/// Eigenvalues of a symmetric matrix with diagonals `d` and `e`, in any order; the columns are turned along. False if
/// they do not converge.
#[inline(always)]
fn tridiagonal(d: &mut [f64], e: &mut [f64], z: &mut Columns<'_>) -> bool {
    let mut block = Block::of(d.len());
    for _ in 0..SWEEPS * d.len() {
        if !block.find(d, e) {
            return true;
        }
        if block.last() == 1 {
            let (i, j) = (block.start, block.end);
            let angle;
            (d[i], d[j], angle) = two_rows(d[i], e[i], d[j]);
            e[i] = 0.0;
            z.turn(i, angle);
        } else {
            sweep_tridiagonal(d, e, z, &block);
        }
    }
    false
}

/// The eigenvalues of a symmetric matrix of two rows, the larger one first, and cosine and sine that turn to it; `b`,
/// off the diagonal, is not 0. A sweep would find the same, but for the signs that LAPACK has.
#[inline(always)]
fn two_rows(a: f64, b: f64, c: f64) -> (f64, f64, (f64, f64)) {
    let (sum, difference, twice) = (a + c, a - c, b + b);
    let root = (difference * difference + twice * twice).sqrt();
    let (more, less) = if a.abs() > c.abs() { (a, c) } else { (c, a) };
    let first = 0.5 * if sum < 0.0 { sum - root } else { sum + root };
    let second = (more / first) * less - (b / first) * b;
    let far = if difference < 0.0 { difference - root } else { difference + root };
    let (cosine, sine) = if far.abs() > twice.abs() {
        let ratio = -twice / far;
        let sine = 1.0 / (1.0 + ratio * ratio).sqrt();
        (ratio * sine, sine)
    } else {
        let ratio = -far / twice;
        let cosine = 1.0 / (1.0 + ratio * ratio).sqrt();
        (cosine, ratio * cosine)
    };
    let is_turned = (sum < 0.0) == (difference < 0.0);
    (first, second, if is_turned { (-sine, cosine) } else { (cosine, sine) })
}

/// One sweep with the shift of Wilkinson, from the first place to the last, where a value comes out.
#[inline(always)]
fn sweep_tridiagonal(d: &mut [f64], e: &mut [f64], z: &mut Columns<'_>, block: &Block) {
    let last = block.last();
    let (low, f) = (d[block.at(last)], e[block.between(last - 1)]);
    let g = (d[block.at(last - 1)] - low) / (2.0 * f);
    let mut g = d[block.at(0)] - low + f / (g + (g * g + 1.0).sqrt().copysign(g));
    let (mut c, mut s, mut p) = (1.0, 1.0, 0.0);
    for i in 0..last {
        let (here, next, between) = (block.at(i), block.at(i + 1), block.between(i));
        let (f, b) = (s * e[between], c * e[between]);
        let (angle, r) = turning(g, f);
        (c, s) = angle;
        if i > 0 {
            e[block.between(i - 1)] = r;
        }
        g = d[here] - p;
        let r = (d[next] - g) * s + 2.0 * c * b;
        p = s * r;
        d[here] = g + p;
        g = c * r - b;
        z.turn(between, (c, if block.flipped { -s } else { s }));
    }
    d[block.at(last)] -= p;
    e[block.between(last - 1)] = g;
}

/// Singular values of a matrix with diagonal `d` and `e` above it, none negative, in any order; the columns are turned
/// along. False if they do not converge.
#[inline(always)]
fn bidiagonal(d: &mut [f64], e: &mut [f64], u: &mut Columns<'_>, v: &mut Columns<'_>) -> bool {
    let mut block = Block::of(d.len());
    for _ in 0..SWEEPS * d.len() {
        if !block.find(d, e) {
            for (j, d) in d.iter_mut().enumerate().filter(|(_, d)| d.is_sign_negative()) {
                *d = -*d;
                if v.number() > 0 {
                    v.col(j).iter_mut().for_each(|x| *x = -*x);
                }
            }
            return true;
        }
        let shift = shift_of(d, e, &block);
        // Counted from its end, the matrix is the transpose.
        if block.flipped {
            sweep_bidiagonal(d, e, v, u, &block, shift);
        } else {
            sweep_bidiagonal(d, e, u, v, &block, shift);
        }
    }
    false
}

/// The lesser singular value of the last two rows, or 0 if it would not show beside the first number.
#[inline(always)]
fn shift_of(d: &[f64], e: &[f64], block: &Block) -> f64 {
    let last = block.last();
    let (f, g, h) = (d[block.at(last - 1)].abs(), e[block.between(last - 1)].abs(), d[block.at(last)].abs());
    let (less, more) = (f.min(h), f.max(h));
    // Half the sum and half the difference of the values are lengths.
    let sum = ((more + less) * (more + less) + g * g).sqrt() + ((more - less) * (more - less) + g * g).sqrt();
    let shift = if sum > 0.0 { 2.0 * less * (more / sum) } else { 0.0 };
    let first = d[block.at(0)].abs();
    if (0..=last).any(|i| d[block.at(i)] == 0.0) || shift * shift < f64::EPSILON * first * first { 0.0 } else { shift }
}

/// One sweep from the first place to the last, where a value comes out.
#[inline(always)]
fn sweep_bidiagonal(d: &mut [f64], e: &mut [f64], u: &mut Columns<'_>, v: &mut Columns<'_>, block: &Block, shift: f64) {
    let last = block.last();
    let signed = |(c, s): (f64, f64)| (c, if block.flipped { -s } else { s });
    let first = d[block.at(0)];
    let mut f = if shift == 0.0 { first } else { (first.abs() - shift) * (1.0f64.copysign(first) + shift / first) };
    let mut g = e[block.between(0)];
    for i in 0..last {
        let (here, next, between) = (block.at(i), block.at(i + 1), block.between(i));
        let (right, r) = turning(f, g);
        let (c, s) = right;
        if i > 0 {
            e[block.between(i - 1)] = r;
        }
        f = c * d[here] + s * e[between];
        e[between] = c * e[between] - s * d[here];
        g = s * d[next];
        d[next] *= c;
        let (left, r) = turning(f, g);
        let (c, s) = left;
        d[here] = r;
        f = c * e[between] + s * d[next];
        d[next] = c * d[next] - s * e[between];
        if i + 1 < last {
            g = s * e[block.between(i + 1)];
            e[block.between(i + 1)] *= c;
        }
        v.turn(between, signed(right));
        u.turn(between, signed(left));
    }
    e[block.between(last - 1)] = f;
}

/// Applies a reflector to columns from `first` on, from the row at which it begins.
#[inline(always)]
fn reflect(x: &[f64], factor: f64, a: &mut Columns<'_>, first: usize) {
    let row = a.rows - x.len();
    for j in first..a.number() {
        let y = &mut a.col(j)[row..];
        add_scaled(-factor * dot(x, y), x, y);
    }
}

/// Puts a matrix with as many rows as columns or more between unitary factors: two diagonals of `s` and `e`, and the
/// first columns of the factors in `u` and `v`. The matrix is destroyed.
#[inline(always)]
fn to_bidiagonal(a: &mut Columns<'_>, s: &mut [f64], e: &mut [f64], u: &mut Columns<'_>, v: &mut Columns<'_>) {
    let (m, n) = (a.rows, s.len());
    let (mut rows, mut product) = (vec![0.0; n * n], vec![0.0; m]);
    let mut rows = Columns::new(&mut rows, n);
    let (mut factors, mut row_factors) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n {
        let (done, rest) = a.data.split_at_mut((k + 1) * m);
        let x = &mut done[k * m + k..];
        (s[k], factors[k]) = reflector(x);
        let mut rest = Columns::new(rest, m);
        reflect(x, factors[k], &mut rest, 0);
        if k + 1 == n {
            break;
        }
        let y = &mut rows.col(k)[k + 1..];
        for (j, y) in y.iter_mut().enumerate() {
            *y = rest.col(j)[k];
        }
        (e[k], row_factors[k]) = reflector(y);
        let product = &mut product[k + 1..];
        product.fill(0.0);
        for (j, y) in y.iter().enumerate() {
            add_scaled(*y, &rest.col(j)[k + 1..], product);
        }
        for (j, y) in y.iter().enumerate() {
            add_scaled(-row_factors[k] * y, product, &mut rest.col(j)[k + 1..]);
        }
    }
    u.make_identity();
    v.make_identity();
    for k in (0..n).rev() {
        reflect(&a.col(k)[k..], factors[k], u, k);
        if k + 1 < n {
            reflect(&rows.col(k)[k + 1..], row_factors[k], v, k + 1);
        }
    }
}

/// Puts a symmetric matrix between orthogonal factors: two diagonals of `d` and `e`, and the factor in `z`, if that has
/// columns. The lower triangle is read, and the matrix destroyed.
#[inline(always)]
fn to_tridiagonal(a: &mut Columns<'_>, d: &mut [f64], e: &mut [f64], z: &mut Columns<'_>) {
    let n = d.len();
    let (mut product, mut factors) = (vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        for i in 0..j {
            a.data[j * n + i] = a.data[i * n + j];
        }
    }
    for k in 0..n - 1 {
        d[k] = a.col(k)[k];
        let (done, rest) = a.data.split_at_mut((k + 1) * n);
        let x = &mut done[k * n + k + 1..];
        (e[k], factors[k]) = reflector(x);
        let (mut rest, product) = (Columns::new(rest, n), &mut product[k + 1..]);
        product.fill(0.0);
        for (j, y) in x.iter().enumerate() {
            add_scaled(factors[k] * y, &rest.col(j)[k + 1..], product);
        }
        add_scaled(-0.5 * factors[k] * dot(x, product), x, product);
        for j in 0..x.len() {
            let (y, w) = (x[j], product[j]);
            for ((a, x), p) in rest.col(j)[k + 1..].iter_mut().zip(&*x).zip(&*product) {
                *a -= w * x + y * p;
            }
        }
    }
    d[n - 1] = a.col(n - 1)[n - 1];
    z.make_identity();
    for k in (0..n - 1).rev() {
        reflect(&a.col(k)[k + 1..], factors[k], z, k + 1);
    }
}

/// Sorts values and the columns that belong to them.
fn sort(values: &mut [f64], u: &mut Columns<'_>, v: &mut Columns<'_>, before: impl Fn(f64, f64) -> bool) {
    for i in 0..values.len() {
        let best = (i + 1..values.len()).fold(i, |best, j| if before(values[j], values[best]) { j } else { best });
        values.swap(i, best);
        u.swap(i, best);
        v.swap(i, best);
    }
}

#[inline(always)]
fn svd_base(a: &mut Columns<'_>, s: &mut [f64], u: &mut Columns<'_>, v: &mut Columns<'_>) -> bool {
    let mut e = vec![0.0; s.len()];
    to_bidiagonal(a, s, &mut e, u, v);
    if u.number() + v.number() == 0 {
        return values_base(s, &mut e);
    }
    let converged = bidiagonal(s, &mut e, u, v);
    sort(s, u, v, |x, y| x > y);
    converged
}

#[inline(always)]
fn eigh_base(a: &mut Columns<'_>, w: &mut [f64], z: &mut Columns<'_>) -> bool {
    let mut e = vec![0.0; w.len()];
    to_tridiagonal(a, w, &mut e, z);
    let converged = tridiagonal(w, &mut e, z);
    sort(w, z, &mut Columns::new(&mut [], 0), |x, y| x < y);
    converged
}

#[inline(always)]
fn values_base(d: &mut [f64], e: &mut [f64]) -> bool {
    let (mut none, mut others) = (Columns::new(&mut [], 0), Columns::new(&mut [], 0));
    let converged = quotients(d, e) || bidiagonal(d, e, &mut none, &mut others);
    d.sort_unstable_by(|x, y| y.total_cmp(x));
    converged
}

/// The squares of two diagonals, of which a step of `quotients` makes others.
struct Squares {
    q: Vec<f64>,
    e: Vec<f64>,
}

/// Remainders of the numbers of the diagonal in a step: the least, the least but for the last two, the last.
struct Left {
    least: f64,
    before: f64,
    last: f64,
}

/// Singular values as those of `bidiagonal`, in less time, by quotients and differences with shifts (dqds,
/// Fernando and Parlett, 1994). False, and the diagonals are as they were, if a value is 0 or steps
/// converge slowly.
#[inline(always)]
fn quotients(d: &mut [f64], e: &[f64]) -> bool {
    const NEGLIGIBLE: f64 = 16.0 * f64::EPSILON * f64::EPSILON;
    let n = d.len();
    let square = |x: &f64| x * x;
    let mut from = Squares { q: d.iter().map(square).collect(), e: e[..n - 1].iter().map(square).collect() };
    if from.q.iter().any(|q| *q < NOTHING) {
        return false;
    }
    if from.q[0] < from.q[n - 1] {
        from.q.reverse();
        from.e.reverse();
    }
    let mut to = Squares { q: from.q.clone(), e: from.e.clone() };
    // The sum of all shifts, and what its roundings have lost.
    let (mut sum, mut lost) = (0.0, 0.0);
    let (mut values, mut shift, mut last, mut failures) = (vec![0.0; n], 0.0, n - 1, 0);
    for _ in 0..STEPS * n {
        while last > 0 && from.e[last - 1] <= NEGLIGIBLE * (sum + from.q[last]) {
            values[last] = sum + (lost + from.q[last]);
            last -= 1;
        }
        if last == 0 {
            values[0] = sum + (lost + from.q[0]);
            d.iter_mut().zip(&values).for_each(|(d, value)| *d = value.sqrt());
            return true;
        }
        let left = step(&from, &mut to, last, shift);
        if left.least >= 0.0 {
            let more = sum + shift;
            (lost, sum) = (lost + (shift - (more - sum)), more);
            std::mem::swap(&mut from, &mut to);
            (shift, failures) = (next_shift(&from, last, &left), 0);
        } else if shift > 0.0 && left.least < 0.0 {
            // Too far: where only the last number is below 0, it tells by how much.
            let nearer = (shift + left.last) * (1.0 - 2.0 * f64::EPSILON);
            let is_late = failures == 0 && left.before > 0.0 && left.last < 0.0 && nearer > 0.0;
            failures += 1;
            shift = if is_late { nearer } else { shift * if failures < 3 { 0.25 } else { 0.0 } };
        } else {
            return false;
        }
    }
    false
}

#[inline(always)]
fn step(from: &Squares, to: &mut Squares, last: usize, shift: f64) -> Left {
    let (q, e) = (&from.q[..=last], &from.e[..last]);
    let (q_to, e_to) = (&mut to.q[..=last], &mut to.e[..last]);
    let mut d = q[0] - shift;
    let (mut least, mut before) = (d, d);
    for i in 0..last {
        q_to[i] = d + e[i];
        let factor = q[i + 1] / q_to[i];
        e_to[i] = e[i] * factor;
        d = d * factor - shift;
        before = if i + 2 < last { least.min(d) } else { before };
        // A NaN stays.
        least = if d < least || d.is_nan() { d } else { least };
    }
    q_to[last] = d;
    Left { least, before, last: d }
}

/// A shift that is hardly more than the least value, by the last rows and what a step has left.
#[inline(always)]
fn next_shift(squares: &Squares, last: usize, left: &Left) -> f64 {
    if left.least < left.last {
        return 0.25 * left.least;
    }
    let (q, e) = (&squares.q, &squares.e);
    let near = q[last - 1] + e[last - 1];
    let first = (q[last] * e[last - 1]).sqrt();
    let second = if last > 1 { (q[last - 1] * e[last - 2]).sqrt() } else { 0.0 };
    let far = 0.75 * left.before - near;
    let gap = near - left.last - if far > second { second * second / far } else { first + second };
    if gap > first {
        return (left.last - first * first / gap).max(0.5 * left.least);
    }
    let mut shift = (left.last - first).max(0.0);
    if near > first + second {
        shift = shift.min(near - (first + second));
    }
    shift.max(left.least / 3.0)
}

/// Defines a function that is compiled for AVX2 besides the base, and chosen at run time.
macro_rules! dispatched {
    ($(#[$doc:meta])* fn $name:ident, $fast:ident, $base:ident ($($arg:ident: $t:ty),*)) => {
        $(#[$doc])*
        pub fn $name($($arg: $t),*) -> bool {
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the feature was just checked.
                return unsafe { $fast($($arg),*) };
            }
            $base($($arg),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $fast($($arg: $t),*) -> bool {
            $base($($arg),*)
        }
    };
}
dispatched! {
    /// Singular values in falling order, and the first columns of both factors. There are as many rows as columns or
    /// more; the matrix is destroyed. False if they do not converge.
    fn svd, svd_avx2, svd_base(a: &mut Columns<'_>, s: &mut [f64], u: &mut Columns<'_>, v: &mut Columns<'_>)
}
dispatched! {
    /// Eigenvalues in rising order by the lower triangle, and the eigenvectors. The matrix is destroyed. False if they
    /// do not converge.
    fn eigh, eigh_avx2, eigh_base(a: &mut Columns<'_>, w: &mut [f64], z: &mut Columns<'_>)
}
dispatched! {
    /// Singular values in falling order of a matrix with diagonal `d` and `e` above it. False if they do not converge.
    fn singular_values, values_avx2, values_base(d: &mut [f64], e: &mut [f64])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest difference of numbers from those of the identity, of products of columns.
    fn skew(q: &[f64], rows: usize) -> f64 {
        let columns: Vec<&[f64]> = q.chunks(rows).collect();
        let pairs = (0..columns.len() * columns.len()).map(|p| (p / columns.len(), p % columns.len()));
        pairs.map(|(i, j)| (dot(columns[i], columns[j]) - f64::from(i == j)).abs()).fold(0.0, f64::max)
    }

    /// The largest difference of `left * diagonal * right^T` from a matrix, beside its largest number.
    fn error(a: &[f64], m: usize, left: &[f64], s: &[f64], right: &[f64]) -> f64 {
        let n = a.len() / m;
        let product = |i: usize, j: usize| (0..s.len()).map(|k| left[k * m + i] * s[k] * right[k * n + j]).sum::<f64>();
        let largest = a.iter().fold(1e-300, |most: f64, x| most.max(x.abs()));
        (0..a.len()).map(|p| (product(p % m, p / m) - a[p]).abs() / largest).fold(0.0, f64::max)
    }

    /// Matrices by their numbers at a row and a column, and a random one.
    const KINDS: [fn(usize, usize, f64) -> f64; 10] = [
        |_, _, random| random,
        |_, _, _| 0.0,
        |_, _, _| 1.0,
        |i, j, _| f64::from(i == j),
        |i, j, _| f64::from(i + 1 == j),
        |i, j, _| if i == j { 1e-9 } else { f64::from(i + 1 == j) },
        |i, j, random| random * 10f64.powi(-3 * (i + j) as i32),
        |i, j, random| random * 10f64.powi(2 * (i + j) as i32),
        |i, j, random| if i / 3 == j / 3 { random } else { 0.0 },
        |i, j, _| if j % 2 == 1 { 1e-160 } else { (i as f64).sin() },
    ];

    fn matrix(m: usize, n: usize, kind: fn(usize, usize, f64) -> f64) -> Vec<f64> {
        let mut x = 12345u64;
        let mut random = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        (0..m * n).map(|p| kind(p % m, p / m, random())).collect()
    }

    #[test]
    fn singular_values_and_vectors() {
        for n in [1, 2, 3, 5, 9, 17] {
            for (m, k) in [(n, n), (n + 2, n), (2 * n, 2 * n)] {
                for (which, kind) in KINDS.into_iter().enumerate() {
                    let a = matrix(m, n, kind);
                    let (mut s, mut u, mut v) = (vec![0.0; n], vec![0.0; m * k], vec![0.0; n * n]);
                    let mut copy = a.clone();
                    let (mut f, mut p) = (Columns::new(&mut copy, m), Columns::new(&mut u, m));
                    assert!(svd(&mut f, &mut s, &mut p, &mut Columns::new(&mut v, n)));
                    assert!(s.is_sorted_by(|x, y| x >= y) && s[n - 1] >= 0.0, "{m} {n} {which} {s:?}");
                    assert!(error(&a, m, &u, &s, &v) < 1e-14, "{m} {n} {which}");
                    assert!(skew(&u, m).max(skew(&v, n)) < 1e-14, "{m} {n} {which}");
                }
            }
        }
    }

    #[test]
    fn singular_values_alone() {
        for n in [1, 2, 3, 5, 9, 17, 40] {
            for (which, kind) in KINDS.into_iter().enumerate() {
                let a = matrix(2, n, kind);
                let (d, e): (Vec<f64>, Vec<f64>) = a.chunks(2).map(|p| (p[0], p[1])).unzip();
                let (mut left, mut right) = (Vec::new(), Vec::new());
                let (mut want, mut got) = (d.clone(), d.clone());
                let (mut u, mut v) = (Columns::new(&mut left, n), Columns::new(&mut right, n));
                assert!(bidiagonal(&mut want, &mut e.clone(), &mut u, &mut v));
                assert!(singular_values(&mut got, &mut e.clone()));
                want.sort_by(|x, y| y.total_cmp(x));
                let near = |x: &f64, y: &f64| (x - y).abs() <= 1e-14 * want[0];
                assert!(got.iter().zip(&want).all(|(x, y)| near(x, y)), "{n} {which} {got:?} {want:?}");
            }
        }
    }

    #[test]
    fn vectors_have_signs_of_lapack() {
        // The signs of the first row, as `numpy.linalg.eigh` has them.
        for want in ["-+", "++-", "+-++", "++-+-", "+++--++-", "+-+++-+----+", "-+++++--+------+-+--+--+-"] {
            let n = want.len();
            let number = |(i, j): (usize, usize)| 1.0 + ((i * i + j * j + i * j) * 37 % 101) as f64 / 10.0;
            let mut a: Vec<f64> = (0..n * n).map(|p| number((p % n, p / n))).collect();
            let (mut w, mut z) = (vec![0.0; n], vec![0.0; n * n]);
            assert!(eigh(&mut Columns::new(&mut a, n), &mut w, &mut Columns::new(&mut z, n)));
            let got: String = z.chunks(n).map(|column| if column[0] > 0.0 { '+' } else { '-' }).collect();
            assert_eq!(got, want);
        }
    }

    #[test]
    fn eigenvalues_and_vectors() {
        for n in [1, 2, 3, 5, 9, 17] {
            for (which, kind) in KINDS.into_iter().enumerate() {
                let half = matrix(n, n, kind);
                let a: Vec<f64> = (0..n * n).map(|p| half[p] + half[p % n * n + p / n]).collect();
                // The upper triangle is not read.
                let mut lower: Vec<f64> = (0..n * n).map(|p| if p % n < p / n { f64::NAN } else { a[p] }).collect();
                let (mut w, mut z) = (vec![0.0; n], vec![0.0; n * n]);
                assert!(eigh(&mut Columns::new(&mut lower, n), &mut w, &mut Columns::new(&mut z, n)));
                assert!(w.is_sorted(), "{n} {which} {w:?}");
                assert!(error(&a, n, &z, &w, &z) < 1e-14 && skew(&z, n) < 1e-14, "{n} {which}");
            }
        }
    }
}
