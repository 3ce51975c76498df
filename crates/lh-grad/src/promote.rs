//! Makes SSA values of slots, and removes sums with the zeros that adjoints begin with.

use hashbrown::{HashMap, HashSet};
use lh_ir::algebra::{Algebra, AnyOrder};
use lh_ir::cfg::Cfg;
use lh_ir::func::{Inst, InstData, Target, Term};
use lh_ir::single_valued::single_valued;
use lh_ir::{Block, Const, Function, Slot, Ty, Value};

/// Replaces the slots from `first` on by block parameters; all of them are zero where the function begins. Blocks that
/// cannot be reached become empty.
pub(crate) fn promote(func: &mut Function, first: usize) {
    let cfg = Cfg::new(func);
    for i in 0..func.blocks.len() {
        if !cfg.is_reachable(Block::new(i)) {
            let data = &mut func.blocks[i];
            (data.params, data.insts, data.term) = (Vec::new(), Vec::new(), Some(Term::Unreachable));
            data.unwind = None;
        }
    }
    let cfg = Cfg::new(func);
    let live = live_slots(func, &cfg, first);
    let mut params: Vec<Vec<(Slot, Value)>> = vec![Vec::new(); func.blocks.len()];
    for &b in cfg.rpo() {
        if cfg.preds(b).len() > 1 {
            for s in &live[b.index()] {
                let v = func.new_param(b, func.slots[s.index()]);
                params[b.index()].push((*s, v));
            }
        }
    }
    let none = vec![HashMap::new(); func.blocks.len()];
    let mut pass = Pass { first, zeros: HashMap::new(), names: HashMap::new(), start: none.clone(), out: none };
    pass.zeros(func);
    for &b in cfg.rpo() {
        pass.block(func, &cfg, b, &params);
    }
    for &b in cfg.rpo() {
        let edge = |t: &mut Target, at: &HashMap<Slot, Value>| {
            for (s, _) in &params[t.block.index()] {
                t.args.push(at.get(s).copied().unwrap_or(pass.zeros[s]));
            }
        };
        let data = &mut func.blocks[b.index()];
        if let Some(term) = &mut data.term {
            term.targets_mut().into_iter().for_each(|t| edge(t, &pass.out[b.index()]));
        }
        data.unwind.iter_mut().for_each(|t| edge(t, &pass.start[b.index()]));
    }
    rename(func, &pass.names);
    func.slots.truncate(first);
}

/// An instruction that makes a zero of a type.
pub(crate) fn zero_of(func: &mut Function, ty: Ty) -> InstData {
    let inst = if ty.is_float() && !ty.is_half() {
        Inst::Const(Const::Float(0.0, ty))
    } else if ty.is_int() {
        Inst::Const(Const::Int(0, ty))
    } else {
        Inst::Zero
    };
    InstData { result: Some(func.new_value(ty)), inst, span: lh_ir::Span::default() }
}

/// Gives values the names of others, whose own names may be replaced, too.
pub(crate) fn rename(func: &mut Function, names: &HashMap<Value, Value>) {
    if names.is_empty() {
        return;
    }
    let of = |v: &mut Value| {
        while let Some(n) = names.get(v) {
            *v = *n;
        }
    };
    for data in &mut func.blocks {
        data.insts.iter_mut().for_each(|d| d.inst.for_each_operand_mut(&mut |v| of(v)));
        if let Some(t) = &mut data.term {
            t.for_each_operand_mut(&mut |v| of(v));
        }
        data.unwind.iter_mut().for_each(|t| t.args.iter_mut().for_each(of));
    }
}

/// The slots that each block may read before it writes them.
pub(crate) fn live_slots(func: &Function, cfg: &Cfg, first: usize) -> Vec<Vec<Slot>> {
    let (mut live, mut writes) = (vec![HashSet::new(); func.blocks.len()], vec![HashSet::new(); func.blocks.len()]);
    let mut work = Vec::new();
    for &b in cfg.rpo() {
        for d in &func.blocks[b.index()].insts {
            match d.inst {
                Inst::SlotGet(s)
                    if s.index() >= first && !writes[b.index()].contains(&s) && live[b.index()].insert(s) =>
                {
                    work.push((b, s));
                }
                Inst::SlotSet(s, _) => _ = writes[b.index()].insert(s),
                _ => {}
            }
        }
    }
    while let Some((b, s)) = work.pop() {
        for e in cfg.preds(b) {
            let p = e.from.index();
            // An exception leaves a block before anything in it has run.
            if (e.target.is_none() || !writes[p].contains(&s)) && live[p].insert(s) {
                work.push((e.from, s));
            }
        }
    }
    live.into_iter()
        .map(|set| {
            let mut all: Vec<Slot> = set.into_iter().collect();
            all.sort_unstable();
            all
        })
        .collect()
}

struct Pass {
    first: usize,
    /// The value of each slot where the function begins.
    zeros: HashMap<Slot, Value>,
    names: HashMap<Value, Value>,
    /// The slots' values at the start of each block with a handler.
    start: Vec<HashMap<Slot, Value>>,
    /// The slots' values at the end of each block.
    out: Vec<HashMap<Slot, Value>>,
}

impl Pass {
    fn zeros(&mut self, func: &mut Function) {
        let mut of_type: HashMap<Ty, Value> = HashMap::new();
        let mut insts = Vec::new();
        for i in self.first..func.slots.len() {
            let ty = func.slots[i];
            let v = *of_type.entry(ty).or_insert_with(|| {
                let d = zero_of(func, ty);
                let v = d.result.expect("it is a value");
                insts.push(d);
                v
            });
            self.zeros.insert(Slot::new(i), v);
        }
        func.blocks[0].insts.splice(0..0, insts);
    }

    fn block(&mut self, func: &mut Function, cfg: &Cfg, b: Block, params: &[Vec<(Slot, Value)>]) {
        let mut now = match cfg.preds(b) {
            [e] if e.target.is_none() => self.start[e.from.index()].clone(),
            [e] => self.out[e.from.index()].clone(),
            _ => HashMap::new(),
        };
        now.extend(params[b.index()].iter().copied());
        if func.blocks[b.index()].unwind.is_some() {
            self.start[b.index()].clone_from(&now);
        }
        let old = std::mem::take(&mut func.blocks[b.index()].insts);
        for d in old {
            match d.inst {
                Inst::SlotGet(s) if s.index() >= self.first => {
                    let v = now.get(&s).copied().unwrap_or(self.zeros[&s]);
                    self.names.insert(d.result.expect("a slot is read for its value"), v);
                }
                Inst::SlotSet(s, v) if s.index() >= self.first => {
                    let mut v = v;
                    while let Some(n) = self.names.get(&v) {
                        v = *n;
                    }
                    now.insert(s, v);
                }
                _ => func.blocks[b.index()].insts.push(d),
            }
        }
        self.out[b.index()] = now;
    }
}

/// Removes parameters that always have one value, and sums in which an operand is a zero of an adjoint's beginning.
pub(crate) fn simplify(func: &mut Function) {
    share_zeros(func);
    loop {
        let mut names = drop_single_valued(func, 1);
        let zeros: HashSet<Value> = constants(func);
        for d in func.insts() {
            if let (Inst::Op(op, args), Some(r)) = (&d.inst, d.result)
                && op.is(Algebra::AnyOrder(AnyOrder::Add))
                && let [a, b] = args[..]
                && func.ty(a) == func.ty(r)
                && func.ty(b) == func.ty(r)
            {
                if zeros.contains(&a) {
                    names.insert(r, b);
                } else if zeros.contains(&b) {
                    names.insert(r, a);
                }
            }
        }
        if names.is_empty() {
            return;
        }
        for data in &mut func.blocks {
            data.insts.retain(|d| d.result.is_none_or(|r| !names.contains_key(&r)));
        }
        rename(func, &names);
    }
}

fn is_zero(d: &InstData) -> bool {
    matches!(&d.inst, Inst::Const(Const::Float(x, _)) if x.to_bits() == 0)
}

/// Lets all blocks use the zeros of the entry block.
fn share_zeros(func: &mut Function) {
    let zeros =
        |insts: &[InstData]| -> Vec<Value> { insts.iter().filter(|d| is_zero(d)).filter_map(|d| d.result).collect() };
    let mut first: HashMap<Ty, Value> = HashMap::new();
    for v in zeros(&func.blocks[0].insts) {
        first.entry(func.ty(v)).or_insert(v);
    }
    let mut names = HashMap::new();
    for data in &func.blocks[1..] {
        names.extend(zeros(&data.insts).into_iter().filter_map(|v| Some((v, *first.get(&func.ty(v))?))));
    }
    for data in &mut func.blocks[1..] {
        data.insts.retain(|d| d.result.is_none_or(|r| !names.contains_key(&r)));
    }
    rename(func, &names);
}

fn constants(func: &Function) -> HashSet<Value> {
    func.insts().filter(|d| is_zero(d)).filter_map(|d| d.result).collect()
}

/// Removes parameters of blocks where paths meet if they have one value on every path.
pub(crate) fn merge_params(func: &mut Function) {
    let names = drop_single_valued(func, 2);
    rename(func, &names);
}

/// Removes the parameters of blocks with so many edges that have one value on every path; answers what they are.
fn drop_single_valued(func: &mut Function, edges: usize) -> HashMap<Value, Value> {
    let cfg = Cfg::new(func);
    let zeros = zeros_by_type(func);
    let first: HashMap<Value, Value> = zeros.iter().flat_map(|(first, all)| all.iter().map(|v| (*v, *first))).collect();
    let meets = |b: Block| b.0 != 0 && cfg.preds(b).len() >= edges && cfg.preds(b).iter().all(|e| e.target.is_some());
    let names = single_valued(func, &cfg, &meets, &|v| first.get(&v).copied().unwrap_or(v));
    for i in 1..func.blocks.len() {
        let kept: Vec<bool> = func.blocks[i].params.iter().map(|p| !names.contains_key(p)).collect();
        if kept.iter().all(|k| *k) {
            continue;
        }
        let keep = |all: &mut Vec<Value>| {
            let mut at = kept.iter();
            all.retain(|_| *at.next().expect("one flag for each"));
        };
        keep(&mut func.blocks[i].params);
        for e in cfg.preds(Block::new(i)) {
            let term = func.blocks[e.from.index()].term.as_mut().expect("built");
            keep(&mut term.targets_mut()[e.target.expect("no handler") as usize].args);
        }
    }
    names
}

/// The float zeros of the entry block by type, the first one before all of them.
fn zeros_by_type(func: &Function) -> Vec<(Value, Vec<Value>)> {
    let mut out: Vec<(Value, Vec<Value>)> = Vec::new();
    for v in func.blocks[0].insts.iter().filter(|d| is_zero(d)).filter_map(|d| d.result) {
        match out.iter_mut().find(|(first, _)| func.ty(*first) == func.ty(v)) {
            Some((_, all)) => all.push(v),
            None => out.push((v, vec![v])),
        }
    }
    out
}
