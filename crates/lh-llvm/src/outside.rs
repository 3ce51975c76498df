//! External symbols of an object other than functions: the name of such a symbol says what it refers to in the process
//! that loads the object.

use lh_ir::func::Extern;
use lh_ir::{ExcId, ObjId};

/// The referent of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outside {
    /// A number of the process, which is the "address" of the symbol.
    Word(Extern),
    /// The zero-terminated name of a source file, by the first function of the unit in that file.
    File(usize),
    /// The run-time library's `lazy::Cell` of a function compiled on its first call, by its index in
    /// [`crate::Output::rare`].
    Rare(usize),
    /// A function that another unit has, by the digest of that unit's module.
    Part(u128),
}

impl Outside {
    /// How symbols of parts begin; 32 hexadecimal digits follow.
    pub const PART: &str = "lh.part.";

    /// Its symbol.
    pub fn symbol(self) -> String {
        match self {
            Outside::Word(Extern::Array(o)) => format!("lh.array.{}", o.0),
            Outside::Word(Extern::Class(c)) => format!("lh.class.{}", c.0),
            Outside::Word(Extern::Foreign(o)) => format!("lh.foreign.{}", o.0),
            Outside::Word(Extern::Type(n)) => format!("lh.type.{n}"),
            Outside::Word(Extern::Function(o)) => format!("lh.function.{}", o.0),
            Outside::File(n) => format!("lh.file.{n}"),
            Outside::Rare(n) => format!("lh.rare.{n}"),
            Outside::Part(key) => format!("{}{key:032x}", Outside::PART),
        }
    }
    /// The referent of a symbol, if it is one of these.
    pub fn of(symbol: &str) -> Option<Outside> {
        let (kind, number) = symbol.strip_prefix("lh.")?.split_once('.')?;
        if kind == "part" {
            return u128::from_str_radix(number, 16).ok().map(Outside::Part);
        }
        let number: u32 = number.parse().ok()?;
        match kind {
            "array" => Some(Outside::Word(Extern::Array(ObjId(number)))),
            "class" => Some(Outside::Word(Extern::Class(ExcId(number)))),
            "foreign" => Some(Outside::Word(Extern::Foreign(ObjId(number)))),
            "function" => Some(Outside::Word(Extern::Function(ObjId(number)))),
            "type" => Some(Outside::Word(Extern::Type(number))),
            "file" => Some(Outside::File(number as usize)),
            "rare" => Some(Outside::Rare(number as usize)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_mean_what_they_are_made_of() {
        let words = [
            Outside::Word(Extern::Array(ObjId(7))),
            Outside::Word(Extern::Class(ExcId(70))),
            Outside::Word(Extern::Foreign(ObjId(8))),
            Outside::Word(Extern::Type(9)),
            Outside::Word(Extern::Function(ObjId(10))),
        ];
        for o in words.into_iter().chain([Outside::File(3), Outside::Rare(2), Outside::Part(77)]) {
            assert_eq!(Outside::of(&o.symbol()), Some(o));
        }
        assert_eq!(Outside::of(lh_ops::symbols::ITEMS_NEW), None);
        assert_eq!(Outside::of("lh.entry"), None);
    }
}
