//! Native copies of global and captured dictionaries and sets.

use crate::call::args::ArgBuf;
use crate::call::collections::Table;
use crate::call::decode::Decoder;
use crate::call::tags::Refused;
use lh_ir::{Ty, TyKind};
use lh_runtime::MemInfo;
use lh_runtime::alloc::incref;
use pyo3::prelude::*;

/// Makes the copy of an object, with a reference for `host::constants`.
pub fn import(o: &Bound<'_, PyAny>) -> Option<(Ty, usize)> {
    let table = Table::of(o)?;
    let mut buf = ArgBuf::default();
    // SAFETY: the object outlives the buffer, and the thread is attached.
    if let Err(why) = unsafe { buf.push(o.as_ptr()) } {
        if why == Refused::Raised {
            drop(PyErr::fetch(o.py()));
        }
        return None;
    }
    let ty = match table.class() {
        // One without items never gets any.
        class if buf.undecided && o.len().ok()? == 0 => {
            class.of(vec![Ty::int(); class.declaration().parameters.len()], table != Table::Frozen)
        }
        _ if buf.undecided => return None,
        _ => constant(Decoder::new(o.py(), &buf.tags).next_ty())?,
    };
    let native = *buf.slots.first()? as *mut MemInfo;
    // SAFETY: the buffer holds a reference.
    unsafe { incref(native) };
    Some((ty, native as usize))
}

/// The type of values that cannot be changed through it; `None` if there is none.
fn constant(t: Ty) -> Option<Ty> {
    let all = |of: &[Ty]| of.iter().map(|t| constant(*t)).collect::<Option<Vec<_>>>();
    Some(match t.kind() {
        TyKind::Class(c) if c.class.user().is_some() => return None,
        TyKind::Class(c) if t.is_time() || Table::of_class(c.class) == Some(Table::Frozen) => t,
        TyKind::Class(c) => {
            let mut args = c.args.clone();
            // Keys never change, and keep their types, so that other keys are equal to them.
            let values = usize::from(Table::of_class(c.class).is_some());
            for t in &mut args[values..] {
                *t = constant(*t)?;
            }
            c.class.of(args, true)
        }
        TyKind::Tuple { elems, name } => Ty::new(TyKind::Tuple { elems: all(elems)?, name: name.clone() }),
        TyKind::Optional(inner) => Ty::optional(constant(*inner)?),
        TyKind::Array { dtype, ndim, layout, .. } => Ty::array_ro(*dtype, usize::from(*ndim), *layout, true),
        TyKind::Generator { .. } => return None,
        _ => t,
    })
}
