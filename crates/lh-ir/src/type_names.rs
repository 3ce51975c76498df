//! Names of types: as users of Python write them, for messages, and as Numba prints them, for what programs compare.

use crate::types::{Buffer, Chars, ClassTy, Initial, InstanceOf, Literal, NamedTuple, Record, Ty, TyKind};
use std::fmt;

impl Ty {
    /// The type as Numba prints it; Python's own numbers and the 64-bit scalars print alike.
    pub fn numba(&self) -> NumbaName {
        NumbaName(*self)
    }
}

/// See [`Ty::numba`].
pub struct NumbaName(Ty);

/// The constants of a display, as Python shows them.
struct InitialText<'a>(&'a Initial);

impl fmt::Display for InitialText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |l: &Literal| match l {
            Literal::Int(i) => i.to_string(),
            Literal::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
            Literal::Str(s) => format!("'{s}'"),
            Literal::Initial(inner) => InitialText(inner).to_string(),
        };
        let Initial { keys, values, .. } = self.0;
        if keys.is_empty() {
            return write!(f, "[{}]", values.iter().map(text).collect::<Vec<_>>().join(", "));
        }
        let entries = keys.iter().zip(values).map(|(k, v)| format!("{}: {}", text(k), text(v)));
        write!(f, "{{{}}}", entries.collect::<Vec<_>>().join(", "))
    }
}

/// Writes types with something between them.
fn write_list<D: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    types: &[Ty],
    between: &str,
    as_text: impl Fn(&Ty) -> D,
) -> fmt::Result {
    let mut between_them = "";
    for t in types {
        write!(f, "{between_them}{}", as_text(t))?;
        between_them = between;
    }
    Ok(())
}

/// Prints as users of Python write and read types, for messages.
impl fmt::Display for Ty {
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each kind of type")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            TyKind::None => f.write_str("None"),
            TyKind::Int { bits: 64, signed: true, weak: true } => f.write_str("int"),
            TyKind::Float { bits: 64, weak: true } => f.write_str("float"),
            TyKind::Complex { bits: 128, weak: true } => f.write_str("complex"),
            TyKind::Str => f.write_str("str"),
            TyKind::Tuple { name: Some(n), .. } => write!(f, "{}", n.name),
            TyKind::Tuple { elems, name: None } => {
                f.write_str("tuple[")?;
                write_list(f, elems, ", ", |t| *t)?;
                f.write_str(if elems.is_empty() { "()]" } else { "]" })
            }
            TyKind::Record(r @ Record { chars: Some(c), .. }) => write!(f, "{}{}", c.letter(), r.text_len()),
            TyKind::Record(r) => {
                f.write_str("record(")?;
                for (i, field) in r.fields.iter().enumerate() {
                    write!(f, "{}{}: {}", if i > 0 { ", " } else { "" }, field.name, field.ty)?;
                }
                f.write_str(")")
            }
            TyKind::Array { dtype, ndim, layout, readonly } => {
                let ro = if *readonly { "readonly " } else { "" };
                write!(f, "{ro}array({dtype}, {ndim}d, {layout:?})")
            }
            TyKind::Class(ClassTy { class, items: Some(t), .. }) if t.is_never() => {
                write!(f, "an empty {}", class.name())
            }
            TyKind::Class(_) if let Some(name) = self.time_name() => f.write_str(&name),
            TyKind::Class(c) => {
                f.write_str(c.class.name())?;
                if c.args.is_empty() {
                    return Ok(());
                }
                f.write_str("[")?;
                write_list(f, &c.args, ", ", |t| *t)?;
                f.write_str(if c.class.is_tuple() { ", ...]" } else { "]" })
            }
            TyKind::Pending(_, class) => write!(f, "an empty {}", class.name()),
            TyKind::Optional(t) => write!(f, "{t} | None"),
            TyKind::MaybeUnbound(t) => write!(f, "{t}, or unassigned"),
            TyKind::Range(_) => f.write_str("range"),
            TyKind::Slice(_) => f.write_str("slice"),
            TyKind::DType(t) => write!(f, "type[{t}]"),
            TyKind::Func(_) | TyKind::Closure { .. } => f.write_str("function"),
            TyKind::Generator(g) => write!(f, "generator of {}", g.item),
            TyKind::Literal(Literal::Int(i)) => write!(f, "Literal[{i}]"),
            TyKind::Literal(Literal::Bool(b)) => write!(f, "Literal[{}]", if *b { "True" } else { "False" }),
            TyKind::Literal(Literal::Str(s)) => write!(f, "Literal[{s:?}]"),
            TyKind::Literal(Literal::Initial(d)) => write!(f, "{}", d.ty),
            TyKind::Choice(of) => write_list(f, of, " or ", |t| *t),
            TyKind::BoundMethod { recv, name } => write!(f, "{recv}.{name}"),
            TyKind::Instance { class: InstanceOf::Enum { name, .. } | InstanceOf::Error { name, .. }, .. } => {
                f.write_str(name)
            }
            TyKind::Instance { class: InstanceOf::Buffer(b @ (Buffer::Bytes | Buffer::ByteArray)), .. } => {
                f.write_str(b.name())
            }
            TyKind::Instance { of, class: InstanceOf::Buffer(b) } => match of.as_array() {
                Some((item, ..)) => write!(f, "{} of {item}", b.name()),
                None => f.write_str(b.name()),
            },
            TyKind::Instance { class: InstanceOf::Pointer(to), .. } => write!(f, "pointer to {to}"),
            TyKind::Instance { class: InstanceOf::Deferred(_), .. } => f.write_str("a type not defined yet"),
            TyKind::Instance { class: InstanceOf::Function { args, ret }, .. } => {
                f.write_str("function(")?;
                write_list(f, args, ", ", |t| *t)?;
                write!(f, ") -> {ret}")
            }
            TyKind::Extension { number, .. } => f.write_str(&Ty::extension_name(*number)),
            TyKind::Obj(_) => f.write_str("object"),
            TyKind::Iter(t) => write!(f, "iterator over {t}"),
            TyKind::Ptr => f.write_str("address"),
            TyKind::Ellipsis => f.write_str("..."),
            TyKind::Never
            | TyKind::Bool
            | TyKind::Int { .. }
            | TyKind::Float { .. }
            | TyKind::Bfloat16
            | TyKind::Complex { .. }
            | TyKind::Unbound
            | TyKind::Exc
            | TyKind::MemInfo
            | TyKind::PyObject => write!(f, "{}", self.numba()),
        }
    }
}

impl fmt::Display for NumbaName {
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each kind of type")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            TyKind::Never => write!(f, "never"),
            TyKind::None => write!(f, "none"),
            TyKind::Bool => write!(f, "bool"),
            TyKind::Int { bits, signed, .. } => write!(f, "{}int{bits}", if *signed { "" } else { "u" }),
            TyKind::Float { bits, .. } => write!(f, "float{bits}"),
            TyKind::Bfloat16 => write!(f, "bfloat16"),
            TyKind::Complex { bits, .. } => write!(f, "complex{bits}"),
            TyKind::Str => write!(f, "unicode_type"),
            TyKind::Tuple { elems, name } => fmt_tuple(f, elems, name.as_ref()),
            TyKind::Record(r) => fmt_record(f, r),
            TyKind::Array { dtype, ndim, layout, readonly } => {
                let ro = if *readonly { "readonly " } else { "" };
                write!(f, "{ro}array({}, {ndim}d, {layout:?})", dtype.numba())
            }
            TyKind::Class(c) if c.class.user().is_some_and(|u| u.is_struct) => {
                write!(f, "numba.{}", c.class.name())?;
                if c.args.is_empty() {
                    return Ok(());
                }
                let fields: Vec<_> = c.class.user_fields().iter().map(|(name, _)| name).zip(&c.args).collect();
                f.write_str("(")?;
                for (i, (name, t)) in fields.iter().enumerate() {
                    write!(f, "{}('{name}', {})", if i > 0 { ", " } else { "" }, t.numba())?;
                }
                f.write_str(if fields.len() == 1 { ",)" } else { ")" })
            }
            TyKind::Class(c) if c.class.user().is_some_and(|u| u.is_shared) => {
                write!(f, "instance.jitclass.{}#{}", c.class.name(), c.class.path())
            }
            TyKind::Class(c) if c.class.is_random() => write!(f, "NumPyRandom{}Type", c.class.name()),
            TyKind::Class(c) if c.args.is_empty() => f.write_str(c.class.name()),
            TyKind::Class(_) if let Some(name) = self.0.time_name() => f.write_str(&name),
            TyKind::Class(c) if c.class.is_mixed() => {
                f.write_str("LiteralList((")?;
                write_list(f, c.args[0].tuple_elems().unwrap_or_default(), ", ", Ty::numba)?;
                f.write_str("))")
            }
            TyKind::Class(c) => {
                write!(f, "{}(", c.class.name())?;
                write_list(f, &c.args, ", ", Ty::numba)?;
                f.write_str(")")
            }
            TyKind::Pending(_, class) => write!(f, "{}(undecided)", class.name()),
            TyKind::Optional(t) => write!(f, "OptionalType({})", t.numba()),
            TyKind::Unbound => write!(f, "unassigned"),
            TyKind::MaybeUnbound(t) => write!(f, "maybe unassigned {}", t.numba()),
            TyKind::Range(t) => write!(f, "range_state_{}", t.numba()),
            TyKind::Slice(p) => write!(f, "slice<{}, {}, {}>", p[0].numba(), p[1].numba(), p[2].numba()),
            TyKind::DType(t) => write!(f, "class({})", t.numba()),
            TyKind::Func(id) => write!(f, "function({id})"),
            TyKind::Closure { func, .. } => write!(f, "closure({func})"),
            TyKind::Generator(g) => write!(f, "generator({})", g.item.numba()),
            TyKind::Literal(Literal::Int(i)) => write!(f, "Literal[int]({i})"),
            TyKind::Literal(Literal::Bool(b)) => write!(f, "Literal[bool]({})", if *b { "True" } else { "False" }),
            TyKind::Literal(Literal::Str(s)) => write!(f, "Literal[str]({s})"),
            TyKind::Literal(Literal::Initial(d)) => write!(f, "{}<iv={}>", d.ty.numba(), InitialText(d)),
            TyKind::Choice(of) => {
                f.write_str("one of ")?;
                write_list(f, of, ", ", Ty::numba)
            }
            TyKind::BoundMethod { recv, name } => write!(f, "method({}.{name})", recv.numba()),
            TyKind::Instance { class: InstanceOf::Enum { name, .. }, .. } => {
                write!(f, "{}<{name}>", if self.0.native().is_int() { "IntEnum" } else { "Enum" })
            }
            TyKind::Instance { class: InstanceOf::Buffer(Buffer::ByteArray), .. } => {
                f.write_str("bytearray(uint8, 1d, C)")
            }
            TyKind::Instance { class: InstanceOf::Error { name, .. }, .. } => write!(f, "exception({name})"),
            TyKind::Instance { of, class: InstanceOf::Buffer(b) } => write!(f, "{}({})", b.name(), of.numba()),
            TyKind::Instance { class: InstanceOf::Pointer(to), .. } => write!(f, "{}*", to.numba()),
            TyKind::Instance { class: InstanceOf::Deferred(n), .. } => write!(f, "DeferredType#{n}"),
            TyKind::Instance { class: InstanceOf::Function { args, ret }, .. } => {
                write!(f, "FunctionType[{}(", ret.numba())?;
                write_list(f, args, ", ", Ty::numba)?;
                f.write_str(")]")
            }
            TyKind::Extension { number, .. } => f.write_str(&Ty::extension_name(*number)),
            TyKind::Obj(id) => write!(f, "object({id})"),
            TyKind::Exc => write!(f, "exception"),
            TyKind::Iter(t) => write!(f, "iter({})", t.numba()),
            TyKind::Ptr => write!(f, "ptr"),
            TyKind::MemInfo => write!(f, "meminfo"),
            TyKind::PyObject => write!(f, "pyobject"),
            TyKind::Ellipsis => write!(f, "ellipsis"),
        }
    }
}

fn fmt_record(f: &mut fmt::Formatter<'_>, r: &Record) -> fmt::Result {
    match r.chars {
        Some(Chars::Bytes) => return write!(f, "[char x {}]", r.text_len()),
        Some(Chars::CodePoints) => return write!(f, "[unichr x {}]", r.text_len()),
        None => {}
    }
    write!(f, "Record(")?;
    for field in &r.fields {
        write!(f, "{}[type=", field.name)?;
        match (&field.shape[..], field.ty.is_none()) {
            ([], true) => write!(f, "{}", field.format)?,
            ([], false) => write!(f, "{}", field.ty.numba())?,
            (shape, _) => write!(f, "nestedarray({}, {shape:?})", field.ty.numba())?,
        }
        write!(f, ";offset={}],", field.offset)?;
    }
    write!(
        f,
        "{};{}{})",
        r.size,
        if r.aligned { "True" } else { "False" },
        if r.align < 8 { format!(";{}", r.align) } else { String::new() }
    )
}

fn fmt_tuple(f: &mut fmt::Formatter<'_>, elems: &[Ty], name: Option<&NamedTuple>) -> fmt::Result {
    match (name, elems) {
        (Some(n), _) => write!(f, "{}(", n.name)?,
        (None, []) => return write!(f, "Tuple()"),
        (None, [first, rest @ ..]) if rest.iter().all(|t| t == first) => {
            return write!(f, "UniTuple({} x {})", first.numba(), elems.len());
        }
        (None, _) => write!(f, "Tuple(")?,
    }
    write_list(f, elems, ", ", Ty::numba)?;
    f.write_str(")")
}
