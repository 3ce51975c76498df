//! Values of the interpreter: machine words, one for each primitive that a type flattens to.

use lh_ir::half;
use lh_ir::types::Prim;
use lh_ir::{Const, ObjId, Ty};
use smallvec::SmallVec;

/// The bits of a primitive, in the low end; `None` is poison, LLVM's value that may be anything and must not decide
/// anything.
pub type Word = Option<u64>;

/// The words of a value.
pub type Words = SmallVec<[Word; 4]>;

/// The low bits of a word of so many bytes.
pub fn truncated(bits: u64, bytes: usize) -> u64 {
    if bytes < 8 { bits & ((1 << (8 * bytes)) - 1) } else { bits }
}

/// A word as a number of a type: what rows compute with.
pub fn number(bits: u64, ty: Ty) -> Const {
    let ty = ty.unliteral();
    if ty.is_bool() {
        Const::Bool(bits & 1 != 0)
    } else if ty.is_float() {
        Const::Float(float(bits, ty), ty)
    } else {
        let width = if ty.is_int() { ty.bits() } else { 64 };
        let shift = 64 - width;
        let wide = if ty.is_signed() {
            i128::from((bits << shift) as i64 >> shift)
        } else {
            i128::from(bits << shift >> shift)
        };
        Const::Int(wide, ty)
    }
}

fn float(bits: u64, ty: Ty) -> f64 {
    match ty.bits() {
        16 => half::number(bits as u16, ty),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn float_bits(x: f64, ty: Ty) -> u64 {
    match ty.bits() {
        16 => u64::from(half::bits(x, ty)),
        32 => u64::from((x as f32).to_bits()),
        _ => x.to_bits(),
    }
}

/// The words of a constant that is no string.
pub fn words_of(c: &Const) -> Words {
    match c {
        Const::None | Const::Str(_) => Words::new(),
        Const::Bool(b) => [Some(u64::from(*b))].into_iter().collect(),
        Const::Int(i, t) => [Some(truncated(*i as u64, (t.bits() as usize / 8).max(1)))].into_iter().collect(),
        Const::Float(x, t) => [Some(float_bits(*x, *t))].into_iter().collect(),
        Const::Complex(re, im, t) => {
            let part = t.real_part();
            [Some(float_bits(*re, part)), Some(float_bits(*im, part))].into_iter().collect()
        }
    }
}

/// The address of foreign code, at which there is no memory.
pub fn foreign_address(of: ObjId) -> u64 {
    1 << 62 | u64::from(of.0)
}

/// An `int`.
pub fn int(i: i64) -> Words {
    [Some(i as u64)].into_iter().collect()
}

/// A truth value.
pub fn boolean(b: bool) -> Words {
    [Some(u64::from(b))].into_iter().collect()
}

/// A value of a type that is poison throughout.
pub fn poison(prims: &[Prim]) -> Words {
    prims.iter().map(|_| None).collect()
}

/// A conversion between number types as C does it; poison where C leaves the result undefined.
pub fn cast(words: &[Word], from: Ty, to: Ty) -> Words {
    if !from.is_number() || !to.is_number() || from.strong() == to.strong() {
        return words.iter().copied().collect();
    }
    let part = |i: usize, to: Ty| {
        let bits = (*words.get(i)?)?;
        converted(&number(bits, from.real_part()), to)
    };
    match (from.is_complex(), to.is_complex()) {
        (true, true) => [part(0, to.real_part()), part(1, to.real_part())].into_iter().collect(),
        (false, true) => [part(0, to.real_part()), Some(0)].into_iter().collect(),
        (true, false) if to.is_bool() => [part(0, to).zip(part(1, to)).map(|(re, im)| re | im)].into_iter().collect(),
        (_, false) => [part(0, to)].into_iter().collect(),
    }
}

/// A real number converted.
fn converted(c: &Const, to: Ty) -> Word {
    match *c {
        Const::Bool(b) => converted(&Const::Int(i128::from(b), Ty::i64()), to),
        Const::Int(i, _) if to.is_bool() => Some(u64::from(i != 0)),
        Const::Int(i, _) if to.is_int() => Some(truncated(i as u64, to.bits() as usize / 8)),
        // Once rounded only: a `float64` on the way would round twice.
        Const::Int(i, _) if to.bits() == 32 => Some(u64::from((i as f32).to_bits())),
        Const::Int(i, _) if to.is_half() => Some(float_bits(half::of_integer(i), to)),
        Const::Int(i, _) => Some((i as f64).to_bits()),
        Const::Float(x, _) if to.is_bool() => Some(u64::from(x != 0.0)),
        Const::Float(x, _) if to.is_int() => {
            let (whole, limit) = (x.trunc(), 2f64.powi(to.bits() as i32 - i32::from(to.is_signed())));
            let least = if to.is_signed() { -limit } else { 0.0 };
            (least <= whole && whole < limit).then(|| truncated(whole as i128 as u64, to.bits() as usize / 8))
        }
        Const::Float(x, _) => Some(float_bits(x, to)),
        Const::None | Const::Complex(..) | Const::Str(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_c() {
        let of = |c: Const, to: Ty| cast(&words_of(&c), c.ty(), to)[0];
        assert_eq!(of(Const::Int(300, Ty::i64()), Ty::u8()), Some(44));
        assert_eq!(of(Const::Int(-1, Ty::i8()), Ty::u32()), Some(0xffff_ffff));
        assert_eq!(of(Const::Float(-1.5, Ty::f64()), Ty::i32()), Some(0xffff_ffff));
        assert_eq!(of(Const::Float(1e30, Ty::f64()), Ty::i64()), None);
        assert_eq!(of(Const::Float(f64::NAN, Ty::f64()), Ty::bool()), Some(1));
        assert_eq!(of(Const::Int((1 << 24) + 1, Ty::i64()), Ty::f32()), Some(u64::from(16_777_216f32.to_bits())));
        let complex = Const::Complex(0.0, 2.0, Ty::c128());
        assert_eq!(of(complex, Ty::bool()), Some(1));
    }

    #[test]
    fn numbers_and_words_are_inverse() {
        for c in [
            Const::Int(-7, Ty::i16()),
            Const::Int(250, Ty::u8()),
            Const::Float(-0.0, Ty::f32()),
            Const::Float(1.5, Ty::f16()),
            Const::Bool(true),
        ] {
            assert!(number(words_of(&c)[0].unwrap(), c.ty()).same(&c));
        }
    }
}
