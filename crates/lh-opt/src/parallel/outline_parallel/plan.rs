//! Selects the loops to outline and collects what outlining needs.

use super::cost::{self, Cost};
use crate::analysis::counted::Defs;
use crate::analysis::effects::Callees;
use crate::parallel::carried::{self, Carried, carried};
use crate::parallel::races::{ArrayReduce, Need};
use crate::parallel::region::{self, Reason, Region, region};
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Inst, Parallel, Race};
use lh_ir::{Block, Function, Span, Value};

/// The blocks of loops that the program declares parallel, in reverse postorder.
pub(super) fn marked(func: &Function) -> Vec<Block> {
    let cfg = Cfg::new(func);
    let mut inside = vec![false; func.blocks.len()];
    for l in Loops::new(func, &cfg, &DomTree::new(&cfg)).loops {
        if func.blocks[l.header.index()].parallel.is_some_and(Parallel::is_tested) {
            l.blocks.iter().for_each(|b| inside[b.index()] = true);
        }
    }
    cfg.rpo().iter().copied().filter(|b| inside[b.index()]).collect()
}

/// The first outermost loop with a mark of one kind, and the mark.
pub(super) fn next_loop(func: &mut Function, is_one: fn(Parallel) -> bool) -> Option<(lh_ir::cfg::Loop, Parallel)> {
    let mark = |b: Block| func.blocks[b.index()].parallel.filter(|p| is_one(*p));
    if func.options.debug || (0..func.blocks.len()).all(|b| mark(Block::new(b)).is_none()) {
        return None;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let is_marked = |i: usize| mark(loops.loops[i].header).is_some();
    let has_marked_parent = |i: usize| {
        let mut at = loops.loops[i].parent;
        while let Some(p) = at {
            if is_marked(p) {
                return true;
            }
            at = loops.loops[p].parent;
        }
        false
    };
    let found = (0..loops.loops.len()).filter(|i| is_marked(*i) && !has_marked_parent(*i));
    let first = found.min_by_key(|i| cfg.position(loops.loops[*i].header));
    first.and_then(|i| Some((loops.loops[i].clone(), mark(loops.loops[i].header)?)))
}

pub(super) struct Plan {
    pub(super) region: Region,
    pub(super) carried: Vec<Carried>,
    /// Number of carried variables that are flags of conditional updates.
    pub(super) flags: usize,
    /// Members of float reductions, which may be reassociated.
    pub(super) free: Vec<Value>,
    pub(super) arrays: Vec<ArrayReduce>,
    /// Conditions for running in parallel; if one fails at run time, one block has all iterations.
    pub(super) needs: Vec<(Need, Span)>,
    /// The conflict that tests of tables exclude.
    pub(super) doubt: Option<Race>,
    /// Whether the loop warns if it runs in order because of what a test finds.
    pub(super) warns: bool,
    /// Whether independence is only claimed by the program.
    pub(super) trusted: bool,
    /// Whether the race checker observes the loop.
    pub(super) checked: bool,
    /// Values that the body gets as parameters.
    pub(super) captured: Vec<Value>,
    /// Constants that the body recomputes.
    pub(super) constants: Vec<Value>,
    /// The header's parameters, which outside of the outlined loop are their initial values.
    pub(super) initial: Vec<Value>,
    /// Cost of an iteration; `None` if it may run for long.
    pub(super) cost: Option<Cost>,
    pub(super) span: Span,
}

/// Adds flags for conditional updates to a loop.
pub(super) fn flags(func: &mut Function, l: &lh_ir::cfg::Loop, callees: Callees<'_>) -> Vec<(Value, Value)> {
    let cfg = Cfg::new(func);
    match region(func, &cfg, &DomTree::new(&cfg), l) {
        Ok(r) => carried::add_flags(func, &cfg, &r, callees),
        Err(_) => Vec::new(),
    }
}

pub(super) fn plan(
    func: &Function,
    l: &lh_ir::cfg::Loop,
    callees: Callees<'_>,
    flags: &carried::Flags,
) -> Result<Plan, Reason> {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let region = region(func, &cfg, &dom, l)?;
    let (carried, free) = carried(func, &cfg, &region, callees, flags)?;
    let initial = func.blocks[region.header.index()].params.clone();
    for (p, kind) in initial.iter().zip(&carried) {
        if matches!(kind, Carried::Reduced(how) if !how.combines(func.ty(*p))) {
            return Err(region::CARRIED);
        }
    }
    let defs = Defs::new(func);
    let by_constant = |v: &Value| defs.inst(func, *v).is_some_and(is_constant);
    let (constants, captured): (Vec<Value>, Vec<Value>) =
        region.captured(func).into_iter().partition(|v| by_constant(v));
    let cost = cost::cost(func, &cfg, &dom, &region, callees);
    let span = func.blocks[region.header.index()].term_span;
    let (arrays, needs, trusted, checked) = (Vec::new(), Vec::new(), false, false);
    let flags = flags.len();
    let (doubt, warns) = (None, false);
    Ok(Plan {
        region,
        carried,
        flags,
        free,
        arrays,
        needs,
        doubt,
        warns,
        trusted,
        checked,
        captured,
        constants,
        initial,
        cost,
        span,
    })
}

/// Whether an instruction has the same result anywhere.
pub(super) fn is_constant(inst: &Inst) -> bool {
    matches!(inst, Inst::Const(_) | Inst::Zero)
}
