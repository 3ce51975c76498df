//! Block parameters that always have one value.

use crate::cfg::{Cfg, targets};
use crate::verify::agree;
use crate::{Block, Function, Value};
use hashbrown::{HashMap, HashSet};

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
    let blocks: Vec<Block> = cfg.rpo().iter().copied().filter(|b| of(*b)).collect();
    let params = blocks.iter().flat_map(|b| &func.blocks[b.index()].params);
    let none: HashMap<Value, Option<Value>> = params.map(|p| (*p, None)).collect();
    // Parameters that have several values are values of their own. Those that pass on the first one of such a
    // parameter pass on another one as soon as that is known, so the search begins anew.
    let mut several: HashSet<Value> = HashSet::new();
    loop {
        let mut single = none.clone();
        several.iter().for_each(|p| _ = single.insert(*p, Some(*p)));
        let known = several.len();
        let mut changed = true;
        while changed {
            changed = false;
            for b in &blocks {
                for (i, p) in func.blocks[b.index()].params.iter().enumerate() {
                    if several.contains(p) {
                        continue;
                    }
                    let mut own = single[p];
                    for e in cfg.preds(*b) {
                        let (_, t) = targets(func, e.from).find(|t| t.0 == e.target).expect("an edge has a target");
                        let new = single.get(&t.args[i]).copied().unwrap_or(Some(alike(t.args[i])));
                        let Some(v) = new else { continue };
                        if *own.get_or_insert(v) != v || !agree(func.ty(v), func.ty(*p)) {
                            several.insert(*p);
                            break;
                        }
                    }
                    changed |= own != single[p];
                    single.insert(*p, own);
                }
            }
        }
        if several.len() == known {
            return single.into_iter().filter_map(|(p, v)| v.filter(|v| *v != p).map(|v| (p, v))).collect();
        }
    }
}
