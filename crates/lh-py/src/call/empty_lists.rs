//! Containers without items among the arguments of a call: their types are those of a specialisation that fits, or are
//! found by the use of the lists in the function.

use crate::call::args::ArgBuf;
use crate::call::decode::{self, Decoder};
use crate::call::state::State;
use crate::call::tags::{first_tags, kind, merged, tags_of_one};
use crate::compile::compiler;
use crate::host::held::Scope;
use crate::host::table;
use crate::runtime::render;
use lh_ir::Ty;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// Decides the item types of lists without items among the arguments: as in a specialisation that fits, else by their
/// use in the function.
pub fn decide(py: Python<'_>, state: &State, object: &Bound<'_, PyAny>, buf: &mut ArgBuf, argc: usize) -> PyResult<()> {
    let entries = &state.table().entries;
    let met = entries.iter().find_map(|e| merged(&buf.tags, &e.tags).filter(|m| m[..] == e.tags[..]));
    let overloads = || state.current().into_iter().find_map(|o| as_overload(&buf.tags, &o.compiled.args));
    let tags = match met.or_else(|| if state.can_compile() { None } else { overloads() }) {
        Some(tags) => tags,
        None => {
            let natural = Decoder::new(py, &buf.tags).many(argc);
            let _scope = Scope::new(Some(object));
            let decided = compiler::decided(py, table::intern(object), &natural, state.options().ir)?;
            as_overload(&buf.tags, &decided).ok_or_else(|| {
                let text = "an argument is an empty container, whose item type cannot be passed from Python";
                render::argument_error(
                    py,
                    lh_ir::diag::UNTYPED_LIST,
                    text.to_owned(),
                    "pass a container with at least one item",
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

/// The tags of a call with item types as in a specialisation, if they can be.
fn as_overload(tags: &[u64], args: &[Ty]) -> Option<SmallVec<[u64; 8]>> {
    let (mut at, mut out) = (0, SmallVec::new());
    for t in args {
        let n = tags_of_one(&tags[at..]);
        let own = &tags[at..at + n];
        if own.contains(&kind::UNDECIDED) {
            let mut wanted = Vec::new();
            decode::tags_of(*t, &mut wanted)?;
            out.extend_from_slice(&merged(own, &wanted)?);
        } else {
            out.extend_from_slice(own);
        }
        at += n;
    }
    Some(out)
}
