//! Places in the user's source.

/// A range of source text, lines from 1 and columns (UTF-8 bytes) from 0, as `co_positions()` gives them.
///
/// `line == 0` means that the place is unknown; `end_col == 0` that only the line is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Span {
    /// First line.
    pub line: u32,
    /// Last line.
    pub end_line: u32,
    /// First column.
    pub col: u32,
    /// Column after the last.
    pub end_col: u32,
}
