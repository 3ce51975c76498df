//! Unrolls a `for` loop over a tuple: each iteration becomes code of its own, so that items may differ in type.
//!
//! ```text
//! v1 = iter v0                         jump header0(..)
//! jump header(..)                  header0(..):
//! header(..):                          v5 = item v0, 0
//!     for v1: body, done               jump body0(v5, ..)        body0 leads to header1, ..
//! body(v2, ..):                    header1(..):
//!     .. jump header(..)               v6 = item v0, 1 ..
//! done:                            header2(..):
//!                                      jump done
//! ```
//!
//! `break` and `return` leave from each copy; `continue` goes on to the next. A value of the loop that is used after it
//! has a definition in every copy: SSA form is repaired with parameters where these meet.

use crate::ssa::Ssa;
use crate::visit::{block_edges_mut, edges, map_block, term_operands};
use crate::{tidy, verify};
use lh_ir::untyped::{BlockData, Code, Inst, InstData, Target, Term};
use lh_ir::{Block, Value};

/// Instructions that unrolling may make.
const MAX_INSTS: usize = 1 << 17;

/// Unrolls the loop whose header block ends in [`Term::ForIter`] to `times` copies of its body.
///
/// Item k is [`Inst::UnpackItem`] k of the operand of the [`Inst::Iter`] that makes the iterator; that instruction goes
/// away. `None` if the block is no such header, if the iterator is used otherwise, or if the result would be too large.
/// Blocks and values of the result are numbered anew.
pub fn unroll(code: &Code, header: Block, times: u32) -> Option<Code> {
    let Some(Term::ForIter { iter, ref done, .. }) = code.blocks.get(header.index())?.term else { return None };
    let blocks = natural_loop(code, header);
    if blocks.contains(&done.block) {
        // An outer loop comes back here with the same, exhausted iterator.
        return None;
    }
    let seq = iterated(code, iter, &blocks)?;
    let size: usize = blocks.iter().map(|b| code.blocks[b.index()].insts.len() + 1).sum();
    if size.saturating_mul(times as usize + 1) > MAX_INSTS {
        return None;
    }
    let mut copier = Copier::new(code, header, blocks, times);
    for k in 0..times {
        copier.copy_iteration(k, seq);
    }
    copier.copy_exit();
    let mut code = copier.finish(iter);
    tidy::run(&mut code);
    verify::verify_if_debug(&code);
    Some(code)
}

/// Blocks of the loop, the header first.
fn natural_loop(code: &Code, header: Block) -> Vec<Block> {
    let dominance = verify::Dominance::new(&code.blocks);
    let mut preds: Vec<Vec<Block>> = vec![Vec::new(); code.blocks.len()];
    for (b, block) in code.blocks.iter().enumerate() {
        edges(block).iter().for_each(|e| preds[e.0.block.index()].push(Block::new(b)));
    }
    let mut blocks = vec![header];
    let mut inside = vec![false; code.blocks.len()];
    inside[header.index()] = true;
    let mut work = preds[header.index()].clone();
    while let Some(block) = work.pop() {
        if dominance.dominates(header, block) && !std::mem::replace(&mut inside[block.index()], true) {
            blocks.push(block);
            work.extend(&preds[block.index()]);
        }
    }
    blocks
}

/// The sequence that an iterator runs over, if only this loop uses the iterator.
fn iterated(code: &Code, iter: Value, inside: &[Block]) -> Option<Value> {
    let mut uses = 0;
    let mut seq = None;
    for (b, block) in code.blocks.iter().enumerate() {
        for data in &block.insts {
            data.inst.for_each_operand(|v| uses += usize::from(v == iter));
            if let (Inst::Iter(v), true) = (&data.inst, data.result == Some(iter)) {
                seq = (!inside.contains(&Block::new(b))).then_some(*v);
            }
        }
        uses += block.term.iter().flat_map(term_operands).filter(|v| *v == iter).count();
        uses += edges(block).iter().flat_map(|e| &e.0.args).filter(|v| **v == iter).count();
    }
    seq.filter(|_| uses == 1)
}

struct Copier<'a> {
    old: &'a Code,
    header: Block,
    inside: Vec<Block>,
    times: u32,
    /// Position in `inside` by block.
    place: Vec<Option<usize>>,
    blocks: Vec<BlockData>,
    ssa: Ssa,
    /// Number of the variable that stands for a value which leaves the loop, by value.
    leaves: Vec<Option<u32>>,
    /// Values of the copy being made, by old value.
    map: Vec<Value>,
}

impl<'a> Copier<'a> {
    fn new(old: &'a Code, header: Block, inside: Vec<Block>, times: u32) -> Self {
        let mut place = vec![None; old.blocks.len()];
        inside.iter().enumerate().for_each(|(i, b)| place[b.index()] = Some(i));
        let mut ssa = Ssa::default();
        for name in &old.value_names {
            ssa.value(name.clone());
        }
        let leaves = leaving(old, &place);
        let map = (0..old.value_count).map(Value::new).collect();
        let mut blocks = old.blocks.clone();
        blocks.resize(blocks.len() + inside.len() * times as usize + 1, BlockData::default());
        Copier { old, header, inside, times, place, blocks, ssa, leaves, map }
    }

    /// The block for a target of copy k. The first block in a copy is its header; the last header stands alone.
    fn block(&self, target: Block, k: u32) -> Block {
        let at = |k: u32, i: usize| Block::new(self.old.blocks.len() + k as usize * self.inside.len() + i);
        match self.place[target.index()] {
            Some(0) => at(k + 1, 0),
            Some(i) => at(k, i),
            None => target,
        }
    }

    /// Gives the definitions of a block new values and notes those that leave the loop.
    fn copy_definitions(&mut self, block: Block, to: usize) {
        let old = self.old;
        let data = &old.blocks[block.index()];
        for &param in &data.params {
            if let (copy, Some(var)) = self.copy_value(param) {
                self.ssa.assign_early(to as u32, var, copy);
            }
        }
        for result in data.insts.iter().filter_map(|d| d.result) {
            if let (copy, Some(var)) = self.copy_value(result) {
                self.ssa.assign(to as u32, var, copy);
            }
        }
    }

    /// A new value for an old one, and the variable for it if it leaves the loop.
    fn copy_value(&mut self, value: Value) -> (Value, Option<u32>) {
        let copy = self.ssa.value(self.old.value_names[value.index()].clone());
        self.map[value.index()] = copy;
        (copy, self.leaves[value.index()])
    }

    /// A copy of a block without its targets adjusted.
    fn copied(&self, block: Block) -> BlockData {
        let mut data = self.old.blocks[block.index()].clone();
        data.params.iter_mut().for_each(|p| *p = self.map[p.index()]);
        data.insts.iter_mut().filter_map(|d| d.result.as_mut()).for_each(|r| *r = self.map[r.index()]);
        map_block(&mut data, &mut |v| self.map[v.index()]);
        data
    }

    fn copy_iteration(&mut self, k: u32, seq: Value) {
        let first = self.old.blocks.len() + k as usize * self.inside.len();
        for i in 0..self.inside.len() {
            self.copy_definitions(self.inside[i], first + i);
        }
        for i in 0..self.inside.len() {
            let mut data = self.copied(self.inside[i]);
            if i == 0
                && let Some(Term::ForIter { body, .. }) = data.term.take()
            {
                let item = self.ssa.value(None);
                data.insts.push(InstData { result: Some(item), inst: Inst::UnpackItem(seq, k), span: data.term_span });
                let args = [item].into_iter().chain(body.args).collect();
                data.term = Some(Term::Jump(Target { block: body.block, args }));
            }
            for target in block_edges_mut(&mut data) {
                target.block = self.block(target.block, k);
            }
            self.blocks[first + i] = data;
        }
    }

    /// The header once more, after the last item.
    fn copy_exit(&mut self) {
        let at = self.old.blocks.len() + self.times as usize * self.inside.len();
        self.copy_definitions(self.header, at);
        let mut data = self.copied(self.header);
        if let Some(Term::ForIter { done, .. }) = data.term.take() {
            data.term = Some(Term::Jump(done));
        }
        self.blocks[at] = data;
    }

    /// Leads the ways into the loop to the first copy and repairs uses after it.
    fn finish(mut self, iter: Value) -> Code {
        let first = Block::new(self.old.blocks.len());
        for b in 0..self.old.blocks.len() {
            if self.place[b].is_some() {
                // Not reached any more: `tidy` removes it.
                self.blocks[b] = BlockData { term: Some(Term::Unreachable), ..BlockData::default() };
                continue;
            }
            let mut data = std::mem::take(&mut self.blocks[b]);
            data.insts.retain(|d| d.result != Some(iter));
            for target in block_edges_mut(&mut data) {
                if target.block == self.header {
                    target.block = first;
                }
            }
            map_block(&mut data, &mut |v| match self.leaves[v.index()] {
                Some(var) => self.ssa.entry(b as u32, var),
                None => v,
            });
            self.blocks[b] = data;
        }
        self.ssa.finish(&mut self.blocks);
        let value_count = self.ssa.names.len();
        Code { blocks: self.blocks, value_count, value_names: self.ssa.names, ..self.old.clone() }
    }
}

/// Values that are defined in the loop and used outside, numbered.
fn leaving(code: &Code, place: &[Option<usize>]) -> Vec<Option<u32>> {
    let mut defined = vec![false; code.value_count];
    for (block, _) in code.blocks.iter().zip(place).filter(|b| b.1.is_some()) {
        block.params.iter().for_each(|p| defined[p.index()] = true);
        block.insts.iter().filter_map(|d| d.result).for_each(|r| defined[r.index()] = true);
    }
    let mut leaves = vec![None; code.value_count];
    let mut count = 0;
    let mut note = |v: Value| {
        if defined[v.index()] && leaves[v.index()].is_none() {
            leaves[v.index()] = Some(count);
            count += 1;
        }
        v
    };
    for (block, _) in code.blocks.iter().zip(place).filter(|b| b.1.is_none()) {
        map_block(&mut block.clone(), &mut note);
    }
    leaves
}
