//! Canonical types: of types that are shown, compared and dispatched on alike, one stands for all.

use lh_ir::types::InstanceOf;
use lh_ir::{Ty, TyKind};

/// The canonical form of a type: without the weakness of Python's numbers, inside of other types too.
pub fn canonical(t: Ty) -> Ty {
    let many = |ts: &[Ty]| ts.iter().map(|t| canonical(*t)).collect::<Vec<_>>();
    match t.kind() {
        TyKind::Tuple { elems, name } => Ty::new(TyKind::Tuple { elems: many(elems), name: name.clone() }),
        TyKind::Class(c) => c.class.of(many(&c.args), false),
        TyKind::Optional(e) => Ty::optional(canonical(*e)),
        TyKind::Range(e) => Ty::new(TyKind::Range(canonical(*e))),
        TyKind::Slice(p) => Ty::new(TyKind::Slice(p.map(canonical))),
        TyKind::Instance { class: InstanceOf::Function { args, ret }, .. } => Ty::function(many(args), canonical(*ret)),
        _ => t.weak(),
    }
}
