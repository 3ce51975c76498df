//! Geometry and memory of kernels on the CPU device, emitted inline.

use super::function::FnCx;
use crate::ir::{Type, Val};
use lh_ir::Value;
use lh_ir::runtime::{Axis, Geometry, Lanes, Launch, Memory};
use lh_ops::layout::context as at;
use lh_ops::warp;

impl FnCx<'_, '_> {
    /// Loads a part of the launch's geometry from the context, which does not contain the thread's index.
    pub(super) fn cpu_geometry(&mut self, what: Geometry, axis: Axis, args: &[Value]) -> Option<Val> {
        let start = match what {
            Geometry::Thread => return None,
            Geometry::Block => at::BLOCK,
            Geometry::BlockDim => at::BLOCK_DIM,
            Geometry::GridDim => at::GRID_DIM,
        };
        Some(self.context_field(args[0], start + 8 * axis as usize, self.t.i64))
    }

    /// Lowers an operation on the state of a kernel's call; `None` if the run-time library does it.
    pub(super) fn cpu_launch(&mut self, launch: Launch, args: &[Value]) -> Option<Vec<Val>> {
        let (int, ptr) = (self.t.i64, self.t.ptr);
        Some(match launch {
            Launch::First => vec![self.context_field(args[0], at::FIRST, int)],
            Launch::Last => vec![self.context_field(args[0], at::LAST, int)],
            Launch::Scratch => vec![self.context_field(args[0], at::SCRATCH, ptr)],
            Launch::Capacity => vec![self.context_field(args[0], at::CAPACITY, int)],
            Launch::EnterBlock => {
                let stride = self.context_field(args[0], at::SHARED_STRIDE, int);
                let base = self.context_field(args[0], at::SHARED_BASE, ptr);
                let shared = self.gep(self.t.i8, base, self.mul(self.one(args[1]), stride));
                self.set_header_field(self.one(args[0]), at::SHARED, shared);
                for (i, v) in args[2..].iter().enumerate() {
                    self.set_header_field(self.one(args[0]), at::BLOCK + 8 * i, self.one(*v));
                }
                Vec::new()
            }
            Launch::Context | Launch::Failed => return None,
        })
    }

    /// Lowers an operation on memory; `None` if the run-time library does it.
    pub(super) fn cpu_memory(&mut self, memory: Memory, args: &[Value]) -> Option<Vec<Val>> {
        let (int, ptr) = (self.t.i64, self.t.ptr);
        Some(match memory {
            Memory::Dynamic => {
                let base = self.context_field(args[0], at::SHARED, ptr);
                vec![self.gep(self.t.i8, base, self.context_field(args[0], at::DYNAMIC_AT, int))]
            }
            Memory::DynamicBytes => vec![self.context_field(args[0], at::DYNAMIC_BYTES, int)],
            Memory::Shared => {
                let base = self.context_field(args[0], at::SHARED, ptr);
                vec![self.gep(self.t.i8, base, self.one(args[1]))]
            }
            Memory::Local => {
                // Outlined cold code gets constants as parameters.
                let size = |v: Value| self.constant_operand(v).max(1) as usize;
                let (bytes, align) = (size(args[0]), size(args[1]));
                vec![self.stack(self.array_type(self.t.i8, bytes), align)]
            }
            // This fence only orders accesses for the compiler.
            Memory::Fence if self.constant_operand(args[0]) == 3 => {
                self.compiler_fence();
                Vec::new()
            }
            Memory::Prefetch => {
                self.prefetch(self.one(args[0]));
                Vec::new()
            }
            Memory::Allocate
            | Memory::AllocateZeroed
            | Memory::Temporary
            | Memory::Move
            | Memory::Moved
            | Memory::CopyRow
            | Memory::Line { .. }
            | Memory::Fence
            | Memory::LoadCached
            | Memory::StoreCached => return None,
        })
    }

    /// Lowers an operation on arrays with an element for each lane.
    pub(super) fn cpu_lanes(&mut self, lanes: Lanes, args: &[Value]) -> Vec<Val> {
        match lanes {
            Lanes::Copy => {
                let size = self.constant_operand(args[2]);
                self.set_lanes(self.lanes(self.one(args[0]), size), self.one(args[1]));
                Vec::new()
            }
            Lanes::Move => {
                let kind = self.constant_operand(args[2]);
                let size = if kind & warp::NARROW != 0 { 4 } else { 8 };
                let values = self.lanes(self.one(args[0]), size);
                let moved = self.moved_lanes(values, kind & !warp::NARROW, self.one(args[3]));
                self.set_lanes(moved, self.one(args[1]));
                Vec::new()
            }
            Lanes::Bits => vec![self.lane_bits(self.one(args[0]))],
        }
    }

    fn context_field(&self, cx: Value, at: usize, ty: Type) -> Val {
        self.header_field(self.one(cx), at, ty)
    }
}
