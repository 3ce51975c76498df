//! Switching between stacks. Only the registers that a called function has to preserve are saved.

use std::arch::naked_asm;

/// Switches to another stack; stores the stack pointer of the current one in `save`.
///
/// # Safety
/// `to` was stored by this function, or made by [`prepare`]; the stack it lies on is alive and no thread runs on it.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn switch(save: *mut *mut u8, to: *mut u8) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// The start of a new fiber: calls the function that [`prepare`] has put into a preserved register.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn begin() {
    naked_asm!("mov rdi, rbx", "call r12", "ud2")
}

/// A new stack on which `main(data)` begins when it is switched to; `main` never returns.
///
/// # Safety
/// `top` is the end of a stack that is alive, aligned to 16 bytes.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn prepare(top: *mut u8, main: unsafe extern "C" fn(*mut u8) -> !, data: *mut u8) -> *mut u8 {
    // r15 r14 r13 r12 rbx rbp, then where `switch` returns to; the call in `begin` finds an aligned stack.
    let words: [usize; 7] =
        [0, 0, 0, main as *const () as usize, data.expose_provenance(), 0, begin as *const () as usize];
    // SAFETY: the words fit the stack.
    unsafe {
        let at = top.sub(72);
        at.cast::<[usize; 7]>().write(words);
        at
    }
}

/// Switches to another stack; stores the stack pointer of the current one in `save`.
///
/// # Safety
/// `to` was stored by this function, or made by [`prepare`]; the stack it lies on is alive and no thread runs on it.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn switch(save: *mut *mut u8, to: *mut u8) {
    naked_asm!(
        "sub sp, sp, #160",
        "stp x19, x20, [sp, #0]",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "ldp x19, x20, [sp, #0]",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "add sp, sp, #160",
        "ret",
    )
}

/// The start of a new fiber: calls the function that [`prepare`] has put into a preserved register.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn begin() {
    naked_asm!("mov x0, x19", "blr x20", "brk #1")
}

/// A new stack on which `main(data)` begins when it is switched to; `main` never returns.
///
/// # Safety
/// `top` is the end of a stack that is alive, aligned to 16 bytes.
#[cfg(target_arch = "aarch64")]
pub(super) unsafe fn prepare(top: *mut u8, main: unsafe extern "C" fn(*mut u8) -> !, data: *mut u8) -> *mut u8 {
    let mut words = [0usize; 20];
    (words[0], words[1]) = (data.expose_provenance(), main as *const () as usize);
    words[11] = begin as *const () as usize;
    // SAFETY: the words fit the stack.
    unsafe {
        let at = top.sub(160);
        at.cast::<[usize; 20]>().write(words);
        at
    }
}
