//! Where an address or an array lies: its root, and an index for each dimension of the root.

use super::expr::{Expr, Sym, expr};
use super::{Callees, Root, has_memory, makes_memory};
use crate::analysis::counted::Defs;
use lh_ir::cfg::targets;
use lh_ir::func::Inst;
use lh_ir::types::{ClassTy, Layout, TyKind};
use lh_ir::{Block, Function, Ty, Value};
use lh_ops::runtime as rt;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A part of a root.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) root: Root,
    /// An index for each dimension; `None` is any index.
    pub(crate) index: Vec<Option<Expr>>,
}

/// An array as a view of a root.
#[derive(Clone)]
pub(super) struct View {
    root: Root,
    /// The start of the view along each dimension of the root; `None` if it is not known.
    start: Vec<Option<Expr>>,
    /// For each dimension of the view, the root's dimension that it runs along and its step there.
    along: Vec<Option<(usize, Expr)>>,
    /// Extents of the view, if it is a part of its root.
    extents: Vec<Value>,
}

/// Definitions deeper than this are not followed.
const MAX_DEPTH: u32 = 16;
/// Nor are more definitions for one question: loops make the number of ways through them exponential in the depth.
const MAX_STEPS: u32 = 1000;

/// Answers about one function, which many accesses ask for.
#[derive(Default)]
pub(super) struct Answers {
    /// Arguments of each parameter of a block.
    sources: OnceCell<HashMap<Value, Vec<Value>>>,
    /// Values that a parameter of a block may have, none of which is one.
    origins: RefCell<HashMap<Value, Rc<[Value]>>>,
    /// The views that an array is, as a question of its own.
    views: RefCell<HashMap<Value, Vec<View>>>,
    /// Memory that is reached through a value.
    inside: RefCell<HashMap<Value, Vec<Root>>>,
}

pub(super) struct PlaceFinder<'a> {
    pub(super) func: &'a Function,
    pub(super) defs: &'a Defs,
    pub(super) callees: Callees<'a>,
    /// As in [`super::Effects`].
    pub(super) inside: Option<&'a [bool]>,
    pub(super) answers: &'a Answers,
    /// Whether the values that the function stores are being looked at: a load among them adds no further ones.
    pub(super) in_stores: Cell<bool>,
    /// Definitions that have been followed for this question.
    pub(super) steps: Cell<u32>,
}

impl PlaceFinder<'_> {
    /// The view that an array is, if it is certainly one.
    pub(super) fn view(&self, v: Value) -> Option<View> {
        let mut all = self.views(v, 0);
        all.pop().filter(|_| all.is_empty())
    }

    /// All memory that a value may refer to.
    pub(super) fn of_value(&self, v: Value) -> Vec<Place> {
        if !has_memory(self.func.ty(v)) {
            return Vec::new();
        }
        if self.func.ty(v).kind() == &TyKind::Ptr {
            return self.of_address(v).into_iter().map(|p| Place { index: vec![None; p.index.len()], ..p }).collect();
        }
        self.of_view(v, &[])
    }

    /// The element of an array at an index; a dimension without an index is covered as a whole.
    pub(super) fn of_view(&self, v: Value, index: &[Option<Expr>]) -> Vec<Place> {
        if self.func.ty(v).kind() == &TyKind::Ptr {
            return self.of_value(v);
        }
        self.views(v, 0).into_iter().map(|view| view.at(index)).collect()
    }

    /// The element at an address.
    pub(super) fn of_address(&self, p: Value) -> Vec<Place> {
        self.address(p, 0).into_iter().map(|(root, index)| Place { root, index }).collect()
    }

    /// Memory that is reached through a value, without its own.
    pub(super) fn inside(&self, v: Value) -> Vec<Root> {
        if !self.is_container(v) {
            return Vec::new();
        }
        if let Some(known) = self.answers.inside.borrow().get(&v) {
            return known.clone();
        }
        let found = self.contents(self.roots(v, 0), None, 0);
        self.answers.inside.borrow_mut().insert(v, found.clone());
        found
    }

    /// Whether memory may be reached through that of a value.
    fn is_container(&self, v: Value) -> bool {
        self.func.ty(v).any_part(&|t| t.held().into_iter().any(has_memory))
    }

    /// Whether storing a value in a container makes other memory reachable through it. An address in a field is one of
    /// memory that the object owns.
    fn is_storable(&self, v: Value) -> bool {
        self.func.ty(v) != Ty::ptr() && has_memory(self.func.ty(v))
    }

    /// Arguments of a call that its result may alias.
    fn returned<'i>(&self, call: &'i Inst) -> Box<dyn Iterator<Item = Value> + 'i> {
        match call {
            Inst::Call(spec, args) => match (self.callees)(*spec) {
                Some(s) => Box::new(s.returns.clone().into_iter().filter_map(|p| args.get(p as usize).copied())),
                None => Box::new(args.iter().copied()),
            },
            Inst::Foreign(_, args) => Box::new(args[1..].iter().copied()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Whether a definition is not followed. A question begins at depth 0.
    fn is_too_far(&self, depth: u32) -> bool {
        self.steps.set(if depth == 0 { 0 } else { self.steps.get() + 1 });
        depth > MAX_DEPTH || self.steps.get() > MAX_STEPS
    }

    fn views(&self, v: Value, depth: u32) -> Vec<View> {
        let is_question = depth == 0 && !self.in_stores.get();
        if is_question && let Some(known) = self.answers.views.borrow().get(&v) {
            return known.clone();
        }
        let mut found = self.views_by_origin(v, depth);
        if self.is_apart(v) && is_open(&found) {
            found = self.whole(Root::Value(v), v);
        }
        if is_question {
            self.answers.views.borrow_mut().insert(v, found.clone());
        }
        found
    }

    /// Whether an array may count as one of its own, whatever it is a view of: a loop uses it that has not made it, and
    /// each index is a place of its own.
    fn is_apart(&self, v: Value) -> bool {
        let is_before = self.inside.is_some_and(|inside| !inside[v.index()]);
        is_before && matches!(self.func.ty(v).as_array(), Some((_, _, Layout::C | Layout::F, _)))
    }

    /// Whether an array counts as one of its own although it may be another one, or a view of one at a place that is
    /// not known.
    pub(super) fn is_lent(&self, v: Value) -> bool {
        self.is_apart(v) && is_open(&self.views_by_origin(v, 0))
    }

    /// All of an array or a container that is a root.
    fn whole(&self, root: Root, v: Value) -> Vec<View> {
        let rank = self.rank(v);
        vec![View {
            root,
            start: vec![Some(Expr::int(0)); rank],
            along: (0..rank).map(|d| Some((d, Expr::int(1)))).collect(),
            extents: Vec::new(),
        }]
    }

    fn views_by_origin(&self, v: Value, depth: u32) -> Vec<View> {
        let simple = |root: Root| self.whole(root, v);
        let unknown = |root: Root| vec![unknown(root)];
        if self.is_too_far(depth) {
            return self.all_roots();
        }
        let Some(inst) = self.defs.inst(self.func, v) else {
            return match self.origins(v) {
                None => simple(Root::Value(v)),
                Some(all) => all.iter().flat_map(|s| self.views(*s, depth + 1)).collect(),
            };
        };
        match inst {
            Inst::ArrayMake { data, shape, strides, .. } => self
                .address(*data, depth + 1)
                .into_iter()
                .map(|(root, start)| {
                    let along = strides.iter().map(|s| self.dimension(root, *s)).collect();
                    View { root, start, along, extents: shape.clone() }
                })
                .collect(),
            Inst::Zero | Inst::Const(_) => simple(Root::Fresh),
            // Results that are kept have been given to others before.
            Inst::Runtime(f, _) if *f == &rt::lh_memo_enter => simple(Root::Unknown),
            Inst::Map(..) | Inst::New(_) | Inst::Runtime(..) => simple(Root::Value(v)),
            Inst::Call(..) | Inst::Foreign(..) => {
                let others = self.roots_of_result(inst, self.func.ty(v), depth + 1);
                simple(Root::Value(v)).into_iter().chain(others.into_iter().flat_map(unknown)).collect()
            }
            // The parts of an aggregate stand for all of it.
            Inst::Pack(parts) => parts
                .iter()
                .filter(|p| has_memory(self.func.ty(**p)))
                .flat_map(|p| self.views(*p, depth + 1))
                .flat_map(|w| unknown(w.root))
                .collect(),
            Inst::Field(w, i) => match self.defs.inst(self.func, *w) {
                Some(Inst::Pack(parts)) => {
                    parts.get(*i as usize).map_or_else(|| unknown(Root::Unknown), |p| self.views(*p, depth + 1))
                }
                None if self.origins(*w).is_none() => simple(Root::Value(self.representative(inst, v))),
                _ => self.views(*w, depth + 1).into_iter().flat_map(|w| unknown(w.root)).collect(),
            },
            Inst::Some(w) | Inst::Unwrap(w) | Inst::Cast(w) => self.views(*w, depth + 1),
            Inst::Load(p) if self.is_root(v, *p) => simple(Root::Value(v)),
            // An array or a container out of an object.
            Inst::Load(p) | Inst::Take(p) => {
                let roots = self.address(*p, depth + 1).into_iter().map(|(root, _)| root).collect();
                self.contents(roots, Some(self.func.ty(v)), depth).into_iter().flat_map(unknown).collect()
            }
            _ => unknown(Root::Unknown),
        }
    }

    /// Whether an array out of a field counts as one of its own.
    fn is_root(&self, v: Value, p: Value) -> bool {
        let is_before = self.inside.is_some_and(|inside| !inside[v.index()]);
        let is_field = || matches!(self.defs.inst(self.func, p), Some(Inst::FieldPtr(..)));
        is_before && self.func.ty(v).as_array().is_some() && is_field()
    }

    /// Roots that the result of a call may have, beside one of its own.
    fn roots_of_result(&self, call: &Inst, ty: Ty, depth: u32) -> Vec<Root> {
        let returned = self.returned(call).filter(|a| has_memory(self.func.ty(*a)));
        let mut out: Vec<Root> = returned.flat_map(|a| self.roots(a, depth)).collect();
        let (args, is_unknown) = self.reached(call);
        let containers = args.into_iter().flat_map(|a| self.roots(a, depth)).collect();
        out.extend(self.contents(containers, Some(ty), depth));
        out.extend(is_unknown.then_some(Root::Unknown));
        out
    }

    fn roots(&self, v: Value, depth: u32) -> Vec<Root> {
        let mut out: Vec<Root> = self.views(v, depth).into_iter().map(|view| view.root).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Arguments of a call that its result may hold or be reached through, and whether it may be of unknown origin.
    fn reached(&self, call: &Inst) -> (Vec<Value>, bool) {
        let of = |args: &[Value]| args.iter().copied().filter(|v| has_memory(self.func.ty(*v))).collect();
        match call {
            Inst::Call(spec, args) => match (self.callees)(*spec) {
                Some(s) => {
                    (s.reaches.iter().filter_map(|p| args.get(*p as usize).copied()).collect(), s.returns_unknown)
                }
                None => (of(args), false),
            },
            Inst::Foreign(_, args) => (of(&args[1..]), true),
            _ => (Vec::new(), false),
        }
    }

    /// Memory that containers with these roots may hold, or that is reached through it; of values of a type if one is
    /// given. A container holds what the function stores anywhere, and what callees had or made.
    fn contents(&self, containers: Vec<Root>, of: Option<Ty>, depth: u32) -> Vec<Root> {
        let may_be = |v: Value| {
            let ty = self.func.ty(v);
            of.is_none_or(|t| share_parts(t, ty))
        };
        let (mut out, mut seen, mut work) = (Vec::new(), Vec::new(), containers);
        while let Some(root) = work.pop() {
            if root == Root::Fresh || seen.contains(&root) {
                continue;
            }
            seen.push(root);
            let Root::Value(w) = root else {
                out.push(root);
                continue;
            };
            if of.is_none_or(|t| may_hold(self.func.ty(w), t, 0)) {
                out.push(Root::Inside(w));
            }
            let Some(inst) = self.defs.inst(self.func, w) else { continue };
            let (args, is_unknown) = self.reached(inst);
            out.extend(is_unknown.then_some(Root::Unknown));
            for arg in args {
                let roots = self.roots(arg, depth + 1);
                out.extend(roots.iter().filter(|_| may_be(arg)));
                work.extend(roots);
            }
        }
        if !seen.is_empty() && !self.in_stores.replace(true) {
            self.stored(of, &may_be, depth + 1, &mut out);
            self.in_stores.set(false);
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Adds what the function or its callees may store in a container.
    fn stored(&self, of: Option<Ty>, may_be: &dyn Fn(Value) -> bool, depth: u32, out: &mut Vec<Root>) {
        let through = |v: Value| self.is_container(v) && of.is_none_or(|t| may_hold(self.func.ty(v), t, 0));
        for d in self.func.blocks.iter().flat_map(|b| &b.insts) {
            match &d.inst {
                Inst::Store(_, v) if self.is_storable(*v) && may_be(*v) => out.extend(self.roots(*v, depth)),
                Inst::Call(spec, args) if args.iter().any(|v| self.is_container(*v)) => {
                    if (self.callees)(*spec).is_some_and(|s| !s.changes_memory()) {
                        continue;
                    }
                    for v in args.iter().filter(|v| has_memory(self.func.ty(**v))) {
                        let roots = self.roots(*v, depth);
                        let fits = |c: &Value| may_hold(self.func.ty(*c), self.func.ty(*v), 0);
                        if may_be(*v) && args.iter().any(fits) {
                            out.extend(&roots);
                        }
                        if through(*v) {
                            out.extend(roots.into_iter().map(|root| match root {
                                Root::Value(w) => Root::Inside(w),
                                other => other,
                            }));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Every root of the function, and the unknown one.
    fn all_roots(&self) -> Vec<View> {
        let all = self.func.blocks.iter().flat_map(|b| &b.insts);
        let made = all.filter(|d| makes_memory(&d.inst)).filter_map(|d| d.result);
        let roots = self.func.params().iter().copied().chain(made).filter(|v| has_memory(self.func.ty(*v)));
        roots.map(Root::Value).chain([Root::Unknown]).map(unknown).collect()
    }

    /// The first value with an equal defining instruction, which represents all of them.
    fn representative(&self, inst: &Inst, v: Value) -> Value {
        let all = self.func.blocks.iter().flat_map(|b| &b.insts);
        all.filter(|d| d.inst == *inst).find_map(|d| d.result).unwrap_or(v)
    }

    /// Number of dimensions by which accesses are distinguished.
    fn rank(&self, v: Value) -> usize {
        match self.func.ty(v).kind() {
            TyKind::Array { ndim, .. } => usize::from(*ndim),
            TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Pending(..) => 1,
            _ => 0,
        }
    }

    /// Values that a block parameter may have, through other parameters too; `None` for values that no block gives.
    fn origins(&self, v: Value) -> Option<Rc<[Value]>> {
        let sources = self.answers.sources.get_or_init(|| sources(self.func));
        let first = sources.get(&v)?;
        if let Some(known) = self.answers.origins.borrow().get(&v) {
            return Some(known.clone());
        }
        let (mut seen, mut todo, mut out) = (HashSet::from([v]), first.clone(), Vec::new());
        while let Some(w) = todo.pop() {
            if seen.insert(w) {
                match sources.get(&w) {
                    Some(more) => todo.extend(more),
                    None => out.push(w),
                }
            }
        }
        out.sort_unstable();
        let out: Rc<[Value]> = out.into();
        self.answers.origins.borrow_mut().insert(v, out.clone());
        Some(out)
    }

    fn address(&self, p: Value, depth: u32) -> Vec<(Root, Vec<Option<Expr>>)> {
        let unknown = || vec![(Root::Unknown, Vec::new())];
        if self.is_too_far(depth) {
            return self.all_roots().into_iter().map(|view| (view.root, view.start)).collect();
        }
        match self.defs.inst(self.func, p) {
            None => match self.origins(p) {
                None => vec![(Root::Value(p), Vec::new())],
                Some(all) => all.iter().flat_map(|s| self.address(*s, depth + 1)).collect(),
            },
            Some(Inst::ElemPtr { array, index, .. }) => {
                let index: Vec<Option<Expr>> = index.iter().map(|i| Some(expr(self.func, self.defs, *i))).collect();
                self.views(*array, depth + 1)
                    .into_iter()
                    .map(|view| {
                        let place = view.at(&index);
                        (place.root, place.index)
                    })
                    .collect()
            }
            Some(Inst::ArrayData(a)) => {
                self.views(*a, depth + 1).into_iter().map(|view| (view.root, view.start)).collect()
            }
            Some(Inst::ItemsData(l) | Inst::FieldPtr(l, _)) => {
                self.views(*l, depth + 1).into_iter().map(|view| (view.root, view.start)).collect()
            }
            Some(Inst::PtrAdd(q, n)) => {
                self.address(*q, depth + 1).into_iter().map(|(root, start)| self.moved(root, start, *n)).collect()
            }
            Some(Inst::Field(pair, _)) => match self.defs.inst(self.func, *pair) {
                Some(Inst::Runtime(..)) => vec![(Root::Value(*pair), Vec::new())],
                _ => unknown(),
            },
            // An address in a field is one of memory that the object owns: somewhere in its root.
            Some(Inst::Load(q)) if let Some(Inst::FieldPtr(l, _)) = self.defs.inst(self.func, *q) => {
                let views = self.views(*l, depth + 1).into_iter();
                views.map(|view| (view.root, vec![None; view.start.len()])).collect()
            }
            Some(Inst::Runtime(f, _)) if *f == &rt::lh_memo_enter_plain => vec![(Root::Value(p), Vec::new())],
            // The address of a constant array is a number.
            Some(Inst::Const(_)) => vec![(Root::Value(p), Vec::new())],
            Some(_) => unknown(),
        }
    }

    /// An address moved by a number of bytes.
    fn moved(&self, root: Root, mut start: Vec<Option<Expr>>, bytes: Value) -> (Root, Vec<Option<Expr>>) {
        let bytes = expr(self.func, self.defs, bytes);
        if bytes.as_int() == Some(0) {
            return (root, start);
        }
        let Root::Value(array) = root else { return (root, vec![None; start.len()]) };
        // Each term is an index times the stride of a dimension.
        let item = self.item_size(array);
        for (product, c) in &bytes.terms {
            let stride = product.iter().position(|s| matches!(s, Sym::Stride(a, _) if *a == array));
            let (dim, rest) = match stride {
                Some(at) => {
                    let Sym::Stride(_, d) = product[at] else { continue };
                    let mut rest = product.clone();
                    rest.remove(at);
                    let term =
                        if rest.is_empty() { Expr::int(*c) } else { Expr { terms: vec![(rest, *c)], constant: 0 } };
                    (Some(d as usize), Some(term))
                }
                None => match (self.unit_dimension(array), item) {
                    (Some(d), Some(size)) if c % size == 0 => {
                        (Some(d), Some(Expr { terms: vec![(product.clone(), c / size)], constant: 0 }))
                    }
                    _ => (None, None),
                },
            };
            match (dim.and_then(|d| start.get_mut(d)), rest) {
                (Some(at), Some(term)) => *at = at.as_ref().map(|e| e.add(&term)),
                _ => return (root, vec![None; start.len()]),
            }
        }
        // An offset below the size of an item addresses a field of it.
        let items = item.map_or(0, |size| bytes.constant.div_euclid(size));
        if item.is_none_or(|size| bytes.constant % size != 0 && !self.has_fields(array)) {
            return (root, if bytes.constant == 0 { start } else { vec![None; start.len()] });
        }
        if items != 0 {
            match self.unit_dimension(array).and_then(|d| start.get_mut(d)) {
                Some(at) => *at = at.as_ref().map(|e| e.add(&Expr::int(items))),
                None => return (root, vec![None; start.len()]),
            }
        }
        (root, start)
    }

    fn has_fields(&self, v: Value) -> bool {
        matches!(self.func.ty(v).as_array(), Some((t, ..)) if t.is_complex() || t.as_record().is_some_and(|r| r.size > 0))
    }

    fn item_size(&self, v: Value) -> Option<i64> {
        match self.func.ty(v).kind() {
            TyKind::Array { dtype, .. } if dtype.is_number() || self.has_fields(v) => Some(dtype.itemsize() as i64),
            TyKind::Class(ClassTy { items: Some(t), .. }) => Some(t.mem_layout().1.max(1) as i64),
            _ => None,
        }
    }

    /// The dimension whose items are adjacent.
    fn unit_dimension(&self, v: Value) -> Option<usize> {
        match self.func.ty(v).kind() {
            TyKind::Array { ndim, layout: Layout::C, .. } => usize::from(*ndim).checked_sub(1),
            TyKind::Array { ndim, layout: Layout::F, .. } => (*ndim > 0).then_some(0),
            TyKind::Class(ClassTy { items: Some(_), .. }) => Some(0),
            _ => None,
        }
    }

    /// The root's dimension along which a stride steps, and the number of items in a step.
    fn dimension(&self, root: Root, stride: Value) -> Option<(usize, Expr)> {
        let Root::Value(array) = root else { return None };
        let e = expr(self.func, self.defs, stride);
        let [(product, c)] = &e.terms[..] else {
            let (d, size) = (self.unit_dimension(array)?, self.item_size(array)?);
            return e.as_int().filter(|bytes| *bytes == size).map(|_| (d, Expr::int(1)));
        };
        let of_array = |s: &Sym| matches!(s, Sym::Stride(a, _) if *a == array);
        let (d, rest, c) = match product.iter().position(of_array) {
            Some(at) => {
                let Sym::Stride(_, d) = product[at] else { return None };
                let mut rest = product.clone();
                rest.remove(at);
                (d as usize, rest, *c)
            }
            // The stride is a step times the size of an item; any other product, such as the length of a row, spans
            // several items.
            None => {
                let size = self.item_size(array).filter(|size| c % size == 0)?;
                let is_one = matches!(self.func.ty(array).as_array(), Some((_, 1, ..)));
                (self.unit_dimension(array).filter(|_| is_one)?, product.clone(), c / size)
            }
        };
        let step = if rest.is_empty() { Expr::int(c) } else { Expr { terms: vec![(rest, c)], constant: 0 } };
        (e.constant == 0).then_some((d, step))
    }
}

/// Values that each parameter of a block may have, beside itself.
fn sources(func: &Function) -> HashMap<Value, Vec<Value>> {
    let mut out: HashMap<Value, Vec<Value>> = HashMap::new();
    for from in 0..func.blocks.len() {
        for (_, t) in targets(func, Block::new(from)) {
            for (param, arg) in func.blocks[t.block.index()].params.iter().zip(&t.args) {
                let known = out.entry(*param).or_default();
                if arg != param && !known.contains(arg) {
                    known.push(*arg);
                }
            }
        }
    }
    out
}

/// Whether values of two types may have a part in common that refers to memory.
fn share_parts(a: Ty, b: Ty) -> bool {
    a.any_part(&|part| has_memory(part) && b.any_part(&|p| p == part))
}

/// Whether values of a type may be reached through a container of another; deep in classes that hold each other they
/// may.
fn may_hold(container: Ty, ty: Ty, depth: u32) -> bool {
    let of = |held: Ty| share_parts(ty, held) || may_hold(held, ty, depth + 1);
    depth > 3 || container.any_part(&|part| part.held().into_iter().any(of))
}

/// Any part of a root.
fn unknown(root: Root) -> View {
    View { root, start: Vec::new(), along: Vec::new(), extents: Vec::new() }
}

impl View {
    /// Whether it is not known where in its root it lies.
    fn is_vague(&self) -> bool {
        let is_known = !self.along.is_empty() && self.start.iter().all(Option::is_some);
        self.root != Root::Fresh && !(is_known && self.along.iter().all(Option::is_some))
    }

    /// For each dimension of the view the root's dimension.
    pub(super) fn dimensions(&self) -> Vec<Option<usize>> {
        self.along.iter().map(|along| along.as_ref().map(|(d, _)| *d)).collect()
    }

    /// Whether both views cover the same elements.
    pub(super) fn is_same(&self, other: &View, extent: &dyn Fn(Value) -> Expr) -> bool {
        let along = |w: &View, d: usize| match (w.extents.get(d), w.root) {
            (Some(v), _) => Some(extent(*v)),
            (None, Root::Value(v)) => Some(Expr::sym(Sym::Shape(v, d as u32))),
            (None, Root::Inside(_) | Root::Fresh | Root::Unknown) => None,
        };
        let is_known = self.start.iter().all(Option::is_some) && self.along.iter().all(Option::is_some);
        is_known
            && self.root == other.root
            && self.start == other.start
            && self.along == other.along
            && (0..self.along.len()).all(|d| along(self, d) == along(other, d))
    }

    /// The element at an index; a dimension without an index is covered as a whole.
    fn at(&self, index: &[Option<Expr>]) -> Place {
        let mut out = self.start.clone();
        for (k, along) in self.along.iter().enumerate() {
            let Some((d, step)) = along else {
                // The dimension that it runs along is not known, so that it may be anywhere.
                return Place { root: self.root, index: vec![None; out.len()] };
            };
            let any = self.extents.get(k).map(|n| Expr::sym(Sym::Within(*n)));
            let moved = match (out.get(*d).cloned().flatten(), index.get(k).cloned().flatten().or(any)) {
                (Some(start), Some(i)) => step.mul(&i).map(|i| start.add(&i)),
                _ => None,
            };
            if let Some(at) = out.get_mut(*d) {
                *at = moved;
            }
        }
        Place { root: self.root, index: out }
    }
}

/// Whether an array is one of several, as the buffers that a loop around swaps, or lies at a place that is not known.
fn is_open(views: &[View]) -> bool {
    views.iter().any(View::is_vague) || views.iter().any(|v| v.root != views[0].root)
}
