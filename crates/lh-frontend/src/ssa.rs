//! SSA form for the variables of a function: locals, then positions of the stack.
//!
//! Blocks are translated first. Reading a variable that the block has not assigned makes a placeholder, and what the
//! block assigns is noted. When all edges are known, [`Ssa::finish`] gives parameters to the joins where definitions
//! meet and the variable is alive (the iterated dominance frontier of its assignments), and finds the value behind each
//! placeholder in one walk over the tree of dominators. So the cost follows the sizes of assignments, reads and joins,
//! not the number of blocks that a variable merely lives through. Nothing recurses.
//!
//! Along an unwind edge variables have the values of the block's start: in the graph, a block with a handler is two
//! nodes, of which the first has the unwind edge and the second the assignments.

use crate::dominators::{Dominators, Graph, NONE};
use crate::tidy::Renames;
use crate::visit::{block_edges_mut, map_block};
use hashbrown::HashMap;
use lh_ir::Value;
use lh_ir::untyped::BlockData;
use std::sync::Arc;

/// Variables and their values at the borders of blocks.
#[derive(Default)]
pub(crate) struct Ssa {
    /// Placeholders, by block and variable.
    entries: HashMap<(u32, u32), Value>,
    /// The same in the order of making.
    reads: Vec<(u32, u32, Value)>,
    /// Assignments: block, variable, value at its end. A later one for the same block counts.
    writes: Vec<(u32, u32, Value)>,
    /// Assignments at the start of a block, by a parameter.
    early_writes: Vec<(u32, u32, Value)>,
    /// Names by value.
    pub(crate) names: Vec<Option<Arc<str>>>,
    /// Names of variables.
    pub(crate) vars: Vec<Arc<str>>,
    /// Whether a value may be unbound, as far as its own block knows.
    pub(crate) suspicious: Vec<bool>,
    /// The value of every variable in block 0 that is not a parameter of the function.
    pub(crate) unbound: Option<Value>,
}

impl Ssa {
    /// A new value.
    pub(crate) fn value(&mut self, name: Option<Arc<str>>) -> Value {
        let value = Value::new(self.names.len());
        self.names.push(name);
        self.suspicious.push(false);
        value
    }

    /// Notes the value of a variable at the end of a block.
    pub(crate) fn assign(&mut self, block: u32, var: u32, value: Value) {
        self.writes.push((block, var, value));
    }

    /// Notes that a parameter of a block is the value of a variable.
    pub(crate) fn assign_early(&mut self, block: u32, var: u32, param: Value) {
        self.early_writes.push((block, var, param));
    }

    /// The value of a variable at the start of a block.
    pub(crate) fn entry(&mut self, block: u32, var: u32) -> Value {
        if let Some(&value) = self.entries.get(&(block, var)) {
            return value;
        }
        let value = self.value(self.name(var));
        self.suspicious[value.index()] = true;
        self.entries.insert((block, var), value);
        self.reads.push((block, var, value));
        value
    }

    /// Whether a value is what a variable has at the start of a block.
    pub(crate) fn is_entry(&self, block: u32, var: u32, value: Value) -> bool {
        self.entries.get(&(block, var)) == Some(&value)
    }

    fn name(&self, var: u32) -> Option<Arc<str>> {
        self.vars.get(var as usize).filter(|name| !name.starts_with('.')).cloned()
    }

    /// Makes the parameters of blocks and the arguments of edges, and puts values for placeholders. A `for` body has
    /// its item as parameter already.
    pub(crate) fn finish(&mut self, blocks: &mut [BlockData]) -> Renames {
        let nodes = Nodes::new(blocks);
        let by_node = ByNode::new(self, &nodes);
        let doms = nodes.graph.dominators();
        let joins = self.joins(&by_node, &doms);
        let mut walk = Walk::new(self, &by_node, joins, &doms);
        walk.run();
        let Walk { joins, mut args, mut renames, names, .. } = walk;
        self.names = names;
        for (b, (block, params)) in blocks.iter_mut().zip(&joins).enumerate() {
            block.params.extend(params.iter().map(|p| p.value));
            let unwinds = block.unwind.is_some();
            for (e, target) in block_edges_mut(block).into_iter().enumerate() {
                let (node, edge) = nodes.edge(b, e, unwinds);
                target.args.append(args[node].get_mut(edge).unwrap_or(&mut Vec::new()));
            }
            map_block(block, &mut |v| renames.find(v));
        }
        renames
    }

    /// Where variables get parameters.
    fn joins(&mut self, by_node: &ByNode, doms: &Dominators) -> Vec<Vec<Join>> {
        let count = doms.preds.len();
        let frontiers = doms.frontiers();
        let mut joins: Vec<Vec<Join>> = Vec::new();
        joins.resize_with(count, Vec::new);
        let (mut placed, mut alive, mut assigned) = (vec![NONE; count], vec![NONE; count], vec![NONE; count]);
        for (var, places) in by_node.vars.iter().enumerate() {
            let var = var as u32;
            if places.reads.is_empty() {
                continue;
            }
            places.writes.iter().for_each(|&n| assigned[n as usize] = var);
            let mut found = Vec::new();
            let mut work = places.writes.clone();
            while let Some(node) = work.pop() {
                for &join in &frontiers[node as usize] {
                    if std::mem::replace(&mut placed[join as usize], var) != var {
                        found.push(join);
                        work.push(join);
                    }
                }
            }
            if found.is_empty() {
                continue;
            }
            let mut work = places.reads.clone();
            while let Some(node) = work.pop() {
                if std::mem::replace(&mut alive[node as usize], var) != var {
                    let preds = doms.preds[node as usize].iter();
                    work.extend(preds.copied().filter(|&p| assigned[p as usize] != var && alive[p as usize] != var));
                }
            }
            for join in found.into_iter().filter(|&j| alive[j as usize] == var) {
                let value = match self.entries.get(&(join, var)) {
                    Some(&value) => value,
                    None => self.value(self.name(var)),
                };
                joins[join as usize].push(Join { var, value });
            }
        }
        joins
    }
}

/// A parameter of a block for a variable.
#[derive(Clone, Copy)]
struct Join {
    var: u32,
    value: Value,
}

/// The flow graph. A block's first node has the block's number.
struct Nodes {
    graph: Graph,
    /// The node at whose end the block ends.
    end: Vec<u32>,
}

impl Nodes {
    fn new(blocks: &mut [BlockData]) -> Nodes {
        let mut succs: Vec<Vec<u32>> = vec![Vec::new(); blocks.len()];
        let mut end = Vec::with_capacity(blocks.len());
        for (b, block) in blocks.iter_mut().enumerate() {
            let unwinds = block.unwind.is_some();
            let targets: Vec<u32> = block_edges_mut(block).iter().map(|t| t.block.0).collect();
            if unwinds {
                let last = succs.len() as u32;
                succs[b] = vec![targets[0], last];
                succs.push(targets[1..].to_vec());
                end.push(last);
            } else {
                succs[b] = targets;
                end.push(b as u32);
            }
        }
        Nodes { graph: Graph { succs }, end }
    }

    /// The node and number of a block's n-th edge.
    fn edge(&self, block: usize, n: usize, unwinds: bool) -> (usize, usize) {
        if unwinds && n > 0 { (self.end[block] as usize, n - 1) } else { (block, n) }
    }
}

/// Reads and assignments by node, and nodes by variable.
struct ByNode {
    reads: Vec<Vec<(u32, Value)>>,
    writes: Vec<Vec<(u32, Value)>>,
    vars: Vec<Places>,
    succs: Vec<Vec<u32>>,
}

#[derive(Clone, Default)]
struct Places {
    reads: Vec<u32>,
    writes: Vec<u32>,
}

impl ByNode {
    fn new(ssa: &Ssa, nodes: &Nodes) -> ByNode {
        let count = nodes.graph.succs.len();
        let all = ssa.reads.iter().chain(&ssa.writes).chain(&ssa.early_writes);
        let vars = all.map(|r| r.1 as usize + 1).max().unwrap_or(0);
        let mut by_node = ByNode {
            reads: vec![Vec::new(); count],
            writes: vec![Vec::new(); count],
            vars: vec![Places::default(); vars],
            succs: nodes.graph.succs.clone(),
        };
        for &(block, var, value) in &ssa.reads {
            by_node.reads[block as usize].push((var, value));
            by_node.vars[var as usize].reads.push(block);
        }
        let early = ssa.early_writes.iter().map(|w| (w.0, w));
        let late = ssa.writes.iter().map(|w| (nodes.end[w.0 as usize], w));
        for (node, &(_, var, value)) in early.chain(late) {
            by_node.writes[node as usize].push((var, value));
            by_node.vars[var as usize].writes.push(node);
        }
        by_node
    }
}

/// The walk over the tree of dominators.
struct Walk<'s> {
    by_node: &'s ByNode,
    doms: &'s Dominators,
    joins: Vec<Vec<Join>>,
    /// Arguments by node and edge.
    args: Vec<Vec<Vec<Value>>>,
    renames: Renames,
    names: Vec<Option<Arc<str>>>,
    unbound: Option<Value>,
    /// Value of each variable at the current node.
    now: Vec<Option<Value>>,
    /// Values to restore when a node is left.
    undo: Vec<(u32, Option<Value>)>,
}

impl<'s> Walk<'s> {
    fn new(ssa: &mut Ssa, by_node: &'s ByNode, joins: Vec<Vec<Join>>, doms: &'s Dominators) -> Self {
        Walk {
            by_node,
            doms,
            joins,
            args: vec![Vec::new(); doms.preds.len()],
            renames: Renames::new(ssa.names.len()),
            names: std::mem::take(&mut ssa.names),
            unbound: ssa.unbound,
            now: vec![None; by_node.vars.len()],
            undo: Vec::new(),
        }
    }

    fn run(&mut self) {
        let mut stack = vec![(0u32, 0, 0)];
        while let Some((node, next, mark)) = stack.last_mut() {
            if *next == 0 {
                *mark = self.undo.len();
                self.visit(*node);
            }
            if let Some(&child) = self.doms.children[*node as usize].get(*next) {
                *next += 1;
                stack.push((child, 0, 0));
                continue;
            }
            for (var, value) in self.undo.drain(*mark..).rev() {
                self.now[var as usize] = value;
            }
            stack.pop();
        }
    }

    fn visit(&mut self, node: u32) {
        for i in 0..self.joins[node as usize].len() {
            let Join { var, value } = self.joins[node as usize][i];
            self.set(var, value);
        }
        for &(var, placeholder) in &self.by_node.reads[node as usize] {
            let Some(value) = self.now[var as usize].or(self.unbound) else { continue };
            let value = self.renames.find(value);
            if value != placeholder {
                self.renames.set(placeholder, value);
                // A value from the stack gets the name of the variable that it is assigned to.
                if self.names[value.index()].is_none() && Some(value) != self.unbound {
                    self.names[value.index()] = self.names[placeholder.index()].take();
                }
            }
        }
        for &(var, value) in &self.by_node.writes[node as usize] {
            self.set(var, value);
        }
        let now = |join: &Join| self.now[join.var as usize].or(self.unbound);
        let given = self.by_node.succs[node as usize].iter();
        self.args[node as usize] =
            given.map(|&succ| self.joins[succ as usize].iter().filter_map(now).collect()).collect();
    }

    fn set(&mut self, var: u32, value: Value) {
        self.undo.push((var, self.now[var as usize].replace(value)));
    }
}
