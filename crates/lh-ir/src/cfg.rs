//! Control flow of a typed function: predecessors, orders, dominators, natural loops, liveness.
//!
//! An exception leaves a block before the result of the instruction that raises exists, so an unwind edge starts at the
//! *beginning* of its block: the block's parameters are visible in the handler, the results of its instructions are
//! not. [`DomTree`] knows the difference, with two nodes to a block.

use crate::entity::{Block, Value};
use crate::func::{Function, Target, Term};

/// An edge into a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// Where it comes from.
    pub from: Block,
    /// The position of the target in the terminator; `None` for the unwind edge.
    pub target: Option<u32>,
}

/// Predecessors and reverse postorder. Unreachable blocks have neither place nor edges.
pub struct Cfg {
    starts: Vec<u32>,
    edges: Vec<Edge>,
    rpo: Vec<Block>,
    position: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

/// Targets of a block with the number of each in its terminator, the handler last.
pub fn targets(func: &Function, b: Block) -> impl Iterator<Item = (Option<u32>, &Target)> {
    let data = &func.blocks[b.index()];
    let normal = data.term.as_ref().map(Term::targets).unwrap_or_default();
    normal.into_iter().enumerate().map(|(i, t)| (Some(i as u32), t)).chain(data.unwind.iter().map(|t| (None, t)))
}

impl Cfg {
    /// Control flow of a function as it is now.
    pub fn new(func: &Function) -> Cfg {
        let n = func.blocks.len();
        let (rpo, position) = reverse_postorder(func);
        let mut counts = vec![0u32; n + 1];
        for &b in &rpo {
            for (_, t) in targets(func, b) {
                counts[t.block.index() + 1] += 1;
            }
        }
        for i in 0..n {
            counts[i + 1] += counts[i];
        }
        let mut fill = counts.clone();
        let mut edges = vec![Edge { from: Block(0), target: None }; counts[n] as usize];
        for &b in &rpo {
            for (target, t) in targets(func, b) {
                let at = &mut fill[t.block.index()];
                edges[*at as usize] = Edge { from: b, target };
                *at += 1;
            }
        }
        Cfg { starts: counts, edges, rpo, position }
    }
    /// Edges into a block from reachable blocks.
    pub fn preds(&self, b: Block) -> &[Edge] {
        &self.edges[self.starts[b.index()] as usize..self.starts[b.index() + 1] as usize]
    }
    /// By block, whether it is one of some blocks or may come before them.
    pub fn leading_to(&self, blocks: impl IntoIterator<Item = Block>) -> Vec<bool> {
        let mut leads = vec![false; self.len()];
        let mut work: Vec<Block> = blocks.into_iter().collect();
        while let Some(b) = work.pop() {
            if !std::mem::replace(&mut leads[b.index()], true) {
                work.extend(self.preds(b).iter().map(|e| e.from));
            }
        }
        leads
    }
    /// Reachable blocks, every block after its dominators.
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }
    /// Place in [`Cfg::rpo`].
    pub fn position(&self, b: Block) -> Option<usize> {
        match self.position[b.index()] {
            NOWHERE => None,
            p => Some(p as usize),
        }
    }
    /// Number of blocks the function had, reachable or not.
    pub fn len(&self) -> usize {
        self.position.len()
    }
    /// Whether there were no blocks.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }
    /// Whether the entry leads to a block.
    pub fn is_reachable(&self, b: Block) -> bool {
        self.position[b.index()] != NOWHERE
    }
}

fn reverse_postorder(func: &Function) -> (Vec<Block>, Vec<u32>) {
    let n = func.blocks.len();
    let mut position = vec![NOWHERE; n];
    if n == 0 {
        return (Vec::new(), position);
    }
    let mut order = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    let mut stack: Vec<(Block, Vec<Block>)> = Vec::new();
    // The first target is visited last, so that it comes first among equals: `then` before `else`, handlers last.
    let children = |b: Block| targets(func, b).map(|(_, t)| t.block).collect::<Vec<_>>();
    seen[0] = true;
    stack.push((Block(0), children(Block(0))));
    while let Some((b, rest)) = stack.last_mut() {
        if let Some(next) = rest.pop() {
            if !std::mem::replace(&mut seen[next.index()], true) {
                stack.push((next, children(next)));
            }
        } else {
            order.push(*b);
            stack.pop();
        }
    }
    order.reverse();
    for (i, b) in order.iter().enumerate() {
        position[b.index()] = i as u32;
    }
    (order, position)
}

/// Dominators. Node `2 p` is the start of the block at position `p` of the reverse postorder, `2 p + 1` its end.
pub struct DomTree {
    idom: Vec<u32>,
    enter: Vec<u32>,
    leave: Vec<u32>,
    position: Vec<u32>,
}

impl DomTree {
    /// Dominators of a function.
    pub fn new(cfg: &Cfg) -> DomTree {
        let idom = immediate_dominators(cfg);
        let (enter, leave) = number_tree(&idom);
        DomTree { idom, enter, leave, position: cfg.position.clone() }
    }
    fn node(&self, b: Block) -> Option<u32> {
        let p = self.position[b.index()];
        (p != NOWHERE).then(|| 2 * p)
    }
    fn is_above(&self, a: u32, b: u32) -> bool {
        self.enter[a as usize] <= self.enter[b as usize] && self.leave[b as usize] <= self.leave[a as usize]
    }
    /// Whether the start of `a` dominates the start of `b`. It is true for unreachable blocks.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        match (self.node(a), self.node(b)) {
            (Some(a), Some(b)) => self.is_above(a, b),
            (None, Some(_)) => false,
            (_, None) => true,
        }
    }
    /// Whether the end of `a` dominates the start of `b`: the results of the instructions of `a` are visible in `b`.
    pub fn results_reach(&self, a: Block, b: Block) -> bool {
        match (self.node(a), self.node(b)) {
            (Some(a), Some(b)) => self.is_above(a + 1, b),
            (None, Some(_)) => false,
            (_, None) => true,
        }
    }
    /// Depth-first number of a block's start: a dominator's is smaller, and blocks below one node are contiguous.
    pub fn number(&self, b: Block) -> Option<u32> {
        self.node(b).map(|n| self.enter[n as usize])
    }
    /// The block whose start is the immediate dominator of the start of `b`, as a position in the order.
    pub fn idom_position(&self, position: usize) -> Option<usize> {
        (position > 0).then(|| self.idom[2 * position] as usize / 2)
    }
}

fn immediate_dominators(cfg: &Cfg) -> Vec<u32> {
    let n = cfg.rpo.len();
    let mut idom = vec![NOWHERE; 2 * n];
    if n == 0 {
        return idom;
    }
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for (p, b) in cfg.rpo.iter().enumerate() {
            let mut new = if p == 0 { 0 } else { NOWHERE };
            // The latest first: where others come from above it, the way up is gone once for all of them.
            for e in cfg.preds(*b).iter().rev() {
                let from = 2 * cfg.position[e.from.index()] + u32::from(e.target.is_some());
                if idom[from as usize] != NOWHERE {
                    new = if new == NOWHERE { from } else { intersect(&idom, new, from) };
                }
            }
            if idom[2 * p] != new {
                idom[2 * p] = new;
                changed = true;
            }
            idom[2 * p + 1] = 2 * p as u32;
        }
    }
    idom
}

fn intersect(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        if a > b {
            a = idom[a as usize];
        } else {
            b = idom[b as usize];
        }
    }
    a
}

/// Depth-first entry and exit numbers of a tree whose nodes have greater numbers than their parents: those below a node
/// lie between its own.
pub fn number_tree(idom: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let n = idom.len();
    // Parents come before children in index order, so sizes add up from the back and numbers go down from the front.
    let mut size = vec![1u32; n];
    for i in (1..n).rev() {
        size[idom[i] as usize] += size[i];
    }
    let mut enter = vec![0u32; n];
    let mut next = vec![1u32; n];
    for i in 1..n {
        let parent = idom[i] as usize;
        enter[i] = enter[parent] + next[parent];
        next[parent] += size[i];
    }
    let leave = (0..n).map(|i| enter[i] + size[i]).collect();
    (enter, leave)
}

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its only entry.
    pub header: Block,
    /// All its blocks, inner loops included, in reverse postorder: the header first.
    pub blocks: Vec<Block>,
    /// Blocks with a normal edge back to the header.
    pub latches: Vec<Block>,
    /// The loop around it, by index.
    pub parent: Option<usize>,
    /// Whether no loop is inside.
    pub is_innermost: bool,
}

/// Natural loops, inner ones before outer ones, with the innermost loop of every block.
pub struct Loops {
    /// The loops.
    pub loops: Vec<Loop>,
    /// By block.
    pub innermost: Vec<Option<usize>>,
}

impl Loops {
    /// Natural loops of a function.
    pub fn new(func: &Function, cfg: &Cfg, dom: &DomTree) -> Loops {
        let mut found = Loops { loops: Vec::new(), innermost: vec![None; func.blocks.len()] };
        for &header in cfg.rpo().iter().rev() {
            let back = cfg.preds(header).iter().filter(|e| dom.dominates(header, e.from));
            let mut latches: Vec<Block> = back.filter(|e| e.target.is_some()).map(|e| e.from).collect();
            latches.dedup();
            if !latches.is_empty() {
                found.add(cfg, dom, header, latches);
            }
        }
        for b in cfg.rpo() {
            let mut at = found.innermost[b.index()];
            while let Some(l) = at {
                found.loops[l].blocks.push(*b);
                at = found.loops[l].parent;
            }
        }
        found
    }
    fn add(&mut self, cfg: &Cfg, dom: &DomTree, header: Block, latches: Vec<Block>) {
        let this = self.loops.len();
        self.loops.push(Loop {
            header,
            blocks: Vec::new(),
            latches: latches.clone(),
            parent: None,
            is_innermost: true,
        });
        let mut work = latches;
        if self.innermost[header.index()].is_none() {
            self.innermost[header.index()] = Some(this);
        }
        while let Some(b) = work.pop() {
            let next = match self.innermost[b.index()].map(|l| self.outermost(l)) {
                Some(l) if l == this => continue,
                Some(l) => {
                    self.loops[l].parent = Some(this);
                    self.loops[this].is_innermost = false;
                    self.loops[l].header
                }
                None => {
                    self.innermost[b.index()] = Some(this);
                    b
                }
            };
            // Blocks that the header does not dominate belong to irreducible flow, which Python does not make.
            work.extend(cfg.preds(next).iter().map(|e| e.from).filter(|p| dom.dominates(header, *p)));
        }
    }
    fn outermost(&self, mut l: usize) -> usize {
        while let Some(p) = self.loops[l].parent {
            l = p;
        }
        l
    }
}

/// Values live at the start of every block, for values whose uses and definitions the caller gives.
///
/// `uses` has a pair for every value that a block needs from outside or defines itself; `defined` tells the defining
/// block. The cost is linear in the size of the result.
pub fn live_in(
    func: &Function,
    cfg: &Cfg,
    mut uses: Vec<(Value, Block)>,
    defined: &dyn Fn(Value) -> Block,
) -> Vec<Vec<Value>> {
    let mut live = vec![Vec::new(); func.blocks.len()];
    let mut stamp = vec![NOWHERE; func.blocks.len()];
    uses.sort_unstable();
    uses.dedup();
    let mut work = Vec::new();
    for (v, b) in uses {
        work.push(b);
        while let Some(b) = work.pop() {
            if defined(v) == b || std::mem::replace(&mut stamp[b.index()], v.0) == v.0 {
                continue;
            }
            live[b.index()].push(v);
            work.extend(cfg.preds(b).iter().map(|e| e.from));
        }
    }
    live
}

/// The block that defines each value; `None` for values without a definition.
pub fn def_blocks(func: &Function) -> Vec<Option<Block>> {
    let mut out = vec![None; func.values.len()];
    for (i, data) in func.blocks.iter().enumerate() {
        for v in data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result)) {
            out[v.index()] = Some(Block::new(i));
        }
    }
    out
}
