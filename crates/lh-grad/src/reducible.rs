//! Makes control flow reducible: a cycle of blocks that is entered at several of them becomes a loop, whose header gets
//! the number of the block to go on with. A derivative in reverse mode has such cycles, where the loop that it reverses
//! is left in several ways.
//!
//! ```text
//! jump b1(x)                      jump h(0, x, 0)
//! ...                             ...
//! b1(p): ... jump b2(y)           h(n, p, q): branch n == 0, b1(p), b2(q)
//! b2(q): ... jump b1(z)           b1(p): ... jump h(1, 0, y)
//!                                 b2(q): ... jump h(0, z, 0)
//! ```

use crate::builder::{Builder, edge_args, redirect, to};
use crate::promote::zero_of;
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::{Cfg, DomTree, Edge, targets};
use lh_ir::func::{Function, InstData, Term};
use lh_ir::{Block, Span, Ty, Value};

/// Gives each cycle of blocks one block through which it is entered.
pub(crate) fn reduce(func: &mut Function) {
    loop {
        let cfg = Cfg::new(func);
        let Some(entries) = entries_of_cycle(func, &cfg) else { return };
        enter_through_one(func, &cfg, &entries);
    }
}

/// The blocks through which a cycle is entered that is entered through several.
fn entries_of_cycle(func: &Function, cfg: &Cfg) -> Option<Vec<Block>> {
    let dom = DomTree::new(cfg);
    let is_back = |e: &Edge, b: Block| cfg.position(e.from) >= cfg.position(b);
    let closes_one = |b: &&Block| cfg.preds(**b).iter().any(|e| is_back(e, **b) && !dom.dominates(**b, e.from));
    let block = *cfg.rpo().iter().find(closes_one)?;
    let mut region: HashSet<Block> = cfg.rpo().iter().copied().collect();
    loop {
        region = component(func, cfg, &region, block);
        let is_entered = |b: &&Block| region.contains(*b) && cfg.preds(**b).iter().any(|e| !region.contains(&e.from));
        let entries: Vec<Block> = cfg.rpo().iter().filter(is_entered).copied().collect();
        match entries[..] {
            // The cycle is inside of a loop.
            [header] if header != block => _ = region.remove(&header),
            [_] => return None,
            _ => return Some(entries),
        }
    }
}

/// The strongly connected component of a block among some blocks.
fn component(func: &Function, cfg: &Cfg, among: &HashSet<Block>, block: Block) -> HashSet<Block> {
    let reached = |next: &dyn Fn(Block) -> Vec<Block>| {
        let (mut seen, mut work): (HashSet<Block>, _) = (HashSet::from([block]), vec![block]);
        while let Some(b) = work.pop() {
            work.extend(next(b).into_iter().filter(|n| among.contains(n) && seen.insert(*n)));
        }
        seen
    };
    let after = reached(&|b| targets(func, b).map(|(_, t)| t.block).collect());
    let before = reached(&|b| cfg.preds(b).iter().map(|e| e.from).collect());
    after.intersection(&before).copied().collect()
}

/// Lets all edges into some blocks lead to a new one, which goes on with the block of a number.
fn enter_through_one(func: &mut Function, cfg: &Cfg, entries: &[Block]) {
    let header = func.new_block();
    let number = func.new_param(header, Ty::int());
    let tys: Vec<Vec<Ty>> =
        entries.iter().map(|b| func.blocks[b.index()].params.iter().map(|p| func.ty(*p)).collect()).collect();
    let params: Vec<Vec<Value>> =
        tys.iter().map(|of| of.iter().map(|t| func.new_param(header, *t)).collect()).collect();
    let unused = unused_values(func, &tys);
    for (i, b) in entries.iter().enumerate() {
        for e in cfg.preds(*b) {
            let span = func.blocks[e.from.index()].term_span;
            let mut at = Builder::at_end(func, e.from, span);
            let mut args = vec![at.int(i as i64)];
            at.finish(e.from);
            let mut own = std::mem::take(edge_args(func, e));
            for (j, of) in tys.iter().enumerate() {
                args.extend(if i == j { std::mem::take(&mut own) } else { of.iter().map(|t| unused[t]).collect() });
            }
            redirect(func, e, header, args);
        }
    }
    let mut at = header;
    for (i, b) in entries[..entries.len() - 1].iter().enumerate() {
        let is_last = i + 2 == entries.len();
        let next = if is_last { to(entries[i + 1], params[i + 1].clone()) } else { to(func.new_block(), vec![]) };
        let (then, following) = (to(*b, params[i].clone()), next.block);
        let mut block = Builder::new(func, Span::default());
        let i = block.int(i as i64);
        let is_it = block.test("eq", number, i);
        block.end(at, Term::Branch { cond: is_it, then, els: next });
        at = following;
    }
}

/// A value of each type, for parameters of blocks that an edge does not go on with.
fn unused_values(func: &mut Function, tys: &[Vec<Ty>]) -> HashMap<Ty, Value> {
    let mut found = HashMap::new();
    let mut insts: Vec<InstData> = Vec::new();
    for ty in tys.iter().flatten() {
        found.entry(*ty).or_insert_with(|| {
            let d = zero_of(func, *ty);
            let v = d.result.expect("it is a value");
            insts.push(d);
            v
        });
    }
    func.blocks[0].insts.splice(0..0, insts);
    found
}
