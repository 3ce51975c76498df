//! The invariants of untyped code. A violation is a bug of ours.

use crate::dominators::Graph;
use crate::visit::{edges, reverse_postorder, term_operands};
use lh_ir::untyped::{BlockData, Code, Inst};
use lh_ir::{Block, Value, bug};

/// Checks code in debug builds.
pub(crate) fn verify_if_debug(code: &Code) {
    if cfg!(debug_assertions)
        && let Err(what) = verify(code)
    {
        bug!("untyped code of `{}`: {what}\n{code}", code.qualname);
    }
}

/// Checks that blocks are complete, edges carry as many arguments as their targets take, every value is defined once,
/// and every use is dominated by its definition.
///
/// # Errors
/// A violation.
pub fn verify(code: &Code) -> Result<(), String> {
    let mut defs: Vec<Option<(Block, usize)>> = vec![None; code.value_count];
    let mut define = |value: Value, place: (Block, usize)| match defs.get_mut(value.index()) {
        Some(slot @ None) => {
            *slot = Some(place);
            Ok(())
        }
        Some(Some(_)) => Err(format!("{value} is defined twice")),
        None => Err(format!("{value} is out of range")),
    };
    for (b, block) in code.blocks.iter().enumerate() {
        let b = Block::new(b);
        block.params.iter().try_for_each(|&p| define(p, (b, 0)))?;
        for (i, data) in block.insts.iter().enumerate() {
            if data.result.is_none() != is_act(&data.inst) {
                return Err(format!("{b}: an instruction has a result, or has none, against its kind"));
            }
            data.result.map_or(Ok(()), |r| define(r, (b, i + 1)))?;
        }
    }
    if code.value_names.len() != code.value_count {
        return Err("names are not one for each value".to_owned());
    }
    if code.blocks.is_empty() || code.blocks[0].params.len() != code.params.len() {
        return Err("the entry block does not take the parameters".to_owned());
    }
    let order = reverse_postorder(&code.blocks);
    let dominators = Dominance::new(&code.blocks);
    order.iter().try_for_each(|&b| verify_block(code, b, &defs, &dominators))
}

fn verify_block(code: &Code, b: Block, defs: &[Option<(Block, usize)>], doms: &Dominance) -> Result<(), String> {
    let block = &code.blocks[b.index()];
    let use_at = |value: Value, at: usize| -> Result<(), String> {
        let Some((def, index)) = defs.get(value.index()).copied().flatten() else {
            return Err(format!("{b}: {value} is not defined"));
        };
        let fine = match index {
            _ if def == b => index <= at,
            0 => doms.dominates(def, b),
            _ => doms.end_dominates(def, b),
        };
        if fine { Ok(()) } else { Err(format!("{b}: {value} is used where it is not defined")) }
    };
    for (i, data) in block.insts.iter().enumerate() {
        let mut result = Ok(());
        data.inst.for_each_operand(|v| result = std::mem::replace(&mut result, Ok(())).and_then(|()| use_at(v, i)));
        result?;
        if matches!(data.inst, Inst::CatchExc) && i != 0 {
            return Err(format!("{b}: an exception is caught in the middle"));
        }
    }
    let Some(term) = &block.term else { return Err(format!("{b} has no terminator")) };
    let end = block.insts.len();
    term_operands(term).into_iter().try_for_each(|v| use_at(v, end))?;
    for (target, skip) in edges(block) {
        let Some(to) = code.blocks.get(target.block.index()) else {
            return Err(format!("{b} leads to a block that is not there"));
        };
        if target.block == Block(0) {
            return Err(format!("{b} leads to the entry"));
        }
        if to.params.len() != target.args.len() + skip {
            return Err(format!("{b}: {} takes other arguments", target.block));
        }
        let unwinds = block.unwind.as_ref().is_some_and(|u| std::ptr::eq(u, target));
        let catches = matches!(to.insts.first().map(|i| &i.inst), Some(Inst::CatchExc));
        if unwinds != catches {
            return Err(format!("{b}: {} is a handler for others, or none", target.block));
        }
        target.args.iter().try_for_each(|&v| use_at(v, if unwinds { 0 } else { end }))?;
    }
    Ok(())
}

/// Instructions without a result.
fn is_act(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::SetAttr(..)
            | Inst::SetItem(..)
            | Inst::DelItem(..)
            | Inst::ListAppend(..)
            | Inst::ListExtend(..)
            | Inst::SetAdd(..)
            | Inst::CellSet(..)
            | Inst::CellDelete { .. }
            | Inst::MapAdd(..)
            | Inst::Chain(..)
            | Inst::EndCatch(_)
    )
}

/// The dominators of each block. A block is two points, because its handler is entered from its start, where parameters
/// are defined and the results of instructions are not.
pub(crate) struct Dominance {
    ranges: Vec<(u32, u32)>,
}

impl Dominance {
    /// Of a function.
    pub(crate) fn new(blocks: &[BlockData]) -> Dominance {
        let count = blocks.len() as u32;
        let mut succs: Vec<Vec<u32>> = (0..count).map(|b| vec![b + count]).collect();
        for (b, block) in blocks.iter().enumerate() {
            succs[b].extend(block.unwind.iter().map(|t| t.block.0));
            let skip = usize::from(block.unwind.is_some());
            succs.push(edges(block).iter().skip(skip).map(|e| e.0.block.0).collect());
        }
        Dominance { ranges: Graph { succs }.dominators().ranges() }
    }

    /// Whether every way to `b` passes the start of `a`.
    pub(crate) fn dominates(&self, a: Block, b: Block) -> bool {
        self.encloses(a.index(), b.index())
    }

    /// Whether every way to `b` passes the end of `a`.
    pub(crate) fn end_dominates(&self, a: Block, b: Block) -> bool {
        self.encloses(a.index() + self.ranges.len() / 2, b.index())
    }

    fn encloses(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.ranges[a], self.ranges[b]);
        a.0 != 0 && b.0 != 0 && a.0 <= b.0 && b.1 <= a.1
    }
}
