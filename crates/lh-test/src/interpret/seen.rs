//! Values as their owner sees them.

use super::Stop;
use super::items::{ItemsHead, field_address, item_of};
use super::memory::Memory;
use super::view::{View, places};
use super::word::{Word, number};
use lh_ir::parse::Field;
use lh_ir::types::{ClassTy, Prim, TyKind};
use lh_ir::verify::parts;
use lh_ir::{Const, Ty};

/// How deep objects in objects are looked at.
const DEEPEST: usize = 8;

/// A value as its owner sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// It may be anything.
    Poison,
    Number(Const),
    Text(String),
    /// A tuple, or another aggregate.
    Parts(Vec<Seen>),
    Nothing,
    /// Where its memory was given, or nowhere; extents, strides where they matter, elements.
    Array(Option<(usize, usize)>, Vec<i64>, Vec<i64>, Vec<Seen>),
    /// The same of an object.
    Object(Option<(usize, usize)>, Vec<Seen>),
    /// Bytes, as far as they are known.
    Bytes(Vec<Option<u8>>),
    /// An address.
    Address(Option<(usize, usize)>),
}

/// Something that could be seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The function.
    pub what: String,
    /// With what.
    pub args: Vec<Seen>,
}

/// A value as it is seen now; poison where it cannot be.
pub fn see(memory: &Memory, ty: Ty, words: &[Word]) -> Seen {
    see_value(memory, ty, words, DEEPEST).unwrap_or(Seen::Poison)
}

fn see_value(memory: &Memory, ty: Ty, words: &[Word], depth: usize) -> Result<Seen, Stop> {
    if ty.is_array() {
        return see_array(memory, ty, words, depth);
    }
    if ty == Ty::str() {
        return Ok(Seen::Text(memory.text(words)?));
    }
    match ty.kind() {
        TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Generator(_) => {
            let head = memory.items(words[0])?;
            let item = item_of(ty);
            let items = if depth == 0 { 0 } else { head.len };
            let load = |i| see_value(memory, item, &memory.load_value(Some(ItemsHead::at(head, i)), item)?, depth - 1);
            Ok(Seen::Object(memory.given(words[0]), (0..items).map(load).collect::<Result<_, _>>()?))
        }
        TyKind::Class(ClassTy { parts: None, .. }) => {
            let fields = if depth == 0 { &[] } else { ty.fields() };
            let load = |(i, f): (usize, &Field)| {
                let at = field_address(words[0], ty, i as u32)[0];
                see_value(memory, f.ty, &memory.load_value(at, f.ty)?, depth - 1)
            };
            Ok(Seen::Object(memory.given(words[0]), fields.iter().enumerate().map(load).collect::<Result<_, _>>()?))
        }
        TyKind::Optional(inner) | TyKind::MaybeUnbound(inner) => match words[0] {
            None => Ok(Seen::Poison),
            Some(0) => Ok(Seen::Nothing),
            Some(_) => see_value(memory, *inner, &words[1..], depth),
        },
        TyKind::Choice(of) => {
            let Some(which) = words[0] else { return Ok(Seen::Poison) };
            let before: usize = of[..which as usize].iter().map(|t| t.flatten().len()).sum();
            let chosen = of[which as usize];
            let inside = see_value(memory, chosen, &words[1 + before..1 + before + chosen.flatten().len()], depth)?;
            Ok(Seen::Parts(vec![Seen::Number(Const::Int(which.into(), Ty::i64())), inside]))
        }
        _ if parts(ty).next().is_some() => {
            let (mut at, mut out) = (0, Vec::new());
            for part in parts(ty) {
                let n = part.flatten().len();
                out.push(see_value(memory, part, &words[at..at + n], depth).unwrap_or(Seen::Poison));
                at += n;
            }
            Ok(Seen::Parts(out))
        }
        _ => Ok(match (ty.flatten()[..].first(), words.first()) {
            (None, _) | (_, None) => Seen::Nothing,
            (_, Some(None)) => Seen::Poison,
            (Some(Prim::Ptr | Prim::Mem | Prim::Object), Some(word)) => Seen::Address(memory.given(*word)),
            (Some(_), Some(Some(bits))) => Seen::Number(number(*bits, ty)),
        }),
    }
}

fn see_array(memory: &Memory, ty: Ty, words: &[Word], depth: usize) -> Result<Seen, Stop> {
    let view = View::new(ty, words);
    let shape = view.shape()?;
    let is_empty = shape.contains(&0);
    let stride = |d: usize| if is_empty || shape[d] == 1 { 0 } else { view.stride(d).map_or(0, |s| s as i64) };
    let strides = (0..view.rank).map(stride).collect();
    let mut items = Vec::new();
    for at in places(&shape) {
        let index: Vec<Word> = at.iter().map(|i| Some(*i as u64)).collect();
        let Ok(address) = view.element(&index, false, false)? else { return Ok(Seen::Poison) };
        items.push(match view.dtype.as_record() {
            Some(r) => match memory.bytes(address, r.size)? {
                Some(bytes) => Seen::Text(format!("{bytes:?}")),
                None => Seen::Poison,
            },
            None => see_value(memory, view.dtype, &memory.load_value(address, view.dtype)?, depth)?,
        });
    }
    let from = if is_empty { None } else { memory.given(view.data()) };
    Ok(Seen::Array(from, shape, strides, items))
}

impl Seen {
    /// Whether a value may stand for another one, which may be poison.
    pub fn refines(&self, other: &Seen) -> bool {
        let all = |a: &[Seen], b: &[Seen]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.refines(b));
        match (self, other) {
            (_, Seen::Poison) => true,
            (Seen::Number(a), Seen::Number(b)) => lh_ops::agree(&strong(a), &strong(b)),
            (Seen::Parts(a), Seen::Parts(b)) => all(a, b),
            (Seen::Bytes(a), Seen::Bytes(b)) => a.iter().zip(b).all(|(a, b)| b.is_none() || a == b),
            (Seen::Array(f, n, s, a), Seen::Array(g, m, t, b)) => (f, n, s) == (g, m, t) && all(a, b),
            (Seen::Object(f, a), Seen::Object(g, b)) => f == g && all(a, b),
            _ => self == other,
        }
    }
}

/// A number without its being Python's own or NumPy's.
fn strong(c: &Const) -> Const {
    match c {
        Const::Int(i, t) => Const::Int(*i, t.strong()),
        Const::Float(x, t) => Const::Float(*x, t.strong()),
        Const::Complex(re, im, t) => Const::Complex(*re, *im, t.strong()),
        Const::None | Const::Bool(_) | Const::Str(_) => c.clone(),
    }
}
