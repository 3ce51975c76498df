//! Analyses that passes share. Each is computed on first use and kept until a pass changes the function.

use super::counted::{Counted, Defs, counted, in_loop};
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::{Cfg, DomTree, Loops, targets};
use lh_ir::func::Term;
use lh_ir::{Block, Function, Value};
use std::cell::OnceCell;

/// The analyses of one function.
///
/// A pass that changes the function answers that it did, and the pipeline drops all of them. Within a pass, what was
/// computed before a change describes the function before it.
#[derive(Default)]
pub struct Analyses {
    cfg: OnceCell<Cfg>,
    dom: OnceCell<DomTree>,
    loops: OnceCell<Loops>,
    defs: OnceCell<Defs>,
    counts: OnceCell<Vec<Option<Counted>>>,
    users: OnceCell<Users>,
}

impl Analyses {
    pub(crate) fn cfg(&self, func: &Function) -> &Cfg {
        self.cfg.get_or_init(|| Cfg::new(func))
    }
    pub(crate) fn dom(&self, func: &Function) -> &DomTree {
        self.dom.get_or_init(|| DomTree::new(self.cfg(func)))
    }
    /// Natural loops.
    pub(crate) fn loops(&self, func: &Function) -> &Loops {
        self.loops.get_or_init(|| Loops::new(func, self.cfg(func), self.dom(func)))
    }
    pub(crate) fn defs(&self, func: &Function) -> &Defs {
        self.defs.get_or_init(|| Defs::new(func))
    }
    /// The counted form of each loop that has one.
    pub(crate) fn counts(&self, func: &Function) -> &[Option<Counted>] {
        self.counts.get_or_init(|| {
            let (cfg, defs) = (self.cfg(func), self.defs(func));
            self.loops(func).loops.iter().map(|l| counted(func, cfg, defs, l)).collect()
        })
    }
    /// Uses of values outside of their blocks.
    pub(crate) fn users(&self, func: &Function) -> &Users {
        self.users.get_or_init(|| Users::new(func, self.cfg(func), self.defs(func)))
    }
    /// All of them together.
    pub(crate) fn facts<'a>(&'a self, func: &'a Function) -> Facts<'a> {
        Facts {
            func,
            cfg: self.cfg(func),
            dom: self.dom(func),
            loops: self.loops(func),
            defs: self.defs(func),
            counts: self.counts(func),
            users: self.users(func),
        }
    }
}

/// A function with its analyses.
pub(crate) struct Facts<'a> {
    pub func: &'a Function,
    pub cfg: &'a Cfg,
    pub dom: &'a DomTree,
    pub loops: &'a Loops,
    pub defs: &'a Defs,
    pub counts: &'a [Option<Counted>],
    pub users: &'a Users,
}

/// An instruction by block and place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct InstRef(pub Block, pub usize);

/// For each value, the blocks other than its own that use it.
pub(crate) struct Users(HashMap<Value, Vec<Block>>);

impl Users {
    pub(crate) fn new(func: &Function, cfg: &Cfg, defs: &Defs) -> Users {
        let mut users: HashMap<Value, Vec<Block>> = HashMap::new();
        for &b in cfg.rpo() {
            for_each_use(func, b, &mut |v| {
                if defs.block(v) != Some(b) {
                    let list = users.entry(v).or_default();
                    if list.last() != Some(&b) {
                        list.push(b);
                    }
                }
            });
        }
        Users(users)
    }
    /// Users outside of some blocks.
    pub(crate) fn outside<'a>(&'a self, v: Value, inside: &'a HashSet<Block>) -> impl Iterator<Item = Block> + 'a {
        self.0.get(&v).into_iter().flatten().copied().filter(|b| !inside.contains(b))
    }
}

fn for_each_use(func: &Function, b: Block, f: &mut dyn FnMut(Value)) {
    let data = &func.blocks[b.index()];
    data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut *f));
    for (_, t) in targets(func, b) {
        t.args.iter().for_each(|v| f(*v));
    }
    match &data.term {
        Some(Term::Branch { cond: v, .. } | Term::Return(v)) => f(*v),
        Some(Term::Raise { args, .. }) => args.iter().for_each(|v| f(*v)),
        Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => {}
    }
}

impl Facts<'_> {
    /// Whether a value is defined outside of a loop.
    pub(crate) fn is_invariant(&self, l: usize, v: Value) -> bool {
        self.defs.block(v).is_some_and(|b| !in_loop(self.cfg, &self.loops.loops[l], b))
    }
}
