//! Python's dictionaries and sets as native tables: their entries are copied before the call, and changes are written
//! back after it, as of lists.
//!
//! The layout of tables and the hashes of keys are those of `python/lancehead/lib/tables.py`.

use crate::call::args::ArgBuf;
use crate::call::boxing::Boxer;
use crate::call::choices::Choices;
use crate::call::collections::Table as Kind;
use crate::call::copies::Copies;
use crate::call::decode::Decoder;
use crate::call::item::Item;
use crate::call::lists::{Copied, Lists, own_item, push_choice};
use crate::call::tags::{Refused, kind, merged, tags_of_one};
use crate::host::{enums, table};
use crate::object::int::{self, Machine};
use lh_ir::class::{Class, layout};
use lh_ir::types::{Buffer, InstanceOf, Prim};
use lh_ir::{ObjId, Ty, TyKind};
use lh_runtime::hash::{bytes_hash, table_hash};
use lh_runtime::items::{Items, ItemsRef};
use lh_runtime::tables::{FLOAT, GOLDEN, SIGNED, make_index};
use lh_runtime::{MemInfo, Text};
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyDict, PyFloat, PySet, PyString};
use pyo3::{ffi, intern};
use smallvec::SmallVec;
use std::ptr::null_mut;

/// The sign bit marks the hashes of entries.
const MARK: i64 = i64::MIN;

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
    /// The native copy of a dictionary or a set; appends the tags of its keys and values to `buf`.
    pub fn import_table(&mut self, object: &Bound<'_, PyAny>, buf: &mut ArgBuf) -> Result<ItemsRef, Refused> {
        if let Some(copied) = self.copied(object) {
            buf.tags.extend_from_slice(&copied.tags);
            return Ok(copied.list.clone());
        }
        let kind = Kind::of(object).ok_or(Refused::Type)?;
        let (width, factory) = (kind.width(), self.factory_tags(object, kind, buf)?);
        if let Some((mut tags, words)) = numbers_of(object, kind) {
            tags.extend_from_slice(&factory);
            let table = table_of_numbers(&mut Decoder::new(object.py(), &tags), kind, &words)?;
            buf.tags.extend_from_slice(&tags);
            self.add_copy(object, table.clone(), &tags);
            return Ok(table);
        }
        // Looking at an item may run Python code that changes the object.
        let parts = parts_of(object);
        let (tag_start, slot_start, owner_start) = (buf.tags.len(), buf.slots.len(), buf.owners.len());
        let mut made: Option<Table> = None;
        let mut tag_end = tag_start;
        let choices = Choices::of(parts.chunks_exact(width).filter_map(|entry| entry.get(1).cloned()));
        for entry in parts.chunks_exact(width) {
            for (at, part) in entry.iter().enumerate() {
                match &choices {
                    Some(choices) if at == 1 => push_choice(choices, part, buf)?,
                    // SAFETY: `parts` holds it.
                    _ => unsafe { self.push_item(part.as_ptr(), buf)? },
                }
            }
            if made.is_none() {
                tag_end = buf.tags.len();
                let mut tags = buf.tags[tag_start..].to_vec();
                tags.extend_from_slice(&factory);
                made = Some(new_table(&mut Decoder::new(object.py(), &tags), kind, parts.len())?);
            } else {
                tag_end = merge_tags(buf, tag_start, tag_end)?;
            }
            let Some(Table { table, tail, .. }) = &mut made else { continue };
            let at = table.push().ok_or(Refused::TooLarge)?;
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
        buf.tags.extend_from_slice(&factory);
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

/// Merges the tags of an entry, which follow those of the entries before it, into these, and returns their end.
fn merge_tags(buf: &mut ArgBuf, start: usize, mut end: usize) -> Result<usize, Refused> {
    let (first, this) = buf.tags[start..].split_at(end - start);
    if first != this {
        let both = merged(first, this).filter(|_| buf.undecided).ok_or(Refused::MixedTable)?;
        buf.tags.truncate(start);
        buf.tags.extend_from_slice(&both);
        end = buf.tags.len();
    }
    buf.tags.truncate(end);
    Ok(end)
}

/// The tags and the words of the keys and values in turn, if the keys are ints or floats that fit into a word, and the
/// values too. No Python code runs while such are read.
fn numbers_of(object: &Bound<'_, PyAny>, kind: Kind) -> Option<(Tags, Vec<u64>)> {
    let width = kind.width();
    let mut classes = [null_mut(); 2];
    let mut words = Vec::with_capacity(width * object.len().ok()?);
    let mut read = |part: *mut ffi::PyObject, at: usize| -> Option<()> {
        // SAFETY: the object that is read holds the part.
        unsafe {
            let class = ffi::Py_TYPE(part);
            if words.len() < width {
                classes[at] = class;
            }
            let word = match class == classes[at] {
                true if class == &raw mut ffi::PyFloat_Type => (*part.cast::<ffi::PyFloatObject>()).ob_fval.to_bits(),
                true if class == &raw mut ffi::PyLong_Type => match int::machine(part) {
                    Machine::Signed(v) => v as u64,
                    Machine::Unsigned(_) | Machine::TooLarge => return None,
                },
                _ => return None,
            };
            words.push(word);
        }
        Some(())
    };
    if kind == Kind::Ordered || kind == Kind::Frozen {
        // The order of the one is not that of its entries; the other is rare.
        return None;
    }
    if width == 2 {
        with_critical_section(object, || {
            let (mut at, mut key, mut value) = (0, null_mut(), null_mut());
            // SAFETY: the dictionary is locked, and nothing changes it meanwhile.
            while unsafe { ffi::PyDict_Next(object.as_ptr(), &mut at, &mut key, &mut value) } != 0 {
                read(key, 0)?;
                read(value, 1)?;
            }
            Some(())
        })?;
    } else {
        for item in object.cast::<PySet>().ok()? {
            read(item.as_ptr(), 0)?;
        }
    }
    let tag = |class: &*mut ffi::PyTypeObject| match *class == &raw mut ffi::PyFloat_Type {
        true => kind::FLOAT,
        false => kind::INT,
    };
    (!words.is_empty()).then(|| (classes[..width].iter().map(tag).collect(), words))
}

fn table_of_numbers(tags: &mut Decoder<'_, '_>, kind: Kind, words: &[u64]) -> Result<ItemsRef, Refused> {
    let Table { table, entry, .. } = new_table(tags, kind, words.len())?;
    let width = kind.width();
    debug_assert_eq!(entry.size, 8 * (1 + width));
    // SAFETY: the table has room for so many entries, whose words follow their marks.
    unsafe {
        let header = table.as_ptr();
        let mut at = (*header).mem.data.cast::<u64>();
        for parts in words.chunks_exact(width) {
            at.write(0);
            at.add(1).copy_from_nonoverlapping(parts.as_ptr(), width);
            at = at.add(1 + width);
        }
        (*header).len = (words.len() / width) as i64;
    }
    index(&table, &entry, None)?;
    Ok(table)
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
        return ItemsRef::new(0, item.size, item.mask).ok_or(Refused::TooLarge);
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

/// The number of entries of a table that exist.
pub fn live(table: &ItemsRef, ty: Ty) -> usize {
    let at = ty.fields().iter().find_map(|field| match field.name.as_str() {
        "_live" => Some(field.offset),
        _ => None,
    });
    let at = at.unwrap_or_else(|| lh_ir::bug!("`{ty}` is no table"));
    // SAFETY: a table of this type has the field, one word.
    unsafe { table.as_ptr().byte_add(at).cast::<i64>().read() as usize }
}

/// The type of the entries of a table: a tuple of a mark, the key and, in dictionaries, the value.
fn entry_type(table: Ty) -> Ty {
    table.items().unwrap_or_else(|| lh_ir::bug!("`{table}` is no table"))
}

fn new_table(tags: &mut Decoder<'_, '_>, kind: Kind, count: usize) -> Result<Table, Refused> {
    let class = kind.class();
    let parts = tags.many(class.declaration().parameters.len());
    if !is_hashable(parts[0]) && !is_instance(parts[0]) {
        return Err(Refused::Type);
    }
    let ty = class.of(parts, false);
    let entry = Item::new(entry_type(ty)).ok_or(Refused::Type)?;
    Ok(Table { table: allocate(ty, &entry, count / kind.width())?, tail: entry.tail(), entry })
}

/// The bytes of a table's fields.
pub fn fields_size(ty: Ty) -> usize {
    let ends = ty.fields().iter().map(|f| f.offset + f.ty.mem_layout().1);
    ends.max().unwrap_or(layout::ENTRIES_FIELDS) - layout::ENTRIES_FIELDS
}

/// A table without entries and without an index.
fn allocate(ty: Ty, entry: &Item, count: usize) -> Result<ItemsRef, Refused> {
    let word = |offset: usize| (offset - layout::ENTRIES_FIELDS) / 8;
    let counted = ty.fields().iter().filter(|f| f.ty.flatten().first() == Some(&Prim::Mem));
    let mask = counted.fold(0, |mask, f| mask | 1 << word(f.offset));
    ItemsRef::with_fields(count, entry.size, entry.mask, fields_size(ty), mask).ok_or(Refused::TooLarge)
}

/// Gives a table that has entries their marks and its index.
fn index(table: &ItemsRef, entry: &Item, copies: Option<&Copies>) -> Result<(), Refused> {
    let live = table.len();
    let key = entry.ty.tuple_elems().map_or(Ty::int(), |parts| parts[1]);
    let words = key.flatten().len();
    for at in 0..live {
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
    unsafe {
        let set = |name: &str, word: u64| {
            let ty = class_of(entry.ty.tuple_elems().map_or(1, |parts| parts.len() - 1));
            let fields = ty.of(vec![Ty::int(); ty.declaration().parameters.len()], false).fields();
            let field = fields.iter().find(|f| f.name.as_str() == name);
            let offset = field.unwrap_or_else(|| lh_ir::bug!("tables have a field `{name}`")).offset;
            table.as_ptr().byte_add(offset).cast::<u64>().write(word);
        };
        set("_live", live as u64);
        make_index(table.as_ptr(), 6 * (live as i64 + 1), key_code(key)).map_err(|_| Refused::TooLarge)
    }
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
    let is_member = matches!(key.kind(), TyKind::Instance { class: InstanceOf::Enum { ints: true, .. }, .. });
    is_member || key.is_int() || key.is_bool() || key.is_float() && key.bits() > 16
}

fn is_hashable(key: Ty) -> bool {
    match key.kind() {
        TyKind::None | TyKind::Str => true,
        TyKind::Instance { class: InstanceOf::Buffer(Buffer::Bytes), .. } => true,
        TyKind::Class(c) if Kind::of_class(c.class) == Some(Kind::Frozen) => is_hashable(c.args[0]),
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_hashable(*t)),
        TyKind::Instance { class: InstanceOf::Enum { class, ints, .. }, .. } => *ints || has_hashable_members(*class),
        _ => key.is_scalar(),
    }
}

/// Whether keys are instances of a class of the program: Python has the hash of each.
fn is_instance(key: Ty) -> bool {
    match key.kind() {
        TyKind::Class(c) => c.class.user().is_some(),
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_hashable(*t) || is_instance(*t)),
        _ => false,
    }
}

/// The value of a member that is numbered, whose hash is that of its value.
fn value_of_member(py: Python<'_>, class: ObjId, word: i64) -> PyResult<Bound<'_, PyAny>> {
    enums::member(&table::object(py, class), word, false)?.getattr(intern!(py, "_value_"))
}

/// Whether the values of all members have a hash here.
fn has_hashable_members(class: ObjId) -> bool {
    // SAFETY: arguments are read while the thread is attached.
    let py = unsafe { Python::assume_attached() };
    let members = table::object(py, class).try_iter().into_iter().flatten().flatten();
    let mut values = members.map(|m| m.getattr(intern!(py, "_value_")));
    values.all(|v| v.is_ok_and(|v| member_value_hash(&v).is_some()))
}

fn member_hash(class: ObjId, word: i64) -> i64 {
    // SAFETY: as above.
    let py = unsafe { Python::assume_attached() };
    value_of_member(py, class, word).ok().and_then(|v| member_value_hash(&v)).unwrap_or(0)
}

fn member_value_hash(value: &Bound<'_, PyAny>) -> Option<i64> {
    if let Ok(text) = value.cast_exact::<PyString>() {
        return Some(table_hash(Text::of(text.to_str().ok()?.as_bytes())));
    }
    if value.is_exact_instance_of::<PyFloat>() {
        return Some(float_hash(value.extract::<f64>().ok()?.to_bits(), Ty::float()));
    }
    value.extract().ok()
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
        TyKind::Instance { class: InstanceOf::Enum { class, ints: false, .. }, .. } => {
            member_hash(*class, next() as i64)
        }
        TyKind::Instance { of, class: InstanceOf::Enum { .. } } => key_hash(*of, words, copies),
        TyKind::Class(_) if ty.is_time() => next() as i64,
        TyKind::Instance { of, class: InstanceOf::Buffer(_) } => {
            let (all, rest) = words.split_at(of.flatten().len());
            *words = rest;
            // SAFETY: the memory of a live key: its owner, address, size and stride, which is 1.
            bytes_hash(unsafe { std::slice::from_raw_parts(all[1] as *const u8, all[2] as usize) })
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
            let mut h = live(&set, ty) as i64;
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

fn float_hash(word: u64, ty: Ty) -> i64 {
    // Zeros of both signs are equal.
    (crate::object::words::float(word, ty) + 0.0).to_bits() as i64
}

fn mixed(h: i64, more: i64) -> i64 {
    let x = (h as u64 ^ more as u64).wrapping_mul(GOLDEN);
    (x ^ x >> 32) as i64
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
