//! Calls of functions of modules made ahead of time. Such a module has a run-time library of its own: memory crosses
//! the border with an owner of the other side's that holds the one of this side, and exceptions are raised anew.
//!
//! The structs are those of `python/lancehead/_command/ahead.c`.

use crate::classes::{RUNTIME_ERROR, builtin};
use crate::exception::{ExcArg, Pending, set_pending};
use crate::memory::alloc::{MemInfo, decref, incref, new_foreign, no_memory};
use crate::symbol::{Symbol, functions};
use crate::text::Text;
use std::ffi::{CStr, c_char, c_int, c_short, c_void};
use std::slice;

/// Name of the capsule that an exported function has as its `__self__`: the layout of the structs here.
pub const CAPSULE: &CStr = c"lancehead.export.3";

/// A type in a module's table.
#[repr(C)]
#[derive(Debug)]
pub struct Type {
    /// `b` bool, `i` int, `u` unsigned, `f` float, `c` complex, `n` None, `s` str, `a` array, `t` tuple, `o` optional.
    pub kind: c_char,
    /// The layout of an array: `C`, `F`, `A`.
    pub layout: c_char,
    /// Whether an array must not be written.
    pub readonly: c_char,
    /// NumPy's number of the element type.
    pub number: c_short,
    /// Bits of a number; dimensions of an array; items of a tuple.
    pub size: c_short,
    /// Slots that values take.
    pub slots: c_short,
    /// Items of a tuple, the value of an optional.
    parts: *const Type,
}

type Release = unsafe extern "C" fn(*mut c_void);

/// A module's description of itself.
#[repr(C)]
pub struct Library {
    /// A hash of all that it was made of.
    pub identity: *const c_char,
    /// Number of [`Export`]s from the first one on.
    pub count: c_int,
    exports: *const Export,
    /// The level of processors whose code runs.
    chosen: *const c_int,
    owner: unsafe extern "C" fn(*mut u8, *mut c_void, Release) -> *mut c_void,
    object: unsafe extern "C" fn(*mut c_void, Release) -> *mut c_void,
    release: Release,
    take: unsafe extern "C" fn() -> *const c_char,
    argument: unsafe extern "C" fn(i64, *mut Argument) -> i32,
}

type Entry = unsafe extern "C" fn(*const u64, *mut u64) -> i32;

/// An exported function with one signature.
#[repr(C)]
pub struct Export {
    /// The module.
    pub library: *const Library,
    /// Its name.
    pub name: *const c_char,
    text: *const c_char,
    /// Number of parameters.
    pub count: c_int,
    slots: c_int,
    nogil: c_char,
    /// Arguments whose memory it may write, as [`lh_ir::func::Foreign`] has it.
    pub writes: u32,
    /// Names of the parameters.
    pub parameters: *const *const c_char,
    types: *const Type,
    result: *const Type,
    entries: *const Entry,
}

/// An argument of an exception: `kind` tells which of the other fields say what it is.
#[repr(C)]
#[derive(Debug)]
pub struct Argument {
    /// 0 `None`, 1 bool, 2 int, 3 unsigned int, 4 float, 5 complex, 6 text; of a tuple, its text.
    pub kind: i32,
    /// The value of a bool or an int.
    pub integer: u64,
    /// The value of a float, the real part of a complex number.
    pub real: f64,
    /// The imaginary part of a complex number.
    pub imaginary: f64,
    /// UTF-8.
    pub text: *const c_char,
    /// Bytes of the text.
    pub length: i64,
}

impl Type {
    /// Items of a tuple, the value of an optional.
    pub fn parts(&self) -> &[Type] {
        let n = match self.kind.cast_unsigned() {
            b't' => self.size as usize,
            b'o' => 1,
            _ => return &[],
        };
        // SAFETY: tables have as many parts as they say.
        unsafe { slice::from_raw_parts(self.parts, n) }
    }
    /// Visits the slots of owners of memory in a value that begins at a slot.
    fn owners(&self, at: usize, visit: &mut dyn FnMut(usize)) {
        match self.kind.cast_unsigned() {
            b'a' | b's' => visit(at),
            b'o' => self.parts()[0].owners(at + 1, visit),
            _ => {
                let mut at = at;
                for part in self.parts() {
                    part.owners(at, visit);
                    at += part.slots as usize;
                }
            }
        }
    }
}

impl Export {
    /// Types of the parameters.
    pub fn types(&self) -> &[Type] {
        // SAFETY: tables have as many types as parameters, and at least one.
        unsafe { slice::from_raw_parts(self.types, self.count as usize) }
    }
    /// Type of the result.
    pub fn result(&self) -> &Type {
        // SAFETY: every row of a table has one.
        unsafe { &*self.result }
    }
    /// The rows of the module's table from here on.
    pub fn following(&self) -> &[Export] {
        // SAFETY: this row is one of the table's.
        unsafe {
            let library = &*self.library;
            let at = std::ptr::from_ref(self).offset_from_unsigned(library.exports);
            slice::from_raw_parts(self, library.count as usize - at)
        }
    }
}

/// Gives our reference back, when the other side lets an argument go.
#[inline(never)]
unsafe extern "C" fn give_back(object: *mut c_void) {
    // SAFETY: it is the owner for which `lend` took a reference.
    unsafe { decref(object.cast()) }
}

/// Calls an exported function. Arguments have no owners if the result has no memory: then nothing can outlive the call.
///
/// # Safety
/// The export is a loaded module's; slots are as its table says, with room for the result.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_foreign_call(export: *const Export, slots: *mut u64, out: *mut u64) -> i32 {
    // SAFETY: as promised.
    unsafe {
        let e = &*export;
        let library = &*e.library;
        let entry = *e.entries.add(*library.chosen as usize);
        let mut results = Vec::new();
        e.result().owners(0, &mut |at| results.push(at));
        if results.is_empty() {
            return if entry(slots, out) == 0 { 0 } else { pass_on(library) };
        }
        let Ok(lent) = lend(e, slots) else { return no_memory(size_of::<MemInfo>() as i128) };
        let status = entry(slots, out);
        let mut full = false;
        if status == 0 {
            for at in results {
                full |= take_over(library, out.add(at)).is_none();
            }
        }
        lent.into_iter().for_each(|owner| (library.release)(owner));
        match status {
            0 if full => no_memory(size_of::<MemInfo>() as i128),
            0 => 0,
            _ => pass_on(library),
        }
    }
}

/// Puts owners of the other side's in the place of ours; they hold references of ours.
unsafe fn lend(e: &Export, slots: *mut u64) -> Result<Vec<*mut c_void>, ()> {
    let (mut places, mut at) = (Vec::new(), 0);
    for t in e.types() {
        t.owners(at, &mut |at| places.push(at));
        at += t.slots as usize;
    }
    let mut lent = Vec::new();
    // SAFETY: the caller's promise: slots are as the types say, the address comes after the owner.
    unsafe {
        let library = &*e.library;
        for slot in places.into_iter().map(|at| slots.add(at)) {
            let ours: *mut c_void = std::ptr::with_exposed_provenance_mut(*slot as usize);
            if ours.is_null() {
                continue;
            }
            let data = std::ptr::with_exposed_provenance_mut(*slot.add(1) as usize);
            let owner = (library.owner)(data, ours, give_back);
            if owner.is_null() {
                lent.into_iter().for_each(|owner| (library.release)(owner));
                return Err(());
            }
            incref(ours.cast());
            *slot = owner.expose_provenance() as u64;
            lent.push(owner);
        }
    }
    Ok(lent)
}

/// Puts an owner of ours in the place of the other side's: the argument's own, or one that holds theirs. `None`: no
/// memory.
unsafe fn take_over(library: &Library, slot: *mut u64) -> Option<()> {
    // SAFETY: the slot has an owner, the next one its address.
    unsafe {
        let theirs: *mut c_void = std::ptr::with_exposed_provenance_mut(*slot as usize);
        if theirs.is_null() {
            return Some(());
        }
        let argument: *mut MemInfo = (library.object)(theirs, give_back).cast();
        let data = std::ptr::with_exposed_provenance_mut(*slot.add(1) as usize);
        let ours = if argument.is_null() { new_foreign(data, 0, theirs, library.release) } else { argument };
        if !argument.is_null() {
            incref(argument);
        }
        if ours.is_null() || !argument.is_null() {
            (library.release)(theirs);
        }
        *slot = ours.expose_provenance() as u64;
        (!ours.is_null()).then_some(())
    }
}

/// Raises here what is pending there.
#[cold]
unsafe fn pass_on(library: &Library) -> i32 {
    let mut args = Vec::new();
    // SAFETY: functions of the module; what they say is valid until the next exception is taken.
    let name = unsafe {
        let name = (library.take)();
        let mut a = Argument { kind: 0, integer: 0, real: 0.0, imaginary: 0.0, text: std::ptr::null(), length: 0 };
        while (library.argument)(args.len() as i64, &raw mut a) != 0 {
            args.push(match a.kind {
                1 => ExcArg::Bool(a.integer != 0),
                2 => ExcArg::Int(a.integer.cast_signed()),
                3 => ExcArg::Uint(a.integer),
                4 => ExcArg::Float(a.real),
                5 => ExcArg::Complex(a.real, a.imaginary),
                6 => {
                    let bytes = slice::from_raw_parts(a.text.cast::<u8>(), a.length as usize);
                    ExcArg::Str(Text::of(bytes).to_owned())
                }
                _ => ExcArg::None,
            });
        }
        if name.is_null() { "" } else { CStr::from_ptr(name).to_str().unwrap_or_default() }
    };
    set_pending(Pending::new(builtin(name).unwrap_or(RUNTIME_ERROR), args));
    1
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { (_ _ _) lh_foreign_call; }
}
