//! A loader for the objects that we emit: ELF64 for x86-64, position independent, small code model.
//!
//! All sections of an object are near each other, so that they reach each other by 32-bit offsets. External data are
//! accessed through a table of addresses, external functions through stubs that jump through the table. Memory is
//! writable while it is filled, and never afterwards writable and executable at once.

use super::memory::Memory;
use super::{gdb, half};
use std::collections::HashMap;
use std::ffi::CString;
use std::ops::Range;

const EXEC: usize = 0;
const READ: usize = 1;
const WRITE: usize = 2;
const STUB: usize = 8;

/// An entry stub: arguments and result are in 8-byte slots, the status is 1 if an exception is pending.
pub type EntryPoint = unsafe extern "C" fn(*const u64, *mut u64) -> i32;

/// Code in memory. It is freed when dropped.
#[derive(Debug)]
pub struct Loaded {
    symbols: HashMap<String, (usize, usize)>,
    /// The registration with a debugger, which ends before the memory is free for others.
    _debug: Option<gdb::Registration>,
    memory: Memory,
}

// SAFETY: the memory is not changed after loading, the type only hands out addresses, and the registration locks.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// The addresses of code and constants.
    pub fn code(&self) -> Range<usize> {
        self.memory.range()
    }

    /// Address of a global symbol.
    pub fn address(&self, symbol: &str) -> Option<usize> {
        self.symbols.get(symbol).map(|(at, _)| *at)
    }
    /// The entry stub of a symbol.
    pub fn entry(&self, symbol: &str) -> Option<EntryPoint> {
        // SAFETY: code generation makes entry stubs with exactly this signature; calling one is the caller's promise.
        self.address(symbol).map(|a| unsafe { std::mem::transmute::<usize, EntryPoint>(a) })
    }
    /// Defined functions and data: name, address, size.
    pub fn symbols(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.symbols.iter().map(|(n, (at, size))| (n.as_str(), *at, *size))
    }
    /// Keeps the code for the lifetime of the process.
    pub fn leak(self) {
        std::mem::forget(self);
    }
}

/// A section header.
#[derive(Clone, Copy)]
struct Section {
    name: usize,
    kind: u32,
    flags: u64,
    offset: usize,
    size: usize,
    link: usize,
    info: usize,
    align: usize,
}

/// A symbol table entry.
struct Symbol {
    name: String,
    section: usize,
    value: usize,
    size: usize,
    is_global: bool,
}

struct Object<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
    symbols: Vec<Symbol>,
}

fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let part = bytes.get(at..at + size).unwrap_or_else(|| lh_ir::bug!("an object file ends early"));
    part.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

impl<'a> Object<'a> {
    fn parse(bytes: &'a [u8]) -> Object<'a> {
        if !bytes.starts_with(b"\x7fELF\x02\x01") || number(bytes, 18, 2) != 62 {
            lh_ir::bug!("not an x86-64 object file");
        }
        let (table, count) = (number(bytes, 40, 8) as usize, number(bytes, 60, 2) as usize);
        let section = |i: usize| {
            let field = |at, size| number(bytes, table + 64 * i + at, size) as usize;
            Section {
                name: field(0, 4),
                kind: field(4, 4) as u32,
                flags: field(8, 8) as u64,
                offset: field(24, 8),
                size: field(32, 8),
                link: field(40, 4),
                info: field(44, 4),
                align: field(48, 8).max(1),
            }
        };
        let mut object = Object { bytes, sections: (0..count).map(section).collect(), symbols: Vec::new() };
        if let Some(symtab) = object.sections.iter().find(|s| s.kind == 2).copied() {
            let strings = object.sections[symtab.link];
            object.symbols = (0..symtab.size / 24).map(|i| object.symbol(symtab.offset + 24 * i, strings)).collect();
        }
        object
    }

    fn symbol(&self, at: usize, strings: Section) -> Symbol {
        let field = |o, size| number(self.bytes, at + o, size) as usize;
        let name = &self.bytes[strings.offset + field(0, 4)..];
        let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
        Symbol {
            name: String::from_utf8_lossy(&name[..end]).into_owned(),
            is_global: field(4, 1) >> 4 != 0,
            section: field(6, 2),
            value: field(8, 8),
            size: field(16, 8),
        }
    }

    /// The part of memory for a section, from `SHF_ALLOC`, `SHF_EXECINSTR` and `SHF_WRITE`. Unwind tables are not
    /// loaded, since nothing unwinds through our code. Constants with addresses are only written while they are loaded.
    fn place(&self, s: &Section) -> Option<usize> {
        const UNWIND: u32 = 0x7000_0001;
        match () {
            () if s.flags & 2 == 0 || s.kind == UNWIND => None,
            () if s.flags & 4 != 0 => Some(EXEC),
            () if s.flags & 1 != 0 && !self.name(s).starts_with(b".data.rel.ro") => Some(WRITE),
            () => Some(READ),
        }
    }

    /// The name of a section and what follows it.
    fn name(&self, s: &Section) -> &[u8] {
        let names = self.sections.get(number(self.bytes, 62, 2) as usize);
        names.and_then(|names| self.bytes.get(names.offset + s.name..)).unwrap_or_default()
    }
}

/// The image under construction.
struct Image<'a> {
    object: Object<'a>,
    memory: Memory,
    /// Address of each loaded section.
    at: Vec<Option<usize>>,
    /// Addresses of the stubs and of the address table, and the index of each external symbol in both.
    stubs: usize,
    table: usize,
    entries: HashMap<usize, usize>,
    resolve: &'a dyn Fn(&str) -> Option<usize>,
}

/// Loads an object. Undefined symbols are resolved by `resolve`, by the math library and by the process (the C
/// library), in this order.
pub fn load(object: &[u8], resolve: &dyn Fn(&str) -> Option<usize>) -> Loaded {
    let object = Object::parse(object);
    let mut offsets = vec![None; object.sections.len()];
    let (mut end, mut code) = (0usize, 0);
    let (mut stubs, mut table) = (0, 0);
    let external = object.symbols.len();
    for part in [EXEC, READ, WRITE] {
        for (i, s) in object.sections.iter().enumerate().filter(|(_, s)| object.place(s) == Some(part)) {
            end = end.next_multiple_of(s.align);
            offsets[i] = Some((part, end));
            end += s.size;
        }
        end = end.next_multiple_of(16);
        match part {
            EXEC => (stubs, end) = (end, end + STUB * external),
            READ => (table, code, end) = (end, end + 8 * external, 0),
            _ => {}
        }
    }
    let memory = Memory::new(code, end);
    let (code, data) = (memory.code(), memory.data());
    let address = |(part, offset)| if part == WRITE { data + offset } else { code + offset };
    let at = offsets.into_iter().map(|o| o.map(address)).collect();
    let (stubs, table) = (code + stubs, code + table);
    let mut image = Image { object, memory, at, stubs, table, entries: HashMap::new(), resolve };
    image.copy();
    image.relocate();
    image.memory.seal();
    let debug = image.for_debugger().map(gdb::register);
    Loaded { symbols: image.defined(), _debug: debug, memory: image.memory }
}

impl Image<'_> {
    fn copy(&mut self) {
        for (i, s) in self.object.sections.iter().enumerate() {
            const NOBITS: u32 = 8;
            if let (Some(at), true) = (self.at[i], s.kind != NOBITS) {
                self.memory.write(at, &self.object.bytes[s.offset..s.offset + s.size]);
            }
        }
    }

    /// Address of a symbol that the object defines.
    fn defined_at(&self, s: &Symbol) -> Option<usize> {
        self.at.get(s.section).copied().flatten().map(|at| at + s.value)
    }

    fn find(&self, symbol: usize) -> usize {
        let s = &self.object.symbols[symbol];
        let ours = || lh_math::address(&s.name).or_else(|| half::address(&s.name));
        if let Some(at) = self.defined_at(s).or_else(|| (self.resolve)(&s.name)).or_else(ours) {
            return at;
        }
        let name = CString::new(s.name.as_str()).unwrap_or_default();
        // SAFETY: looks a name up in the process.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if found.is_null() {
            lh_ir::bug!("compiled code needs `{}`, which does not exist", s.name);
        }
        found.addr()
    }

    /// Addresses of a symbol's entry in the address table and of its stub, both filled on first use.
    fn entry(&mut self, symbol: usize) -> (usize, usize) {
        let n = self.entries.len();
        if let Some(i) = self.entries.get(&symbol) {
            return (self.table + 8 * i, self.stubs + STUB * i);
        }
        self.entries.insert(symbol, n);
        let (entry, stub) = (self.table + 8 * n, self.stubs + STUB * n);
        let address = self.find(symbol) as u64;
        let jump = (entry as i64 - (stub as i64 + 6)) as i32;
        self.memory.write(entry, &address.to_le_bytes());
        self.memory.write(stub, &[0xff, 0x25]);
        self.memory.write(stub + 2, &jump.to_le_bytes());
        (entry, stub)
    }

    fn relocate(&mut self) {
        const RELA: u32 = 4;
        let tables: Vec<Section> = self.object.sections.iter().filter(|s| s.kind == RELA).copied().collect();
        for t in tables {
            let Some(target) = self.at[t.info] else { continue };
            for i in 0..t.size / 24 {
                let field = |o| number(self.object.bytes, t.offset + 24 * i + o, 8);
                let (offset, info, addend) = (field(0) as usize, field(8), field(16) as i64);
                self.fix(target + offset, info as u32, (info >> 32) as usize, addend);
            }
        }
    }

    fn fix(&mut self, at: usize, kind: u32, symbol: usize, addend: i64) {
        let here = at as i64;
        let is_outside = self.defined_at(&self.object.symbols[symbol]).is_none();
        let (value, size) = match kind {
            // R_X86_64_64
            1 => (self.find(symbol) as i64 + addend, 8),
            // PLT32 to external functions; GOTPCREL, GOTPCRELX, REX_GOTPCRELX, CODE_4_GOTPCRELX
            4 if is_outside => (self.entry(symbol).1 as i64 + addend - here, 4),
            9 | 41 | 42 | 43 => (self.entry(symbol).0 as i64 + addend - here, 4),
            // PC32, PLT32
            2 | 4 => (self.find(symbol) as i64 + addend - here, 4),
            // PC64
            24 => (self.find(symbol) as i64 + addend - here, 8),
            other => lh_ir::bug!("relocation {other} in an object file"),
        };
        if size == 4 && i32::try_from(value).is_err() {
            lh_ir::bug!("relocation {kind} out of range");
        }
        self.memory.write(at, &value.to_le_bytes()[..size]);
    }

    /// The object with the addresses of its sections, for debuggers; `None` without line tables.
    fn for_debugger(&self) -> Option<Vec<u8>> {
        let (bytes, sections) = (self.object.bytes, &self.object.sections);
        sections.iter().find(|s| self.object.name(s).starts_with(b".debug_line\0"))?;
        let (mut copy, table) = (bytes.to_vec(), number(bytes, 40, 8) as usize);
        for (i, at) in self.at.iter().enumerate().filter_map(|(i, at)| Some((i, (*at)?))) {
            let field = table + 64 * i + 16;
            copy[field..field + 8].copy_from_slice(&(at as u64).to_le_bytes());
        }
        Some(copy)
    }

    fn defined(&self) -> HashMap<String, (usize, usize)> {
        let named = self.object.symbols.iter().filter(|s| !s.name.is_empty() && (s.is_global || s.size > 0));
        named.filter_map(|s| Some((s.name.clone(), (self.defined_at(s)?, s.size)))).collect()
    }
}
