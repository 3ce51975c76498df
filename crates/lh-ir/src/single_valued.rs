//! Block parameters that always have one value.

use crate::cfg::{Cfg, targets};
use crate::verify::agree;
use crate::{Block, Function, Value};
use hashbrown::HashMap;

/// The parameters of some blocks that have one value on every path, with that value; `alike` names values that are
/// equal wherever they stand by one of them.
///
/// The search is optimistic: parameters that pass each other one value around loops have it, too. No value of the
/// result is itself a parameter with another value.
pub fn single_valued(
    func: &Function,
    cfg: &Cfg,
    of: &dyn Fn(Block) -> bool,
    alike: &dyn Fn(Value) -> Value,
) -> HashMap<Value, Value> {
    // A parameter without an entry has no value yet; one whose value is itself has several.
    let mut single: HashMap<Value, Option<Value>> = HashMap::new();
    let blocks: Vec<Block> = cfg.rpo().iter().copied().filter(|b| of(*b)).collect();
    for b in &blocks {
        single.extend(func.blocks[b.index()].params.iter().map(|p| (*p, None)));
    }
    let mut changed = true;
    while changed {
        changed = false;
        for b in &blocks {
            for (i, p) in func.blocks[b.index()].params.iter().enumerate() {
                let old = single[p];
                if old == Some(*p) {
                    continue;
                }
                let mut new = None;
                for e in cfg.preds(*b) {
                    let (_, t) = targets(func, e.from).find(|t| t.0 == e.target).expect("an edge has a target");
                    let Some(v) = single.get(&t.args[i]).copied().unwrap_or(Some(alike(t.args[i]))) else { continue };
                    if *new.get_or_insert(v) != v || !agree(func.ty(v), func.ty(*p)) {
                        new = Some(*p);
                        break;
                    }
                }
                changed |= new != old;
                single.insert(*p, new);
            }
        }
    }
    single.into_iter().filter_map(|(p, v)| v.filter(|v| *v != p).map(|v| (p, v))).collect()
}
