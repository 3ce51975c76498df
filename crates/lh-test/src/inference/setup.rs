//! Directives of a test of inference, and the world that they describe.
//!
//! Values of globals and defaults are constants of untyped text, dotted names (`numpy.float64`), names of other
//! globals, or one of
//!
//! ```text
//! namedtuple(x, y)            a class made by `collections.namedtuple`
//! enum(RED=1, GREEN=2)        a class of an enumeration; `int_enum(...)` if its members are integers
//! list(1, 2.5)                a list, of values
//! array(float64, 1d, C)[3]    a constant array, with its shape
//! type array(int64, 1d, C)    a type as a value
//! object "socket"             an object of a class that compiled code does not know
//! ```

use crate::files::TABLES;
use crate::world::World;
use lh_infer::Object;
use lh_infer::world::EnumClass;
use lh_ir::func::{Options, Semantics, parallel};
use lh_ir::parse::parse_types;
use lh_ir::parse_untyped::parse_constant;
use lh_ir::types::{NamedTuple, TyKind};
use lh_ir::untyped::ParamKind;
use lh_ir::{ObjId, Ty};

/// A call to be typed.
#[derive(Debug)]
pub struct Question {
    /// The function.
    pub name: String,
    /// Its arguments' types, as text.
    pub args: Vec<String>,
    /// Options that it is compiled with.
    pub options: Options,
    /// These as text.
    pub with: String,
    /// Whether the whole typed function is shown.
    pub is_whole: bool,
}

/// A line that is no prose.
#[derive(Debug)]
pub enum Directive {
    /// `infer` and `typed`.
    Ask(Question),
    /// `global NAME = VALUE`
    Global(String, String),
    /// `default f.x = VALUE`
    Default(String, String, String),
    /// `local f.x = TYPE`
    Local(String, String, String),
    /// `signature f(TYPES) -> TYPE`
    Signature(String, Vec<String>, Option<String>),
}

impl Directive {
    /// The directive of a line behind `; `, if it is one.
    ///
    /// # Errors
    /// Why it says nothing.
    pub fn parse(line: &str) -> Result<Option<Directive>, String> {
        let Some((word, rest)) = line.split_once(' ') else { return Ok(None) };
        let wrong = || format!("`{line}` says nothing");
        let equation = || rest.split_once(" = ").ok_or_else(wrong);
        let of_function = || {
            let (name, value) = equation()?;
            let (function, name) = name.split_once('.').ok_or_else(wrong)?;
            Ok::<_, String>((function.to_owned(), name.to_owned(), value.to_owned()))
        };
        Ok(Some(match word {
            "infer" | "typed" => {
                let (call, with) = rest.split_once(" with ").unwrap_or((rest, ""));
                let (name, args) = call_of(call).ok_or_else(wrong)?;
                let options = options(with)?;
                let with = if with.is_empty() { String::new() } else { format!(" with {with}") };
                Directive::Ask(Question { name, args, options, with, is_whole: word == "typed" })
            }
            "global" => {
                let (name, value) = equation()?;
                Directive::Global(name.to_owned(), value.to_owned())
            }
            "default" => {
                let (function, name, value) = of_function()?;
                Directive::Default(function, name, value)
            }
            "local" => {
                let (function, name, ty) = of_function()?;
                Directive::Local(function, name, ty)
            }
            "signature" => {
                let (call, ret) = rest.split_once(" -> ").map_or((rest, None), |(c, r)| (c, Some(r.to_owned())));
                let (name, args) = call_of(call).ok_or_else(wrong)?;
                Directive::Signature(name, args, ret)
            }
            _ => return Ok(None),
        }))
    }
}

/// The directives of a text.
///
/// # Errors
/// The line that says nothing.
pub fn directives(source: &str) -> Result<Vec<Directive>, String> {
    let comments = source.lines().filter_map(|l| l.strip_prefix("; "));
    comments.filter_map(|line| Directive::parse(line).transpose()).collect()
}

/// `name(a, b)` as its name and its arguments.
fn call_of(text: &str) -> Option<(String, Vec<String>)> {
    let (name, rest) = text.split_once('(')?;
    Some((name.to_owned(), parts(rest.strip_suffix(')')?)))
}

/// The parts of a text between commas, but for commas inside of brackets and quotes.
fn parts(text: &str) -> Vec<String> {
    let (mut out, mut depth, mut start, mut quoted) = (Vec::new(), 0, 0, false);
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            ',' if depth == 0 && !quoted => {
                out.push(text[start..i].trim().to_owned());
                start = i + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    out.extend((!last.is_empty()).then(|| last.to_owned()));
    out
}

fn options(words: &str) -> Result<Options, String> {
    let mut options = Options::default();
    for word in words.split_whitespace() {
        match word {
            "parallel" => options.parallel = parallel::ALL,
            "numpy_errors" => options.numpy_errors = true,
            "no_boundscheck" => options.boundscheck = false,
            "numba" => options.semantics = Semantics::Numba,
            _ => return Err(format!("no option `{word}`")),
        }
    }
    Ok(options)
}

fn ty(text: &str) -> Result<Ty, String> {
    match parse_types(text, TABLES).map_err(|e| format!("`{text}`: {}", e.message))?[..] {
        [t] => Ok(t),
        _ => Err(format!("`{text}` is not one type")),
    }
}

/// The type of an argument: instances of classes and functions are named as the globals are.
///
/// # Errors
/// Why there is no such type.
pub fn argument(world: &World, text: &str) -> Result<Ty, String> {
    let (name, args) = call_of(text).unwrap_or((text.to_owned(), Vec::new()));
    match world.global_object(&name) {
        Some(Object::Func(f)) => Ok(Ty::new(TyKind::Func(*f))),
        Some(Object::EnumClass(e)) => Ok(e.ty()),
        Some(Object::NamedTupleClass(n)) => {
            let elems = args.iter().map(|a| argument(world, a)).collect::<Result<Vec<_>, _>>()?;
            Ok(Ty::new(TyKind::Tuple { elems, name: Some(n.clone()) }))
        }
        _ => ty(text),
    }
}

/// Does what a directive says.
///
/// # Errors
/// Why it means nothing.
pub fn apply(world: &mut World, directive: &Directive) -> Result<(), String> {
    let function = |world: &World, name: &str| world.function(name).ok_or_else(|| format!("no function `{name}`"));
    match directive {
        Directive::Ask(_) => {}
        Directive::Global(name, text) => {
            let object = value(world, name, text)?;
            world.bind(name, object);
        }
        Directive::Default(f, name, text) => {
            let object = value(world, text, text)?;
            let known = function(world, f).map(|f| world.known(f))?;
            let param = known.code.params.iter().find(|p| p.name == *name);
            match param.map(|p| p.kind) {
                Some(ParamKind::Positional) => known.defaults.push(object),
                Some(ParamKind::KeywordOnly) => known.kwdefaults.push((name.clone(), object)),
                Some(ParamKind::VarArgs | ParamKind::VarKeywords) | None => {
                    return Err(format!("`{f}` has no parameter `{name}` that takes a default"));
                }
            }
        }
        Directive::Local(f, name, text) => {
            let ty = ty(text)?;
            function(world, f).map(|f| world.known(f))?.locals.push((name.clone(), ty));
        }
        Directive::Signature(f, args, ret) => {
            let args = args.iter().map(|a| argument(world, a)).collect::<Result<Vec<_>, _>>()?;
            let ret = ret.as_ref().map(|r| argument(world, r)).transpose()?;
            function(world, f).map(|f| world.known(f))?.signatures.push((args, ret));
        }
    }
    Ok(())
}

/// The object of a value; a class that it makes has the given name.
fn value(world: &mut World, name: &str, text: &str) -> Result<ObjId, String> {
    if let Some((kind, args)) = call_of(text) {
        match kind.as_str() {
            "namedtuple" => {
                let class = |class| NamedTuple { name: name.to_owned(), class, fields: args, meaning: None };
                return Ok(world.class(name, |id| Object::NamedTupleClass(class(id))));
            }
            "enum" | "int_enum" => return enumeration(world, name, &args, kind == "int_enum"),
            "list" => {
                let items = args.iter().map(|a| value(world, a, a)).collect::<Result<Vec<_>, _>>()?;
                return Ok(world.number(Object::List(items), name));
            }
            _ => {}
        }
    }
    if let Some(text) = text.strip_prefix("type ") {
        return Ok(world.number(Object::Type(ty(text)?), name));
    }
    if let Some(text) = text.strip_prefix("object ") {
        return Ok(world.number(Object::Other(text.trim_matches('"').to_owned()), name));
    }
    if let Some((of, shape)) = text.strip_suffix(']').and_then(|t| t.split_once('['))
        && of.starts_with("array(")
    {
        return array(world, name, of, shape);
    }
    if let Some(found) = world.global(text) {
        return Ok(found);
    }
    if let Ok(c) = parse_constant(text) {
        return Ok(world.constant(&c));
    }
    let (module, attr) = text.rsplit_once('.').unwrap_or(("builtins", text));
    let found = world.find(text, "").or_else(|| world.find(module, attr));
    found.ok_or_else(|| format!("nothing is `{text}`"))
}

fn enumeration(world: &mut World, name: &str, members: &[String], ints: bool) -> Result<ObjId, String> {
    let member = |m: &String| {
        let (member, text) = m.split_once('=').ok_or_else(|| format!("`{m}` is not a member and its value"))?;
        Ok((member.to_owned(), value(world, text, text)?))
    };
    let members = members.iter().map(member).collect::<Result<Vec<_>, String>>()?;
    let made = |class| EnumClass {
        name: name.to_owned(),
        class,
        values: ints.then(Ty::int),
        named: false,
        formatted: false,
        own_texts: [false; 2],
        flags: false,
        members,
        aliases: vec![],
    };
    Ok(world.class(name, |class| Object::EnumClass(made(class))))
}

fn array(world: &mut World, name: &str, of: &str, shape: &str) -> Result<ObjId, String> {
    let ty = ty(of)?;
    let (dtype, ndim, layout, _) = ty.as_array().ok_or_else(|| format!("`{of}` is no array"))?;
    let extents = parts(shape).iter().map(|s| s.parse()).collect::<Result<Vec<i64>, _>>();
    let shape = extents.map_err(|e| format!("`{shape}`: {e}"))?;
    let mut strides = vec![dtype.itemsize() as i64; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i];
    }
    let ty = Ty::array_ro(dtype, ndim, layout, true);
    Ok(world.number(Object::Array { ty, shape, strides, on_gpu: false }, name))
}
