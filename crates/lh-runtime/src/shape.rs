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

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_shape_begin() {
    SHAPES.with(|s| s.borrow_mut().push(Vec::new()));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_shape_extent(extent: i64) {
    SHAPES.with(|s| {
        if let Some(last) = s.borrow_mut().last_mut() {
            last.push(extent);
        }
    });
}

/// The shape that shapes broadcast to.
fn broadcast(shapes: &[Vec<i64>]) -> Option<Vec<i64>> {
    let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![1; rank];
    for s in shapes {
        for (o, n) in out[rank - s.len()..].iter_mut().zip(s) {
            if *o != *n && *o != 1 && *n != 1 {
                return None;
            }
            *o = if *o == 1 { *n } else { *o };
        }
    }
    Some(out)
}

/// Operands that do not fit; NumPy ends this message with a space.
fn operands(shapes: &[Vec<i64>]) -> String {
    let texts: Vec<String> = shapes.iter().map(|s| text(s)).collect();
    format!("operands could not be broadcast together with shapes {} ", texts.join(" "))
}

/// NumPy's message about operands (kind 0), about sources and the array they are assigned to (1), about operands and
/// the one among them that the result goes to (2); for kinds 1 and 2 the destination is the last shape.
fn message(shapes: &[Vec<i64>], kind: i64) -> String {
    let Some((to, sources)) = shapes.split_last().filter(|_| kind != 0) else { return operands(shapes) };
    let Some(from) = broadcast(sources) else { return operands(if kind == 1 { sources } else { shapes }) };
    if kind == 2 {
        let (to, from) = (text(to), text(&from));
        return format!("non-broadcastable output operand with shape {to} doesn't match the broadcast shape {from}");
    }
    let extra = from.len().saturating_sub(to.len());
    let ones = from[..extra].iter().take_while(|n| **n == 1).count();
    format!("could not broadcast input array from shape {} into shape {}", text(&from[ones..]), text(to))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_broadcast(kind: i64) -> i32 {
    let shapes = SHAPES.with(|s| std::mem::take(&mut *s.borrow_mut()));
    raise(VALUE_ERROR, message(&shapes, kind))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_ptr_addr(p: *const u8) -> i64 {
    p.expose_provenance() as i64
}

// Compiled code has an instruction instead; an interpreter of the IR has nothing to do.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_prefetch(_: *const u8) {}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_addr_ptr(n: i64) -> *const u8 {
    std::ptr::with_exposed_provenance(n as usize)
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_shape_begin;
        (_) lh_shape_extent lh_raise_broadcast lh_ptr_addr lh_addr_ptr lh_prefetch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;

    fn raised(shapes: &[&[i64]], kind: i64) -> String {
        // SAFETY: these take numbers only.
        unsafe {
            for s in shapes {
                lh_shape_begin();
                s.iter().for_each(|n| lh_shape_extent(*n));
            }
            assert_eq!(lh_raise_broadcast(kind), 1);
        }
        take_pending().unwrap().message().lossy()
    }

    #[test]
    fn messages_are_numpys() {
        let cases: &[(&[&[i64]], i64, &str)] = &[
            (&[&[2, 3], &[4]], 0, "operands could not be broadcast together with shapes (2,3) (4,) "),
            (&[&[4], &[3]], 1, "could not broadcast input array from shape (4,) into shape (3,)"),
            (&[&[1, 4], &[3]], 1, "could not broadcast input array from shape (4,) into shape (3,)"),
            (&[&[2, 3], &[3]], 1, "could not broadcast input array from shape (2,3) into shape (3,)"),
            (&[&[2], &[3], &[3]], 1, "operands could not be broadcast together with shapes (2,) (3,) "),
            (&[&[2], &[3], &[2]], 2, "operands could not be broadcast together with shapes (2,) (3,) (2,) "),
            (
                &[&[3], &[1, 3], &[3]],
                2,
                "non-broadcastable output operand with shape (3,) doesn't match the broadcast shape (1,3)",
            ),
        ];
        for (shapes, kind, text) in cases {
            assert_eq!(raised(shapes, *kind), *text);
        }
    }
}
