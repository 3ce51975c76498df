//! Memory of the interpreter: objects far apart in one address space, so that an address outside of its object belongs
//! to none.
//!
//! Each byte is known or not: reading what was never written gives poison. Objects have counts of references, which
//! matter only once these are explicit.

use super::Stop;
use super::items::ItemsHead;
use super::word::{Word, Words, truncated};
use lh_ir::consts::ASCII;
use lh_ir::types::Prim;
use lh_ir::{Ty, bug};
use std::collections::HashMap;

/// Distance of objects.
const APART: u32 = 32;
/// No program of the tests needs more at once.
const MOST_BYTES: usize = 1 << 22;

/// Memory.
#[derive(Clone, Default)]
pub struct Memory {
    objects: Vec<Object>,
    /// Objects that were there before the program began.
    given: usize,
    texts: HashMap<String, u64>,
}

/// Memory that was given or made at once.
#[derive(Clone)]
pub struct Object {
    pub bytes: Vec<u8>,
    pub known: Vec<bool>,
    /// References to it, if it is counted at all.
    pub count: i64,
    pub is_counted: bool,
    pub is_freed: bool,
    /// Nobody may write to it.
    pub is_constant: bool,
    /// Present if it is the header of an object with items.
    pub items: Option<ItemsHead>,
    /// The type of an object with fields.
    pub class: Option<Ty>,
}

impl Memory {
    /// New memory of which nothing is known, and which nobody counts; its address.
    pub fn make(&mut self, size: usize) -> u64 {
        self.objects.push(Object {
            bytes: vec![0; size],
            known: vec![false; size],
            count: 1,
            is_counted: false,
            is_freed: false,
            is_constant: false,
            items: None,
            class: None,
        });
        (self.objects.len() as u64) << APART
    }
    /// The same with one reference, of a size that a program asks for; `None` if there is no such memory.
    pub fn allocate(&mut self, size: i64) -> Option<u64> {
        let size = usize::try_from(size).ok().filter(|s| *s <= MOST_BYTES)?;
        let address = self.make(size);
        self.objects.last_mut()?.is_counted = true;
        Some(address)
    }
    /// From here on, what is there was given.
    pub fn give(&mut self) {
        self.given = self.objects.len();
    }
    /// The object that an address was given in, and where in it.
    pub fn given(&self, address: Word) -> Option<(usize, usize)> {
        Memory::place(address?).filter(|(object, _)| *object < self.given)
    }
    /// Number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
    /// All objects.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }
    /// Addresses and types of the objects with fields that have not been released.
    pub fn with_fields(&self) -> Vec<(u64, Ty)> {
        let all = self.objects.iter().enumerate().filter(|(_, o)| !o.is_freed);
        all.filter_map(|(i, o)| o.class.map(|ty| ((i as u64 + 1) << APART, ty))).collect()
    }
    /// The object in whose range an address lies, and the distance from its beginning. The object may be smaller.
    pub fn place(address: u64) -> Option<(usize, usize)> {
        let number = (address >> APART) as usize;
        Some((number.checked_sub(1)?, (address & ((1 << APART) - 1)) as usize))
    }
    /// The object that begins at an address.
    pub fn object(&self, address: u64) -> Option<&Object> {
        self.objects.get(Memory::place(address)?.0)
    }
    /// The same, to be changed.
    pub fn object_mut(&mut self, address: u64) -> Option<&mut Object> {
        self.objects.get_mut(Memory::place(address)?.0)
    }

    /// The object and the range of it that an access goes to.
    fn access(&self, address: Word, size: usize) -> Result<(usize, usize), Stop> {
        let Some(address) = address else { return Err(Stop::undefined("an access at an unknown address")) };
        let found = Memory::place(address).filter(|(object, _)| *object < self.objects.len());
        let Some((object, at)) = found else { return Err(Stop::undefined(format!("an access at {address:#x}"))) };
        let o = &self.objects[object];
        if o.is_freed {
            return Err(Stop::undefined(format!("object {object} is used after it was released")));
        }
        if at + size > o.bytes.len() {
            let len = o.bytes.len();
            return Err(Stop::undefined(format!("{size} bytes at {at} of object {object}, which has {len}")));
        }
        Ok((object, at))
    }
    /// Reads bytes; `None` if one of them is not known.
    pub fn bytes(&self, address: Word, size: usize) -> Result<Option<&[u8]>, Stop> {
        if size == 0 {
            return Ok(Some(&[]));
        }
        let (object, at) = self.access(address, size)?;
        let o = &self.objects[object];
        Ok(o.known[at..at + size].iter().all(|k| *k).then(|| &o.bytes[at..at + size]))
    }
    /// Reads a primitive.
    pub fn load(&self, address: Word, prim: Prim) -> Result<Word, Stop> {
        let Some(bytes) = self.bytes(address, prim.size())? else { return Ok(None) };
        let bits = bytes.iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b));
        Ok(Some(if prim == Prim::I1 { u64::from(bits != 0) } else { bits }))
    }
    /// Writes a primitive.
    pub fn store(&mut self, address: Word, prim: Prim, word: Word) -> Result<(), Stop> {
        self.write(address, &truncated(word.unwrap_or(0), prim.size()).to_le_bytes()[..prim.size()], word.is_some())
    }
    /// Writes bytes, or that they are not known.
    pub fn write(&mut self, address: Word, bytes: &[u8], known: bool) -> Result<(), Stop> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (object, at) = self.access(address, bytes.len())?;
        let o = &mut self.objects[object];
        if o.is_constant {
            return Err(Stop::undefined(format!("object {object} is constant, and written to")));
        }
        o.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        o.known[at..at + bytes.len()].fill(known);
        Ok(())
    }
    /// Copies bytes, known or not, between regions that may overlap.
    pub fn copy(&mut self, to: Word, from: Word, size: usize) -> Result<(), Stop> {
        if size == 0 {
            return Ok(());
        }
        let (object, at) = self.access(from, size)?;
        let bytes = self.objects[object].bytes[at..at + size].to_vec();
        let known = self.objects[object].known[at..at + size].to_vec();
        self.write(to, &bytes, true)?;
        let (object, at) = self.access(to, size)?;
        self.objects[object].known[at..at + size].copy_from_slice(&known);
        Ok(())
    }
    /// Reads a value of a type.
    pub fn load_value(&self, address: Word, ty: Ty) -> Result<Words, Stop> {
        let (offsets, ..) = ty.mem_layout();
        let prims = ty.flatten();
        prims.iter().zip(offsets).map(|(p, o)| self.load(address.map(|a| a.wrapping_add(o as u64)), *p)).collect()
    }
    /// Writes a value of a type.
    pub fn store_value(&mut self, address: Word, ty: Ty, words: &[Word]) -> Result<(), Stop> {
        let (offsets, ..) = ty.mem_layout();
        for ((p, o), w) in ty.flatten().iter().zip(offsets).zip(words) {
            self.store(address.map(|a| a.wrapping_add(o as u64)), *p, *w)?;
        }
        Ok(())
    }

    /// A string that is a constant of the program: nobody owns it.
    pub fn constant_text(&mut self, text: &str) -> Words {
        let address = match self.texts.get(text) {
            Some(a) => *a,
            None => {
                let a = self.make(text.len());
                let o = self.object_mut(a).unwrap_or_else(|| bug!("an object was just made"));
                o.bytes.copy_from_slice(text.as_bytes());
                o.known.fill(true);
                o.is_constant = true;
                self.texts.insert(text.to_owned(), a);
                a
            }
        };
        [Some(0), Some(address), Some(text_length(text))].into_iter().collect()
    }
    /// A new string.
    pub fn new_text(&mut self, text: &str) -> Result<Words, Stop> {
        let address = self.allocate(text.len() as i64).ok_or(Stop::Fuel)?;
        self.write(Some(address), text.as_bytes(), true)?;
        Ok([Some(address), Some(address), Some(text_length(text))].into_iter().collect())
    }
    /// The text of a string.
    pub fn text(&self, words: &[Word]) -> Result<String, Stop> {
        let [_, data, Some(len)] = *words else { return Err(Stop::undefined("a string of unknown length")) };
        match self.bytes(data, (len as i64 & !ASCII) as usize)? {
            Some(bytes) => String::from_utf8(bytes.to_vec()).map_err(|_| Stop::undefined("a string that is no text")),
            None => Err(Stop::undefined("a string of unknown bytes")),
        }
    }

    /// Takes a reference to an object; of nothing, nothing.
    pub fn incref(&mut self, address: Word) -> Result<(), Stop> {
        if let Some(o) = self.counted(address)? {
            o.count += 1;
        }
        Ok(())
    }
    /// Drops a reference.
    pub fn decref(&mut self, address: Word) -> Result<(), Stop> {
        let Some(o) = self.counted(address)? else { return Ok(()) };
        o.count -= 1;
        if o.count > 0 {
            return Ok(());
        }
        let (class, at) = (o.class.take(), address);
        let held = class.map_or(Ok(Vec::new()), |ty| self.references_of_fields(at, ty))?;
        let o = self.counted(at)?.unwrap_or_else(|| bug!("an object that was just there"));
        o.is_freed = true;
        let items = o.items.take();
        held.into_iter().try_for_each(|word| self.decref(word))?;
        items.map_or(Ok(()), |items| items.release(self))
    }
    fn counted(&mut self, address: Word) -> Result<Option<&mut Object>, Stop> {
        let Some(address) = address else { return Err(Stop::undefined("a reference that is not known is counted")) };
        if address == 0 {
            return Ok(None);
        }
        let found = Memory::place(address).map(|(object, _)| object);
        match found.and_then(|object| self.objects.get_mut(object)) {
            Some(o) if o.is_freed => Err(Stop::undefined(format!("{address:#x} is counted after it was released"))),
            Some(o) => Ok(Some(o)),
            None => Err(Stop::undefined(format!("{address:#x} is counted, and is no object"))),
        }
    }
}

fn text_length(text: &str) -> u64 {
    (text.len() as i64 | if text.is_ascii() { ASCII } else { 0 }) as u64
}
