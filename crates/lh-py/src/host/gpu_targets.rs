//! Numbers of GPUs that kernels are compiled for, as the compiler's options have them.

use crate::object::lock::lock;
use lh_driver::host::GpuTarget;
use std::sync::Mutex;

/// The targets of this process; number `n` is at position `n - 1`.
static TARGETS: Mutex<Vec<GpuTarget>> = Mutex::new(Vec::new());

/// The number of a target; equal ones have equal numbers.
pub fn number(target: GpuTarget) -> u32 {
    let mut targets = lock(&TARGETS);
    let at = targets.iter().position(|t| *t == target).unwrap_or_else(|| {
        targets.push(target);
        targets.len() - 1
    });
    at as u32 + 1
}

/// The target of a number; `None` for number 0.
pub fn find(number: u32) -> Option<GpuTarget> {
    lock(&TARGETS).get((number as usize).checked_sub(1)?).copied()
}
