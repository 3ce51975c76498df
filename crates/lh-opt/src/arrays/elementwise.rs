//! What became of elementwise computations, for `explain`: which were merged, and how much each of the rest computes.

use lh_ir::func::{Inst, InstData, MapExpr};
use lh_ir::{Function, Span, Value};
use serde::{Deserialize, Serialize};

/// An elementwise computation that becomes a loop of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Elementwise {
    /// Its place.
    pub span: Span,
    /// Operations and calls for one element.
    pub operations: usize,
    /// Whether the result is a new array.
    pub allocates: bool,
    /// Places of the computations that have been merged into it.
    pub merged: Vec<Span>,
}

/// Elementwise computations as they are before the `fuse_elementwise` pass.
pub(crate) struct Before(Vec<Entry>);

struct Entry {
    span: Span,
    result: Option<Value>,
    operands: Vec<Value>,
}

fn computations(func: &Function) -> impl Iterator<Item = (&InstData, &MapExpr, &[Value])> {
    func.blocks.iter().flat_map(|b| &b.insts).filter_map(|d| match &d.inst {
        Inst::Map(e, args) | Inst::MapInto(e, args) => Some((d, &**e, &args[..])),
        _ => None,
    })
}

/// Notes what there is.
pub(crate) fn before(func: &Function) -> Before {
    let entry = |(d, _, args): (&InstData, &MapExpr, &[Value])| Entry {
        span: d.span,
        result: d.result,
        operands: args.to_vec(),
    };
    Before(computations(func).map(entry).collect())
}

impl Before {
    /// What is left of it.
    pub(crate) fn after(&self, func: &Function) -> Vec<Elementwise> {
        let mut left: Vec<(Option<Value>, Elementwise)> = computations(func)
            .map(|(d, e, _)| {
                let allocates = matches!(d.inst, Inst::Map(..));
                (
                    d.result,
                    Elementwise {
                        span: d.span,
                        operations: operations(e, &mut Vec::new()),
                        allocates,
                        merged: Vec::new(),
                    },
                )
            })
            .collect();
        for entry in &self.0 {
            let Some(r) = entry.result else { continue };
            if left.iter().any(|l| l.0 == Some(r)) {
                continue;
            }
            let Some(target) = self.target(r, &left) else { continue };
            left[target].1.merged.push(entry.span);
        }
        left.into_iter().map(|l| l.1).collect()
    }

    /// The computation into which the one of a result has gone, over others on the way.
    fn target(&self, mut r: Value, left: &[(Option<Value>, Elementwise)]) -> Option<usize> {
        // Users come after what they use, so that this ends.
        loop {
            let user = self.0.iter().find(|e| e.operands.contains(&r))?;
            let found =
                left.iter().position(|l| l.0 == user.result && (user.result.is_some() || l.1.span == user.span));
            if found.is_some() {
                return found;
            }
            r = user.result?;
        }
    }
}

/// Operations for one element; LLVM computes what stands there twice once.
fn operations<'e>(e: &'e MapExpr, seen: &mut Vec<&'e MapExpr>) -> usize {
    match e {
        MapExpr::Arg(..) | MapExpr::Const(_) => 0,
        MapExpr::Cast(_, e) => operations(e, seen),
        MapExpr::Op(_, _, es) | MapExpr::Call(_, _, es) => {
            if seen.contains(&e) {
                return 0;
            }
            seen.push(e);
            1 + es.iter().map(|e| operations(e, seen)).sum::<usize>()
        }
    }
}
