//! Python's dictionaries and sets as native tables: their entries are copied before the call, and changes are written
//! back after it, as of lists.
//!
//! The layout of tables and the hashes of keys are those of `python/lancehead/lib/tables.py`.

use crate::call::args::ArgBuf;
use crate::call::boxing::Boxer;
use crate::call::choices::Choices;
use crate::call::collections::Table as Kind;
use crate::call::copied::Copied;
use crate::call::copies::Copies;
use crate::call::decode::Decoder;
use crate::call::item::Item;
use crate::call::lists::{Lists, own_item, push_choice};
use crate::call::rows::{BLOCK, MARK, Rows, Shape, float_hash, layout_of, mixed};
use crate::call::tags::{Refused, kind, tags_of_one};
use crate::call::widened::{Joint, Recast, types};
use lh_ir::class::{Class, layout};
use lh_ir::types::{Buffer, InstanceOf, Prim};
use lh_ir::{Ty, TyKind};
use lh_runtime::MemInfo;
use lh_runtime::hash::{bytes_hash, table_hash};
use lh_runtime::items::{Items, ItemsRef};
use lh_runtime::tables::{FLOAT, SIGNED, live, make_first_index};
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyDict, PySet};
use pyo3::{ffi, intern};
use smallvec::SmallVec;
use std::ptr::null_mut;

/// Tags of a few types.
type Tags = SmallVec<[u64; 4]>;

/// A native table being filled.
struct Table {
    table: ItemsRef,
    entry: Item,
    /// The key and the value of an entry.
    tail: Item,
}

impl Lists {
    /// Pushes a dictionary or a set into the buffer.
    pub fn push_table(&mut self, object: &Bound<'_, PyAny>, buf: &mut ArgBuf) -> Result<(), Refused> {
        buf.enter()?;
        buf.tags.push(Kind::of(object).ok_or(Refused::Type)?.tag());
        let table = self.import_table(object, buf)?;
        buf.slots.push(table.as_ptr() as u64);
        buf.leave();
        Ok(())
    }

    /// The native copy of a dictionary or a set; appends the tags of its keys and values to `buf`.
    pub fn import_table(&mut self, object: &Bound<'_, PyAny>, buf: &mut ArgBuf) -> Result<ItemsRef, Refused> {
        if let Some(copied) = self.copied(object) {
            buf.tags.extend_from_slice(&copied.tags);
            return Ok(copied.list.clone());
        }
        let kind = Kind::of(object).ok_or(Refused::Type)?;
        let factory = self.factory_tags(object, kind, buf)?;
        if let Some((table, mut tags)) = table_of_rows(object, kind, &factory)? {
            tags.extend_from_slice(&factory);
            buf.tags.extend_from_slice(&tags);
            self.add_copy(object, table.clone(), &tags);
            return Ok(table);
        }
        self.with_family(object, buf, |lists, buf| lists.import_entries(object, kind, &factory, buf))
    }

    fn import_entries(
        &mut self,
        object: &Bound<'_, PyAny>,
        kind: Kind,
        factory: &[u64],
        buf: &mut ArgBuf,
    ) -> Result<ItemsRef, Refused> {
        let width = kind.width();
        // Looking at an item may run Python code that changes the object.
        let parts = parts_of(object);
        let (tag_start, slot_start, owner_start) = (buf.tags.len(), buf.slots.len(), buf.owners.len());
        let mut joint = Joint { tags: tag_start, end: tag_start, slots: slot_start, fixed: 1, is_joined: false };
        let (mut made, since): (Option<Table>, _) = (None, self.lists.len());
        let py = object.py();
        let choices = Choices::of(parts.chunks_exact(width).filter_map(|entry| entry.get(1).cloned()));
        for entry in parts.chunks_exact(width) {
            for (at, part) in entry.iter().enumerate() {
                match &choices {
                    Some(choices) if at == 1 => push_choice(choices, part, buf)?,
                    // SAFETY: `parts` holds it.
                    _ => unsafe { self.push_item(part.as_ptr(), buf)? },
                }
            }
            let Table { table, tail, .. } = match &mut made {
                None => {
                    joint.end = buf.tags.len();
                    let (ty, entry) = entry_of(kind, types(py, &[&buf.tags[tag_start..], factory].concat()))?;
                    let table = allocate(ty, &entry, parts.len() / width)?;
                    made.insert(Table { table, tail: entry.tail(), entry })
                }
                Some(made) => {
                    if let Some(mut all) = joint.join(py, &mut buf.tags, &mut buf.slots)? {
                        all.extend(types(py, factory));
                        let (_, entry) = entry_of(kind, all)?;
                        Recast::new(&[made.entry.ty], &[entry.ty]).items(&made.entry, &made.table);
                        (made.tail, made.entry) = (entry.tail(), entry);
                    }
                    made
                }
            };
            let at = table.push().ok_or(Refused::Memory)?;
            // SAFETY: the buffer's last words are those of the key and the value, which `parts` holds; `at` is room for
            // an entry. The mark follows when its hash is known.
            unsafe {
                own_item(buf, slot_start, owner_start, tail);
                tail.write(at, &buf.slots[slot_start..]);
            }
            buf.slots.truncate(slot_start);
        }
        let table = match made {
            Some(Table { table, entry, .. }) => {
                if joint.is_joined {
                    self.lists.widen(py, (&table, &entry), &buf.tags[tag_start..], since)?;
                }
                index(&table, &entry, Some(&self.copies))?;
                table
            }
            None if kind == Kind::Default => return Err(Refused::EmptyList),
            None => {
                buf.tags.extend(std::iter::repeat_n(kind::UNDECIDED, width));
                buf.undecided = true;
                new_native(kind.class().of(vec![Ty::int(); width], false))?
            }
        };
        buf.tags.extend_from_slice(factory);
        self.add_copy(object, table.clone(), &buf.tags[tag_start..]);
        Ok(table)
    }

    /// The tags of the factory of a dictionary that has one. It must be a function or class that is known by its
    /// identity, so that the field that holds it has no words.
    fn factory_tags(&mut self, object: &Bound<'_, PyAny>, kind: Kind, buf: &mut ArgBuf) -> Result<Tags, Refused> {
        if kind != Kind::Default {
            return Ok(Tags::new());
        }
        let factory = object.getattr(intern!(object.py(), "default_factory")).map_err(|e| {
            e.restore(object.py());
            Refused::Raised
        })?;
        let (tags, slots) = (buf.tags.len(), buf.slots.len());
        // SAFETY: the factory is held.
        unsafe { self.push_item(factory.as_ptr(), buf)? };
        let own = buf.tags[tags..].into();
        buf.tags.truncate(tags);
        if buf.slots.len() > slots { Err(Refused::Type) } else { Ok(own) }
    }

    /// Gives a table that was given without entries, and containers in its items, the types that are decided now.
    ///
    /// # Safety
    /// The object is an argument of the call, and the tags are those of its type.
    pub unsafe fn decide_table(&mut self, py: Python<'_>, o: *mut ffi::PyObject, tags: &[u64]) {
        // SAFETY: the tags belong to a dictionary or a set.
        let object = unsafe { Bound::from_borrowed_ptr(py, o) };
        let Some(copied) = self.copied_mut(&object) else { return };
        copied.tags = tags[1..].into();
        let ty = Decoder::new(py, tags).next_ty();
        if copied.list.is_empty() {
            let entry = Item::new(entry_type(ty)).expect("a table of such entries exists");
            let header = copied.list.as_ptr();
            // SAFETY: an empty table has entries of any type.
            unsafe {
                (*header).elem_size = entry.size as u32;
                (*header).mask = entry.mask;
            }
        }
        let width = if object.is_instance_of::<PyDict>() { 2 } else { 1 };
        let key = tags_of_one(&tags[1..]);
        for entry in parts_of(&object).chunks_exact(width) {
            // SAFETY: items of the argument, and the tags of their types.
            unsafe {
                self.decide(py, entry[0].as_ptr(), &tags[1..1 + key]);
                if let Some(value) = entry.get(1) {
                    self.decide(py, value.as_ptr(), &tags[1 + key..]);
                }
            }
        }
    }

    /// Writes the entries of a native table back to the dictionary or set that it is a copy of. Entries that are as
    /// before keep their objects.
    pub fn write_table_back(&self, py: Python<'_>, copied: &Copied) -> PyResult<()> {
        let object = copied.object.bind(py);
        let old = parts_of(&object);
        let Some(kind) = Kind::of(&object) else { return Ok(()) };
        let width = kind.width();
        let parts = Decoder::new(py, &copied.tags).many(width);
        let entry =
            Item::new(entry_type(class_of(width).of(parts.clone(), false))).expect("the table was made of such");
        let mut boxer = Boxer::new(py, Some(self));
        let mut new = Vec::new();
        for i in 0..copied.list.len() {
            // SAFETY: an entry of the native table.
            let words = unsafe { entry.slots(copied.list.item(i)) };
            if words[0] == 0 {
                continue;
            }
            if copied.is_unchanged(i) && old.len() == copied.count * width {
                new.extend_from_slice(&old[i * width..(i + 1) * width]);
                continue;
            }
            let mut at = &words[1..];
            for ty in &parts {
                let (own, rest) = at.split_at(ty.flatten().len());
                new.push(boxer.borrowed(*ty, own)?);
                at = rest;
            }
        }
        // The methods of the object's own class keep what it has beside the entries.
        object.call_method0(intern!(py, "clear"))?;
        if width == 2 {
            return new.chunks_exact(2).try_for_each(|entry| object.set_item(&entry[0], &entry[1]));
        }
        let set = object.cast_into::<PySet>()?;
        new.iter().try_for_each(|item| set.add(item))
    }
}

/// A native table of the entries of an object and the tags of its parts, if all keys have one shape and all values too.
/// No Python code runs while they are read.
fn table_of_rows(object: &Bound<'_, PyAny>, kind: Kind, factory: &[u64]) -> Result<Option<(ItemsRef, Tags)>, Refused> {
    if kind == Kind::Ordered {
        // Its order is not that of its entries.
        return Ok(None);
    }
    let mut rows: Option<Rows> = None;
    let mut refused = None;
    let mut add = |block: &[*mut ffi::PyObject]| -> Option<()> {
        let rows = match &mut rows {
            Some(rows) => rows,
            None => match new_rows(object, kind, factory, block.get(..kind.width())?)? {
                Ok(made) => rows.insert(made),
                Err(why) => {
                    refused = Some(why);
                    return None;
                }
            },
        };
        // SAFETY: the object, or a reference, holds the parts.
        unsafe { rows.add_all(block) }
    };
    let done = match object.cast::<PyDict>() {
        Ok(dict) => with_critical_section(dict, || entries_in_blocks(dict, &mut add)),
        Err(_) => items_in_blocks(object, &mut add),
    };
    if let Some(why) = refused {
        return Err(why);
    }
    let (Some(()), Some(rows)) = (done, rows) else { return Ok(None) };
    let (table, shapes) = rows.finish();
    let mut tags = Tags::new();
    shapes.iter().for_each(|shape| shape.tags(&mut tags));
    // SAFETY: the entries of a new table, which begin with their marks.
    unsafe { make_first_index(table.as_ptr(), shapes[0].key_code()) }.map_err(|_| Refused::Memory)?;
    Ok(Some((table, tags)))
}

/// Gives the keys and values of a dictionary in turn, in blocks; nothing changes it meanwhile.
fn entries_in_blocks(dict: &Bound<'_, PyDict>, add: &mut dyn FnMut(&[*mut ffi::PyObject]) -> Option<()>) -> Option<()> {
    let (mut block, mut count) = ([null_mut(); BLOCK], 0);
    let (mut at, mut key, mut value) = (0, null_mut(), null_mut());
    // SAFETY: a dictionary.
    while unsafe { ffi::PyDict_Next(dict.as_ptr(), &mut at, &mut key, &mut value) } != 0 {
        block[count..count + 2].copy_from_slice(&[key, value]);
        count += 2;
        if count == BLOCK {
            add(&block)?;
            count = 0;
        }
    }
    if count > 0 { add(&block[..count]) } else { Some(()) }
}

/// Gives the items of a set, in blocks.
fn items_in_blocks(object: &Bound<'_, PyAny>, add: &mut dyn FnMut(&[*mut ffi::PyObject]) -> Option<()>) -> Option<()> {
    let items = object.try_iter().ok()?;
    loop {
        let (mut block, mut count) = ([null_mut(); BLOCK], 0);
        // SAFETY: an iterator, whose items are references of this function's.
        unsafe {
            while count < BLOCK {
                block[count] = ffi::PyIter_Next(items.as_ptr());
                if block[count].is_null() {
                    break;
                }
                count += 1;
            }
            let added = if count == 0 { Some(()) } else { add(&block[..count]) };
            block[..count].iter().for_each(|item| ffi::Py_DECREF(*item));
            added?;
            if count < BLOCK {
                let is_error = !ffi::PyErr_Occurred().is_null();
                ffi::PyErr_Clear();
                return (!is_error).then_some(());
            }
        }
    }
}

/// A table for rows like the first one, or nothing if it has no shape.
fn new_rows(
    object: &Bound<'_, PyAny>,
    kind: Kind,
    factory: &[u64],
    first: &[*mut ffi::PyObject],
) -> Option<Result<Rows, Refused>> {
    // SAFETY: the object holds its parts.
    let shapes = first.iter().map(|part| unsafe { Shape::of(*part) }).collect::<Option<SmallVec<[Shape; 2]>>>()?;
    // The mark is before them.
    let (size, mask) = layout_of(8, &shapes);
    let fields = || {
        let mut tags = Tags::new();
        shapes.iter().for_each(|shape| shape.tags(&mut tags));
        tags.extend_from_slice(factory);
        let class = kind.class();
        let ty = class.of(Decoder::new(object.py(), &tags).many(class.declaration().parameters.len()), false);
        debug_assert!(Item::new(entry_type(ty)).is_some_and(|entry| entry.size == size && entry.mask == mask));
        (fields_size(ty), fields_mask(ty))
    };
    // Only those of a dictionary with a factory depend on more than the class.
    let (own, fields_mask) = if factory.is_empty() { *kind.fields().get_or_init(fields) } else { fields() };
    let room = object.len().ok()?;
    let table = ItemsRef::with_fields(room, size, mask, own, fields_mask).ok_or(Refused::Memory);
    Some(table.map(|table| Rows::new(table, shapes, room, true)))
}

/// Keys and values of a dictionary in turn, or the items of a set.
pub fn parts_of<'py>(object: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    if Kind::of(object) == Some(Kind::Ordered) {
        let items = object.call_method0(intern!(object.py(), "items")).and_then(|all| all.try_iter());
        let pairs = items.into_iter().flatten().flatten();
        return pairs.filter_map(|pair| Some([pair.get_item(0).ok()?, pair.get_item(1).ok()?])).flatten().collect();
    }
    match object.cast::<PyDict>() {
        Ok(dict) => {
            let mut parts = Vec::with_capacity(2 * dict.len());
            dict.iter().for_each(|(key, value)| parts.extend([key, value]));
            parts
        }
        Err(_) => object.try_iter().into_iter().flatten().flatten().collect(),
    }
}

/// The class of tables with so many parts in an entry.
fn class_of(width: usize) -> Class {
    if width == 2 { Class::dict() } else { Class::set() }
}

/// A list, dictionary or set without items.
pub fn new_native(ty: Ty) -> Result<ItemsRef, Refused> {
    if let Some(elem) = ty.as_list() {
        let item = Item::new(elem).ok_or(Refused::Type)?;
        return ItemsRef::new(0, item.size, item.mask).ok_or(Refused::Memory);
    }
    let parts = ty.as_class().filter(|c| Kind::of_class(c.class).is_some()).ok_or(Refused::Type)?;
    if !is_hashable(parts.args[0]) {
        return Err(Refused::Type);
    }
    let entry = Item::new(entry_type(ty)).ok_or(Refused::Type)?;
    let table = allocate(ty, &entry, 0)?;
    index(&table, &entry, None)?;
    Ok(table)
}

/// The type of the entries of a table: a tuple of a mark, the key and, in dictionaries, the value.
fn entry_type(table: Ty) -> Ty {
    table.items().unwrap_or_else(|| lh_ir::bug!("`{table}` is no table"))
}

/// The type and the entries of a table with such parts.
fn entry_of(kind: Kind, parts: Vec<Ty>) -> Result<(Ty, Item), Refused> {
    if !is_hashable(parts[0]) && !is_instance(parts[0]) {
        return Err(Refused::Type);
    }
    let ty = kind.class().of(parts, false);
    Ok((ty, Item::new(entry_type(ty)).ok_or(Refused::Type)?))
}

/// The bytes of a table's fields.
pub fn fields_size(ty: Ty) -> usize {
    let ends = ty.fields().iter().map(|f| f.offset + f.ty.mem_layout().1);
    ends.max().unwrap_or(layout::ENTRIES_FIELDS) - layout::ENTRIES_FIELDS
}

/// A table without entries and without an index.
fn allocate(ty: Ty, entry: &Item, count: usize) -> Result<ItemsRef, Refused> {
    ItemsRef::with_fields(count, entry.size, entry.mask, fields_size(ty), fields_mask(ty)).ok_or(Refused::Memory)
}

/// The words of a table's fields that are counted, as a mask.
fn fields_mask(ty: Ty) -> u64 {
    let word = |offset: usize| (offset - layout::ENTRIES_FIELDS) / 8;
    let counted = ty.fields().iter().filter(|f| f.ty.flatten().first() == Some(&Prim::Mem));
    counted.fold(0, |mask, f| mask | 1 << word(f.offset))
}

/// Gives a table that has entries their marks and its index.
fn index(table: &ItemsRef, entry: &Item, copies: Option<&Copies>) -> Result<(), Refused> {
    let key = entry.ty.tuple_elems().map_or(Ty::int(), |parts| parts[1]);
    let words = key.flatten().len();
    for at in 0..table.len() {
        // SAFETY: an entry of the table, whose first word is the mark.
        unsafe {
            let words = entry.words(table.item(at), 1..1 + words);
            let h = match key_hash(key, &mut &words[..], copies) {
                _ if is_simple(key) => -1,
                // A half that is no number is never found.
                h if key.is_float() && f64::from_bits(h as u64).is_nan() => at as i64,
                h => h,
            };
            table.item(at).cast::<i64>().write(h | MARK);
        }
    }
    // SAFETY: the table's fields are zeros until now, and its keys have this code.
    unsafe { make_first_index(table.as_ptr(), key_code(key)) }.map_err(|_| Refused::Memory)
}

/// The code of a key's hash for `make_index`: `_key_code`.
fn key_code(key: Ty) -> i64 {
    match key.kind() {
        _ if !is_simple(key) => 0,
        TyKind::Instance { of, .. } => key_code(*of),
        _ => {
            let kind = [(key.is_float(), FLOAT), (key.is_int() && key.is_signed(), SIGNED)];
            key.itemsize() as i64 | kind.iter().find(|(is_it, _)| *is_it).map_or(0, |(_, kind)| *kind)
        }
    }
}

/// Whether comparing keys of a type costs less than comparing hashes: `_is_simple`.
fn is_simple(key: Ty) -> bool {
    // Members of `IntEnum` are integers.
    let key = key.native();
    key.is_int() || key.is_bool() || key.is_float() && key.bits() > 16
}

fn is_hashable(key: Ty) -> bool {
    match key.kind() {
        TyKind::None | TyKind::Str => true,
        TyKind::Instance { class: InstanceOf::Buffer(Buffer::Bytes), .. } => true,
        TyKind::Class(c) if Kind::of_class(c.class) == Some(Kind::Frozen) => is_hashable(c.args[0]),
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_hashable(*t)),
        TyKind::Instance { class: InstanceOf::Enum { .. }, .. } => true,
        _ => key.is_scalar(),
    }
}

/// Whether keys are instances of a class of the program: Python has the hash of each.
fn is_instance(key: Ty) -> bool {
    match key.kind() {
        TyKind::Class(c) => c.class.user().is_some(),
        TyKind::Choice(_) => key.several().is_some(),
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_hashable(*t) || is_instance(*t)),
        _ => false,
    }
}

/// The hash of a key for tables: `key_hash`.
fn key_hash(ty: Ty, words: &mut &[u64], copies: Option<&Copies>) -> i64 {
    let mut next = || {
        let (first, rest) = words.split_first().expect("a key has the words of its type");
        *words = rest;
        *first
    };
    match ty.kind() {
        TyKind::Bool => (next() & 1) as i64,
        TyKind::Int { bits, signed, .. } => {
            let shift = 64 - u32::from(*bits);
            if *signed { (next() << shift) as i64 >> shift } else { (next() << shift >> shift) as i64 }
        }
        TyKind::Float { .. } | TyKind::Bfloat16 => float_hash(next(), ty),
        TyKind::Complex { .. } => {
            let (re, im) = (float_hash(next(), ty.real_part()), float_hash(next(), ty.real_part()));
            mixed(re, im)
        }
        TyKind::Str => {
            let (_, data, len) = (next(), next(), next());
            // SAFETY: a text of a live key.
            table_hash(unsafe { lh_runtime::text(data as *const u8, len as i64) })
        }
        TyKind::Tuple { elems, .. } => {
            elems.iter().fold(elems.len() as i64, |h, t| mixed(h, key_hash(*t, words, copies)))
        }
        TyKind::Instance { of, class: InstanceOf::Enum { .. } } => key_hash(*of, words, copies),
        TyKind::Class(_) if ty.is_time() => next() as i64,
        TyKind::Instance { of, class: InstanceOf::Buffer(_) } => {
            let (all, rest) = words.split_at(of.flatten().len());
            *words = rest;
            // SAFETY: the memory of a live key: its owner, address, size and stride, which is 1.
            bytes_hash(unsafe { std::slice::from_raw_parts(all[1] as *const u8, all[2] as usize) })
        }
        TyKind::Choice(of) => {
            let which = next() as usize;
            let hashes: Vec<i64> = of.iter().map(|t| key_hash(*t, words, copies)).collect();
            hashes[which]
        }
        TyKind::Class(c) if c.class.user().is_some() => {
            let object = copies.and_then(|all| all.object_of(next() as *mut MemInfo));
            // SAFETY: the copies hold the object; that it is a key shows that it has a hash.
            object.map_or(0, |o| unsafe { ffi::PyObject_Hash(o) as i64 })
        }
        TyKind::Class(c) => {
            // SAFETY: a live key, which is a set.
            let set = unsafe { ItemsRef::from_borrowed(next() as *mut Items) };
            let entry = Item::new(entry_type(ty)).unwrap_or_else(|| lh_ir::bug!("`{ty}` is no table"));
            // SAFETY: it is a table.
            let mut h = unsafe { live(set.as_ptr()) } as i64;
            for i in 0..set.len() {
                // SAFETY: an entry of the set; of those that exist the mark is not 0.
                let words = unsafe { entry.slots(set.item(i)) };
                if words[0] != 0 {
                    h ^= mixed(1, key_hash(c.args[0], &mut &words[1..], copies));
                }
            }
            h
        }
        _ => 0,
    }
}

/// The Python object of a copy, and its native form before the call.
impl Copied {
    fn is_unchanged(&self, i: usize) -> bool {
        let size = self.list.elem_size();
        // SAFETY: an entry of the native table.
        let now = unsafe { std::slice::from_raw_parts(self.list.item(i), size) };
        i < self.count && self.before[i * size..(i + 1) * size] == *now
    }
}
