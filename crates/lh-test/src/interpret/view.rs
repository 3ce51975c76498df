//! Arrays as views of memory.

use super::Stop;
use super::exception::Exc;
use super::word::Word;
use lh_ir::{Layout, Ty, bug};
use lh_ops::exceptions::INDEX_ERROR;

/// An array.
#[derive(Clone, Copy)]
pub struct View<'w> {
    pub dtype: Ty,
    pub rank: usize,
    words: &'w [Word],
    /// The dimension along which items are adjacent whatever the strides say.
    adjacent: Option<usize>,
}

impl<'w> View<'w> {
    /// The array of a type with these words.
    pub fn new(ty: Ty, words: &'w [Word]) -> View<'w> {
        let (dtype, rank, layout, _) = ty.as_array().unwrap_or_else(|| bug!("{ty} is not an array"));
        let adjacent = match layout {
            Layout::C => rank.checked_sub(1),
            Layout::F => Some(0),
            Layout::A => None,
        };
        View { dtype, rank, words, adjacent }
    }
    /// Address of the first element.
    pub fn data(&self) -> Word {
        self.words[1]
    }
    /// Extent of a dimension.
    pub fn extent(&self, d: usize) -> Word {
        self.words[2 + d]
    }
    /// Extents.
    pub fn shape(&self) -> Result<Vec<i64>, Stop> {
        let all = (0..self.rank).map(|d| self.extent(d).map(|n| n as i64)).collect::<Option<_>>();
        all.ok_or_else(|| Stop::undefined("an array of unknown extents"))
    }
    /// Distance in bytes along a dimension.
    pub fn stride(&self, d: usize) -> Word {
        if self.adjacent == Some(d) { Some(self.dtype.itemsize() as u64) } else { self.words[2 + self.rank + d] }
    }
    /// Address of an element, or the IndexError.
    pub fn element(&self, index: &[Word], wrap: bool, check: bool) -> Result<Result<Word, Exc>, Stop> {
        let mut at = self.data();
        for (d, i) in index.iter().enumerate() {
            let (Some(written), Some(extent)) = (*i, self.extent(d)) else {
                if check {
                    return Err(Stop::undefined("an index that is poison is checked"));
                }
                return Ok(Ok(None));
            };
            let (written, extent) = (written as i64, extent as i64);
            let i = if wrap && written < 0 { written.wrapping_add(extent) } else { written };
            if check && !(0..extent).contains(&i) {
                let text = format!("index {written} is out of bounds for axis {d} with size {extent}");
                return Ok(Err(Exc::with_text(INDEX_ERROR, text)));
            }
            at = at.zip(self.stride(d)).map(|(at, s)| at.wrapping_add((i as u64).wrapping_mul(s)));
        }
        Ok(Ok(at))
    }
}

/// Places of a shape in C order.
pub fn places(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    let count: i64 = shape.iter().product();
    let shape = shape.to_vec();
    (0..count.max(0)).map(move |mut i| {
        let mut at = vec![0; shape.len()];
        for (a, n) in at.iter_mut().zip(&shape).rev() {
            (*a, i) = (i % n, i / n);
        }
        at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_c_order() {
        assert_eq!(places(&[2, 2]).collect::<Vec<_>>(), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(places(&[2, 0]).count(), 0);
        assert_eq!(places(&[]).count(), 1);
    }
}
