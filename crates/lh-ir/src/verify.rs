//! Verifies a typed function. A failure is always a bug of the compiler.
//!
//! Types are compared by what they mean to code generation: Python's numbers and NumPy's 64-bit scalars agree, and
//! aggregates agree when they flatten alike.

use crate::cfg::{Cfg, DomTree, def_blocks};
use crate::entity::{Block, Value};
use crate::func::{Function, Inst, InstData, MapExpr, ParFor, Target, Term};
use crate::types::{ClassTy, Prim, Ty, TyKind};
use std::fmt;

/// A fault of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyError {
    /// The function.
    pub function: String,
    /// The block.
    pub block: Block,
    /// Number of the instruction in the block; `None` for the block itself and its terminator.
    pub inst: Option<usize>,
    /// The fault.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.function, self.block)?;
        if let Some(i) = self.inst {
            write!(f, ", instruction {i}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Types that code generation cannot tell apart.
pub fn agree(a: Ty, b: Ty) -> bool {
    a == b || a.strong() == b.strong() || (!(a.is_number() && b.is_number()) && a.flatten() == b.flatten())
}

/// Type of a part of an aggregate, as [`Inst::Field`] counts them.
pub fn part(ty: Ty, index: u32) -> Option<Ty> {
    let i = index as usize;
    match ty.kind() {
        TyKind::Tuple { elems, .. } => elems.get(i).copied(),
        TyKind::Complex { .. } => (i < 2).then(|| ty.real_part()),
        TyKind::Range(t) => (i < 3).then_some(*t),
        TyKind::Slice(parts) => parts.get(i).copied(),
        TyKind::Closure { captures, defaults, .. } => captures.iter().chain(defaults).nth(i).copied(),
        TyKind::Choice(of) => {
            if i == 0 {
                Some(Ty::int())
            } else {
                of.get(i - 1).copied()
            }
        }
        TyKind::Generator(_) => (i == 0).then(Ty::suspended),
        TyKind::BoundMethod { recv, .. } => (i == 0).then_some(*recv),
        TyKind::Record(_) | TyKind::PyObject => [Ty::meminfo(), Ty::ptr()].get(i).copied(),
        TyKind::Str => [Ty::meminfo(), Ty::ptr(), Ty::i64()].get(i).copied(),
        TyKind::Instance { of, .. } | TyKind::Extension { model: of, .. } => (i == 0).then_some(*of),
        TyKind::Class(ClassTy { parts: Some(of), .. }) => of.get(i).copied(),
        TyKind::Never
        | TyKind::None
        | TyKind::Bool
        | TyKind::Int { .. }
        | TyKind::Float { .. }
        | TyKind::Bfloat16
        | TyKind::Array { .. }
        | TyKind::Class(_)
        | TyKind::Pending(..)
        | TyKind::Optional(_)
        | TyKind::Unbound
        | TyKind::MaybeUnbound(_)
        | TyKind::DType(_)
        | TyKind::Func(_)
        | TyKind::Obj(_)
        | TyKind::Exc
        | TyKind::Iter(_)
        | TyKind::Ptr
        | TyKind::MemInfo
        | TyKind::Literal(_)
        | TyKind::Ellipsis => None,
    }
}

/// All of them.
pub fn parts(ty: Ty) -> impl Iterator<Item = Ty> {
    (0..).map_while(move |i| part(ty, i))
}

/// Checks everything that later stages rely on.
pub fn verify(func: &Function) -> Result<(), VerifyError> {
    let mut v = Verifier { func, block: Block(0), inst: None };
    v.definitions()?;
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    v.visibility(&cfg, &dom)?;
    for i in 0..func.blocks.len() {
        v.block(Block::new(i))?;
    }
    func.bodies.iter().try_for_each(verify)
}

struct Verifier<'a> {
    func: &'a Function,
    block: Block,
    inst: Option<usize>,
}

type Check = Result<(), VerifyError>;

impl Verifier<'_> {
    fn fail(&self, message: impl Into<String>) -> Check {
        let function = self.func.name.clone();
        Err(VerifyError { function, block: self.block, inst: self.inst, message: message.into() })
    }
    fn ensure(&self, holds: bool, message: impl FnOnce() -> String) -> Check {
        if holds { Ok(()) } else { self.fail(message()) }
    }
    fn ty(&self, v: Value) -> Ty {
        self.func.ty(v)
    }

    /// Every value has one definition; every number is in range.
    fn definitions(&mut self) -> Check {
        let func = self.func;
        self.ensure(!func.blocks.is_empty(), || "no blocks".into())?;
        let mut seen = vec![false; func.values.len()];
        for (i, data) in func.blocks.iter().enumerate() {
            self.block = Block::new(i);
            for v in data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result)) {
                self.ensure(v.index() < seen.len(), || format!("{v} has no type"))?;
                self.ensure(!std::mem::replace(&mut seen[v.index()], true), || format!("{v} is defined twice"))?;
            }
            self.ensure(data.term.is_some(), || "no terminator".into())?;
            for (_, t) in crate::cfg::targets(func, self.block) {
                self.ensure(t.block.index() < func.blocks.len(), || format!("no {}", t.block))?;
                self.ensure(t.block.0 != 0, || "the entry block is a target".into())?;
            }
        }
        Ok(())
    }

    /// Definitions dominate uses.
    fn visibility(&mut self, cfg: &Cfg, dom: &DomTree) -> Check {
        let func = self.func;
        let mut home: Vec<(Option<Block>, usize)> = def_blocks(func).into_iter().map(|b| (b, 0)).collect();
        for data in &func.blocks {
            for (i, d) in data.insts.iter().enumerate() {
                if let Some(v) = d.result {
                    home[v.index()].1 = i + 1;
                }
            }
        }
        for &b in cfg.rpo() {
            let data = &func.blocks[b.index()];
            self.block = b;
            // An instruction at place `i` sees parameters (place 0) and results of places up to `i`.
            let sees = |v: Value, place: usize| match home.get(v.index()) {
                Some(&(Some(d), at)) if d == b => at <= place,
                Some(&(Some(d), 0)) => dom.dominates(d, b),
                Some(&(Some(d), _)) => dom.results_reach(d, b),
                Some((None, _)) | None => false,
            };
            let mut bad = None;
            for (i, d) in data.insts.iter().enumerate() {
                d.inst.for_each_operand(|v| bad = bad.or((!sees(v, i)).then_some((Some(i), v))));
            }
            if let Some(t) = &data.unwind {
                t.args.iter().for_each(|v| bad = bad.or((!sees(*v, 0)).then_some((None, *v))));
            }
            let mut term = data.term.clone().expect("checked before");
            let end = data.insts.len();
            term.for_each_operand_mut(&mut |v| bad = bad.or((!sees(*v, end)).then_some((None, *v))));
            if let Some((at, v)) = bad {
                self.inst = at;
                return self.fail(format!("{v} is not available"));
            }
        }
        self.inst = None;
        Ok(())
    }

    fn block(&mut self, b: Block) -> Check {
        let data = &self.func.blocks[b.index()];
        self.block = b;
        for (i, d) in data.insts.iter().enumerate() {
            self.inst = Some(i);
            self.inst(d)?;
        }
        self.inst = None;
        for (_, t) in crate::cfg::targets(self.func, b) {
            self.target(t)?;
        }
        match data.term.as_ref().expect("checked before") {
            Term::Branch { cond, .. } => self.is(*cond, Ty::is_bool, "bool"),
            Term::Return(v) => {
                let want = self.func.ret;
                let holds = want.is_none_or(|t| agree(t, self.ty(*v)));
                self.ensure(holds, || format!("returns {v}: {}, not {want:?}", self.ty(*v)))
            }
            Term::Jump(_) | Term::Raise { .. } | Term::Propagate | Term::Unreachable => Ok(()),
        }
    }
    fn target(&self, t: &Target) -> Check {
        let params = &self.func.blocks[t.block.index()].params;
        let (given, wanted) = (t.args.len(), params.len());
        self.ensure(given == wanted, || format!("{} takes {wanted} arguments, not {given}", t.block))?;
        for (a, p) in t.args.iter().zip(params) {
            self.same(self.ty(*a), self.ty(*p), || format!("argument {a} for {p} of {}", t.block))?;
        }
        Ok(())
    }
    fn same(&self, got: Ty, want: Ty, what: impl FnOnce() -> String) -> Check {
        self.ensure(agree(got, want), || format!("{}: {got} is not {want}", what()))
    }
    fn is(&self, v: Value, holds: impl Fn(Ty) -> bool, want: &str) -> Check {
        let ty = self.ty(v);
        self.ensure(holds(ty), || format!("{v}: {ty} is not {want}"))
    }
    fn int(&self, v: Value) -> Check {
        self.is(v, |t| t.strong() == Ty::i64(), "int64")
    }
    fn ptr(&self, v: Value) -> Check {
        self.is(v, |t| t == Ty::ptr(), "ptr")
    }
    fn array(&self, v: Value) -> Check {
        self.is(v, Ty::is_array, "an array")
    }
    /// The result, which must be there unless its type has no run-time form.
    fn result(&self, d: &InstData, want: Ty) -> Check {
        match d.result {
            Some(r) => self.same(self.ty(r), want, || format!("result {r}")),
            None => self.ensure(want.flatten().is_empty(), || "the result has no name".into()),
        }
    }
    fn result_kind(&self, d: &InstData) -> Option<&'static TyKind> {
        d.result.map(|r| self.ty(r).kind())
    }
    fn flat(&self, vs: &[Value]) -> Vec<Prim> {
        vs.iter().flat_map(|v| self.ty(*v).flatten()).collect()
    }

    fn inst(&self, d: &InstData) -> Check {
        match &d.inst {
            Inst::Const(c) => self.result(d, c.ty()),
            Inst::Op(op, args) => {
                let tys: Vec<Ty> = args.iter().map(|v| self.ty(*v).strong()).collect();
                self.row(op, &tys, d.result.map(|r| self.ty(r)))
            }
            Inst::Cast(v) => {
                let fits = |t: Ty| t.is_number() || t == Ty::ptr();
                self.is(*v, fits, "a number")?;
                d.result.map_or(Ok(()), |r| self.is(r, fits, "a number"))
            }
            Inst::SlotGet(s) => self.result(d, self.func.slots[s.index()]),
            Inst::SlotSet(s, v) => self.same(self.ty(*v), self.func.slots[s.index()], || format!("{s}")),
            Inst::Runtime(f, args) => {
                self.ensure(self.flat(args) == f.args, || format!("operands of {} do not fit", f.name))?;
                let got = d.result.map_or(Vec::new(), |r| self.ty(r).flatten());
                self.ensure(d.result.is_none() || got == f.ret, || format!("the result of {} does not fit", f.name))
            }
            Inst::IncRef(v) | Inst::DecRef(v) => self.is(*v, Ty::is_counted, "counted"),
            Inst::Map(e, args) => {
                self.ensure(matches!(self.result_kind(d), Some(TyKind::Array { .. })), || "not an array".into())?;
                self.map(e, args)
            }
            Inst::MapInto(e, args) => {
                self.ensure(!args.is_empty(), || "no destination".into())?;
                self.array(args[0])?;
                self.map(e, &args[1..])
            }
            Inst::Zero | Inst::Call(..) => Ok(()),
            Inst::Foreign(_, args) => {
                let is_address = |v: &Value| self.flat(&[*v]) == [Prim::Ptr];
                self.ensure(args.first().is_some_and(is_address), || "it has no address".into())
            }
            Inst::Extern(_) => {
                let got = d.result.map_or(Vec::new(), |r| self.ty(r).flatten());
                self.ensure(matches!(got[..], [Prim::Ptr | Prim::I64]), || "not a word".into())
            }
            Inst::ParFor(p, args) => self.par_for(*p, args),
            Inst::Pack(_) | Inst::Field(..) | Inst::Some(_) | Inst::IsSome(_) | Inst::Unwrap(_) => self.aggregate(d),
            Inst::ArrayMake { .. }
            | Inst::ArrayOwner(_)
            | Inst::ArrayData(_)
            | Inst::ArrayShape(..)
            | Inst::ArrayStride(..)
            | Inst::ElemPtr { .. }
            | Inst::Load(_)
            | Inst::Take(_)
            | Inst::Store(..)
            | Inst::PtrAdd(..)
            | Inst::New(_)
            | Inst::ItemsLen(_)
            | Inst::ItemsData(_)
            | Inst::FieldPtr(..) => self.memory(d),
        }
    }

    fn par_for(&self, p: ParFor, args: &[Value]) -> Check {
        let Some(body) = self.func.bodies.get(p.body as usize) else { return self.fail(format!("no body{}", p.body)) };
        let [n, grain, captured @ ..] = args else { return self.fail("no iterations") };
        self.is(*n, |t| t.strong() == Ty::i64(), "an int")?;
        self.is(*grain, |t| t.strong() == Ty::i64(), "an int")?;
        let want: Vec<Prim> = body.params().iter().flat_map(|v| body.ty(*v).flatten()).collect();
        let mut got = self.flat(captured);
        got.extend([Prim::I64; 3]);
        self.ensure(want == got, || format!("operands of body{} do not fit", p.body))?;
        self.ensure(body.ret.is_some_and(|t| t.flatten().is_empty()), || format!("body{} gives a value", p.body))
    }

    fn row(&self, op: &crate::op::Op, tys: &[Ty], result: Option<Ty>) -> Check {
        let Some(result) = result else { return Ok(()) };
        match op.sig.result(tys, Some(result.strong())) {
            Some(t) => self.same(result, t, || format!("result of {}", op.name)),
            None => self.fail(format!("{} does not take {tys:?}", op.name)),
        }
    }

    fn aggregate(&self, d: &InstData) -> Check {
        match &d.inst {
            Inst::Pack(parts) => {
                let got = d.result.map_or(Vec::new(), |r| self.ty(r).flatten());
                self.ensure(d.result.is_none() || got == self.flat(parts), || "parts do not fit".into())
            }
            Inst::Field(v, i) => match part(self.ty(*v), *i) {
                Some(t) => self.result(d, t),
                None => self.fail(format!("{v}: {} has no part {i}", self.ty(*v))),
            },
            Inst::Some(v) => match self.result_kind(d) {
                Some(TyKind::Optional(t) | TyKind::MaybeUnbound(t)) => self.same(self.ty(*v), *t, || format!("{v}")),
                Some(_) => self.fail("the result is not an optional"),
                None => Ok(()),
            },
            Inst::IsSome(v) => {
                self.optional(*v)?;
                self.result(d, Ty::bool())
            }
            Inst::Unwrap(v) => {
                let inner = self.optional(*v)?;
                self.result(d, inner)
            }
            other => crate::bug!("not an aggregate instruction: {other:?}"),
        }
    }
    fn optional(&self, v: Value) -> Result<Ty, VerifyError> {
        match self.ty(v).kind() {
            TyKind::Optional(t) | TyKind::MaybeUnbound(t) => Ok(*t),
            _ => self.fail(format!("{v}: {} is not an optional", self.ty(v))).map(|()| Ty::never()),
        }
    }

    fn memory(&self, d: &InstData) -> Check {
        match &d.inst {
            Inst::ArrayMake { owner, data, shape, strides } => {
                self.is(*owner, |t| t == Ty::meminfo(), "mem")?;
                self.ptr(*data)?;
                shape.iter().chain(strides).try_for_each(|v| self.int(*v))?;
                let Some(r) = d.result else { return Ok(()) };
                self.array(r)?;
                let n = self.ty(r).as_array().map(|a| a.1);
                let fits = n == Some(shape.len()) && n == Some(strides.len());
                self.ensure(fits, || format!("extents of {r}: {}", self.ty(r)))?;
                let has_parts = |t: Ty| matches!(t.kind(), TyKind::Record(_) | TyKind::Tuple { .. } | TyKind::PyObject);
                let has_form = |t: Ty| t.is_scalar() || has_parts(t);
                self.ensure(self.ty(r).as_array().is_some_and(|a| has_form(a.0)), || format!("items of {r}"))
            }
            Inst::ArrayOwner(v) => {
                self.is(*v, |t| t.is_array() || t == Ty::str(), "an array or a string")?;
                self.result(d, Ty::meminfo())
            }
            Inst::ArrayData(v) => {
                self.is(*v, |t| t.is_array() || t == Ty::str(), "an array or a string")?;
                self.result(d, Ty::ptr())
            }
            Inst::ArrayShape(v, i) | Inst::ArrayStride(v, i) => {
                self.is(*v, |t| t.as_array().is_some_and(|a| (*i as usize) < a.1), "an array of such rank")?;
                self.result(d, Ty::int())
            }
            Inst::ElemPtr { array, index, .. } => {
                self.is(*array, |t| t.as_array().is_some_and(|a| index.len() <= a.1), "an array of such rank")?;
                index.iter().try_for_each(|v| self.int(*v))?;
                self.result(d, Ty::ptr())
            }
            Inst::Load(p) | Inst::Take(p) | Inst::Store(p, _) => self.ptr(*p),
            Inst::PtrAdd(p, n) => {
                self.ptr(*p)?;
                self.int(*n)?;
                self.result(d, Ty::ptr())
            }
            Inst::New(n) => {
                self.int(*n)?;
                d.result.map_or(Ok(()), |r| self.is(r, |t| t.flatten() == [Prim::Object], "an object of a class"))
            }
            Inst::ItemsLen(v) => {
                self.is(*v, Ty::is_container, "an object with items")?;
                self.result(d, Ty::int())
            }
            Inst::ItemsData(v) => {
                self.is(*v, Ty::is_container, "an object with items")?;
                self.result(d, Ty::ptr())
            }
            Inst::FieldPtr(v, i) => {
                self.is(*v, |t| (*i as usize) < t.fields().len(), "an object with such a field")?;
                self.result(d, Ty::ptr())
            }
            other => crate::bug!("not a memory instruction: {other:?}"),
        }
    }

    fn map(&self, e: &MapExpr, args: &[Value]) -> Check {
        self.map_expr(e, args).map(|_| ())
    }
    /// The type of an expression.
    fn map_expr(&self, e: &MapExpr, args: &[Value]) -> Result<Ty, VerifyError> {
        match e {
            MapExpr::Arg(i, ty) => {
                let Some(v) = args.get(*i as usize) else {
                    return self.fail(format!("no operand {i}")).map(|()| Ty::never());
                };
                let of = self.ty(*v);
                let elem = of.as_array().map_or(of, |a| a.0);
                self.same(elem, *ty, || format!("element of {v}")).map(|()| *ty)
            }
            MapExpr::Const(c) => Ok(c.ty()),
            MapExpr::Op(op, ty, es) => {
                let tys = es.iter().map(|e| Ok(self.map_expr(e, args)?.strong())).collect::<Result<Vec<_>, _>>()?;
                self.row(op, &tys, Some(*ty)).map(|()| *ty)
            }
            MapExpr::Cast(ty, e) => {
                let from = self.map_expr(e, args)?;
                self.ensure(from.is_number() && ty.is_number(), || format!("cast of {from} to {ty}")).map(|()| *ty)
            }
            MapExpr::Call(_, ty, es) => {
                es.iter().try_for_each(|e| self.map_expr(e, args).map(|_| ()))?;
                Ok(*ty)
            }
        }
    }
}
