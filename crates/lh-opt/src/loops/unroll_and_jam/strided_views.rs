//! Strided views: arrays, or addresses of scalars, that each iteration makes of invariant memory, a constant stride
//! apart.

use crate::analysis::facts::Facts;
use crate::edit::Cursor;
use crate::edit::overlap::{addresses, apart as arrays_disjoint};
use hashbrown::HashMap;
use lh_ir::algebra::Algebra;
use lh_ir::func::Inst;
use lh_ir::switches::is_off;
use lh_ir::{Layout, Ty, Value};

const NEAR_CACHE_BYTES: i64 = 1 << 20;

/// The view that an iteration accesses.
pub(super) struct StridedView {
    /// The array, or the address.
    pub array: Value,
    /// The address in iteration 0.
    base: Value,
    /// The stride from iteration to iteration, in bytes.
    step: Value,
    element: Ty,
    shape: Vec<Value>,
    strides: Vec<Value>,
    pub writes: bool,
}

impl StridedView {
    /// Recognises an array or an address that an iteration makes at `base + index * step`.
    pub(super) fn of(facts: &Facts<'_>, at: usize, array: Value, element: Ty, writes: bool) -> Option<StridedView> {
        if is_off("unroll_and_jam.strided_views") {
            return None;
        }
        let inst = |v: Value| facts.defs.inst(facts.func, v);
        let (address, shape, strides) = match inst(array)? {
            Inst::ArrayMake { data, shape, strides, .. } => (*data, shape.clone(), strides.clone()),
            Inst::PtrAdd(..) => (array, Vec::new(), Vec::new()),
            _ => return None,
        };
        let Inst::PtrAdd(base, offset) = inst(address)? else { return None };
        let Inst::Op(op, args) = inst(*offset)? else { return None };
        let index = facts.counts[at].as_ref()?.index;
        let step = match args[..] {
            [i, step] | [step, i] if op.is(Algebra::Mul) && i == index => step,
            _ => return None,
        };
        let known = |v: &Value| facts.is_invariant(at, *v);
        let outside = known(base) && known(&step) && shape.iter().chain(&strides).all(known);
        outside.then_some(StridedView { array, base: *base, step, element, shape, strides, writes })
    }

    /// Builds the view of iteration `i`.
    pub(super) fn at(&self, c: &mut Cursor<'_>, i: Value) -> Value {
        let offset = c.mul(i, self.step);
        let address = c.inst(Inst::PtrAdd(self.base, offset), Ty::ptr());
        let ty = c.func.ty(self.array);
        if !ty.is_array() {
            return address;
        }
        make(c, address, self.shape.clone(), self.strides.clone(), ty)
    }

    /// The size of its elements in bytes.
    fn bytes(&self, c: &mut Cursor<'_>) -> Value {
        let size = c.int(self.element.itemsize() as i64);
        self.shape.iter().fold(size, |size, n| c.mul(size, *n))
    }

    /// One array that covers the views of `n` iterations.
    fn covering(&self, c: &mut Cursor<'_>, start: Value, n: Value) -> Value {
        let offset = c.mul(start, self.step);
        let address = c.inst(Inst::PtrAdd(self.base, offset), Ty::ptr());
        let with =
            |first: Value, rest: &[Value]| std::iter::once(first).chain(rest.iter().copied()).collect::<Vec<_>>();
        let ty = Ty::array(self.element, self.shape.len() + 1, Layout::A);
        make(c, address, with(n, &self.shape), with(self.step, &self.strides), ty)
    }

    /// Whether the views of different iterations are disjoint.
    fn is_disjoint(&self, c: &mut Cursor<'_>) -> Value {
        let ty = Ty::array(self.element, self.shape.len(), Layout::A);
        let one = make(c, self.base, self.shape.clone(), self.strides.clone(), ty);
        let (start, end) = addresses(c, one);
        let (extent, zero) = (c.sub(end, start), c.int(0));
        let back = c.sub(zero, self.step);
        let (up, down) = (c.le(extent, self.step), c.le(extent, back));
        c.or(up, down)
    }
}

fn make(c: &mut Cursor<'_>, data: Value, shape: Vec<Value>, strides: Vec<Value>, ty: Ty) -> Value {
    let owner = c.inst(Inst::Zero, Ty::meminfo());
    c.inst(Inst::ArrayMake { owner, data, shape, strides }, ty)
}

/// `all`, and the written views of different iterations are disjoint, and so are the arrays or views of each pair.
pub(super) fn views_disjoint(
    c: &mut Cursor<'_>,
    views: &[StridedView],
    pairs: &[(Value, Value)],
    (start, limit): (Value, Value),
    mut all: Value,
) -> Value {
    let mut whole = HashMap::new();
    for v in views {
        let n = c.sub(limit, start);
        whole.insert(v.array, v.covering(c, start, n));
        if v.writes {
            let alone = v.is_disjoint(c);
            all = c.and(all, alone);
        }
    }
    let name = |v: Value| whole.get(&v).copied().unwrap_or(v);
    let pairs: Vec<_> = pairs.iter().map(|(a, b)| (name(*a), name(*b))).collect();
    arrays_disjoint(c, &pairs, all)
}

/// `all`, and the views of the jammed iterations fit into a near cache, for later inner loops that access them again.
pub(super) fn fit_in_cache(c: &mut Cursor<'_>, views: &[StridedView], factor: i64, all: Value) -> Value {
    let sizes: Vec<Value> = views.iter().map(|v| v.bytes(c)).collect();
    let Some(sum) = sizes.into_iter().reduce(|sum, size| c.add(sum, size)) else { return all };
    let most = c.int(NEAR_CACHE_BYTES / factor);
    let near = c.le(sum, most);
    c.and(all, near)
}
