//! Refuses numbers of other threads that derivatives flow through: a shuffle of a warp passes their bits.

use crate::memory::Memory;
use hashbrown::HashSet;
use lh_ir::Block;
use lh_ir::Value;
use lh_ir::cfg::targets;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Function, Inst};

/// Whether an operation gives the bits of its operand, or a number of bits.
fn takes_bits(name: &str) -> bool {
    name.starts_with("bits_of_")
}

fn gives_number(name: &str) -> bool {
    name.ends_with("_of_bits")
}

/// Follows bits of active values through integers, and through functions of the run-time library, from which they come
/// back as those of other threads. Elsewhere, a number that is made of bits is a constant such as a power of two.
///
/// # Errors
/// A number is made of bits that such a function gave.
pub(crate) fn check(func: &Function, memory: &Memory) -> Result<()> {
    let insts = || func.blocks.iter().flat_map(|b| &b.insts);
    if !insts().any(|d| matches!(&d.inst, Inst::Op(op, _) if takes_bits(op.name))) {
        return Ok(());
    }
    let mut bits: HashSet<Value> = HashSet::new();
    let mut sent: HashSet<Value> = HashSet::new();
    loop {
        let before = bits.len() + sent.len();
        for d in insts() {
            let Some(r) = d.result.filter(|r| !func.ty(*r).is_bool()) else { continue };
            let (mut of_bits, mut of_sent) = (false, false);
            d.inst.for_each_operand(|v| {
                of_bits |= bits.contains(&v);
                of_sent |= sent.contains(&v);
            });
            match &d.inst {
                Inst::Op(op, args) if takes_bits(op.name) && memory.is_active(args[0]) => _ = bits.insert(r),
                Inst::Op(op, _) if gives_number(op.name) && of_sent => {
                    return Err(Diagnostic::new(diag::NO_DERIVATIVE, "a number of another thread has no derivative")
                        .note("pass numbers through memory; or state a derivative: `custom_vjp`")
                        .at(&func.file, d.span));
                }
                Inst::Runtime(..) if of_bits || of_sent => _ = sent.insert(r),
                _ => {
                    bits.extend(of_bits.then_some(r));
                    sent.extend(of_sent.then_some(r));
                }
            }
        }
        for i in 0..func.blocks.len() {
            for (_, t) in targets(func, Block::new(i)) {
                for (a, p) in t.args.iter().zip(&func.blocks[t.block.index()].params) {
                    for set in [&mut bits, &mut sent] {
                        if set.contains(a) {
                            set.insert(*p);
                        }
                    }
                }
            }
        }
        if bits.len() + sent.len() == before {
            return Ok(());
        }
    }
}
