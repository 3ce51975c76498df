//! Elementwise computations before and after fusion, for `explain`: which were fused, and the work of the rest.

use super::lower_array::parts;
use crate::edit::use_counts;
use lh_ir::func::{Inst, InstData, MapExpr};
use lh_ir::{Function, Span, Value};
use serde::{Deserialize, Serialize};

/// An elementwise computation that becomes a loop nest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Elementwise {
    /// Its place in the source.
    pub span: Span,
    /// Operations and calls for one element.
    pub operations: usize,
    /// Whether the result is a new array.
    pub allocates: bool,
    /// Places of the computations that were fused into it.
    pub merged: Vec<Span>,
    /// The place of the reduction that reads it in parts.
    pub reduction: Option<Span>,
}

/// The elementwise computations of a function before the pass `fuse_elementwise`.
pub(crate) struct BeforeFusion(Vec<Computation>);

struct Computation {
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

/// Lists the elementwise computations of a function.
pub(crate) fn before(func: &Function) -> BeforeFusion {
    let computation = |(d, _, args): (&InstData, &MapExpr, &[Value])| Computation {
        span: d.span,
        result: d.result,
        operands: args.to_vec(),
    };
    BeforeFusion(computations(func).map(computation).collect())
}

impl BeforeFusion {
    /// The computations that remain, with those fused into each.
    pub(crate) fn after(&self, func: &Function) -> Vec<Elementwise> {
        // Computations without a use only compare shapes.
        let counts = use_counts(func);
        let is_used = |d: &InstData| d.result.is_none_or(|r| counts[r.index()] > 0);
        let in_parts = parts::find(func);
        let mut left: Vec<(Option<Value>, Elementwise)> = computations(func)
            .filter(|(d, ..)| is_used(d))
            .map(|(d, e, _)| {
                let part = d.result.and_then(|r| in_parts.get(&r));
                let allocates = matches!(d.inst, Inst::Map(..)) && part.is_none_or(|p| p.is_whole);
                (
                    d.result,
                    Elementwise {
                        span: d.span,
                        operations: operations(e, &mut Vec::new()),
                        allocates,
                        merged: Vec::new(),
                        reduction: part.map(|p| p.span),
                    },
                )
            })
            .collect();
        for computation in &self.0 {
            let Some(r) = computation.result else { continue };
            if left.iter().any(|l| l.0 == Some(r)) {
                continue;
            }
            let Some(target) = self.target(r, &left) else { continue };
            left[target].1.merged.push(computation.span);
        }
        left.into_iter().map(|l| l.1).collect()
    }

    /// The remaining computation into which the one with a result was fused, possibly through others.
    fn target(&self, mut r: Value, left: &[(Option<Value>, Elementwise)]) -> Option<usize> {
        // The loop ends because uses come after definitions.
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

/// Operations for one element; equal subexpressions count once, as LLVM shares them.
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
