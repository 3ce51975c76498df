//! All promotion rules: NEP 50 for operators, the types of variables at which two types meet, and the cost of
//! passing an argument to a specialisation of another type.

use hashbrown::HashSet;
use lh_ir::class::Class;
use lh_ir::types::{ClassTy, Holds, Layout, Record, Ty, TyKind};
use std::cell::RefCell;

/// Rank of a number type in bool < int < float < complex.
pub(crate) fn rank(t: Ty) -> u8 {
    match t.kind() {
        TyKind::Bool => 0,
        TyKind::Int { .. } => 1,
        TyKind::Float { .. } | TyKind::Bfloat16 => 2,
        _ => 3,
    }
}

/// Type of an arithmetic operation on two numbers, as NumPy 2 (NEP 50): Python's numbers adapt to typed operands.
///
/// Two bools give bool; callers that mean Python's arithmetic ask for `int` first.
pub fn promote(a: Ty, b: Ty) -> Option<Ty> {
    if !a.is_number() || !b.is_number() {
        return None;
    }
    if a == b {
        return Some(a);
    }
    Some(match (a.is_weak(), b.is_weak()) {
        (true, true) => {
            if rank(a) >= rank(b) {
                a
            } else {
                b
            }
        }
        (true, false) => promote_weak(a, b),
        (false, true) => promote_weak(b, a),
        (false, false) => promote_strong(a, b),
    })
}

fn promote_weak(weak: Ty, strong: Ty) -> Ty {
    if strong.is_bool() {
        return weak;
    }
    if rank(weak) <= rank(strong) {
        return strong;
    }
    match (weak.is_complex(), strong.kind()) {
        (true, TyKind::Float { bits: 16 | 32, .. } | TyKind::Bfloat16) => Ty::c64(),
        (true, _) => Ty::c128(),
        _ => Ty::f64(),
    }
}

fn promote_strong(a: Ty, b: Ty) -> Ty {
    let (lo, hi) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
    match (rank(lo), rank(hi)) {
        (0, _) => hi,
        (1, 1) => promote_ints(a, b),
        (1, 2) => match lo.bits() {
            8 => hi,
            16 if hi.bits() == 16 => Ty::f32(),
            16 => hi,
            _ => Ty::f64(),
        },
        (2, 2) if a.is_half() && b.is_half() => Ty::f32(),
        (2, 2) => {
            if a.bits() >= b.bits() {
                a
            } else {
                b
            }
        }
        (1, 3) => {
            if lo.bits() <= 16 {
                hi
            } else {
                Ty::c128()
            }
        }
        (2, 3) => {
            if lo.bits() <= 32 {
                hi
            } else {
                Ty::c128()
            }
        }
        _ => {
            if a.bits() >= b.bits() {
                a
            } else {
                b
            }
        }
    }
}

fn promote_ints(a: Ty, b: Ty) -> Ty {
    if a.is_signed() == b.is_signed() {
        return if a.bits() >= b.bits() { a } else { b };
    }
    let (s, u) = if a.is_signed() { (a, b) } else { (b, a) };
    if s.bits() > u.bits() {
        return s;
    }
    match u.bits() {
        8 => Ty::i16(),
        16 => Ty::i32(),
        32 => Ty::i64(),
        _ => Ty::f64(),
    }
}

/// The float type that elementary functions compute in for an operand: NumPy's rule, but `float32` for its `float16`.
pub fn float_for(t: Ty) -> Ty {
    match t.kind() {
        TyKind::Float { .. } | TyKind::Bfloat16 | TyKind::Complex { .. } => t,
        TyKind::Int { weak: true, .. } => Ty::float(),
        TyKind::Bool | TyKind::Int { bits: 8 | 16, .. } => Ty::f32(),
        _ => Ty::f64(),
    }
}

/// Type arguments of instances whose type is found by their uses, by the site where they are made.
#[derive(Default, Debug)]
pub struct Pending {
    /// Class and type arguments of each site; `never` where nothing is known yet.
    pub sites: Vec<(Class, Vec<Ty>)>,
    /// Type arguments that a mere look-up has said, which what is stored overrules.
    pub guessed: HashSet<(u32, usize)>,
    /// Sites of typed containers: the first item decides, so that none becomes a number of another kind.
    pub typed: HashSet<u32>,
    /// Sites of what functions of NumPy take, to which no items are floats.
    pub of_arrays: HashSet<u32>,
    /// Whether something was learnt since the flag was last cleared.
    pub changed: bool,
}

/// Deepest nesting of types that are looked up.
const MAX_NESTING: u32 = 16;

impl Pending {
    /// A new site.
    pub fn add(&mut self, class: Class) -> u32 {
        self.sites.push((class, vec![Ty::never(); class.declaration().parameters.len()]));
        self.sites.len() as u32 - 1
    }
    /// A type argument of a site.
    pub fn argument(&self, site: u32, at: usize) -> Ty {
        self.sites[site as usize].1[at]
    }
    /// Whether all type arguments of a site are known.
    pub fn is_decided(&self, site: u32) -> bool {
        !self.sites[site as usize].1.iter().any(|t| t.is_never())
    }
    /// The type of instances that are made at a site.
    pub fn ty(&self, site: u32) -> Ty {
        let (class, args) = &self.sites[site as usize];
        if !self.is_decided(site) {
            return Ty::new(TyKind::Pending(site, *class));
        }
        class.of(args.iter().map(|t| self.resolved(*t, 0)).collect(), false)
    }
    /// A type with what is known by now.
    fn resolved(&self, t: Ty, depth: u32) -> Ty {
        if depth > MAX_NESTING || !has_pending(t) {
            return t;
        }
        let all = |of: &[Ty]| of.iter().map(|t| self.resolved(*t, depth + 1)).collect::<Vec<_>>();
        match t.kind() {
            TyKind::Pending(site, class) => match self.sites.get(*site as usize) {
                Some((_, args)) if self.is_decided(*site) => class.of(all(args), false),
                _ => t,
            },
            TyKind::Class(c) => c.class.of(all(&c.args), c.constant),
            TyKind::Tuple { elems, name } => Ty::new(TyKind::Tuple { elems: all(elems), name: name.clone() }),
            TyKind::Optional(inner) => Ty::optional(self.resolved(*inner, depth + 1)),
            _ => t,
        }
    }
    /// Records that a type argument of a site stands for values of a type. `false` if this contradicts earlier uses, or
    /// if an instance would contain itself, for which there is no finite type.
    pub fn learn(&mut self, site: u32, at: usize, t: Ty) -> bool {
        let t = t.weak();
        let known = if self.guessed.contains(&(site, at)) { Ty::never() } else { self.argument(site, at) };
        // Items are Python's numbers again: a literal list says so of itself each time that it is looked at.
        let Some(new) = unify(known, t, self).map(Ty::weak) else { return false };
        if any_pending(new, &|s| s == site) {
            return false;
        }
        let decided = self.typed.contains(&site) && known.is_number() && t.is_number();
        if decided && rank(new) > rank(known) {
            return true;
        }
        self.guessed.remove(&(site, at));
        if self.argument(site, at) != new {
            self.sites[site as usize].1[at] = new;
            self.changed = true;
        }
        true
    }
    /// Records the type of what is looked up, if nothing else is known.
    pub fn guess(&mut self, site: u32, at: usize, t: Ty) {
        if self.argument(site, at).is_never() && self.learn(site, at, t) {
            self.guessed.insert((site, at));
        }
    }
    /// Notes that a function of NumPy takes what is made at the sites in some types.
    pub fn taken_by_numpy(&mut self, types: impl Iterator<Item = Ty>) {
        let found = RefCell::new(&mut self.of_arrays);
        types.for_each(|t| {
            any_pending(t, &|site| {
                found.borrow_mut().insert(site);
                false
            });
        });
    }
    /// Records all type arguments of a site.
    pub fn learn_all(&mut self, site: u32, args: &[Ty]) -> bool {
        args.iter().enumerate().all(|(at, t)| self.learn(site, at, *t))
    }
}

/// The type with others in place of containers with an unknown type of items.
pub(crate) fn map_pending(t: Ty, to: &mut dyn FnMut(Class) -> Ty) -> Ty {
    let mut all = |of: &[Ty]| of.iter().map(|t| map_pending(*t, to)).collect::<Vec<_>>();
    match t.kind() {
        TyKind::Pending(_, class) => to(*class),
        TyKind::Class(c) => c.class.of(all(&c.args), c.constant),
        TyKind::Tuple { elems, name } => Ty::new(TyKind::Tuple { elems: all(elems), name: name.clone() }),
        TyKind::Optional(inner) => Ty::optional(map_pending(*inner, to)),
        _ => t,
    }
}

/// Whether a type contains a container with an unknown type of items.
pub(crate) fn has_pending(t: Ty) -> bool {
    any_pending(t, &|_| true)
}

/// Whether a type contains a container with an unknown type of items, made at a site with a property.
pub(crate) fn any_pending(t: Ty, is: &dyn Fn(u32) -> bool) -> bool {
    match t.kind() {
        TyKind::Pending(site, _) => is(*site),
        TyKind::Class(c) => c.args.iter().any(|t| any_pending(*t, is)),
        // Receivers are checked where they are used.
        TyKind::BoundMethod { .. } | TyKind::Iter(_) => false,
        _ => match t.holds() {
            Holds::Parts(a, b) => a.iter().chain(b).any(|t| any_pending(*t, is)),
            Holds::Nothing | Holds::Memory | Holds::Objects => false,
        },
    }
}

/// Whether a value is, or holds, a generator.
pub(crate) fn holds_generator(t: Ty) -> bool {
    match t.kind() {
        TyKind::Generator(_) => true,
        TyKind::Class(c) => c.args.iter().any(|t| holds_generator(*t)),
        TyKind::BoundMethod { .. } | TyKind::Iter(_) => false,
        _ => match t.holds() {
            Holds::Parts(a, b) => a.iter().chain(b).any(|t| holds_generator(*t)),
            Holds::Nothing | Holds::Memory | Holds::Objects => false,
        },
    }
}

/// Whether a type contains a container with an unknown type of items, or a method of one.
pub(crate) fn passes_pending(t: Ty) -> bool {
    match t.kind() {
        TyKind::BoundMethod { recv, .. } => passes_pending(*recv),
        TyKind::Pending(..) => true,
        TyKind::Class(c) => c.args.iter().any(|t| passes_pending(*t)),
        TyKind::Iter(_) => false,
        _ => match t.holds() {
            Holds::Parts(a, b) => a.iter().chain(b).any(|t| passes_pending(*t)),
            Holds::Nothing | Holds::Memory | Holds::Objects => false,
        },
    }
}

/// The type of a variable at which values of two types meet, or `None` when there is none.
///
/// A Python number meeting a typed one keeps its width (`0.0` meeting `float32` gives `float64`), so that sums that
/// start from a literal do not lose precision.
pub fn unify(a: Ty, b: Ty, pending: &mut Pending) -> Option<Ty> {
    if a == b || b.is_never() {
        return Some(a);
    }
    if a.is_never() {
        return Some(b);
    }
    if a.is_number() && b.is_number() {
        return if a.is_weak() && b.is_weak() { promote(a, b) } else { unify_numbers(a, b) };
    }
    match (a.kind(), b.kind()) {
        (TyKind::Unbound, TyKind::MaybeUnbound(_)) => Some(b),
        (TyKind::MaybeUnbound(_), TyKind::Unbound) => Some(a),
        (TyKind::MaybeUnbound(x), TyKind::MaybeUnbound(y)) => maybe(unify(*x, *y, pending)?),
        (TyKind::MaybeUnbound(x), _) => maybe(unify(*x, b, pending)?),
        (_, TyKind::MaybeUnbound(y)) => maybe(unify(a, *y, pending)?),
        (TyKind::Unbound, _) => maybe(b),
        (_, TyKind::Unbound) => maybe(a),
        (TyKind::None, _) => optional(b),
        (_, TyKind::None) => optional(a),
        (TyKind::Optional(x), TyKind::Optional(y)) => optional(unify(*x, *y, pending)?),
        (TyKind::Optional(x), _) => optional(unify(*x, b, pending)?),
        (_, TyKind::Optional(y)) => optional(unify(a, *y, pending)?),
        (TyKind::Tuple { elems: x, name: n }, TyKind::Tuple { elems: y, name: m }) => {
            if x.len() != y.len() {
                return None;
            }
            let elems = x.iter().zip(y).map(|(s, t)| unify(*s, *t, pending)).collect::<Option<Vec<_>>>()?;
            let name = if n == m { n.clone() } else { None };
            Some(Ty::new(TyKind::Tuple { elems, name }))
        }
        (
            TyKind::Array { dtype: d, ndim: n, layout: l, readonly: r },
            TyKind::Array { dtype: e, ndim: m, layout: k, readonly: s },
        ) => {
            let layout = if l == k { *l } else { Layout::A };
            (d == e && n == m).then(|| Ty::array_ro(*d, *n as usize, layout, *r || *s))
        }
        (TyKind::Tuple { elems, name: None }, TyKind::Class(c))
        | (TyKind::Class(c), TyKind::Tuple { elems, name: None })
            if c.class.is_tuple() =>
        {
            let is_own = |t: &Ty| c.items.is_some_and(|item| item.weak() == t.weak());
            elems.iter().all(is_own).then(|| if b.is_tuple() { a } else { b })
        }
        _ if a.is_time() && b.is_time() => unify_times(a, b),
        _ if a.class().is_some() && a.class() == b.class() => unify_instances(a, b, pending),
        _ if let Some(several) = Ty::one_of(&[a, b]) => Some(several),
        _ if is_function(a) && is_function(b) => choice(a, b),
        (TyKind::Instance { of: x, class: c }, TyKind::Instance { of: y, class: d }) if c == d => {
            Some(Ty::new(TyKind::Instance { of: unify(*x, *y, pending)?, class: c.clone() }))
        }
        // Members that are values become such where they meet others.
        (TyKind::Instance { of, .. }, _) if matches!(a.as_enum(), Some((_, _, true))) => unify(*of, b, pending),
        (_, TyKind::Instance { of, .. }) if matches!(b.as_enum(), Some((_, _, true))) => unify(a, *of, pending),
        _ => None,
    }
}

/// The type of a variable at which values of two types meet; integers of Python that are `counts`, never negative, are
/// `uint64` beside one, as in operations of both, so that a sum which begins with 0 keeps all digits.
pub fn unify_counts(a: Ty, b: Ty, counts: bool, pending: &mut Pending) -> Option<Ty> {
    let is_count = |x: Ty, y: Ty| x == Ty::int() && y == Ty::u64();
    if counts && (is_count(a, b) || is_count(b, a)) { Some(Ty::u64()) } else { unify(a, b, pending) }
}

/// A time without a unit, as NaT may be, has that of another which it meets.
fn unify_times(a: Ty, b: Ty) -> Option<Ty> {
    let ((x, x_is_span), (y, y_is_span)) = (a.as_time()?, b.as_time()?);
    match (x.is_generic(), y.is_generic()) {
        _ if x_is_span != y_is_span => None,
        (true, _) => Some(b),
        (_, true) => Some(a),
        _ => None,
    }
}

/// Unifies instances of one class: containers with unknown types of items, possibly nested.
fn unify_instances(a: Ty, b: Ty, pending: &mut Pending) -> Option<Ty> {
    match (a.kind(), b.kind()) {
        (TyKind::Pending(s, _), TyKind::Class(ClassTy { class, args, constant: false, .. }))
        | (TyKind::Class(ClassTy { class, args, constant: false, .. }), TyKind::Pending(s, _)) => {
            pending.learn_all(*s, args).then(|| class.of(args.clone(), false))
        }
        (TyKind::Pending(..), TyKind::Pending(..)) => Some(a),
        (
            TyKind::Class(ClassTy { class, args: x, constant: false, .. }),
            TyKind::Class(ClassTy { args: y, constant: false, .. }),
        ) => {
            let meet = |(s, t): (&Ty, &Ty)| match s.is_container() && t.is_container() {
                true => unify(*s, *t, pending),
                false => (s == t).then_some(*s),
            };
            Some(class.of(x.iter().zip(y).map(meet).collect::<Option<_>>()?, false))
        }
        _ => None,
    }
}

/// Whether a value of the type may be one of several functions.
fn is_function(t: Ty) -> bool {
    t.is_function() && !matches!(t.kind(), TyKind::DType(_))
}

/// The alternatives of a function type.
pub fn alternatives(t: Ty) -> Vec<Ty> {
    match t.kind() {
        TyKind::Choice(of) => of.clone(),
        _ => vec![t],
    }
}

/// Most functions among which one may be chosen at run time.
const MAX_CHOICE: usize = 64;

fn choice(a: Ty, b: Ty) -> Option<Ty> {
    let mut of = alternatives(a);
    for t in alternatives(b) {
        if !of.contains(&t) {
            of.push(t);
        }
    }
    (of.len() <= MAX_CHOICE).then(|| Ty::new(TyKind::Choice(of)))
}

fn unify_numbers(a: Ty, b: Ty) -> Option<Ty> {
    match (a.is_bool(), b.is_bool()) {
        (true, false) => Some(b),
        (false, true) => Some(a),
        _ => promote(a.strong(), b.strong()),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "reads as the other arms do")]
fn optional(t: Ty) -> Option<Ty> {
    Some(Ty::optional(t))
}

#[expect(clippy::unnecessary_wraps, reason = "reads as the other arms do")]
fn maybe(t: Ty) -> Option<Ty> {
    Some(Ty::new(TyKind::MaybeUnbound(t)))
}

/// Cost of passing a value of the first type where the second is wanted; `None` if that is not done.
///
/// A wider type of the same kind costs least, a change of kind more, a loss of range or precision most.
pub fn cost(from: Ty, to: Ty) -> Option<u32> {
    const SAFE: u32 = 1;
    const PROMOTE: u32 = 10;
    const UNSAFE: u32 = 1000;
    if from == to {
        return Some(0);
    }
    // A member that is an integer, a float or a text is one.
    if from.native() != from && to.as_enum().is_none() {
        return cost(from.native(), to).map(|c| c + SAFE);
    }
    match (from.kind(), to.kind()) {
        (TyKind::Tuple { elems: a, name: n }, TyKind::Tuple { elems: b, name: m }) if n == m => cost_of_all(a, b),
        (TyKind::None, TyKind::Optional(_)) => Some(SAFE),
        (TyKind::Never, _) => Some(SAFE),
        (_, TyKind::Optional(t)) => cost(from, *t).map(|c| c + SAFE),
        (
            TyKind::Array { dtype: d, ndim: n, layout: l, readonly: r },
            TyKind::Array { dtype: e, ndim: m, layout: k, readonly: s },
        ) => {
            let fits = d == e && n == m && (l == k || *k == Layout::A) && (!r || *s);
            fits.then_some(SAFE)
        }
        (_, TyKind::Instance { of, .. }) if to.is_function() => {
            let other = matches!(from.kind(), TyKind::Instance { .. }) && to.with_functions(from) != from;
            let fits = if to.is_open() { from.is_function() && !other } else { *of == from };
            fits.then_some(SAFE)
        }
        (TyKind::Record(a), TyKind::Record(b)) => begins_with(a, b).then_some(SAFE),
        (_, TyKind::Ptr) if from.is_int() => Some(UNSAFE),
        _ if !from.is_number() || !to.is_number() => None,
        _ => Some(match (rank(from), rank(to)) {
            (a, b) if a == b => {
                let widens = to.bits() > from.bits() && (!to.is_int() || from.is_signed() == to.is_signed());
                let into_signed = to.is_signed() && to.bits() > from.bits();
                if widens || into_signed { SAFE } else { UNSAFE }
            }
            // Complex numbers have no real value.
            (a, b) if a > b => {
                if a == 3 {
                    return None;
                }
                UNSAFE * 2
            }
            (a, b) => {
                let exact = a == 0 || 2 * from.bits() <= to.bits() || (b == 3 && a == 2);
                // Of types that lose digits, the one that loses fewer.
                let lost = if to.bits() >= 64 { 1 } else { 2 };
                PROMOTE * (u32::from(b - a) + if exact { 0 } else { lost })
            }
        }),
    }
}

/// Whether a value of one type can be equal to one of another, as keys of tables are.
pub(crate) fn comparable(a: Ty, b: Ty) -> bool {
    let number = |t: Ty| t.native().is_number();
    // The class of an object decides what it is equal to.
    if a.is_pyobject() || b.is_pyobject() {
        return true;
    }
    match (a.kind(), b.kind()) {
        _ if a.several().is_some() || b.several().is_some() => true,
        (TyKind::Optional(x), TyKind::Optional(y)) => comparable(*x, *y),
        (TyKind::Optional(x), _) => b.is_none() || comparable(*x, b),
        (_, TyKind::Optional(y)) => a.is_none() || comparable(a, *y),
        (TyKind::Tuple { elems: x, .. }, TyKind::Tuple { elems: y, .. }) => {
            x.len() == y.len() && x.iter().zip(y).all(|(s, t)| comparable(*s, *t))
        }
        (TyKind::Class(c), TyKind::Tuple { elems, .. }) | (TyKind::Tuple { elems, .. }, TyKind::Class(c))
            if c.class.is_tuple() =>
        {
            elems.iter().all(|t| c.items.is_some_and(|item| comparable(item, *t)))
        }
        (TyKind::Class(c), TyKind::Class(d)) if c.class.is_tuple() && d.class.is_tuple() => {
            c.items.zip(d.items).is_some_and(|(x, y)| comparable(x, y))
        }
        _ => a.native().weak() == b.native().weak() || number(a) && number(b),
    }
}

/// Whether the fields of a record begin with those of another.
pub fn begins_with(a: &Record, b: &Record) -> bool {
    let is_long = a.size >= b.size && a.align >= b.align && (a.chars, b.chars) == (None, None);
    is_long && a.fields.starts_with(&b.fields)
}

/// Cost of all arguments together.
pub fn cost_of_all(from: &[Ty], to: &[Ty]) -> Option<u32> {
    if from.len() != to.len() {
        return None;
    }
    from.iter().zip(to).map(|(f, t)| cost(*f, *t)).sum()
}

/// Whether a result may stand where a signature says another type: it converts, or becomes the same objects of Python,
/// since arrays in containers differ in their layouts only.
pub fn is_result_of(got: Ty, want: Ty) -> bool {
    cost(got, want).is_some() || has_objects_of(got, want)
}

/// Whether values become the same objects of Python as those of another type.
pub fn has_objects_of(got: Ty, want: Ty) -> bool {
    let all = |a: &[Ty], b: &[Ty]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| has_objects_of(*a, *b));
    match (got.kind(), want.kind()) {
        (TyKind::Array { dtype: d, ndim: n, .. }, TyKind::Array { dtype: e, ndim: m, .. }) => {
            d == e && n == m && cost(got, want).is_some()
        }
        (TyKind::Class(a), TyKind::Class(b)) => a.class == b.class && all(&a.args, &b.args),
        (TyKind::Tuple { elems: a, name: n }, TyKind::Tuple { elems: b, name: m }) => n == m && all(a, b),
        _ => got == want,
    }
}

/// Whether an exception can hold a value of the type.
pub(crate) fn carried(t: Ty) -> bool {
    match t.kind() {
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| carried(*t)),
        _ => t.is_number() || t.is_none() || t == Ty::str(),
    }
}
