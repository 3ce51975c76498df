//! Lists without items among the arguments of a call: what they would hold is that of a specialisation that there is,
//! or is found by their use in the function.

use crate::args::{ArgBuf, kind};
use crate::dispatcher::State;
use crate::typing::{self, Decoder};
use crate::{compiler, np, objects, render};
use lh_ir::{Ty, TyKind};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// Decides what lists without items among the arguments would hold: as in a specialisation that there is, else by
/// their use in the function.
pub fn decide(py: Python<'_>, state: &State, object: &Bound<'_, PyAny>, buf: &mut ArgBuf, argc: usize) -> PyResult<()> {
    let entries = &state.table().entries;
    let met = entries.iter().find_map(|e| merged(&buf.tags, &e.tags).filter(|m| m[..] == e.tags[..]));
    let overloads = || state.current().into_iter().find_map(|o| as_overload(&buf.tags, &o.compiled.args));
    let tags = match met.or_else(|| if state.can_compile() { None } else { overloads() }) {
        Some(tags) => tags,
        None => {
            let natural = Decoder::new(py, &buf.tags).many(argc);
            let natural: Vec<Ty> = natural.into_iter().map(of_ints).collect();
            let decided = compiler::decided(py, objects::intern(object), &natural, state.options().ir)?;
            as_overload(&buf.tags, &decided).ok_or_else(|| {
                let text = "an argument is an empty list, whose item type cannot be passed from Python";
                render::argument_error(
                    py,
                    lh_ir::diag::UNTYPED_LIST,
                    text.to_owned(),
                    "pass a list with at least one item",
                )
            })?
        }
    };
    let rest: Vec<u64> = buf.tags[first_tags(&buf.tags, argc)..].to_vec();
    buf.tags.clear();
    buf.tags.extend_from_slice(&tags[..first_tags(&tags, argc)]);
    buf.tags.extend(rest);
    Ok(())
}

/// The number of tags of the first so many types.
pub fn first_tags(tags: &[u64], n: usize) -> usize {
    (0..n).fold(0, |at, _| at + tags_of_one(&tags[at..]))
}

/// The tags with lists without items typed as in a specialisation, if they can be.
fn as_overload(tags: &[u64], args: &[Ty]) -> Option<SmallVec<[u64; 8]>> {
    let (mut at, mut out) = (0, SmallVec::new());
    for t in args {
        let n = tags_of_one(&tags[at..]);
        let own = &tags[at..at + n];
        if own.contains(&kind::UNDECIDED) {
            let mut wanted = Vec::new();
            typing::tags_of(*t, &mut wanted)?;
            out.extend_from_slice(&merged(own, &wanted)?);
        } else {
            out.extend_from_slice(own);
        }
        at += n;
    }
    Some(out)
}

/// Lists without items that are inside other arguments are lists of integers.
fn of_ints(t: Ty) -> Ty {
    fn inside(t: Ty) -> Ty {
        match t.kind() {
            TyKind::PendingList(_) => Ty::list(Ty::int()),
            TyKind::List(e, _) => Ty::list(inside(*e)),
            TyKind::Tuple { elems, name } => {
                Ty::new(TyKind::Tuple { elems: elems.iter().map(|e| inside(*e)).collect(), name: name.clone() })
            }
            _ => t,
        }
    }
    if let TyKind::PendingList(_) = t.kind() { t } else { inside(t) }
}

/// The number of tags that the first type takes.
pub fn tags_of_one(tags: &[u64]) -> usize {
    let several = |start: usize, n: usize| (0..n).fold(start, |at, _| at + tags_of_one(&tags[at..]));
    let payload = (tags[0] >> 8) as usize;
    match tags[0] & 0xff {
        kind::TUPLE => several(1, payload),
        kind::NAMED => several(2, payload),
        kind::LIST | kind::BUFFER => several(1, 1),
        kind::SLICE => several(1, 3),
        kind::OBJECT | kind::ENUM => 2,
        // Of an array of records, then the dtype.
        kind::ARRAY if (tags[0] >> 8) as u8 == np::VOID as u8 => 2,
        _ => 1,
    }
}

/// The tags of both, where one has a list without items and the other its items; `None` if they differ otherwise.
pub fn merged(a: &[u64], b: &[u64]) -> Option<SmallVec<[u64; 8]>> {
    let (mut i, mut j, mut both) = (0, 0, SmallVec::new());
    while i < a.len() && j < b.len() {
        if a[i] == kind::UNDECIDED && b[j] != kind::UNDECIDED {
            let n = tags_of_one(&b[j..]);
            both.extend_from_slice(&b[j..j + n]);
            (i, j) = (i + 1, j + n);
        } else if b[j] == kind::UNDECIDED && a[i] != kind::UNDECIDED {
            let n = tags_of_one(&a[i..]);
            both.extend_from_slice(&a[i..i + n]);
            (i, j) = (i + n, j + 1);
        } else if a[i] == b[j] {
            both.push(a[i]);
            (i, j) = (i + 1, j + 1);
        } else {
            return None;
        }
    }
    (i == a.len() && j == b.len()).then_some(both)
}
