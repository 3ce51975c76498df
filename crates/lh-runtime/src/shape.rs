//! Shapes in messages: compiled code hands over the extents of arrays that do not fit, one by one, then raises.

use crate::classes::VALUE_ERROR;
use crate::exception::raise;
use crate::symbol::{Symbol, functions};
use std::cell::RefCell;
use std::fmt::Write;

thread_local! {
    /// Shapes so far; the last one is still open.
    static SHAPES: RefCell<Vec<Vec<i64>>> = const { RefCell::new(Vec::new()) };
}

/// A shape in Python's form: `(2,3)`, `(4,)`, `()`, as NumPy writes it here.
fn text(shape: &[i64]) -> String {
    let mut out = "(".to_owned();
    for (i, n) in shape.iter().enumerate() {
        let _ = write!(out, "{}{n}", if i > 0 { "," } else { "" });
    }
    out + if shape.len() == 1 { ",)" } else { ")" }
}

unsafe extern "C" fn lh_shape_begin() {
    SHAPES.with(|s| s.borrow_mut().push(Vec::new()));
}

unsafe extern "C" fn lh_shape_extent(extent: i64) {
    SHAPES.with(|s| {
        if let Some(last) = s.borrow_mut().last_mut() {
            last.push(extent);
        }
    });
}

unsafe extern "C" fn lh_raise_broadcast(into: i64) -> i32 {
    let shapes = SHAPES.with(|s| std::mem::take(&mut *s.borrow_mut()));
    let texts: Vec<String> = shapes.iter().map(|s| text(s)).collect();
    let message = match &texts[..] {
        [from, to] if into != 0 => format!("could not broadcast input array from shape {from} into shape {to}"),
        // NumPy ends its message with a space.
        all => format!("operands could not be broadcast together with shapes {} ", all.join(" ")),
    };
    raise(VALUE_ERROR, message)
}

unsafe extern "C" fn lh_ptr_addr(p: *const u8) -> i64 {
    p.expose_provenance() as i64
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_shape_begin;
        (_) lh_shape_extent lh_raise_broadcast lh_ptr_addr;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;

    fn message(shapes: &[&[i64]], into: i64) -> String {
        // SAFETY: these take numbers only.
        unsafe {
            for s in shapes {
                lh_shape_begin();
                s.iter().for_each(|n| lh_shape_extent(*n));
            }
            assert_eq!(lh_raise_broadcast(into), 1);
        }
        take_pending().unwrap().message()
    }

    #[test]
    fn messages_are_numpys() {
        assert_eq!(message(&[&[2, 3], &[4]], 0), "operands could not be broadcast together with shapes (2,3) (4,) ");
        assert_eq!(message(&[&[3], &[]], 1), "could not broadcast input array from shape (3,) into shape ()");
    }
}
