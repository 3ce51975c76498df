//! Objects with items: a counted header beside a buffer of items.

use super::Stop;
use super::memory::Memory;
use super::word::{Word, Words};
use lh_ir::class::layout;
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::{Ty, bug};

/// The header of an object with items.
#[derive(Clone)]
pub struct ItemsHead {
    /// Type of an item.
    pub item: Ty,
    /// Number of items.
    pub len: i64,
    /// Number of items that there is room for.
    room: i64,
    /// Address of the first item.
    pub data: u64,
}

/// The type of an object's items.
pub fn item_of(object: Ty) -> Ty {
    match object.kind() {
        TyKind::Class(ClassTy { items: Some(item), .. }) => *item,
        TyKind::Generator(_) => Ty::int(),
        _ => bug!("{object} has no items"),
    }
}

/// Address of a field of an object.
pub fn field_address(object: Word, ty: Ty, field: u32) -> Words {
    [object.map(|o| o + ty.fields()[field as usize].offset as u64)].into_iter().collect()
}

impl ItemsHead {
    /// Releases the items and the buffer of an object that nobody refers to any more.
    pub fn release(self, memory: &mut Memory) -> Result<(), Stop> {
        for i in 0..self.len {
            for word in self.references(memory, i)? {
                memory.decref(word)?;
            }
        }
        memory.decref(Some(self.data))
    }
    /// Counted references in an item.
    pub fn references(&self, memory: &Memory, i: i64) -> Result<Vec<Word>, Stop> {
        let words = memory.load_value(Some(self.at(i)), self.item)?;
        let prims = self.item.flatten();
        Ok(words.into_iter().zip(prims).filter(|(_, p)| p.is_counted()).map(|(w, _)| w).collect())
    }
    /// Address of an item.
    pub fn at(&self, i: i64) -> u64 {
        self.data.wrapping_add((i * self.item.mem_layout().1 as i64) as u64)
    }
}

impl Memory {
    /// A new object without items, with room for some items.
    pub fn new_items(&mut self, item: Ty, room: i64) -> Option<u64> {
        let room = room.max(0);
        let data = self.allocate(room.checked_mul(item.mem_layout().1 as i64)?)?;
        let header = self.allocate(0)?;
        let head = ItemsHead { item, len: 0, room, data };
        self.object_mut(header)?.items = Some(head);
        Some(header)
    }
    /// A new object whose fields are zeros.
    pub fn new_object(&mut self, ty: Ty) -> Option<u64> {
        let (size, _) = ty.object_layout()?;
        let address = self.allocate((layout::FIELDS + size) as i64)?;
        self.write(Some(address), &vec![0; layout::FIELDS + size], true).ok()?;
        self.object_mut(address)?.class = Some(ty);
        Some(address)
    }
    /// Counted references in the fields of an object.
    pub fn references_of_fields(&self, object: Word, ty: Ty) -> Result<Vec<Word>, Stop> {
        let mut out = Vec::new();
        for f in ty.fields() {
            let words = self.load_value(object.map(|o| o + f.offset as u64), f.ty)?;
            out.extend(words.into_iter().zip(f.ty.flatten()).filter(|(_, p)| p.is_counted()).map(|(w, _)| w));
        }
        Ok(out)
    }
    /// The header of an object with items.
    pub fn items(&self, object: Word) -> Result<&ItemsHead, Stop> {
        let object = object.and_then(|o| self.object(o)).filter(|o| !o.is_freed);
        object.and_then(|o| o.items.as_ref()).ok_or_else(|| Stop::undefined("an object that has no items"))
    }
    /// Sets the number of items.
    pub fn set_length(&mut self, object: Word, len: i64) -> Result<(), Stop> {
        if !(0..=self.items(object)?.room).contains(&len) {
            return Err(Stop::undefined(format!("an object gets {len} items, for which it has no room")));
        }
        let head = object.and_then(|o| self.object_mut(o)).and_then(|o| o.items.as_mut());
        head.unwrap_or_else(|| bug!("an object that was just there")).len = len;
        Ok(())
    }
    /// Makes room for some items in all; false if there is no memory.
    pub fn reserve(&mut self, object: Word, room: i64) -> Result<bool, Stop> {
        let head = self.items(object)?.clone();
        if room <= head.room {
            return Ok(true);
        }
        let size = head.item.mem_layout().1;
        let Some(data) = room.checked_mul(size as i64).and_then(|bytes| self.allocate(bytes)) else { return Ok(false) };
        self.copy(Some(data), Some(head.data), head.room as usize * size)?;
        self.decref(Some(head.data))?;
        let object = object.and_then(|o| self.object_mut(o)).unwrap_or_else(|| bug!("an object that was just there"));
        object.items = Some(ItemsHead { room, data, ..head });
        Ok(true)
    }
}
