//! A loader for the objects that we emit: ELF64 for x86-64, position independent, small code model.
//!
//! All sections of an object are in one mapping, so that they reach each other by 32-bit offsets. External data are
//! accessed through a table of addresses, external functions through stubs that jump through the table. Memory is
//! writable while it is filled, and never afterwards writable and executable at once.

use super::{gdb, half};
use std::collections::HashMap;
use std::ffi::CString;

const EXEC: usize = 0;
const READ: usize = 1;
const WRITE: usize = 2;
const STUB: usize = 8;

/// An entry stub: arguments and result are in 8-byte slots, the status is 1 if an exception is pending.
pub type EntryPoint = unsafe extern "C" fn(*const u64, *mut u64) -> i32;

/// Code in memory. It is freed when dropped.
#[derive(Debug)]
pub struct Loaded {
    base: *mut u8,
    len: usize,
    symbols: HashMap<String, (usize, usize)>,
    /// The registration with a debugger.
    debug: Option<gdb::Registration>,
}

// SAFETY: the mapping is not changed after loading, the type only hands out addresses, and the registration locks.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Loaded {
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

impl Drop for Loaded {
    fn drop(&mut self) {
        self.debug = None;
        // SAFETY: the mapping was made by `load`, and whoever dropped us runs no code in it.
        unsafe { libc::munmap(self.base.cast(), self.len) };
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
    /// loaded, since nothing unwinds through our code.
    fn place(s: &Section) -> Option<usize> {
        const UNWIND: u32 = 0x7000_0001;
        match () {
            () if s.flags & 2 == 0 || s.kind == UNWIND => None,
            () if s.flags & 4 != 0 => Some(EXEC),
            () if s.flags & 1 != 0 => Some(WRITE),
            () => Some(READ),
        }
    }
}

/// The image under construction.
struct Image<'a> {
    object: Object<'a>,
    base: *mut u8,
    len: usize,
    /// Offset of each loaded section.
    at: Vec<Option<usize>>,
    /// Offsets of the stubs and of the address table, and the index of each external symbol in both.
    stubs: usize,
    table: usize,
    entries: HashMap<usize, usize>,
    resolve: &'a dyn Fn(&str) -> Option<usize>,
}

/// Loads an object. Undefined symbols are resolved by `resolve`, by the math library and by the process (the C
/// library), in this order.
pub fn load(object: &[u8], resolve: &dyn Fn(&str) -> Option<usize>) -> Loaded {
    let object = Object::parse(object);
    let page = 4096;
    let mut at = vec![None; object.sections.len()];
    let (mut end, mut executable) = (0usize, 0usize);
    let (mut stubs, mut table) = (0, 0);
    let external = object.symbols.len();
    for part in [EXEC, READ, WRITE] {
        for (i, s) in object.sections.iter().enumerate().filter(|(_, s)| Object::place(s) == Some(part)) {
            end = end.next_multiple_of(s.align);
            at[i] = Some(end);
            end += s.size;
        }
        end = end.next_multiple_of(16);
        match part {
            EXEC => (stubs, end) = (end, end + STUB * external),
            READ => {
                (table, end) = (end, (end + 8 * external).next_multiple_of(page));
                executable = end;
            }
            _ => {}
        }
    }
    let len = end.next_multiple_of(page).max(page);
    // SAFETY: a new anonymous mapping.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        lh_ir::bug!("no memory for {len} bytes of code");
    }
    let mut image = Image { object, base: base.cast(), len, at, stubs, table, entries: HashMap::new(), resolve };
    image.copy();
    image.relocate();
    image.protect(executable);
    Loaded { base: image.base, len, symbols: image.defined(), debug: image.for_debugger().map(gdb::register) }
}

impl Image<'_> {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is ours, of this length, and still writable.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.len) }
    }

    fn copy(&mut self) {
        for (i, s) in self.object.sections.clone().into_iter().enumerate() {
            const NOBITS: u32 = 8;
            if let (Some(at), true) = (self.at[i], s.kind != NOBITS) {
                let from = self.object.bytes;
                self.bytes()[at..at + s.size].copy_from_slice(&from[s.offset..s.offset + s.size]);
            }
        }
    }

    /// Address of a symbol that the object defines.
    fn defined_at(&self, s: &Symbol) -> Option<usize> {
        self.at.get(s.section).copied().flatten().map(|at| self.base.addr() + at + s.value)
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

    /// Offsets of a symbol's entry in the address table and of its stub, both filled on first use.
    fn entry(&mut self, symbol: usize) -> (usize, usize) {
        let n = self.entries.len();
        if let Some(i) = self.entries.get(&symbol) {
            return (self.table + 8 * i, self.stubs + STUB * i);
        }
        self.entries.insert(symbol, n);
        let (entry, stub) = (self.table + 8 * n, self.stubs + STUB * n);
        let address = self.find(symbol) as u64;
        let jump = (entry as i64 - (stub as i64 + 6)) as i32;
        let bytes = self.bytes();
        bytes[entry..entry + 8].copy_from_slice(&address.to_le_bytes());
        bytes[stub..stub + 2].copy_from_slice(&[0xff, 0x25]);
        bytes[stub + 2..stub + 6].copy_from_slice(&jump.to_le_bytes());
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
        let here = (self.base.addr() + at) as i64;
        let is_outside = self.defined_at(&self.object.symbols[symbol]).is_none();
        let base = self.base.addr() as i64;
        let (value, size) = match kind {
            // R_X86_64_64
            1 => (self.find(symbol) as i64 + addend, 8),
            // PLT32 to external functions; GOTPCREL, GOTPCRELX, REX_GOTPCRELX, CODE_4_GOTPCRELX
            4 if is_outside => (base + self.entry(symbol).1 as i64 + addend - here, 4),
            9 | 41 | 42 | 43 => (base + self.entry(symbol).0 as i64 + addend - here, 4),
            // PC32, PLT32
            2 | 4 => (self.find(symbol) as i64 + addend - here, 4),
            // PC64
            24 => (self.find(symbol) as i64 + addend - here, 8),
            other => lh_ir::bug!("relocation {other} in an object file"),
        };
        if size == 4 && i32::try_from(value).is_err() {
            lh_ir::bug!("relocation {kind} out of range");
        }
        self.bytes()[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    /// Makes code and constants executable, together: a process may have 65,530 mappings only.
    fn protect(&self, end: usize) {
        let flags = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: a part of our mapping, at page boundaries.
        if end > 0 && unsafe { libc::mprotect(self.base.cast(), end, flags) } != 0 {
            lh_ir::bug!("the system does not let memory become executable");
        }
    }

    /// The object with the addresses of its sections, for debuggers; `None` without line tables.
    fn for_debugger(&self) -> Option<Vec<u8>> {
        let (bytes, sections) = (self.object.bytes, &self.object.sections);
        let names = sections.get(number(bytes, 62, 2) as usize)?;
        let is_line_table = |s: &Section| bytes[names.offset + s.name..].starts_with(b".debug_line\0");
        sections.iter().find(|s| is_line_table(s))?;
        let (mut copy, table) = (bytes.to_vec(), number(bytes, 40, 8) as usize);
        for (i, at) in self.at.iter().enumerate().filter_map(|(i, at)| Some((i, (*at)?))) {
            let field = table + 64 * i + 16;
            copy[field..field + 8].copy_from_slice(&((self.base.addr() + at) as u64).to_le_bytes());
        }
        Some(copy)
    }

    fn defined(&self) -> HashMap<String, (usize, usize)> {
        let named = self.object.symbols.iter().filter(|s| !s.name.is_empty() && (s.is_global || s.size > 0));
        named.filter_map(|s| Some((s.name.clone(), (self.defined_at(s)?, s.size)))).collect()
    }
}
