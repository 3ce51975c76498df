//! Every primitive operation, one row each; nothing else describes an operation.
//!
//! Rows are built on first use, because types are interned at run time.

mod arith;
mod base;
mod bits;
mod compare;
mod float;
mod math;

use lh_ir::op::Op;
use std::collections::HashMap;
use std::sync::LazyLock;

static ROWS: LazyLock<Vec<Op>> = LazyLock::new(|| {
    let parts = [arith::rows(), bits::rows(), compare::rows(), float::rows(), math::rows()];
    parts.into_iter().flatten().collect()
});
static BY_NAME: LazyLock<HashMap<&'static str, &'static Op>> =
    LazyLock::new(|| ROWS.iter().map(|r| (r.name, r)).collect());
static BY_PATH: LazyLock<HashMap<&'static str, &'static Op>> =
    LazyLock::new(|| ROWS.iter().flat_map(|r| r.python.iter().map(move |p| (*p, r))).collect());

/// The row of a name.
pub fn row(name: &str) -> Option<&'static Op> {
    BY_NAME.get(name).copied()
}

/// The row that a Python callable means on numbers, by where it lives: `math.sin`, `numpy.add`.
pub fn for_python(path: &str) -> Option<&'static Op> {
    BY_PATH.get(path).copied()
}

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Op> {
    ROWS.iter()
}
