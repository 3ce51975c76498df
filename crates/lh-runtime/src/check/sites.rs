//! Places in the source of checked code, and the arrays that it accesses.

use crate::strings::value::text;
use lh_ir::Span;
use std::collections::HashMap;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Site {
    pub file: String,
    pub span: Span,
}

/// Places by number.
#[derive(Default)]
pub(crate) struct Sites {
    sites: Vec<Site>,
    by_place: HashMap<(usize, i64), u32>,
    /// The place in the user's code; accesses in library code count as that place's.
    pub(crate) now: u32,
}

impl Sites {
    /// The number of a place. Place 0 is in library code, which counts as the place that called it.
    pub(crate) fn number(&mut self, file: *const u8, len: i64, place: i64) -> u32 {
        if place == 0 {
            return self.now;
        }
        if let Some(s) = self.by_place.get(&(file as usize, place)) {
            return *s;
        }
        // SAFETY: compiled code passes the text of a constant.
        let site = Site { file: unsafe { text(file, len) }.lossy(), span: Span::unpacked(place) };
        let number = self.sites.iter().position(|s| *s == site).unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        self.by_place.insert((file as usize, place), number as u32);
        number as u32
    }

    pub(crate) fn get(&self, number: u32) -> Site {
        self.sites.get(number as usize).cloned().unwrap_or_default()
    }
}

/// The array or container that an access goes to.
pub(crate) struct Target {
    /// The text of a constant.
    pub(crate) name: (*const u8, i64),
    pub(crate) data: i64,
    pub(crate) item: i64,
    /// Extents and strides.
    pub(crate) dims: Vec<(i64, i64)>,
}

impl Default for Target {
    fn default() -> Self {
        Target { name: (std::ptr::null(), 0), data: 0, item: 0, dims: Vec::new() }
    }
}

impl Target {
    /// The program's name for it; empty if that is not known.
    fn name(&self) -> String {
        // SAFETY: compiled code passes the text of a constant, and runs still.
        unsafe { text(self.name.0, self.name.1) }.lossy()
    }

    /// The bytes from its first element to its last.
    pub(crate) fn extent(&self) -> (i64, i64) {
        let reach = |(n, stride): &(i64, i64)| (n - 1) * stride;
        let low: i64 = self.dims.iter().map(|d| reach(d).min(0)).sum();
        let high: i64 = self.dims.iter().map(|d| reach(d).max(0)).sum();
        let is_empty = self.dims.iter().any(|(n, _)| *n == 0);
        (self.data + low, if is_empty { 0 } else { high - low + self.item })
    }

    /// The element of an address as Python writes it, as far as it is known.
    pub(crate) fn element(&self, at: i64) -> String {
        let name = self.name();
        match (self.index(at), name.is_empty()) {
            (Some(index), false) => format!("`{name}[{index}]`"),
            (Some(index), true) => format!("element `[{index}]` of an array"),
            (None, false) => format!("`{name}`"),
            (None, true) => "an element".to_owned(),
        }
    }

    fn index(&self, at: i64) -> Option<String> {
        if self.dims.is_empty() {
            return None;
        }
        let mut offset = at - self.extent().0;
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        order.sort_by_key(|d| std::cmp::Reverse(self.dims[*d].1.abs()));
        let mut index = vec![0; self.dims.len()];
        for d in order {
            let (n, stride) = self.dims[d];
            let k = if stride == 0 { 0 } else { (offset / stride.abs()).min(n - 1) };
            offset -= k * stride.abs();
            index[d] = if stride < 0 { n - 1 - k } else { k };
        }
        let fits = (0..self.item.max(1)).contains(&offset);
        fits.then(|| index.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_named_by_index() {
        let dims = vec![(3, 32), (4, -8)];
        let t = Target { name: (b"a".as_ptr(), 1), data: 1024, item: 8, dims };
        assert_eq!(t.element(1024 + 32 - 16), "`a[1, 2]`");
        assert_eq!(t.extent(), (1000, 96));
        assert_eq!(Target::default().element(5), "an element");
    }
}
