//! Text of untyped code, for tests and for looking at it.
//!
//! ```text
//! def f(n):
//! block0(v0 n):
//!     v1 s = const 0
//!     v2 = global range
//!     v3 = call v2(v0)
//!     v4 = iter v3
//!     jump block1(v1)
//! block1(v5 s):
//!     for v4: block2(v5), block3
//! ```
//!
//! A value is followed by the name of the variable it was assigned to first. `{:#}` adds places as `; line:column`.

use crate::entity::Value;
use crate::span::Span;
use crate::untyped::{BinOp, BlockData, CmpOp, Code, Inst, InstData, ParamKind, PyConst, Target, Term, UnOp};
use std::fmt::{self, Display, Formatter};

impl Display for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}(", if self.is_generator { "generator" } else { "def" }, self.name)?;
        for (i, param) in self.params.iter().enumerate() {
            let star = match param.kind {
                ParamKind::VarArgs => "*",
                ParamKind::VarKeywords => "**",
                ParamKind::KeywordOnly => "kw ",
                ParamKind::Positional => "",
            };
            let slash = if self.posonly == i + 1 { ", /" } else { "" };
            write!(f, "{}{star}{}{slash}", if i > 0 { ", " } else { "" }, param.name)?;
        }
        f.write_str(")")?;
        if !self.freevars.is_empty() {
            write!(f, " captures {}", self.freevars.join(", "))?;
        }
        f.write_str(":\n")?;
        for (b, block) in self.blocks.iter().enumerate() {
            self.block(f, b, block)?;
        }
        for (i, inner) in self.inner.iter().enumerate() {
            write!(f, "inner {i}: ")?;
            Display::fmt(inner, f)?;
        }
        Ok(())
    }
}

impl Code {
    fn named(&self, value: Value) -> String {
        match self.value_names.get(value.index()) {
            Some(Some(name)) => format!("{value} {name}"),
            _ => value.to_string(),
        }
    }

    fn block(&self, f: &mut Formatter<'_>, b: usize, block: &BlockData) -> fmt::Result {
        write!(f, "block{b}")?;
        if !block.params.is_empty() {
            let params: Vec<String> = block.params.iter().map(|&p| self.named(p)).collect();
            write!(f, "({})", params.join(", "))?;
        }
        f.write_str(":")?;
        if let Some(unwind) = &block.unwind {
            write!(f, " except {unwind}")?;
        }
        f.write_str("\n")?;
        for InstData { result, inst, span } in &block.insts {
            f.write_str("    ")?;
            if let Some(result) = result {
                write!(f, "{} = ", self.named(*result))?;
            }
            write!(f, "{inst}")?;
            place(f, *span)?;
        }
        match &block.term {
            Some(term) => write!(f, "    {term}")?,
            None => f.write_str("    (unfinished)")?,
        }
        place(f, block.term_span)
    }
}

/// Ends a line, with its place in the alternate form.
fn place(f: &mut Formatter<'_>, span: Span) -> fmt::Result {
    if f.alternate() && span.line != 0 {
        write!(f, "  ; {}:{}-{}:{}", span.line, span.col, span.end_line, span.end_col)?;
    }
    f.write_str("\n")
}

fn list(values: &[Value]) -> String {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    texts.join(", ")
}

fn named_list(values: &[(String, Value)]) -> Vec<String> {
    values.iter().map(|(name, v)| format!("{name}={v}")).collect()
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.args.is_empty() {
            write!(f, "{}", self.block)
        } else {
            write!(f, "{}({})", self.block, list(&self.args))
        }
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Term::Jump(t) => write!(f, "jump {t}"),
            Term::Branch { cond, then, els } => write!(f, "if {cond}: {then}, {els}"),
            Term::ForIter { iter, body, done } => write!(f, "for {iter}: {body}, {done}"),
            Term::Return(v) => write!(f, "return {v}"),
            Term::Raise { exc, cause: None } => write!(f, "raise {exc}"),
            Term::Raise { exc, cause: Some(cause) } => write!(f, "raise {exc} from {cause}"),
            Term::Reraise(v) => write!(f, "reraise {v}"),
            Term::Unreachable => f.write_str("unreachable"),
        }
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Inst::Const(c) => write!(f, "const {c}"),
            Inst::Global(name) => write!(f, "global {name}"),
            Inst::Free(i) => write!(f, "free {i}"),
            Inst::Import { name, attr: None } => write!(f, "import {name}"),
            Inst::Import { name, attr: Some(attr) } => write!(f, "import {attr} from {name}"),
            Inst::CheckBound { value, name } => write!(f, "check_bound {value} {name}"),
            Inst::Unary(op, v) => write!(f, "{op} {v}"),
            Inst::Binary { op, a, b, inplace } => write!(f, "{a} {op}{} {b}", if *inplace { "=" } else { "" }),
            Inst::Compare(op, a, b) => write!(f, "{a} {op} {b}"),
            Inst::Is { a, b, negate } => write!(f, "{a} is{} {b}", if *negate { " not" } else { "" }),
            Inst::Contains { item, container, negate } => {
                write!(f, "{item}{} in {container}", if *negate { " not" } else { "" })
            }
            Inst::GetAttr(v, name) => write!(f, "{v}.{name}"),
            Inst::SetAttr(v, name, x) => write!(f, "{v}.{name} = {x}"),
            Inst::GetItem(v, k) => write!(f, "{v}[{k}]"),
            Inst::SetItem(v, k, x) => write!(f, "{v}[{k}] = {x}"),
            Inst::DelItem(v, k) => write!(f, "del {v}[{k}]"),
            _ => container(f, self),
        }
    }
}

fn container(f: &mut Formatter<'_>, inst: &Inst) -> fmt::Result {
    match inst {
        Inst::Tuple(vs) => write!(f, "tuple ({})", list(vs)),
        Inst::List(vs) => write!(f, "list [{}]", list(vs)),
        Inst::Set(vs) => write!(f, "set {{{}}}", list(vs)),
        Inst::Dict(kvs) => {
            let pairs: Vec<String> = kvs.iter().map(|(k, v)| format!("{k}: {v}")).collect();
            write!(f, "dict {{{}}}", pairs.join(", "))
        }
        Inst::Slice([a, b, c]) => write!(f, "slice {a}:{b}:{c}"),
        Inst::ListAppend(a, b) => write!(f, "append {a}, {b}"),
        Inst::ListExtend(a, b) => write!(f, "extend {a}, {b}"),
        Inst::SetAdd(a, b) => write!(f, "add {a}, {b}"),
        Inst::MapAdd(a, k, v) => write!(f, "put {a}, {k}: {v}"),
        Inst::ListToTuple(v) => write!(f, "list_to_tuple {v}"),
        Inst::Format { value, conversion, spec } => {
            write!(f, "format {value}")?;
            conversion.map_or(Ok(()), |c| write!(f, "!{c}"))?;
            spec.map_or(Ok(()), |s| write!(f, ":{s}"))
        }
        Inst::ConcatStr(vs) => write!(f, "concat {}", list(vs)),
        Inst::Call { func, args, kwargs } => {
            let all: Vec<String> = args.iter().map(Value::to_string).chain(named_list(kwargs)).collect();
            write!(f, "call {func}({})", all.join(", "))
        }
        Inst::CallStar { func, args, kwargs } => {
            write!(f, "call {func}(*{args}")?;
            kwargs.map_or(Ok(()), |k| write!(f, ", **{k}"))?;
            f.write_str(")")
        }
        Inst::MakeFunction { code, defaults, kwdefaults, captures } => {
            write!(f, "function {code}({})", list(captures))?;
            defaults.map_or(Ok(()), |d| write!(f, " defaults {d}"))?;
            if kwdefaults.is_empty() { Ok(()) } else { write!(f, " kwdefaults {}", named_list(kwdefaults).join(", ")) }
        }
        Inst::Iter(v) => write!(f, "iter {v}"),
        Inst::Unpack { seq, before, after: None } => write!(f, "unpack {seq}, {before}"),
        Inst::Unpack { seq, before, after: Some(after) } => write!(f, "unpack {seq}, {before}, *, {after}"),
        Inst::UnpackItem(v, i) => write!(f, "item {v}, {i}"),
        Inst::CatchExc => f.write_str("catch"),
        Inst::ExcMatch(a, b) => write!(f, "{a} matches {b}"),
        Inst::EndCatch(v) => write!(f, "end_catch {v}"),
        Inst::Yield(v) => write!(f, "yield {v}"),
        other => write!(f, "{other:?}"),
    }
}

impl Display for PyConst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PyConst::None => f.write_str("None"),
            PyConst::Bool(b) => f.write_str(if *b { "True" } else { "False" }),
            PyConst::Int(i) => write!(f, "{i}"),
            PyConst::BigInt(text) => f.write_str(text),
            PyConst::Float(x) => write!(f, "{x:?}"),
            PyConst::Complex(re, im) => write!(f, "({re:?}, {im:?}j)"),
            PyConst::Str(s) => write!(f, "{s:?}"),
            PyConst::Bytes(b) => write!(f, "b\"{}\"", b.escape_ascii()),
            PyConst::Ellipsis => f.write_str("..."),
            PyConst::Tuple(items) => {
                let texts: Vec<String> = items.iter().map(PyConst::to_string).collect();
                write!(f, "({})", texts.join(", "))
            }
            PyConst::Slice(parts) => write!(f, "slice({}, {}, {})", parts[0], parts[1], parts[2]),
            PyConst::Unbound => f.write_str("unbound"),
        }
    }
}

impl Display for UnOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnOp::Neg => "neg",
            UnOp::Pos => "pos",
            UnOp::Invert => "invert",
            UnOp::Not => "not",
        })
    }
}

impl BinOp {
    /// The operator as it is written: `+` and the like.
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::TrueDiv => "/",
            BinOp::FloorDiv => "//",
            BinOp::Mod => "%",
            BinOp::Pow => "**",
            BinOp::MatMul => "@",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::LShift => "<<",
            BinOp::RShift => ">>",
        }
    }
}

impl Display for BinOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

impl CmpOp {
    /// The comparison as it is written: `==` and the like.
    pub fn symbol(self) -> &'static str {
        match self {
            CmpOp::Eq => "==",
            CmpOp::Ne => "!=",
            CmpOp::Lt => "<",
            CmpOp::Le => "<=",
            CmpOp::Gt => ">",
            CmpOp::Ge => ">=",
        }
    }
}

impl Display for CmpOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}
