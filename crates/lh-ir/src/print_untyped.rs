//! Untyped code as text. [`crate::parse_untyped`] is the inverse: what was printed parses to the same code.
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
//! A value is followed by the name of the variable it was assigned to first. Names that are no identifiers are quoted.
//! `{:#}` adds what the short form leaves out: where the function comes from, as `source "qualname", "file", line`, and
//! the place of each line, as `@ line:column-line:column`.

use crate::entity::Value;
use crate::print::float;
use crate::span::Span;
use crate::untyped::{BinOp, BlockData, CmpOp, Code, Inst, InstData, ParamKind, PyConst, Target, Term, UnOp};
use std::fmt::{self, Display, Formatter};

impl Display for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.function(f, "")
    }
}

/// A name: as it is if it is an identifier, else quoted.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) { f.write_str(self.0) } else { write!(f, "{:?}", self.0) }
    }
}

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(is_plain_char)
}

/// Whether a character may be in a name without quotes.
pub(crate) fn is_plain_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Code {
    /// Prints the function and those inside it; `path` has the numbers of the functions around it, as in `0.2.`.
    fn function(&self, f: &mut Formatter<'_>, path: &str) -> fmt::Result {
        write!(f, "{} {}(", if self.is_generator { "generator" } else { "def" }, Name(&self.name))?;
        for (i, param) in self.params.iter().enumerate() {
            let star = match param.kind {
                ParamKind::VarArgs => "*",
                ParamKind::VarKeywords => "**",
                ParamKind::KeywordOnly => "kw ",
                ParamKind::Positional => "",
            };
            let slash = if self.posonly == i + 1 { ", /" } else { "" };
            let name = if param.name == "kw" { "\"kw\"".to_owned() } else { Name(&param.name).to_string() };
            write!(f, "{}{star}{name}{slash}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str(")")?;
        if !self.freevars.is_empty() {
            let names: Vec<String> = self.freevars.iter().map(|n| Name(n).to_string()).collect();
            write!(f, " captures {}", names.join(", "))?;
        }
        if f.alternate() {
            write!(f, " source {:?}, {:?}, {}", self.qualname, self.file, self.first_line)?;
        }
        f.write_str(":\n")?;
        for (b, block) in self.blocks.iter().enumerate() {
            self.block(f, b, block)?;
        }
        for (i, inner) in self.inner.iter().enumerate() {
            write!(f, "inner {path}{i}: ")?;
            inner.function(f, &format!("{path}{i}."))?;
        }
        Ok(())
    }

    fn named(&self, value: Value) -> String {
        match self.value_names.get(value.index()) {
            Some(Some(name)) => format!("{value} {}", Name(name)),
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
    if f.alternate() && span != Span::default() {
        write!(f, " @ {}:{}-{}:{}", span.line, span.col, span.end_line, span.end_col)?;
    }
    f.write_str("\n")
}

fn list(values: &[Value]) -> String {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    texts.join(", ")
}

fn named_list(values: &[(String, Value)]) -> Vec<String> {
    values.iter().map(|(name, v)| format!("{}={v}", Name(name))).collect()
}

fn write_defaults(f: &mut Formatter<'_>, defaults: Option<Value>, named: &[(String, Value)]) -> fmt::Result {
    defaults.map_or(Ok(()), |d| write!(f, " defaults {d}"))?;
    if named.is_empty() { Ok(()) } else { write!(f, " kwdefaults {}", named_list(named).join(", ")) }
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
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each instruction")]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Inst::Const(c) => write!(f, "const {c}"),
            Inst::Global(name) => write!(f, "global {}", Name(name)),
            Inst::Free(i) => write!(f, "free {i}"),
            Inst::Import { name, attr: None } => write!(f, "import {}", Name(name)),
            Inst::Import { name, attr: Some(attr) } => write!(f, "import {} from {}", Name(attr), Name(name)),
            Inst::CheckBound { value, name } => write!(f, "check_bound {value} {}", Name(name)),
            Inst::Unary(op, v) => write!(f, "{op} {v}"),
            Inst::Binary { op, a, b, inplace } => write!(f, "{a} {op}{} {b}", if *inplace { "=" } else { "" }),
            Inst::Compare(op, a, b) => write!(f, "{a} {op} {b}"),
            Inst::Is { a, b, negate } => write!(f, "{a} is{} {b}", if *negate { " not" } else { "" }),
            Inst::Contains { item, container, negate } => {
                write!(f, "{item}{} in {container}", if *negate { " not" } else { "" })
            }
            Inst::GetAttr(v, name) => write!(f, "{v}.{}", Name(name)),
            Inst::SetAttr(v, name, x) => write!(f, "{v}.{} = {x}", Name(name)),
            Inst::GetItem(v, k) => write!(f, "{v}[{k}]"),
            Inst::SetItem(v, k, x) => write!(f, "{v}[{k}] = {x}"),
            Inst::DelItem(v, k) => write!(f, "del {v}[{k}]"),
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
            Inst::ConcatStr(vs) => write!(f, "concat ({})", list(vs)),
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
                write_defaults(f, *defaults, kwdefaults)
            }
            Inst::Iter(v) => write!(f, "iter {v}"),
            Inst::Unpack { seq, before, after: None } => write!(f, "unpack {seq}, {before}"),
            Inst::Unpack { seq, before, after: Some(after) } => write!(f, "unpack {seq}, {before}, *, {after}"),
            Inst::UnpackItem(v, i) => write!(f, "item {v}, {i}"),
            Inst::CatchExc => f.write_str("catch"),
            Inst::ExcMatch(a, b) => write!(f, "{a} matches {b}"),
            Inst::Chain(a, b) => write!(f, "chain {a}, {b}"),
            Inst::EndCatch(v) => write!(f, "end_catch {v}"),
            Inst::Yield(v) => write!(f, "yield {v}"),
            Inst::YieldFrom(v) => write!(f, "yield from {v}"),
            Inst::Cell(name) => write!(f, "cell {}", Name(name)),
            Inst::CellGet { cell, name } => write!(f, "cell_get {cell} {}", Name(name)),
            Inst::CellSet(cell, v) => write!(f, "cell_set {cell}, {v}"),
            Inst::CellDelete { cell, name } => write!(f, "cell_delete {cell} {}", Name(name)),
            Inst::Sibling { code, defaults, kwdefaults } => {
                write!(f, "sibling {code}")?;
                write_defaults(f, *defaults, kwdefaults)
            }
            Inst::MatchClass { subject, class, count, names } => {
                write!(f, "match_class {subject}, {class}, {count}")?;
                names.iter().try_for_each(|n| write!(f, ", {}", Name(n)))
            }
            Inst::MatchKeys { subject, keys } => write!(f, "match_keys {subject}, {keys}"),
        }
    }
}

impl Display for PyConst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PyConst::None => f.write_str("None"),
            PyConst::Bool(b) => f.write_str(if *b { "True" } else { "False" }),
            PyConst::Int(i) => write!(f, "{i}"),
            PyConst::BigInt(text) => write!(f, "big {text:?}"),
            PyConst::Float(x) => f.write_str(&float(*x)),
            PyConst::Complex(re, im) => write!(f, "complex({}, {})", float(*re), float(*im)),
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
