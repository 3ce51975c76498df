//! Scalar replacement: splits carried tuples and complex numbers, so that each part can be a reduction.

use super::plan::marked;
use crate::analysis::effects::Callees;
use crate::edit::{Replacements, replace_uses_in, to};
use hashbrown::HashSet;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, targets};
use lh_ir::func::{Inst, InstData, Parallel, Term};
use lh_ir::types::TyKind;
use lh_ir::{Block, Function, Meaning, SpecId, Ty, Value};

/// Splits block parameters in marked loops; whether there were any.
pub(super) fn run(func: &mut Function, callees: Callees<'_>) -> bool {
    let (cfg, blocks) = (Cfg::new(func), marked(func));
    let products = products(func, &blocks, callees);
    // An address stays beside its owner, which keeps it valid.
    let holds_address = |ty: Ty| ty.tuple_elems().is_some_and(|of| of.contains(&Ty::ptr()));
    let is_split = |func: &Function, p: &Value| {
        parts(func.ty(*p)).is_some() && !products.contains(p) && !holds_address(func.ty(*p))
    };
    let mut changed = false;
    for b in blocks {
        // The split values would not be defined on an exceptional edge.
        if cfg.preds(b).iter().any(|e| e.target.is_none()) {
            continue;
        }
        while let Some(place) = func.blocks[b.index()].params.iter().position(|p| is_split(func, p)) {
            split(func, &cfg, b, place);
            changed = true;
        }
    }
    if changed {
        let cfg = Cfg::new(func);
        let loops = Loops::new(func, &cfg, &DomTree::new(&cfg)).loops;
        for l in &loops {
            if func.blocks[l.header.index()].parallel.is_some_and(Parallel::is_tested) {
                leave(func, l);
            }
        }
    }
    changed
}

/// Complex numbers that are multiplied, a reduction of the whole number.
fn products(func: &Function, blocks: &[Block], callees: Callees<'_>) -> HashSet<Value> {
    let of_block = |b: &Block| func.blocks[b.index()].insts.iter();
    let is_product = |f: SpecId| callees(f).is_some_and(|s| s.meaning == Some(Meaning::ComplexProduct));
    let mut found = HashSet::new();
    for d in blocks.iter().flat_map(of_block) {
        match &d.inst {
            Inst::Call(f, args) if is_product(*f) => found.extend(args),
            _ => {}
        }
    }
    found
}

/// Rebuilds aggregates behind a loop, so that uses there see only the loop's parameters.
fn leave(func: &mut Function, l: &Loop) {
    let is_pack = |d: &&InstData| matches!(d.inst, Inst::Pack(_));
    let packs: Vec<InstData> = func.blocks[l.header.index()].insts.iter().take_while(is_pack).cloned().collect();
    let exit = targets(func, l.header).filter(|(_, t)| !l.blocks.contains(&t.block)).find_map(|(number, _)| number);
    let Some(exit) = exit.filter(|_| !packs.is_empty()) else { return };
    let after = func.new_block();
    let mut again = Replacements::new(func);
    for d in packs {
        let (Some(whole), Inst::Pack(parts)) = (d.result, d.inst) else { continue };
        let result = func.new_value(func.ty(whole));
        let inst = Inst::Pack(parts.iter().map(|v| again.get(*v)).collect());
        func.blocks[after.index()].insts.push(InstData { result: Some(result), inst, span: d.span });
        again.set(whole, result);
    }
    let span = func.blocks[l.header.index()].term_span;
    let Some(term) = &mut func.blocks[l.header.index()].term else { return };
    let old = std::mem::replace(term.targets_mut()[exit as usize], to(after, &[]));
    let data = &mut func.blocks[after.index()];
    (data.term, data.term_span) = (Some(Term::Jump(old)), span);
    let dom = DomTree::new(&Cfg::new(func));
    let later: Vec<Block> = (0..func.blocks.len()).map(Block::new).filter(|b| dom.dominates(after, *b)).collect();
    for b in later {
        replace_uses_in(&mut func.blocks[b.index()], &|v| again.get(v));
    }
}

/// The types of an aggregate's parts.
fn parts(ty: Ty) -> Option<Vec<Ty>> {
    match ty.kind() {
        TyKind::Complex { .. } => Some(vec![ty.real_part(); 2]),
        TyKind::Tuple { elems, .. } if !elems.is_empty() => Some(elems.clone()),
        _ => None,
    }
}

fn split(func: &mut Function, cfg: &Cfg, b: Block, place: usize) {
    let whole = func.blocks[b.index()].params[place];
    let types = parts(func.ty(whole)).unwrap_or_default();
    let new: Vec<Value> = types.iter().map(|t| func.new_value(*t)).collect();
    let data = &mut func.blocks[b.index()];
    data.params.splice(place..=place, new.iter().copied());
    let span = data.insts.first().map_or(data.term_span, |d| d.span);
    data.insts.insert(0, InstData { result: Some(whole), inst: Inst::Pack(new), span });
    let mut from: Vec<Block> = cfg.preds(b).iter().map(|e| e.from).collect();
    from.dedup();
    for p in from {
        for number in 0..targets(func, p).count() {
            split_argument(func, p, number, b, place, &types);
        }
    }
}

fn split_argument(func: &mut Function, from: Block, number: usize, b: Block, place: usize, types: &[Ty]) {
    let span = func.blocks[from.index()].term_span;
    let of = |func: &Function| {
        let term = func.blocks[from.index()].term.as_ref()?;
        term.targets().get(number).filter(|t| t.block == b).map(|t| t.args[place])
    };
    let Some(arg) = of(func) else { return };
    let parts: Vec<Value> = types
        .iter()
        .enumerate()
        .map(|(i, t)| {
            let v = func.new_value(*t);
            let inst = Inst::Field(arg, i as u32);
            func.blocks[from.index()].insts.push(InstData { result: Some(v), inst, span });
            v
        })
        .collect();
    if let Some(term) = &mut func.blocks[from.index()].term {
        term.targets_mut()[number].args.splice(place..=place, parts);
    }
}
