//! Values made from types: small integers and edges, odd floats, arrays of small extents in every order of memory.
//!
//! Numbers of one source belong together, so that an index often lies in an array and a count is often its length.

use super::Stop;
use super::items::{ItemsHead, field_address, item_of};
use super::memory::Memory;
use super::view::places;
use super::word::{self, Word, Words, words_of};
use crate::random::Random;
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::verify::parts;
use lh_ir::{Const, Layout, Ty};
use std::ops::Range;

/// The size of arrays and the form of floats in one set of inputs.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Most extents, and many numbers.
    pub n: i64,
    /// Floats are small multiples of 1/4.
    pub whole: bool,
}

/// Where values come from.
pub struct Source {
    random: Random,
    scale: Scale,
    /// Arrays may share memory with those before, now and then.
    pub may_share: bool,
    shares: bool,
    arrays: Vec<(Ty, Words)>,
}

const FLOATS: [f64; 14] =
    [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.25, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e-300, 5e-324, 1e16];

const EDGES: [i64; 8] = [i64::MIN, i64::MAX, i64::MIN + 1, 1 << 32, -(1 << 31), 255, 1 << 53, -7];

const TEXTS: [&str; 5] = ["", "a", "abc", "hé", "a longer text, which is not kept in a register"];

impl Source {
    /// A source of values that belong together.
    pub fn new(random: Random, scale: Scale) -> Source {
        Source { random, scale, may_share: false, shares: false, arrays: Vec::new() }
    }

    /// Decides what the values to come have in common.
    pub fn begin(&mut self) {
        self.shares = self.may_share && self.random.once_in(4);
    }
    /// A number of a range.
    pub fn within(&mut self, range: &Range<i64>) -> i64 {
        let size = (range.end - range.start).max(1) as usize;
        // The ends are where things go wrong.
        match self.random.below(6) {
            0 => range.start,
            1 => range.start + size as i64 - 1,
            _ => range.start + self.random.below(size) as i64,
        }
    }
    /// An extent of an array of a rank.
    pub fn extent(&mut self, rank: usize) -> i64 {
        let n = if rank > 1 { self.scale.n.min(17) } else { self.scale.n };
        match self.random.below(10) {
            0 => self.random.below(4) as i64,
            1 if rank > 1 => 1,
            _ => n,
        }
    }

    /// A value of a type.
    pub fn value(&mut self, ty: Ty, memory: &mut Memory) -> Result<Words, Stop> {
        if ty.is_bool() || ty.is_int() || ty.is_float() {
            return Ok(words_of(&self.number(ty)));
        }
        match ty.kind() {
            TyKind::Array { ndim, .. } => {
                let shape: Vec<i64> = (0..*ndim).map(|_| self.extent((*ndim).into())).collect();
                self.array(ty, &shape, None, memory)
            }
            TyKind::Str => memory.new_text(TEXTS[self.random.below(TEXTS.len())]),
            TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Generator(_) => {
                let n = self.random.below(5) as i64;
                self.items(ty, n, memory)
            }
            TyKind::Class(ClassTy { parts: None, .. }) => self.object(ty, memory),
            TyKind::Optional(inner) | TyKind::MaybeUnbound(inner) => {
                let mut words: Words = [Some(u64::from(!self.random.once_in(3)))].into_iter().collect();
                if words[0] == Some(1) {
                    words.extend(self.value(*inner, memory)?);
                } else {
                    words.extend(inner.flatten().iter().map(|_| Some(0)));
                }
                Ok(words)
            }
            TyKind::Range(of) => {
                let steps = [1, 2, -1];
                let step = steps[self.random.below(steps.len())];
                let numbers = [self.random.below(4) as i64, self.scale.n, step];
                Ok(numbers.iter().flat_map(|n| words_of(&Const::Int((*n).into(), *of))).collect())
            }
            TyKind::Literal(l) => Ok(words_of(&l.value())),
            TyKind::MemInfo => Ok([memory.allocate(self.scale.n * 8)].into_iter().collect()),
            TyKind::Ptr => {
                let address = memory.make(self.scale.n as usize * 8);
                let bytes: Vec<u8> = (0..self.scale.n * 8).map(|_| self.random.below(5) as u8).collect();
                memory.write(Some(address), &bytes, true)?;
                Ok([Some(address)].into_iter().collect())
            }
            _ if ty.flatten().is_empty() => Ok(Words::new()),
            _ if parts(ty).next().is_some() => {
                let mut words = Words::new();
                for part in parts(ty) {
                    words.extend(self.value(part, memory)?);
                }
                Ok(words)
            }
            _ => Err(Stop::Unmodelled(format!("values of type {ty}"))),
        }
    }

    /// An object with fields.
    fn object(&mut self, ty: Ty, memory: &mut Memory) -> Result<Words, Stop> {
        let object = memory.new_object(ty);
        for (i, field) in ty.fields().iter().enumerate() {
            let words = self.value(field.ty, memory)?;
            memory.store_value(field_address(object, ty, i as u32)[0], field.ty, &words)?;
        }
        Ok([object].into_iter().collect())
    }

    /// A number: an array's extent or near it, small, or an edge.
    fn number(&mut self, ty: Ty) -> Const {
        if ty.is_bool() {
            return Const::Bool(self.random.once_in(2));
        }
        if ty.is_float() {
            let x = if self.scale.whole || self.random.once_in(2) {
                (self.random.below(33) as f64 - 16.0) / 4.0
            } else {
                FLOATS[self.random.below(FLOATS.len())]
            };
            return Const::Float(lh_ir::half::rounded(x, ty), ty);
        }
        let n = self.scale.n;
        let i = match self.random.below(20) {
            0..=6 => n,
            7 => n - 1,
            8 => n + 1,
            9 | 10 => 0,
            11 | 12 => 1,
            13 => -1,
            14 => EDGES[self.random.below(EDGES.len())],
            _ => self.random.below(n.unsigned_abs() as usize + 2) as i64,
        };
        let word = words_of(&Const::Int(i.into(), ty))[0].unwrap_or(0);
        word::number(word, ty)
    }

    /// An object with some items.
    pub fn items(&mut self, ty: Ty, n: i64, memory: &mut Memory) -> Result<Words, Stop> {
        let none = || Stop::Unmodelled("so many items".into());
        let object = memory.new_items(item_of(ty), n + 2 + self.random.below(3) as i64).ok_or_else(none)?;
        for i in 0..n {
            let item = self.value(item_of(ty), memory)?;
            memory.set_length(Some(object), i + 1)?;
            let at = ItemsHead::at(memory.items(Some(object))?, i);
            memory.store_value(Some(at), item_of(ty), &item)?;
        }
        Ok([Some(object)].into_iter().collect())
    }

    /// An array of a shape.
    pub fn array(
        &mut self,
        ty: Ty,
        shape: &[i64],
        items: Option<Range<i64>>,
        memory: &mut Memory,
    ) -> Result<Words, Stop> {
        let (dtype, rank, layout, readonly) = ty.as_array().expect("callers pass types of arrays");
        if self.shares
            && let Some((_, words)) = self.arrays.iter().find(|(t, w)| *t == ty && extents(w, rank) == shape)
            && self.random.once_in(2)
        {
            // The reference is another one.
            memory.incref(words[0])?;
            return Ok(words.clone());
        }
        let itemsize = dtype.itemsize() as i64;
        let (strides, low, size) = self.strides(shape, itemsize, layout);
        let base = self.place(size, itemsize, memory).ok_or_else(|| Stop::Unmodelled("so large an array".into()))?;
        let (owner, data) = (base.0, base.1 as i64 + low);
        for at in places(shape) {
            let offset: i64 = at.iter().zip(&strides).map(|(i, s)| i * s).sum();
            let address = Some((data + offset) as u64);
            if dtype.is_number() {
                let words = match &items {
                    Some(range) if dtype.is_int() => words_of(&Const::Int(self.within(range).into(), dtype)),
                    _ => self.value(dtype, memory)?,
                };
                memory.store_value(address, dtype, &words)?;
            } else {
                let bytes: Vec<u8> = (0..itemsize).map(|_| self.random.below(7) as u8).collect();
                memory.write(address, &bytes, true)?;
            }
        }
        if readonly && !self.shares {
            memory.object_mut(owner).expect("just made").is_constant = true;
        }
        let numbers = [owner as i64, data].into_iter().chain(shape.iter().copied()).chain(strides);
        let words: Words = numbers.map(|n| Some(n as u64)).collect();
        self.arrays.push((ty, words.clone()));
        Ok(words)
    }

    /// Memory of a size: new, or a part of an array's that was made before. Owner and address.
    fn place(&mut self, size: i64, itemsize: i64, memory: &mut Memory) -> Option<(u64, u64)> {
        if self.shares
            && let Some((_, words)) = self.arrays.last()
            && let Some(owner) = words[0]
            && let Some(slack) = memory.object(owner).map(|o| o.bytes.len() as i64 - size).filter(|s| *s >= 0)
        {
            let shift = self.random.below((slack / itemsize.max(1)) as usize + 1) as i64 * itemsize;
            memory.incref(Some(owner)).ok()?;
            return Some((owner, owner + shift as u64));
        }
        // So that another one may overlap it in part.
        let slack = if self.shares { self.random.below(4) as i64 * itemsize } else { 0 };
        let owner = memory.allocate(size + slack)?;
        Some((owner, owner))
    }

    /// Strides in bytes, distance of the first element from the lowest byte, and bytes in all.
    fn strides(&mut self, shape: &[i64], itemsize: i64, layout: Layout) -> (Vec<i64>, i64, i64) {
        let rank = shape.len();
        let mut order: Vec<usize> = if layout == Layout::F { (0..rank).collect() } else { (0..rank).rev().collect() };
        if layout == Layout::A {
            (1..rank).for_each(|i| order.swap(i, self.random.below(i + 1)));
        }
        let (mut strides, mut next, mut low, mut high) = (vec![0; rank], itemsize, 0, 0);
        for d in order {
            let spread = if layout == Layout::A { 1 + self.random.below(2) as i64 } else { 1 };
            let back = layout == Layout::A && self.random.once_in(3);
            let stride = next * spread;
            let reach = (shape[d] - 1).max(0) * stride;
            next = stride * shape[d].max(1);
            (strides[d], low, high) = if back { (-stride, low + reach, high) } else { (stride, low, high + reach) };
        }
        if shape.contains(&0) { (strides, 0, 0) } else { (strides, low, low + high + itemsize) }
    }
}

fn extents(words: &[Word], rank: usize) -> Vec<i64> {
    words[2..2 + rank].iter().map(|w| w.map_or(-1, |n| n as i64)).collect()
}
