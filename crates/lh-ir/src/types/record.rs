//! Structured dtypes, and texts of fixed length, as elements of arrays.

use super::Ty;
use serde::{Deserialize, Serialize};

/// Fields in memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Record {
    /// In order of declaration.
    pub fields: Vec<RecordField>,
    /// Bytes of a record.
    pub size: usize,
    /// Alignment, bytes: 1, 2, 4, 8 or 16.
    pub align: usize,
    /// Whether the dtype was made with `align=True`.
    pub aligned: bool,
    /// The units of a text, which has no fields.
    pub chars: Option<Chars>,
}

/// The units of a text of fixed length in an array. Zeros at its end do not belong to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Chars {
    /// Bytes: NumPy's `S`.
    Bytes,
    /// Code points of 32 bits: NumPy's `U`.
    CodePoints,
}

impl Chars {
    /// NumPy's letter.
    pub fn letter(self) -> char {
        match self {
            Chars::Bytes => 'S',
            Chars::CodePoints => 'U',
        }
    }
    /// Bytes of one.
    pub fn size(self) -> usize {
        match self {
            Chars::Bytes => 1,
            Chars::CodePoints => 4,
        }
    }
}

/// A field of a record.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RecordField {
    /// Its name.
    pub name: String,
    /// Bytes from the beginning of the record.
    pub offset: usize,
    /// Type of a number or of a record; `None` for a field without native form.
    pub ty: Ty,
    /// NumPy's letters for it.
    pub format: String,
    /// Extents of an array in the record.
    pub shape: Vec<usize>,
    /// Its title, which is another name.
    pub title: Option<String>,
}

impl Record {
    /// A text of so many bytes.
    pub fn text(chars: Chars, size: usize) -> Record {
        Record { fields: Vec::new(), size, align: 1, aligned: false, chars: Some(chars) }
    }
    /// The most that a text consists of.
    pub fn text_len(&self) -> usize {
        self.chars.map_or(0, |chars| self.size / chars.size())
    }
    /// The field of a name or a title.
    pub fn field(&self, name: &str) -> Option<&RecordField> {
        let by_title = || self.fields.iter().find(|field| field.title.as_deref() == Some(name));
        self.fields.iter().find(|field| field.name == name).or_else(by_title)
    }
    /// The same record with a smaller alignment.
    pub fn at(&self, offset: usize, outer: usize) -> Record {
        let own = if offset == 0 { outer } else { 1 << offset.trailing_zeros().min(4) };
        Record { align: self.align.min(own).min(outer), ..self.clone() }
    }
}
