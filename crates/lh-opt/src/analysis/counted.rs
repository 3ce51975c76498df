//! Counted loops: natural loops with an induction variable, a constant step and an invariant limit.

use hashbrown::HashMap;
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::cfg::{Cfg, DomTree, Edge, Loop, def_blocks, targets};
use lh_ir::func::{GANG, Inst, Target, Term};
use lh_ir::runtime::{Axis, Geometry, Launch as LaunchCall, Role};
use lh_ir::{Block, Const, Function, Value};

/// The defining block and instruction of every value.
pub(crate) struct Defs {
    blocks: Vec<Option<Block>>,
    places: Vec<u32>,
    /// The block's indices, which are defined by no instruction of their own, with the extent of the grid that bounds
    /// each.
    indices: HashMap<Value, Option<Value>>,
}

/// A quantity of the launch's geometry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Launch {
    /// An extent of a block: at most 1,024.
    Block,
    /// An extent of the grid, below 2**31.
    Grid,
    /// An index of the block, below the given extent of the grid if that is known.
    Index(Option<Value>),
    /// A number of blocks.
    Count,
}

impl Defs {
    pub(crate) fn new(func: &Function) -> Defs {
        let mut places = vec![u32::MAX; func.values.len()];
        let mut indices = HashMap::new();
        for d in &func.blocks {
            for (i, d) in d.insts.iter().enumerate() {
                if let Some(r) = d.result {
                    places[r.index()] = i as u32;
                }
                if let Inst::Runtime(f, args) = &d.inst
                    && f.role == Role::Launch(LaunchCall::EnterBlock)
                {
                    indices.extend(args[2..].iter().copied().zip(Axis::ALL));
                }
            }
        }
        // The grid's extents are read before the loop over its blocks.
        let read = |axis| {
            let role = Role::Geometry(Geometry::GridDim, axis);
            let mut first = func.blocks[0].insts.iter();
            first.find_map(|d| match &d.inst {
                Inst::Runtime(f, _) if f.role == role => d.result,
                _ => None,
            })
        };
        let indices = indices.into_iter().map(|(v, axis)| (v, read(axis))).collect();
        Defs { blocks: def_blocks(func), places, indices }
    }
    /// The quantity of the launch's geometry that a value is.
    pub(crate) fn launch(&self, func: &Function, v: Value) -> Option<Launch> {
        if let Some(extent) = self.indices.get(&v) {
            return Some(Launch::Index(*extent));
        }
        let f = match self.inst(func, v)? {
            Inst::Runtime(f, _) => f,
            // The number of gangs in an extent.
            Inst::Op(op, args) if op.is(Algebra::Quotient) && self.int(func, args[1])? >= GANG => {
                let (base, rest) = self.offset(func, args[0]);
                let fits = (0..GANG).contains(&rest) && self.launch(func, base) == Some(Launch::Block);
                return fits.then_some(Launch::Block);
            }
            _ => return None,
        };
        match f.role {
            Role::Launch(LaunchCall::First | LaunchCall::Last) => Some(Launch::Count),
            Role::Geometry(Geometry::BlockDim, _) => Some(Launch::Block),
            Role::Geometry(Geometry::GridDim, _) => Some(Launch::Grid),
            Role::Geometry(Geometry::Block, _) => Some(Launch::Index(None)),
            _ => None,
        }
    }
    /// Whether a value is visible at the start of a block. An exception leaves a block before its instructions have
    /// their results.
    pub(crate) fn reaches(&self, dom: &DomTree, v: Value, b: Block) -> bool {
        let is_result = self.places.get(v.index()).is_some_and(|place| *place != u32::MAX);
        self.block(v).is_some_and(|d| if is_result { dom.results_reach(d, b) } else { dom.dominates(d, b) })
    }
    pub(crate) fn block(&self, v: Value) -> Option<Block> {
        self.blocks[v.index()]
    }
    /// The defining instruction; `None` for parameters.
    pub(crate) fn inst<'a>(&self, func: &'a Function, v: Value) -> Option<&'a Inst> {
        let place = self.places[v.index()];
        let b = self.blocks[v.index()]?;
        (place != u32::MAX).then(|| &func.blocks[b.index()].insts[place as usize].inst)
    }
    /// The position of the defining instruction in its block.
    pub(crate) fn place(&self, v: Value) -> usize {
        self.places[v.index()] as usize
    }
    /// The value of an integer constant.
    pub(crate) fn int(&self, func: &Function, v: Value) -> Option<i64> {
        match self.inst(func, v)? {
            Inst::Const(Const::Int(i, _)) => i64::try_from(*i).ok(),
            _ => None,
        }
    }
    /// `v` as a base value plus a constant, following additions, subtractions and casts.
    pub(crate) fn offset(&self, func: &Function, v: Value) -> (Value, i64) {
        let (mut v, mut sum) = (v, 0i64);
        loop {
            let (next, c) = match self.inst(func, v) {
                Some(Inst::Op(op, args)) if op.is(Algebra::Add) => {
                    match (self.int(func, args[0]), self.int(func, args[1])) {
                        (_, Some(c)) => (args[0], c),
                        (Some(c), None) => (args[1], c),
                        (None, None) => return (v, sum),
                    }
                }
                Some(Inst::Op(op, args)) if op.is(Algebra::Sub) => {
                    match self.int(func, args[1]).and_then(i64::checked_neg) {
                        Some(c) => (args[0], c),
                        None => return (v, sum),
                    }
                }
                Some(Inst::Cast(x)) if func.ty(*x).strong() == func.ty(v).strong() => (*x, 0),
                _ => return (v, sum),
            };
            match sum.checked_add(c) {
                Some(s) => (v, sum) = (next, s),
                None => return (v, sum),
            }
        }
    }
}

/// A loop whose header tests `index < limit` (or `>`) and whose latches pass `index + step`.
#[derive(Clone)]
pub(crate) struct Counted {
    /// The header's parameter that counts.
    pub index: Value,
    /// Its place among the parameters.
    pub place: usize,
    /// The limit that the index is compared with; defined outside of the loop.
    pub limit: Value,
    /// The step: positive for `<`, negative for `>`, never 0.
    pub step: i64,
    /// Whether the loop's body is the branch's first target.
    pub body_first: bool,
}

/// Whether a block belongs to a loop, by position in the loop's sorted blocks.
pub(crate) fn in_loop(cfg: &Cfg, l: &Loop, b: Block) -> bool {
    l.blocks.binary_search_by_key(&cfg.position(b), |x| cfg.position(*x)).is_ok()
}

pub(crate) fn target_of(func: &Function, e: Edge) -> &Target {
    targets(func, e.from).find(|t| t.0 == e.target).expect("an edge has a target").1
}

/// A loop that continues while its index is less, or greater, than an invariant limit.
pub(crate) struct ComparedLoop {
    /// The header's parameter.
    pub index: Value,
    /// Its place among the parameters.
    pub place: usize,
    /// The limit that it is compared with.
    pub limit: Value,
    /// Whether the comparison is `<`.
    pub less: bool,
    /// Whether the loop's body is the branch's first target.
    pub body_first: bool,
}

/// Recognises a loop whose header compares an index with an invariant limit.
pub(crate) fn compared(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop) -> Option<ComparedLoop> {
    let header = &func.blocks[l.header.index()];
    let Some(Term::Branch { cond, then, els }) = &header.term else { return None };
    let body_first = match (in_loop(cfg, l, then.block), in_loop(cfg, l, els.block)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let Some(Inst::Op(op, args)) = defs.inst(func, *cond) else { return None };
    if defs.block(*cond) != Some(l.header) {
        return None;
    }
    // `less`: the loop continues while the first operand is below the second.
    let less = match op.comparison()?.given(body_first) {
        Cmp::Lt => true,
        Cmp::Gt => false,
        Cmp::Eq | Cmp::Ne | Cmp::Le | Cmp::Ge => return None,
    };
    let is_param = |v: Value| header.params.iter().position(|p| *p == v);
    let (index, limit, less) = match (is_param(args[0]), is_param(args[1])) {
        (Some(_), None) => (args[0], args[1], less),
        (None, Some(_)) => (args[1], args[0], !less),
        _ => return None,
    };
    if in_loop(cfg, l, defs.block(limit)?) || func.ty(index).strong() != lh_ir::Ty::i64() {
        return None;
    }
    Some(ComparedLoop { index, place: is_param(index)?, limit, less, body_first })
}

/// The step of such a loop's index, if it is the same invariant value on every back edge.
pub(crate) fn stride(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop, c: &ComparedLoop) -> Option<Value> {
    let mut step = None;
    for e in cfg.preds(l.header).iter().filter(|e| in_loop(cfg, l, e.from)) {
        let next = target_of(func, *e).args[c.place];
        let Some(Inst::Op(op, args)) = defs.inst(func, next).filter(|_| e.target.is_some()) else { return None };
        let other = args.iter().position(|a| *a == c.index).map(|i| args[1 - i]).filter(|_| op.is(Algebra::Add))?;
        if *step.get_or_insert(other) != other {
            return None;
        }
    }
    step.filter(|v| defs.block(*v).is_some_and(|b| !in_loop(cfg, l, b)) || defs.int(func, *v).is_some())
}

pub(crate) fn counted(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop) -> Option<Counted> {
    let ComparedLoop { index, place, limit, less, body_first } = compared(func, cfg, defs, l)?;
    let mut steps = steps(func, cfg, defs, l, place);
    let step = steps.next()??;
    let goes = steps.all(|s| s == Some(step)) && if less { step > 0 } else { step < 0 };
    goes.then_some(Counted { index, place, limit, step, body_first })
}

/// For each back edge, the constant that is added to a parameter of the loop's header; `None` if it is no constant.
pub(crate) fn steps(
    func: &Function,
    cfg: &Cfg,
    defs: &Defs,
    l: &Loop,
    place: usize,
) -> impl Iterator<Item = Option<i64>> {
    let param = func.blocks[l.header.index()].params[place];
    cfg.preds(l.header).iter().filter(|e| in_loop(cfg, l, e.from)).map(move |e| {
        let (base, step) = defs.offset(func, target_of(func, *e).args[place]);
        (base == param).then_some(step)
    })
}

impl Counted {
    /// The maximum trip count, if start and limit are constants or the limit is at most a constant after the start.
    pub(crate) fn trips(&self, func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop) -> Option<u64> {
        if let Some(n) = self.strip(func, cfg, defs, l) {
            return Some(n);
        }
        let limit = i128::from(defs.int(func, self.limit)?);
        let mut most = 0;
        for e in cfg.preds(l.header).iter().filter(|e| !in_loop(cfg, l, e.from)) {
            let start = i128::from(defs.int(func, target_of(func, *e).args[self.place])?);
            let step = i128::from(self.step);
            let trips = ((limit - start) + step - step.signum()) / step;
            most = most.max(u64::try_from(trips.max(0)).ok()?);
        }
        Some(most)
    }

    /// The length of a strip, in which the limit is the minimum of another value and `start + n`.
    fn strip(&self, func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop) -> Option<u64> {
        let Some(Inst::Op(op, args)) = defs.inst(func, self.limit) else { return None };
        let &[cond, near, _] = &args[..] else { return None };
        let Some(Inst::Op(less, sides)) = defs.inst(func, cond) else { return None };
        if !op.is(Algebra::Select) || !less.is(Algebra::Cmp(Cmp::Lt)) || sides[..] != args[1..] || self.step != 1 {
            return None;
        }
        let (base, n) = defs.offset(func, near);
        let mut starts = cfg.preds(l.header).iter().filter(|e| !in_loop(cfg, l, e.from));
        let same = starts.all(|e| target_of(func, *e).args[self.place] == base);
        u64::try_from(n).ok().filter(|_| same)
    }
}

/// Loops with at most this trip count are unrolled by LLVM.
const UNROLLED: u64 = 32;

/// Whether a loop runs so few times that LLVM unrolls it.
pub(crate) fn is_short(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop) -> bool {
    counted(func, cfg, defs, l).and_then(|c| c.trips(func, cfg, defs, l)).is_some_and(|n| n <= UNROLLED)
}
