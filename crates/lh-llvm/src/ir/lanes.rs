//! Vectors with an element for each lane of a gang. Operations load and store them like loops over lanes; LLVM removes
//! the memory accesses if nothing else uses the memory.

use super::{Module, Type, Val};
use lh_ir::func::GANG;
use lh_ops::warp;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;
use llvm_sys::core::*;

/// Number of power-of-two distances by which lanes move.
const STEPS: u32 = GANG.ilog2();
/// Arrays of lanes are aligned to cache lines.
const ALIGN: usize = 64;

impl Module {
    fn lanes_of(&self, elem: Type) -> Type {
        // SAFETY: see the documentation of `ir`.
        unsafe { LLVMVectorType(elem, GANG as u32) }
    }
    /// Loads an array of lanes with elements of this size.
    pub(crate) fn lanes(&self, at: Val, size: i64) -> Val {
        let elem = match size {
            1 => self.t.i8,
            2 => self.t.i16,
            4 => self.t.i32,
            8 => self.t.i64,
            _ => lh_ir::bug!("lanes of {size} bytes"),
        };
        self.load(self.lanes_of(elem), at, ALIGN)
    }
    pub(crate) fn set_lanes(&self, lanes: Val, at: Val) {
        self.store(lanes, at, ALIGN);
    }
    /// The non-zero elements of an array of bytes, as a bit mask.
    pub(crate) fn lane_bits(&self, at: Val) -> Val {
        let values = self.freeze(self.lanes(at, 1));
        let set = self.icmp(LLVMIntNE, values, self.null(self.type_of(values)));
        self.zext(self.bitcast(set, self.t.i32), self.t.i64)
    }
    /// Shuffles lanes; those that move in from outside are poison.
    ///
    /// The distance is the same for all lanes but not constant: lanes move by each power of two in it.
    pub(crate) fn moved_lanes(&self, lanes: Val, kind: i64, by: Val) -> Val {
        let t = self.t;
        if kind == warp::SHFL {
            let from = self.trunc(self.and(by, self.int(t.i64, GANG - 1)), t.i32);
            // SAFETY: see the documentation of `ir`; the lane is one that there is.
            let v = unsafe { LLVMBuildExtractElement(self.builder, lanes, from, c"".as_ptr()) };
            return self.shuffled(self.in_vector(v, GANG as u32), &[0; GANG as usize]);
        }
        (0..STEPS).fold(lanes, |lanes, step| {
            let far = 1 << step;
            let from: Vec<i64> = (0..GANG)
                .map(|l| match kind {
                    warp::UP => l - far,
                    warp::DOWN => l + far,
                    _ => l ^ far,
                })
                .collect();
            let moves = self.icmp(LLVMIntNE, self.and(by, self.int(t.i64, far)), self.int(t.i64, 0));
            self.select(moves, self.shuffled(lanes, &from), lanes)
        })
    }
    /// Permutes lanes; those from outside are poison.
    fn shuffled(&self, lanes: Val, from: &[i64]) -> Val {
        let any = self.poison(self.t.i32);
        let mut from: Vec<Val> =
            from.iter().map(|l| if (0..GANG).contains(l) { self.int(self.t.i32, *l) } else { any }).collect();
        // SAFETY: see the documentation of `ir`; the order is a constant vector of numbers below that of the lanes.
        unsafe {
            let order = LLVMConstVector(from.as_mut_ptr(), from.len() as u32);
            LLVMBuildShuffleVector(self.builder, lanes, self.poison(self.type_of(lanes)), order, c"".as_ptr())
        }
    }
}
