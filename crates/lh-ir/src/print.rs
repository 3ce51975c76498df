//! Typed functions as text. [`crate::parse`] is the inverse: printing what was parsed gives the same text.
//!
//! ```text
//! function %f(v0: int64, v1: array(float64, 1, C)) -> float {
//! block0(v0: int64, v1: array(float64, 1, C)):
//!     v2 = elem_ptr check wrap v1[v0]: ptr
//!     v3 = load v2: float64
//!     v4 = const 2.0: float64
//!     v5 = mul v3, v4: float64
//!     return v5
//! }
//! ```
//!
//! Types print without ambiguity, unlike `Display`: `int`, `float` and `complex` are Python's numbers.

use crate::consts::Const;
use crate::entity::Value;
use crate::func::{
    BlockData, Device, Extern, ForeignAbi, Function, Inst, InstData, MapExpr, Options, Parallel, Semantics, Target,
    Term,
};
use crate::span::Span;
use crate::types::{InstanceOf, Literal, Ty, TyKind};
use std::fmt;
use std::fmt::Write;

/// The text of a function.
pub fn print(func: &Function) -> String {
    let mut out = String::new();
    write_function(&mut out, func).expect("strings take all text");
    out
}

/// A type as text that can be parsed.
pub struct TypeText(pub Ty);

impl fmt::Display for TypeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            TyKind::Never => f.write_str("never"),
            TyKind::None => f.write_str("none"),
            TyKind::Bool => f.write_str("bool"),
            TyKind::Int { weak: true, .. } => f.write_str("int"),
            TyKind::Int { bits, signed, .. } => write!(f, "{}int{bits}", if *signed { "" } else { "u" }),
            TyKind::Float { weak: true, .. } => f.write_str("float"),
            TyKind::Float { bits, .. } => write!(f, "float{bits}"),
            TyKind::Bfloat16 => f.write_str("bfloat16"),
            TyKind::Complex { weak: true, .. } => f.write_str("complex"),
            TyKind::Complex { bits, .. } => write!(f, "complex{bits}"),
            TyKind::Str => f.write_str("str"),
            TyKind::Tuple { elems, name: None } => write!(f, "tuple({})", list(elems.iter().copied().map(TypeText))),
            TyKind::Tuple { elems, name: Some(n) } => {
                let fields = n.fields.iter().zip(elems).map(|(name, t)| format!("{name:?}: {}", TypeText(*t)));
                write!(f, "namedtuple({:?}, {}, {})", n.name, n.class, list(fields))
            }
            TyKind::Record(_) => write!(f, "{}", self.0),
            TyKind::Array { dtype, ndim, layout, readonly } => {
                let readonly = if *readonly { ", readonly" } else { "" };
                write!(f, "array({}, {ndim}, {layout:?}{readonly})", TypeText(*dtype))
            }
            TyKind::Class(c) => {
                let constant = if c.constant { "constant_" } else { "" };
                write!(f, "{constant}{}({})", c.class.text(), list(c.args.iter().copied().map(TypeText)))
            }
            TyKind::Pending(n, class) => write!(f, "pending_{}({n})", class.text()),
            TyKind::Optional(t) => write!(f, "optional({})", TypeText(*t)),
            TyKind::Unbound => f.write_str("unbound"),
            TyKind::MaybeUnbound(t) => write!(f, "maybe_unbound({})", TypeText(*t)),
            TyKind::Range(t) => write!(f, "range({})", TypeText(*t)),
            TyKind::Slice(p) => write!(f, "slice({})", list(p.iter().copied().map(TypeText))),
            TyKind::DType(t) => write!(f, "dtype({})", TypeText(*t)),
            TyKind::Func(id) => write!(f, "{id}"),
            TyKind::Closure { func, captures, defaults, named } => {
                let text = |ts: &[Ty]| list(ts.iter().copied().map(TypeText));
                let names = list(named.iter().map(|n| format!("{n:?}")));
                write!(f, "closure({func}, ({}), ({}), ({names}))", text(captures), text(defaults))
            }
            TyKind::Choice(of) => write!(f, "choice(({}))", list(of.iter().copied().map(TypeText))),
            TyKind::BoundMethod { recv, name } => write!(f, "method({}, {name:?})", TypeText(*recv)),
            TyKind::Instance { of, class } => instance(f, *of, class),
            TyKind::Extension { number, model } => write!(f, "extension({number}, {})", TypeText(*model)),
            TyKind::Obj(id) => write!(f, "{id}"),
            TyKind::Exc => f.write_str("exception"),
            TyKind::Iter(t) => write!(f, "iter({})", TypeText(*t)),
            TyKind::Ptr => f.write_str("ptr"),
            TyKind::MemInfo => f.write_str("mem"),
            TyKind::PyObject => f.write_str("pyobject"),
            TyKind::Ellipsis => f.write_str("ellipsis"),
            TyKind::Generator(g) => {
                let [item, sent, ret] = [g.item, g.sent, g.ret].map(TypeText);
                write!(f, "generator({item}, {sent}, {ret}, {}, {})", g.func, g.next)
            }
            TyKind::Literal(Literal::Int(i)) => write!(f, "literal({i})"),
            TyKind::Literal(Literal::Bool(b)) => write!(f, "literal({b})"),
            TyKind::Literal(Literal::Str(s)) => write!(f, "literal({s:?})"),
            TyKind::Literal(Literal::Initial(d)) => d.ty.fmt(f),
        }
    }
}

fn instance(f: &mut fmt::Formatter<'_>, of: Ty, class: &InstanceOf) -> fmt::Result {
    match class {
        InstanceOf::Buffer(b) => write!(f, "{}({})", b.name(), TypeText(of)),
        InstanceOf::Pointer(to) => write!(f, "pointer({})", TypeText(*to)),
        InstanceOf::Error { name, class, fields, args } => {
            let fields = list(fields.iter().map(|(n, t)| format!("({n:?}, {})", TypeText(*t))));
            let args = args.as_ref().map_or("-".to_owned(), |args| list(args.iter().copied().map(TypeText)));
            write!(f, "error({name:?}, {class}, ({fields}), ({args}))")
        }
        InstanceOf::Deferred(n) => write!(f, "deferred({n})"),
        InstanceOf::Function { args, ret } => {
            let args = list(args.iter().copied().map(TypeText));
            write!(f, "function({}, {}, ({args}))", TypeText(of), TypeText(*ret))
        }
        InstanceOf::Enum { name, class, values } => {
            let kind = match of.kind() {
                _ if !values => "enum",
                TyKind::Str => "str_enum",
                TyKind::Float { .. } => "float_enum",
                _ => "int_enum",
            };
            write!(f, "{kind}({name:?}, {class}, {})", TypeText(of))
        }
    }
}

fn list<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::new();
    for (i, item) in items.into_iter().enumerate() {
        let _ = write!(out, "{}{item}", if i > 0 { ", " } else { "" });
    }
    out
}

fn write_function(out: &mut String, func: &Function) -> fmt::Result {
    let params = func.blocks.first().map(|b| typed(func, &b.params)).unwrap_or_default();
    write!(out, "function %{}({params})", func.name)?;
    if let Some(ret) = func.ret {
        write!(out, " -> {}", TypeText(ret))?;
    }
    write_options(out, func)?;
    out.push_str(" {\n");
    if !func.qualname.is_empty() || !func.file.is_empty() {
        writeln!(out, "    source {:?}, {:?}, {}", func.qualname, func.file, func.first_line)?;
    }
    for (i, ty) in func.slots.iter().enumerate() {
        writeln!(out, "    slot{i}: {}", TypeText(*ty))?;
    }
    for (i, block) in func.blocks.iter().enumerate() {
        write_block(out, func, i, block)?;
    }
    for (i, body) in func.bodies.iter().enumerate() {
        write!(out, "body{i} ")?;
        write_function(out, body)?;
    }
    out.push_str("}\n");
    Ok(())
}

fn write_options(out: &mut String, func: &Function) -> fmt::Result {
    let Options { fastmath, boundscheck, numpy_errors, overflow_check, semantics, debug, device, parallel, .. } =
        func.options;
    if fastmath != 0 {
        write!(out, " fastmath={fastmath}")?;
    }
    if parallel != 0 {
        write!(out, " parallel={parallel}")?;
    }
    let flags = [
        (!boundscheck, "no_boundscheck"),
        (numpy_errors, "numpy_errors"),
        (overflow_check, "overflow_check"),
        (semantics == Semantics::Numba, "numba"),
        (debug, "debug"),
        (device == Device::Function, "device"),
        (device == Device::Kernel, "kernel"),
        (device == Device::Gpu, "gpu"),
        (func.is_library, "library"),
    ];
    for (_, name) in flags.iter().filter(|(set, _)| *set) {
        write!(out, " {name}")?;
    }
    if let Some(meaning) = func.meaning {
        write!(out, " means={}", meaning.word())?;
    }
    Ok(())
}

fn typed(func: &Function, values: &[Value]) -> String {
    list(values.iter().map(|v| format!("{v}: {}", TypeText(func.ty(*v)))))
}

fn write_block(out: &mut String, func: &Function, index: usize, block: &BlockData) -> fmt::Result {
    write!(out, "block{index}({})", typed(func, &block.params))?;
    if block.cold {
        out.push_str(" cold");
    }
    if let Some(word) = block.hint.word() {
        write!(out, " {word}")?;
    }
    for (word, n) in [("unroll_by", block.pragma.unroll), ("lanes", block.pragma.lanes)] {
        if n != 0 {
            write!(out, " {word}={n}")?;
        }
    }
    if block.poll_free {
        out.push_str(" poll_free");
    }
    match block.parallel {
        Some(Parallel::Asked) => out.push_str(" parallel"),
        Some(Parallel::Known) => out.push_str(" independent"),
        Some(Parallel::Derived) => out.push_str(" derived"),
        None => {}
    }
    if let Some(word) = block.latch.word() {
        write!(out, " {word}")?;
    }
    if let Some(t) = &block.unwind {
        write!(out, " unwind {}", target(t))?;
    }
    out.push_str(":\n");
    for d in &block.insts {
        write_inst(out, func, d)?;
    }
    if let Some(term) = &block.term {
        write!(out, "    {}", term_text(term))?;
        write_span(out, block.term_span)?;
    }
    Ok(())
}

fn write_span(out: &mut String, s: Span) -> fmt::Result {
    if s != Span::default() {
        write!(out, " @ {}:{}-{}:{}", s.line, s.col, s.end_line, s.end_col)?;
    }
    out.push('\n');
    Ok(())
}

fn write_inst(out: &mut String, func: &Function, d: &InstData) -> fmt::Result {
    out.push_str("    ");
    if let Some(r) = d.result {
        write!(out, "{r} = ")?;
    }
    let ty = d.result.map(|r| func.ty(r));
    out.push_str(&inst_text(&d.inst, ty));
    if let Some(ty) = ty {
        write!(out, ": {}", TypeText(ty))?;
    }
    write_span(out, d.span)
}

fn target(t: &Target) -> String {
    format!("{}({})", t.block, list(&t.args))
}

fn term_text(term: &Term) -> String {
    match term {
        Term::Jump(t) => format!("jump {}", target(t)),
        Term::Branch { cond, then, els } => format!("branch {cond}, {}, {}", target(then), target(els)),
        Term::Return(v) => format!("return {v}"),
        Term::Raise { exc, args } => format!("raise {exc}({})", list(args)),
        Term::Propagate => "propagate".into(),
        Term::Unreachable => "unreachable".into(),
    }
}

/// A constant as text, without its type.
fn literal(c: &Const) -> String {
    match c {
        Const::None => "none".into(),
        Const::Bool(b) => b.to_string(),
        Const::Int(i, _) => i.to_string(),
        Const::Float(x, _) => float(*x),
        Const::Complex(re, im, _) => format!("({}, {})", float(*re), float(*im)),
        Const::Str(s) => format!("{s:?}"),
    }
}

/// A float as text that gives the same bits when it is parsed.
pub(crate) fn float(x: f64) -> String {
    if x.is_nan() && x.to_bits() != f64::NAN.to_bits() {
        return format!("nan:{:#x}", x.to_bits());
    }
    let s = format!("{x:?}");
    if x.is_nan() { "nan".into() } else { s }
}

fn constant(c: &Const, ty: Option<Ty>) -> String {
    if ty == Some(c.ty()) { literal(c) } else { format!("{} as {}", literal(c), TypeText(c.ty())) }
}

fn inst_text(inst: &Inst, ty: Option<Ty>) -> String {
    match inst {
        Inst::Const(c) => format!("const {}", constant(c, ty)),
        Inst::Zero => "zero".into(),
        Inst::Extern(Extern::Array(o)) => format!("extern array {o}"),
        Inst::Extern(Extern::Class(c)) => format!("extern class {c}"),
        Inst::Extern(Extern::Foreign(o)) => format!("extern foreign {o}"),
        Inst::Extern(Extern::Function(o)) => format!("extern function {o}"),
        Inst::Extern(Extern::Type(n)) => {
            let ty = Ty::of_number(*n as usize).unwrap_or_else(|| crate::bug!("no type has number {n}"));
            format!("extern type {}", TypeText(ty))
        }
        Inst::Op(op, vs) => format!("{} {}", op.name, list(vs)),
        Inst::Cast(v) => format!("cast {v}"),
        Inst::Pack(vs) => format!("pack({})", list(vs)),
        Inst::Field(v, i) => format!("field {v}, {i}"),
        Inst::Some(v) => format!("some {v}"),
        Inst::IsSome(v) => format!("is_some {v}"),
        Inst::Unwrap(v) => format!("unwrap {v}"),
        Inst::Call(s, vs) => format!("call {s}({})", list(vs)),
        Inst::ParFor(p, vs) => format!("par_for body{}({})", p.body, list(vs)),
        Inst::Foreign(f, vs) => {
            let abi = if f.abi == ForeignAbi::C { "c" } else { "table" };
            format!("foreign {abi} writes {}({})", f.writes, list(vs))
        }
        Inst::Runtime(f, vs) => format!("runtime {}({})", f.name, list(vs)),
        Inst::SlotGet(s) => format!("slot_get {s}"),
        Inst::SlotSet(s, v) => format!("slot_set {s}, {v}"),
        Inst::ArrayMake { owner, data, shape, strides } => {
            format!("array_make {owner}, {data}, ({}), ({})", list(shape), list(strides))
        }
        Inst::ArrayOwner(v) => format!("array_owner {v}"),
        Inst::ArrayData(v) => format!("array_data {v}"),
        Inst::ArrayShape(v, i) => format!("array_shape {v}, {i}"),
        Inst::ArrayStride(v, i) => format!("array_stride {v}, {i}"),
        Inst::ElemPtr { array, index, wrap, check } => {
            let flag = |set: &bool, name| if *set { name } else { "" };
            format!("elem_ptr {}{}{array}[{}]", flag(check, "check "), flag(wrap, "wrap "), list(index))
        }
        Inst::Load(v) => format!("load {v}"),
        Inst::Take(v) => format!("take {v}"),
        Inst::Store(p, v) => format!("store {p}, {v}"),
        Inst::PtrAdd(p, n) => format!("ptr_add {p}, {n}"),
        Inst::New(n) => format!("new {n}"),
        Inst::ItemsLen(v) => format!("items_len {v}"),
        Inst::ItemsData(v) => format!("items_data {v}"),
        Inst::FieldPtr(v, i) => format!("field_ptr {v}, {i}"),
        Inst::Map(e, vs) => format!("map({}) {}", list(vs), expr(e)),
        Inst::MapInto(e, vs) => format!("map_into({}) {}", list(vs), expr(e)),
        Inst::IncRef(v) => format!("incref {v}"),
        Inst::DecRef(v) => format!("decref {v}"),
    }
}

/// An elementwise expression: `add($0: float64, cast($1: int32): float64): float64`.
fn expr(e: &MapExpr) -> String {
    let all = |es: &[MapExpr]| list(es.iter().map(expr));
    match e {
        MapExpr::Arg(i, ty) => format!("${i}: {}", TypeText(*ty)),
        MapExpr::Const(c) => format!("const {}: {}", literal(c), TypeText(c.ty())),
        MapExpr::Op(op, ty, es) => format!("{}({}): {}", op.name, all(es), TypeText(*ty)),
        MapExpr::Cast(ty, e) => format!("cast({}): {}", expr(e), TypeText(*ty)),
        MapExpr::Call(s, ty, es) => format!("{s}({}): {}", all(es), TypeText(*ty)),
    }
}
