//! Contracts a product and the sum that uses it to a fused multiply-add, with one rounding instead of two, as CUDA's
//! compilers do.
//!
//! ```text
//! v2 = mul v0, v1: float32                 v4 = fma v0, v1, v3: float32
//! v4 = add v2, v3: float32        ->
//! ```
//!
//! The pass does this instead of the code generators, so that a kernel computes the same bits on every device. It
//! contracts a product with no other use and within one block; where both operands of a sum are products, the first.
//! For differences it negates an operand. Unused products are left to `dce`.

use lh_ir::func::{Inst, InstData};
use lh_ir::op::Op;
use lh_ir::{Function, Value};
use std::collections::HashMap;

use crate::edit::row;

pub(crate) fn run(func: &mut Function) -> bool {
    let uses = uses(func);
    let rows = Rows { mul: row("mul"), add: row("add"), sub: row("sub"), neg: row("neg"), fma: row("fma") };
    let mut changed = false;
    for b in 0..func.blocks.len() {
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut products: HashMap<Value, (Value, Value)> = HashMap::new();
        let mut out: Vec<InstData> = Vec::with_capacity(insts.len());
        for mut d in insts {
            if let (Some(r), Inst::Op(op, args)) = (d.result, &d.inst)
                && func.ty(r).is_float()
            {
                let (op, args) = (*op, args.clone());
                if op == rows.mul && uses[r.index()] == 1 {
                    products.insert(r, (args[0], args[1]));
                } else if op == rows.add || op == rows.sub {
                    changed |= join(func, &rows, &products, &mut d, &mut out, op, &args);
                }
            }
            out.push(d);
        }
        func.blocks[b].insts = out;
    }
    changed
}

struct Rows {
    mul: &'static Op,
    add: &'static Op,
    sub: &'static Op,
    neg: &'static Op,
    fma: &'static Op,
}

fn uses(func: &Function) -> Vec<u32> {
    let mut uses = vec![0; func.values.len()];
    let mut count = |v: Value| uses[v.index()] += 1;
    for b in &func.blocks {
        b.insts.iter().for_each(|d| d.inst.for_each_operand(&mut count));
        if let Some(t) = &b.term {
            t.clone().for_each_operand_mut(&mut |v| count(*v));
        }
        b.unwind.iter().flat_map(|t| &t.args).for_each(|v| count(*v));
    }
    uses
}

/// Makes an `fma` of a sum or a difference if an operand is a product.
fn join(
    func: &mut Function,
    rows: &Rows,
    products: &HashMap<Value, (Value, Value)>,
    d: &mut InstData,
    out: &mut Vec<InstData>,
    op: &'static Op,
    args: &[Value],
) -> bool {
    let (left, right) = (products.get(&args[0]).copied(), products.get(&args[1]).copied());
    let mut negated = |func: &mut Function, v: Value| {
        let result = func.new_value(func.ty(v));
        out.push(InstData { result: Some(result), inst: Inst::Op(rows.neg, vec![v]), span: d.span });
        result
    };
    let operands = match (left, right) {
        (Some((a, b)), _) if op == rows.add => vec![a, b, args[1]],
        (Some((a, b)), _) => {
            let c = negated(func, args[1]);
            vec![a, b, c]
        }
        (None, Some((a, b))) if op == rows.add => vec![a, b, args[0]],
        (None, Some((a, b))) => {
            let a = negated(func, a);
            vec![a, b, args[0]]
        }
        (None, None) => return false,
    };
    d.inst = Inst::Op(rows.fma, operands);
    true
}
