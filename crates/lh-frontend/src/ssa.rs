//! SSA form by demand (after Braun et al., 2013): reading a variable at a block's start makes a parameter of the block.
//!
//! Blocks are translated first; each read of what a block did not assign becomes a parameter. When all edges are known,
//! [`Ssa::finish`] gives every such parameter its arguments, which may demand parameters of the blocks before. Nothing
//! here recurses. Parameters that turn out to be the same value on every edge are removed by `tidy`.

use crate::visit::{edges, edges_mut};
use hashbrown::HashMap;
use lh_ir::Value;
use lh_ir::untyped::BlockData;
use std::sync::Arc;

/// Variables (locals, then positions of the stack) and their values at the borders of blocks.
#[derive(Default)]
pub(crate) struct Ssa {
    /// Value at the end of a block that assigns it.
    exits: HashMap<(u32, u32), Value>,
    /// Value at the start of a block.
    entries: HashMap<(u32, u32), Value>,
    /// Parameters made, by block.
    params: Vec<Vec<(u32, Value)>>,
    /// Parameters whose arguments have not been demanded yet.
    pending: Vec<(u32, u32)>,
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
        self.exits.insert((block, var), value);
    }

    /// The value of a variable at the start of a block.
    pub(crate) fn entry(&mut self, block: u32, var: u32) -> Value {
        if let Some(&value) = self.entries.get(&(block, var)) {
            return value;
        }
        if block == 0
            && let Some(unbound) = self.unbound
        {
            return unbound;
        }
        let name = self.vars.get(var as usize).filter(|name| !name.starts_with('.')).cloned();
        let value = self.value(name);
        self.suspicious[value.index()] = true;
        self.entries.insert((block, var), value);
        if self.params.len() <= block as usize {
            self.params.resize(block as usize + 1, Vec::new());
        }
        self.params[block as usize].push((var, value));
        self.pending.push((block, var));
        value
    }

    /// The value of a variable at the end of a block.
    fn exit(&mut self, block: u32, var: u32) -> Value {
        match self.exits.get(&(block, var)) {
            Some(&value) => value,
            None => self.entry(block, var),
        }
    }

    /// Makes the parameters of blocks and the arguments of edges. A `for` body has its item as parameter already.
    pub(crate) fn finish(&mut self, blocks: &mut [BlockData]) {
        let mut preds: Vec<Vec<(u32, bool)>> = vec![Vec::new(); blocks.len()];
        for (b, block) in blocks.iter().enumerate() {
            for (target, _) in edges(block) {
                let unwinds = block.unwind.as_ref().is_some_and(|u| std::ptr::eq(u, target));
                preds[target.block.index()].push((b as u32, unwinds));
            }
        }
        while let Some((block, var)) = self.pending.pop() {
            for &(pred, unwinds) in &preds[block as usize] {
                if unwinds {
                    self.entry(pred, var);
                } else {
                    self.exit(pred, var);
                }
            }
        }
        self.params.resize(blocks.len(), Vec::new());
        let params = std::mem::take(&mut self.params);
        for (b, block) in blocks.iter_mut().enumerate() {
            block.params.extend(params[b].iter().map(|p| p.1));
            if let Some(target) = &mut block.unwind {
                let vars = &params[target.block.index()];
                target.args = vars.iter().map(|p| self.entry(b as u32, p.0)).collect();
            }
            for target in block.term.iter_mut().flat_map(edges_mut) {
                let vars = &params[target.block.index()];
                target.args = vars.iter().map(|p| self.exit(b as u32, p.0)).collect();
            }
        }
    }
}
