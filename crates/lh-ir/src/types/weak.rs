//! Weak types: those of Python's numbers, which take the width of what they meet.

use super::{Ty, TyKind};

impl Ty {
    /// Whether it is Python's own number type, which adapts to typed operands.
    pub fn is_weak(self) -> bool {
        matches!(
            self.0,
            TyKind::Int { weak: true, .. } | TyKind::Float { weak: true, .. } | TyKind::Complex { weak: true, .. }
        )
    }
    /// The NumPy scalar type of a Python number type; other types themselves.
    pub fn strong(self) -> Ty {
        match *self.0 {
            TyKind::Int { weak: true, .. } => Ty::i64(),
            TyKind::Float { weak: true, .. } => Ty::f64(),
            TyKind::Complex { weak: true, .. } => Ty::c128(),
            _ => self,
        }
    }
    /// The Python number type of a 64-bit NumPy scalar type; other types themselves.
    pub fn weak(self) -> Ty {
        match *self.0 {
            TyKind::Int { bits: 64, signed: true, .. } => Ty::int(),
            TyKind::Float { bits: 64, .. } => Ty::float(),
            TyKind::Complex { bits: 128, .. } => Ty::complex(),
            _ => self,
        }
    }
}
