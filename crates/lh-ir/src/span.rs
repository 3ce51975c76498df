//! Places in the user's source.

use serde::{Deserialize, Serialize};

/// A range of source text, lines from 1 and columns (UTF-8 bytes) from 0, as `co_positions()` gives them.
///
/// `line == 0` means that the place is unknown; `end_col == 0` that only the line is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
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

impl Span {
    /// The place as one number, 0 if it is not known; what is too large for that is left out.
    pub fn packed(self) -> i64 {
        let (lines, line) = (self.end_line.saturating_sub(self.line), self.line);
        if line >= 1 << 24 {
            return 0;
        }
        let fits = lines < 1 << 8 && self.col < 1 << 16 && self.end_col < 1 << 16;
        let [lines, col, end] = if fits { [lines, self.col, self.end_col] } else { [0; 3] };
        (u64::from(end) << 48 | u64::from(col) << 32 | u64::from(lines) << 24 | u64::from(line)).cast_signed()
    }

    /// The place of a number.
    pub fn unpacked(packed: i64) -> Span {
        let part = |at: u32, bits: u32| (packed.cast_unsigned() >> at & ((1 << bits) - 1)) as u32;
        let line = part(0, 24);
        Span { line, end_line: line + part(24, 8), col: part(32, 16), end_col: part(48, 16) }
    }
}
