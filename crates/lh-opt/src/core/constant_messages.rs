//! Makes messages of exceptions constant in code for a GPU, which cannot build strings: computed parts become `...`.
//!
//! ```text
//! v2 = call str(v1): str
//! v3 = runtime lh_str_concat(v0, v2): str      ->      v4 = const "no item ...": str
//! raise e12(v3)                                        raise e12(v4)
//! ```

use crate::analysis::counted::Defs;
use crate::edit::use_counts;
use hashbrown::HashSet;
use lh_ir::func::{Inst, InstData, Term};
use lh_ir::runtime::{Role, Text};
use lh_ir::{Const, Function, Ty};

pub(crate) fn run(func: &mut Function) -> bool {
    let (defs, mut parts) = (Defs::new(func), Vec::new());
    for b in 0..func.blocks.len() {
        let Some(Term::Raise { exc, args }) = func.blocks[b].term.clone() else { continue };
        let (mut text, before, mut work) = (String::new(), parts.len(), args.clone());
        work.reverse();
        while let Some(v) = work.pop() {
            match defs.inst(func, v) {
                Some(Inst::Const(Const::Str(s))) => text += s,
                Some(Inst::Runtime(f, args)) if f.role == Role::Text(Text::Concat) => work.extend(args.iter().rev()),
                _ => text += "...",
            }
            if matches!(defs.inst(func, v), Some(Inst::Runtime(..) | Inst::Call(..))) {
                parts.push(v);
            }
        }
        if parts.len() > before {
            let (v, span) = (func.new_value(Ty::str()), func.blocks[b].term_span);
            func.blocks[b].insts.push(InstData { result: Some(v), inst: Inst::Const(Const::Str(text)), span });
            func.blocks[b].term = Some(Term::Raise { exc, args: vec![v] });
        }
    }
    // Concatenations are removed before their operands, whose use counts they hold.
    let (mut counts, mut gone) = (use_counts(func), HashSet::new());
    for v in parts.iter().filter(|v| func.ty(**v) == Ty::str()) {
        if counts[v.index()] == 0 && gone.insert(*v) {
            let inst = defs.inst(func, *v);
            inst.into_iter().for_each(|i| i.for_each_operand(|x| counts[x.index()] -= 1));
        }
    }
    let is_left = |d: &InstData| d.result.is_none_or(|v| !gone.contains(&v));
    func.blocks.iter_mut().for_each(|b| b.insts.retain(is_left));
    !parts.is_empty()
}
