//! What an object needs from the process it is loaded into, beside functions: each is an undefined symbol, whose name
//! says what it stands for.

use lh_ir::func::Extern;
use lh_ir::{ExcId, ObjId};

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outside {
    /// A number of the process, which is the symbol's "address".
    Word(Extern),
    /// The zero-terminated name of the source file of a function of the unit (the first one in that file).
    File(usize),
    /// The run-time library's `rare::Cell` of a function that is made when it is called, by its place in
    /// [`crate::Output::rare`].
    Rare(usize),
}

impl Outside {
    /// Its symbol.
    pub fn symbol(self) -> String {
        match self {
            Outside::Word(Extern::Array(o)) => format!("lh.array.{}", o.0),
            Outside::Word(Extern::Class(c)) => format!("lh.class.{}", c.0),
            Outside::Word(Extern::Foreign(o)) => format!("lh.foreign.{}", o.0),
            Outside::File(n) => format!("lh.file.{n}"),
            Outside::Rare(n) => format!("lh.rare.{n}"),
        }
    }
    /// What a symbol stands for, if it is one of these.
    pub fn of(symbol: &str) -> Option<Outside> {
        let (kind, number) = symbol.strip_prefix("lh.")?.split_once('.')?;
        let number: u32 = number.parse().ok()?;
        match kind {
            "array" => Some(Outside::Word(Extern::Array(ObjId(number)))),
            "class" => Some(Outside::Word(Extern::Class(ExcId(number)))),
            "foreign" => Some(Outside::Word(Extern::Foreign(ObjId(number)))),
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
        ];
        for o in words.into_iter().chain([Outside::File(3), Outside::Rare(2)]) {
            assert_eq!(Outside::of(&o.symbol()), Some(o));
        }
        assert_eq!(Outside::of("lh_list_new"), None);
        assert_eq!(Outside::of("lh.entry"), None);
    }
}
