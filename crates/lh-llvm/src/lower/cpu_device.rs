//! Geometry and memory of kernels on the CPU device, emitted inline.

use super::function::FnCx;
use crate::ir::{Type, Val};
use lh_ir::Value;
use lh_ops::warp;

/// Offsets in the context of a block, `lh_runtime::device::Context`.
mod at {
    pub(super) const BLOCK: usize = 0;
    pub(super) const BLOCK_DIM: usize = 24;
    pub(super) const GRID_DIM: usize = 48;
    pub(super) const SHARED: usize = 72;
    pub(super) const DYNAMIC_AT: usize = 80;
    pub(super) const DYNAMIC_BYTES: usize = 88;
    pub(super) const FIRST: usize = 96;
    pub(super) const LAST: usize = 104;
    pub(super) const SCRATCH: usize = 112;
    pub(super) const CAPACITY: usize = 120;
    pub(super) const SHARED_STRIDE: usize = 128;
    pub(super) const SHARED_BASE: usize = 136;
}

impl FnCx<'_, '_> {
    /// As `inline_runtime`, for run-time functions of devices.
    pub(super) fn cpu_device_runtime(&mut self, name: &str, args: &[Value]) -> Option<Vec<Val>> {
        let name = name.strip_prefix("lh_cuda_")?;
        let (int, ptr) = (self.t.i64, self.t.ptr);
        let axis = match name.rsplit_once('_').map(|(_, a)| a) {
            Some("y") => 8,
            Some("z") => 16,
            _ => 0,
        };
        Some(match name {
            "bid_x" | "bid_y" | "bid_z" => vec![self.context_field(args[0], at::BLOCK + axis, int)],
            "bdim_x" | "bdim_y" | "bdim_z" => vec![self.context_field(args[0], at::BLOCK_DIM + axis, int)],
            "gdim_x" | "gdim_y" | "gdim_z" => vec![self.context_field(args[0], at::GRID_DIM + axis, int)],
            "first" => vec![self.context_field(args[0], at::FIRST, int)],
            "last" => vec![self.context_field(args[0], at::LAST, int)],
            "scratch" => vec![self.context_field(args[0], at::SCRATCH, ptr)],
            "capacity" => vec![self.context_field(args[0], at::CAPACITY, int)],
            "dynamic" => {
                let base = self.context_field(args[0], at::SHARED, ptr);
                vec![self.gep(self.t.i8, base, self.context_field(args[0], at::DYNAMIC_AT, int))]
            }
            "dynamic_bytes" => vec![self.context_field(args[0], at::DYNAMIC_BYTES, int)],
            "shared" => {
                let base = self.context_field(args[0], at::SHARED, ptr);
                vec![self.gep(self.t.i8, base, self.one(args[1]))]
            }
            "enter_block" => {
                let stride = self.context_field(args[0], at::SHARED_STRIDE, int);
                let base = self.context_field(args[0], at::SHARED_BASE, ptr);
                let shared = self.gep(self.t.i8, base, self.mul(self.one(args[1]), stride));
                self.set_header_field(self.one(args[0]), at::SHARED, shared);
                for (i, v) in args[2..].iter().enumerate() {
                    self.set_header_field(self.one(args[0]), at::BLOCK + 8 * i, self.one(*v));
                }
                Vec::new()
            }
            "local" => {
                // Outlined cold code gets constants as parameters.
                let size = |v: Value| self.constant_operand(v).max(1) as usize;
                let (bytes, align) = (size(args[0]), size(args[1]));
                vec![self.stack(self.array_type(self.t.i8, bytes), align)]
            }
            // This fence only orders accesses for the compiler.
            "fence" if self.constant_operand(args[0]) == 3 => {
                self.compiler_fence();
                Vec::new()
            }
            "lanes_copy" => {
                let size = self.constant_operand(args[2]);
                self.set_lanes(self.lanes(self.one(args[0]), size), self.one(args[1]));
                Vec::new()
            }
            "lanes_move" => {
                let kind = self.constant_operand(args[2]);
                let size = if kind & warp::NARROW != 0 { 4 } else { 8 };
                let values = self.lanes(self.one(args[0]), size);
                let moved = self.moved_lanes(values, kind & !warp::NARROW, self.one(args[3]));
                self.set_lanes(moved, self.one(args[1]));
                Vec::new()
            }
            "lanes_bits" => vec![self.lane_bits(self.one(args[0]))],
            _ => vec![self.cpu_atomic(name, args)?],
        })
    }

    fn context_field(&self, cx: Value, at: usize, ty: Type) -> Val {
        self.header_field(self.one(cx), at, ty)
    }
}
