//! Captured variables as parameters.
//!
//! ```text
//! def make(k):                        function f(x), k = free 0: binary * x, k
//!     def f(x): return x * k          ── lifted ──▶
//!     return f                        function f(x, k): binary * x, k
//! ```
//!
//! Functions of the same code then share what is compiled for them: the variables are data. [`Uses`] says for which
//! variables the types of the result, or which code is reached, depend on the value instead: those stay constants.

use crate::verify;
use crate::visit::{edges, map_block};
use lh_ir::Value;
use lh_ir::untyped::{BinOp, Code, Inst, Param, ParamKind, Term, UnOp};
use std::collections::HashMap;

/// The number of captured variables, from the first on, that can become parameters.
const MAX_LIFTED: usize = 64;

/// How a function uses its captured variables; bits are indices into `freevars`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Variables whose values have to be known while compiling.
    pub constant: u64,
    /// Variables that are passed to functions: the library's may ask for the value of a text or truth, and the type of
    /// a power depends on the sign of its exponent.
    pub passed: u64,
}

/// A value that is known while compiling if its variables are.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Fact {
    variables: u64,
    /// Whether it may be a text, a truth value or a negative number whatever the variables are.
    is_choice: bool,
}

/// How the code of a function uses its captured variables.
pub fn uses(code: &Code) -> Uses {
    let mut out = Uses::default();
    let begins_again = code.blocks.iter().any(|b| edges(b).iter().any(|(t, _)| t.block.index() == 0));
    if code.is_generator || begins_again || code.params.iter().any(|p| p.kind == ParamKind::VarKeywords) {
        out.constant = u64::MAX;
        return out;
    }
    let facts = facts(code);
    let of = |v: Value| facts[v.index()].map_or(0, |f| f.variables);
    let pass = |v: Value| match facts[v.index()] {
        Some(f) if f.is_choice => (f.variables, 0),
        Some(f) => (0, f.variables),
        None => (0, 0),
    };
    for block in &code.blocks {
        for data in &block.insts {
            match &data.inst {
                // The type of a power depends on the sign of the exponent, that of a tuple's item on the index.
                Inst::Binary { op: BinOp::Pow, b, .. } => out.constant |= of(*b),
                Inst::Unary(UnOp::Invert, a) => out.constant |= of(*a),
                // The least of several constants has its own type.
                Inst::Call { args, .. }
                    if args.len() > 1
                        && args.iter().all(|a| facts[a.index()].is_some())
                        && !is_iterated(code, data.result) =>
                {
                    args.iter().for_each(|a| out.constant |= of(*a));
                }
                Inst::GetItem(_, k) | Inst::SetItem(_, k, _) if !is_slice(code, *k) => out.constant |= of(*k),
                Inst::Call { .. } | Inst::CallStar { .. } => data.inst.for_each_operand(|v| {
                    let (constant, passed) = pass(v);
                    out.constant |= constant;
                    out.passed |= passed;
                }),
                _ => {}
            }
        }
        if let Some(Term::Branch { cond, .. }) = &block.term {
            out.constant |= of(*cond);
        }
    }
    out
}

/// Whether a value is only iterated over, as a range is.
fn is_iterated(code: &Code, value: Option<Value>) -> bool {
    let mut all = code.blocks.iter().flat_map(|b| &b.insts);
    all.any(|d| matches!(d.inst, Inst::Iter(v) if Some(v) == value))
}

fn is_slice(code: &Code, v: Value) -> bool {
    let mut all = code.blocks.iter().flat_map(|b| &b.insts);
    all.any(|d| d.result == Some(v) && matches!(d.inst, Inst::Slice(_)))
}

/// The values that are known while compiling if all captured variables are.
fn facts(code: &Code) -> Vec<Option<Fact>> {
    let nothing = Fact { variables: 0, is_choice: false };
    // Everything but the function's arguments is known until the contrary is found.
    let mut facts = vec![Some(nothing); code.value_count];
    code.blocks[0].params.iter().for_each(|p| facts[p.index()] = None);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for block in &code.blocks {
            for data in &block.insts {
                if let Some(result) = data.result {
                    let found = fact(&data.inst, &facts);
                    changed |= narrow(&mut facts[result.index()], found);
                }
            }
            for (target, skipped) in edges(block) {
                let params = &code.blocks[target.block.index()].params;
                params[..skipped].iter().for_each(|p| changed |= narrow(&mut facts[p.index()], None));
                for (p, a) in params[skipped..].iter().zip(&target.args) {
                    let arg = facts[a.index()];
                    changed |= narrow(&mut facts[p.index()], arg);
                }
            }
        }
    }
    facts
}

/// Adds what else is found of a value: it depends on more variables, or is not known.
fn narrow(fact: &mut Option<Fact>, found: Option<Fact>) -> bool {
    let both = match (*fact, found) {
        (Some(a), Some(b)) => {
            Some(Fact { variables: a.variables | b.variables, is_choice: a.is_choice || b.is_choice })
        }
        _ => None,
    };
    std::mem::replace(fact, both) != both
}

fn fact(inst: &Inst, facts: &[Option<Fact>]) -> Option<Fact> {
    let is_choice = match inst {
        Inst::Free(n) if (*n as usize) < MAX_LIFTED => return Some(Fact { variables: 1 << n, is_choice: false }),
        Inst::Const(_) | Inst::Global(_) | Inst::Free(_) | Inst::Import { .. } | Inst::CheckBound { .. } => false,
        Inst::Unary(op, _) => matches!(op, UnOp::Not | UnOp::Neg),
        Inst::Binary { op: BinOp::Sub, .. } => true,
        Inst::Compare(..) | Inst::Is { .. } | Inst::Contains { .. } => true,
        Inst::Format { .. } | Inst::ConcatStr(_) => true,
        Inst::Binary { .. } | Inst::GetAttr(..) | Inst::GetItem(..) | Inst::Tuple(_) | Inst::Slice(_) => false,
        Inst::Unpack { .. } | Inst::UnpackItem(..) => false,
        // A function may answer a question about its arguments.
        Inst::Call { .. } => true,
        _ => return None,
    };
    let mut all = Some(Fact { variables: 0, is_choice });
    inst.for_each_operand(|v| {
        narrow(&mut all, facts[v.index()]);
    });
    all
}

/// The code with captured variables as further parameters, in the order of their bits.
pub fn lifted(code: &Code, variables: u64) -> Code {
    let mut code = code.clone();
    let indices = (0..code.freevars.len().min(MAX_LIFTED) as u32).filter(|i| variables >> i & 1 != 0);
    let mut values = Vec::new();
    for index in indices {
        let value = Value::new(code.value_count);
        code.value_count += 1;
        let name = code.freevars[index as usize].clone();
        code.value_names.resize(code.value_count, None);
        code.value_names[value.index()] = Some(name.as_str().into());
        code.params.push(Param { name, kind: ParamKind::Positional });
        values.push((index, value));
    }
    code.blocks[0].params.extend(values.iter().map(|(_, v)| *v));
    let mut read = HashMap::new();
    for block in &mut code.blocks {
        block.insts.retain(|data| {
            let (Inst::Free(n), Some(result)) = (&data.inst, data.result) else { return true };
            let Some((_, parameter)) = values.iter().find(|(index, _)| index == n) else { return true };
            read.insert(result, *parameter);
            false
        });
    }
    for block in &mut code.blocks {
        map_block(block, &mut |v| read.get(&v).copied().unwrap_or(v));
    }
    verify::verify_if_debug(&code);
    code
}
