//! Refuses numbers made of the bits of numbers that derivatives flow through.

use crate::memory::Memory;
use hashbrown::HashSet;
use lh_ir::algebra::Algebra;
use lh_ir::cfg::targets;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Function, Inst};
use lh_ir::{Block, Value};

/// Follows bits of active values through integers.
///
/// # Errors
/// A number is made of such bits.
pub(crate) fn check(func: &Function, memory: &Memory) -> Result<()> {
    if !func.insts().any(|d| matches!(&d.inst, Inst::Op(op, _) if op.is(Algebra::Bits))) {
        return Ok(());
    }
    let mut bits: HashSet<Value> = HashSet::new();
    loop {
        let before = bits.len();
        for d in func.insts() {
            let Some(r) = d.result.filter(|r| !func.ty(*r).is_bool()) else { continue };
            let mut of_bits = false;
            d.inst.for_each_operand(|v| of_bits |= bits.contains(&v));
            match &d.inst {
                Inst::Op(op, args) if op.is(Algebra::Bits) && memory.is_active(args[0]) => _ = bits.insert(r),
                Inst::Op(op, _) if op.is(Algebra::OfBits) && of_bits => {
                    return Err(Diagnostic::new(diag::NO_DERIVATIVE, "a number made of bits has no derivative")
                        .note("pass numbers through memory; or state a derivative: `custom_vjp`")
                        .at(&func.file, d.span));
                }
                _ => bits.extend(of_bits.then_some(r)),
            }
        }
        for i in 0..func.blocks.len() {
            for (_, t) in targets(func, Block::new(i)) {
                for (a, p) in t.args.iter().zip(&func.blocks[t.block.index()].params) {
                    if bits.contains(a) {
                        bits.insert(*p);
                    }
                }
            }
        }
        if bits.len() == before {
            return Ok(());
        }
    }
}
