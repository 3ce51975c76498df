//! The floats of a value: in its words, and in the memory that it addresses.

use crate::interpret::Stop;
use crate::interpret::items::{ItemsHead, item_of};
use crate::interpret::memory::Memory;
use crate::interpret::view::{View, places};
use crate::interpret::word::{Word, number, words_of};
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::verify::parts;
use lh_ir::{Const, Ty};

/// The place of a float.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    ty: Ty,
    at: At,
}

#[derive(Clone, Copy, Debug)]
enum At {
    /// One of the words.
    Word(usize),
    /// An address.
    Memory(u64),
}

impl Leaf {
    /// Whether it is in the memory that the value addresses.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.at, At::Memory(_))
    }

    /// The float; what is not known is no number.
    ///
    /// # Errors
    /// There is no such memory.
    pub fn get(&self, memory: &Memory, words: &[Word]) -> Result<f64, Stop> {
        let word = match self.at {
            At::Word(i) => words[i],
            At::Memory(address) => memory.load_value(Some(address), self.ty)?[0],
        };
        Ok(match word.map(|w| number(w, self.ty)) {
            Some(Const::Float(x, _)) => x,
            _ => f64::NAN,
        })
    }

    /// Gives the float another value.
    ///
    /// # Errors
    /// There is no such memory.
    pub fn set(&self, memory: &mut Memory, words: &mut [Word], x: f64) -> Result<(), Stop> {
        let new = words_of(&Const::Float(x, self.ty));
        match self.at {
            At::Word(i) => words[i] = new[0],
            At::Memory(address) => memory.store_value(Some(address), self.ty, &new)?,
        }
        Ok(())
    }
}

/// The floats of a value, in order.
///
/// # Errors
/// It addresses no memory.
pub fn leaves(memory: &Memory, ty: Ty, words: &[Word]) -> Result<Vec<Leaf>, Stop> {
    let mut out = Vec::new();
    add(memory, ty, words, 0, &mut out)?;
    Ok(out)
}

/// Whether a value has floats, or memory in which some may be.
pub fn may_have_floats(ty: Ty) -> bool {
    match ty.kind() {
        TyKind::Float { .. } => true,
        TyKind::Array { dtype, .. } => may_have_floats(*dtype),
        TyKind::Class(ClassTy { items: Some(item), .. }) => may_have_floats(*item),
        _ => parts(ty).any(may_have_floats),
    }
}

fn add(memory: &Memory, ty: Ty, words: &[Word], first: usize, out: &mut Vec<Leaf>) -> Result<(), Stop> {
    match ty.kind() {
        TyKind::Array { .. } if words[1].is_some() => {
            let view = View::new(ty, words);
            for index in places(&view.shape()?) {
                let index: Vec<Word> = index.into_iter().map(|i| Some(i as u64)).collect();
                if let Ok(Some(at)) = view.element(&index, false, false)? {
                    of_item(view.dtype, at, out);
                }
            }
        }
        TyKind::Class(ClassTy { items: Some(_), .. }) if words[0].is_some() => {
            let head = memory.items(words[0])?;
            (0..head.len).for_each(|i| of_item(item_of(ty), ItemsHead::at(head, i), out));
        }
        TyKind::Array { .. } | TyKind::Class(_) => {}
        TyKind::Float { .. } => out.push(Leaf { ty, at: At::Word(first) }),
        _ => {
            let mut at = 0;
            for part in parts(ty) {
                let end = at + part.flatten().len();
                add(memory, part, &words[at..end], first + at, out)?;
                at = end;
            }
        }
    }
    Ok(())
}

/// The floats of an item in memory, which are next to each other.
fn of_item(ty: Ty, address: u64, out: &mut Vec<Leaf>) {
    let mut at = address;
    for part in if ty.is_float() { vec![ty] } else { parts(ty).collect() } {
        out.extend(part.is_float().then_some(Leaf { ty: part, at: At::Memory(at) }));
        at += part.itemsize() as u64;
    }
}
